// driver: who makes a prediction.
#include "prediction/prediction_policy.h"

#include <gtest/gtest.h>

#include <limits>

namespace xgbgpu {
namespace {

constexpr std::uint64_t kTrees = 100;

TEST(PredictionPolicyTest, WhatIsForADevice) {
  struct {
    std::uint64_t rows, to_read, rows_before;
    bool in_use, expected;
  } const cases[] = {
      {2'000, 0, 0, true, false},            // the host is done before a device has begun
      {3'000, 0, 0, true, true},             // it has the model
      {10'000, kTrees, 0, true, false},      // reading the model takes longer …
      {11'000, kTrees, 0, true, true},       // … but not longer than this
      {10'000, kTrees, 10'000, true, true},  // the host has predicted as much before
      {2'000, kTrees, 1'000'000, true, false},
      {160'000, 0, 0, false, false},  // the process would wait for the driver
      {160'000, kTrees, 1'000'000, false, false},
      {180'000, kTrees, 0, false, true},
  };
  for (auto const& c : cases) {
    EXPECT_EQ(kPredictionPolicy.IsForDevice(c.rows * kTrees, c.to_read, c.rows_before * kTrees, c.in_use), c.expected)
        << c.rows << " rows, " << c.to_read << " trees to read, " << c.rows_before << " rows before"
        << (c.in_use ? "" : ", no device in use");
  }
}

TEST(PredictionPolicyTest, EachDeviceHasToHaveEnoughToDo) {
  EXPECT_EQ(PredictionPolicy::Devices(4, 0, 10), 1);
  EXPECT_EQ(PredictionPolicy::Devices(4, 19, 10), 1);
  EXPECT_EQ(PredictionPolicy::Devices(4, 20, 10), 2);
  EXPECT_EQ(PredictionPolicy::Devices(4, 39, 10), 3);
  EXPECT_EQ(PredictionPolicy::Devices(4, 1'000, 10), 4);
  EXPECT_EQ(PredictionPolicy::Devices(1, 1'000, 10), 1);
  EXPECT_EQ(PredictionPolicy::Devices(8, std::numeric_limits<std::uint64_t>::max(), 1), 8);
  EXPECT_EQ(PredictionPolicy::Devices(2, 600'000 * kTrees, kPredictionPolicy.dealt_work), 1);
  EXPECT_EQ(PredictionPolicy::Devices(2, 700'000 * kTrees, kPredictionPolicy.dealt_work), 2);
}

}  // namespace
}  // namespace xgbgpu
