// driver: what is said of one that is too old.
#include "backend_cuda/driver_version.h"

#include <gtest/gtest.h>

namespace xgbgpu::cuda {
namespace {

TEST(DriverVersion, ADriverThatIsTooOldIsNamedWithWhatIsNeeded) {
  EXPECT_EQ(
      WhyTooOld(12020, 13000,
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n"
                "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"),
      "the NVIDIA driver 535.183.01 is for CUDA 12.2; needed: a driver for CUDA 13.0 or newer, which is 580 or newer");
  EXPECT_EQ(
      WhyTooOld(12040, 13000, "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.163.01  Release Build\n"),
      "the NVIDIA driver 550.163.01 is for CUDA 12.4; needed: a driver for CUDA 13.0 or newer, which is 580 or newer");
}

TEST(DriverVersion, MinorVersionsAreNotAskedFor) {
  EXPECT_EQ(WhyTooOld(11040, 12090, ""),
            "the NVIDIA driver is for CUDA 11.4; needed: a driver for CUDA 12.0 or newer, which is 525 or newer");
}

TEST(DriverVersion, WhatIsNotKnownIsNotSaid) {
  EXPECT_EQ(WhyTooOld(13000, 14010, "no version"),
            "the NVIDIA driver is for CUDA 13.0; needed: a driver for CUDA 14.0 or newer");
}

}  // namespace
}  // namespace xgbgpu::cuda
