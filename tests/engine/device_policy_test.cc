// driver/device_policy.h: how many devices are worth while.
#include "driver/device_policy.h"

#include <gtest/gtest.h>

namespace xgbgpu {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;

TEST(DevicePolicy, SmallDataStayOnOneDevice) {
  EXPECT_EQ(DevicesWorthWhile(8, {28 * 10'000, 28, 256, 6, 0}), 1);
  EXPECT_EQ(DevicesWorthWhile(8, {28 * kMillion, 28, 256, 6, 0}), 1);
}

TEST(DevicePolicy, LargeDataAreDealtToAll) {
  EXPECT_EQ(DevicesWorthWhile(2, {294 * kMillion, 28, 256, 6, 0}), 2);
  EXPECT_EQ(DevicesWorthWhile(2, {1495 * kMillion, 13, 256, 8, 0}), 2);
  EXPECT_EQ(DevicesWorthWhile(8, {1495 * kMillion, 13, 256, 0, 0}), 8);
  EXPECT_EQ(DevicesWorthWhile(1, {1495 * kMillion, 13, 256, 8, 0}), 1);
}

TEST(DevicePolicy, SharesOfTheFeaturesDivideHistograms) {
  EXPECT_EQ(DevicesWorthWhile(2, {800 * kMillion, 2000, 256, 8, 0, true}), 2);
  EXPECT_EQ(DevicesWorthWhile(8, {800 * kMillion, 2000, 256, 8, 0, true}), 8);
  EXPECT_EQ(DevicesWorthWhile(2, {100 * kMillion, 2000, 256, 8, 0, true}), 1) << "rows are few";
  EXPECT_EQ(DevicesWorthWhile(2, {800 * kMillion, 2000, 4096, 8, 0, true}), 1) << "so many bins are stored sparsely";
  EXPECT_EQ(DevicesWorthWhile(2, {28 * kMillion, 28, 256, 6, 0, true}), 1);
}

/// More devices would send more whole sums: 64 columns have shares on four, not on two.
TEST(DevicePolicy, MoreDevicesShareSmallerHistograms) {
  std::size_t const histogram = 64 * 256 * sizeof(GradientSum), on_two = CollectivePolicy{}.least_shared_bytes;
  EXPECT_EQ(LeastSharedBytes(on_two, 2), on_two);
  EXPECT_GT(LeastSharedBytes(on_two, 2), histogram);
  EXPECT_LT(LeastSharedBytes(on_two, 4), histogram);
  for (int devices = 2; devices < 16; ++devices) {
    EXPECT_LT(LeastSharedBytes(on_two, devices + 1), LeastSharedBytes(on_two, devices));
  }
  // Whole sums of so few rows take eight devices longer than two; shares do not, if there is a tile for each.
  EXPECT_LT(DevicesWorthWhile(8, {512 * kMillion, 256, 256, 8, 0}), 8);
  EXPECT_EQ(DevicesWorthWhile(8, {512 * kMillion, 256, 256, 8, 0, true}), 8);
  EXPECT_EQ(DevicesWorthWhile(8, {384 * kMillion, 128, 256, 8, 0, true}), 4) << "four tiles";
}

/// Without shares.
TEST(DevicePolicy, HistogramsMayCostMoreThanRows) {
  EXPECT_EQ(DevicesWorthWhile(2, {800 * kMillion, 2000, 256, 8, 0}), 1);
  EXPECT_EQ(DevicesWorthWhile(2, {800 * kMillion, 2000, 256, 8, 8}), 2) << "few leaves have few histograms";
  EXPECT_EQ(DevicesWorthWhile(2, {800 * kMillion, 2000, 16, 8, 0}), 2) << "few bins have small ones";
}

}  // namespace
}  // namespace xgbgpu
