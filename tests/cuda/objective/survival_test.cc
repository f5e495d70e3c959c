// Gradients of survival:aft and survival:cox on a device equal the host's, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "objective/objective_cuda.h"
#include "support/cox_case.h"
#include "support/grow.h"
#include "support/survival_case.h"

namespace xgbgpu::testing {
namespace {

TEST(CudaAftTest, EqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceArena arena{"This test"};
  Stream const stream;
  DeviceLimits const limits = CurrentDeviceLimits();
  for (std::size_t const n : {std::size_t{1}, std::size_t{1025}, std::size_t{1500001}}) {
    for (float const spread : {2.0f, 40.0f, 800.0f}) {
      SurvivalRows const rows{n, spread};
      auto const margins = Upload(&arena, "margins", rows.margins.data(), n);
      auto const weights = Upload(&arena, "weights", rows.weights.data(), n);
      auto const lower = Upload(&arena, "bounds", rows.lower.data(), n);
      auto const upper = Upload(&arena, "bounds", rows.upper.data(), n);
      DeviceBuffer<GradientPair> const out{&arena, "gradients", n};
      for (AftDistribution const distribution : kAftDistributions) {
        ObjectiveParams const params = AftParams(distribution, 1.3f);
        for (bool const weighted : {false, true}) {
          std::vector<GradientPair> expected(n), found(n);
          host::ComputeGradients(params, rows.Targets(weighted), RowMajor<float const>(rows.margins.data(), n, 1),
                                 RowMajor(expected.data(), n, 1), 2);
          TargetView targets;
          targets.weights = weighted ? weights.data() : nullptr;
          targets.lower = lower.data();
          targets.upper = upper.data();
          cuda::ComputeGradients(params, targets, OutputMajor<float const>(margins.data(), n, 1),
                                 OutputMajor(out.data(), n, 1), limits, stream);
          CopyToHost(found.data(), out.data(), n, stream, "copying gradients");
          stream.Wait("computing gradients");
          for (std::size_t i = 0; i < n; ++i) {
            ASSERT_EQ(std::memcmp(&found[i], &expected[i], sizeof(found[i])), 0)
                << "row " << i << ", margin " << rows.margins[i] << " of " << rows.lower[i] << " to " << rows.upper[i]
                << ": (" << found[i].grad << ", " << found[i].hess << "), on the host (" << expected[i].grad << ", "
                << expected[i].hess << ")";
          }
        }
      }
    }
  }
}

/// Keeps rows on a device. The next set of rows finds the memory as the last one left it.
class CoxDevice {
 public:
  void ExpectTheHosts(CoxRows const& rows, bool weighted, char const* what) {
    std::size_t const n = rows.labels.size();
    ObjectiveParams const params{Objective::kCox};
    std::vector<GradientPair> expected(n), found(n);
    host::ComputeGradients(params, rows.Targets(weighted), RowMajor<float const>(rows.margins.data(), n, 1),
                           RowMajor(expected.data(), n, 1), 2);
    auto const margins = Upload(&arena_, "margins", rows.margins.data(), n);
    auto const labels = Upload(&arena_, "labels", rows.labels.data(), n);
    auto const weights = Upload(&arena_, "weights", rows.weights.data(), n);
    DeviceBuffer<GradientPair> const out{&arena_, "gradients", n};
    auto const times = cuda::SortTimes(labels.data(), n, &arena_, limits_, stream_);
    TargetView targets;
    targets.labels = labels.data();
    targets.weights = weighted ? weights.data() : nullptr;
    targets.by_time = times.view();
    cuda::ComputeGradients(params, targets, OutputMajor<float const>(margins.data(), n, 1),
                           OutputMajor(out.data(), n, 1), limits_, stream_, &scratch_);
    CopyToHost(found.data(), out.data(), n, stream_, "copying gradients");
    stream_.Wait("computing gradients");
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_TRUE(Same(found[i].grad, expected[i].grad) && Same(found[i].hess, expected[i].hess))
          << what << ", row " << i << " of " << n << ", margin " << rows.margins[i] << ": (" << found[i].grad << ", "
          << found[i].hess << "), on the host (" << expected[i].grad << ", " << expected[i].hess << ")";
    }
  }

 private:
  static bool Same(float a, float b) {
    return std::memcmp(&a, &b, sizeof(a)) == 0 || (std::isnan(a) && std::isnan(b));  // the bits of a NaN may differ
  }

  DeviceArena arena_{"This test"};
  Stream stream_;
  DeviceLimits limits_{CurrentDeviceLimits()};
  cuda::ObjectiveScratch scratch_{&arena_};
};

TEST(CudaCoxTest, EqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  CoxDevice device;
  // Numbers are near what a block takes, what one turn of block sums takes, and what a turn of the grid takes.
  for (std::size_t const n : {524289, 1, 2, 8, 9, 2047, 2048, 2049, 100003, 3000001}) {
    for (std::size_t const times : {std::size_t{1}, std::size_t{500}, std::size_t{100000000}}) {
      for (bool const weighted : {false, true}) device.ExpectTheHosts({n, 4, times}, weighted, "ordinary margins");
    }
  }
}

TEST(CudaCoxTest, UnusualMargins) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CoxDevice device;
  for (float const spread : {800.0f, 3e38f}) device.ExpectTheHosts({30001, spread, 700}, true, "large margins");
  for (float const value : {0.0f, -0.0f, 1e-40f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::quiet_NaN()}) {
    CoxRows rows{30001, 4, 700};
    rows.margins[17] = rows.margins[20000] = value;
    device.ExpectTheHosts(rows, true, "two unusual margins");
    rows.margins.assign(30001, value);
    device.ExpectTheHosts(rows, true, "the same margin everywhere");
  }
}

TEST(CudaCoxTest, NeedsOrderAndMemory) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceArena arena{"This test"};
  Stream const stream;
  cuda::ObjectiveScratch scratch{&arena};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] {
                  cuda::ComputeGradients({Objective::kCox}, TargetView{}, OutputMajor<float const>(nullptr, 1, 1), {},
                                         CurrentDeviceLimits(), stream, &scratch);
                },
                {"by_time", "null"}),
            "");
}

}  // namespace
}  // namespace xgbgpu::testing
