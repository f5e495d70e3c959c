// backend/device_policy.h: how many devices are worth while, and which is a worker's.
#include "xgbgpu/device_policy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "backend/device_policy.h"
#include "collective/collective_policy.h"
#include "tree/shared_bytes.h"
#include "xgbgpu/types.h"

namespace xgbgpu {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;

/// Data without missing values.
WorkShape Dense(std::uint64_t values, std::uint64_t features, int max_bin, int max_depth, int max_leaves,
                bool may_share = false) {
  return {values, features, values / features, max_bin, max_depth, max_leaves, may_share};
}

TEST(DevicePolicy, SmallDataStayOnOneDevice) {
  EXPECT_EQ(DevicesWorthWhile(8, Dense(28 * 10'000, 28, 256, 6, 0)), 1);
  EXPECT_EQ(DevicesWorthWhile(8, Dense(28 * kMillion, 28, 256, 6, 0)), 1);
}

TEST(DevicePolicy, LargeDataAreDealtToAll) {
  EXPECT_EQ(DevicesWorthWhile(2, Dense(294 * kMillion, 28, 256, 6, 0)), 2);
  EXPECT_EQ(DevicesWorthWhile(2, Dense(1495 * kMillion, 13, 256, 8, 0)), 2);
  EXPECT_EQ(DevicesWorthWhile(8, Dense(1495 * kMillion, 13, 256, 0, 0)), 8);
  EXPECT_EQ(DevicesWorthWhile(1, Dense(1495 * kMillion, 13, 256, 8, 0)), 1);
}

TEST(DevicePolicy, SharesOfTheFeaturesDivideHistograms) {
  EXPECT_EQ(DevicesWorthWhile(2, Dense(800 * kMillion, 2000, 256, 8, 0, true)), 2);
  EXPECT_EQ(DevicesWorthWhile(8, Dense(800 * kMillion, 2000, 256, 8, 0, true)), 8);
  EXPECT_EQ(DevicesWorthWhile(2, Dense(100 * kMillion, 2000, 256, 8, 0, true)), 1) << "rows are few";
  EXPECT_EQ(DevicesWorthWhile(2, Dense(800 * kMillion, 2000, 4096, 8, 0, true)), 1)
      << "so many bins are stored sparsely";
  EXPECT_EQ(DevicesWorthWhile(2, Dense(28 * kMillion, 28, 256, 6, 0, true)), 1);
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
  EXPECT_LT(DevicesWorthWhile(8, Dense(512 * kMillion, 256, 256, 8, 0)), 8);
  EXPECT_EQ(DevicesWorthWhile(8, Dense(512 * kMillion, 256, 256, 8, 0, true)), 8);
  EXPECT_EQ(DevicesWorthWhile(8, Dense(384 * kMillion, 128, 256, 8, 0, true)), 4) << "four tiles";
}

/// Without shares.
TEST(DevicePolicy, HistogramsMayCostMoreThanRows) {
  EXPECT_EQ(DevicesWorthWhile(2, Dense(800 * kMillion, 2000, 256, 8, 0)), 1);
  EXPECT_EQ(DevicesWorthWhile(2, Dense(800 * kMillion, 2000, 256, 8, 8)), 2) << "few leaves have few histograms";
  EXPECT_EQ(DevicesWorthWhile(2, Dense(800 * kMillion, 2000, 16, 8, 0)), 2) << "few bins have small ones";
}

/// One device grows the trees of classes at the same time, several one after the other.
TEST(DevicePolicy, TreesOfClassesAreForFewerDevices) {
  WorkShape shape = Dense(108 * kMillion, 54, 256, 8, 0);
  EXPECT_EQ(DevicesWorthWhile(2, shape), 2);
  shape.trees = 7;
  EXPECT_EQ(DevicesWorthWhile(2, shape), 1);
  shape.values *= 8;
  shape.rows *= 8;
  EXPECT_EQ(DevicesWorthWhile(2, shape), 2);
}

/// Each output has work of its own.
TEST(DevicePolicy, TreesOfVectorsAreForMoreDevices) {
  WorkShape shape = Dense(60 * kMillion, 54, 256, 8, 0);
  EXPECT_EQ(DevicesWorthWhile(2, shape), 1);
  shape.outputs = 7;
  EXPECT_EQ(DevicesWorthWhile(2, shape), 2);
}

TEST(DevicePolicy, NoMoreDevicesThanCanMeet) {
  EXPECT_EQ(DevicesWorthWhile(64, Dense(1'000'000 * kMillion, 13, 256, 8, 0)), kMostDevices);
}

std::vector<int> DevicesOfWorkers(std::vector<std::int64_t> const& hosts, std::vector<std::int64_t> const& first,
                                  int devices) {
  std::vector<int> found;
  for (std::size_t worker = 0; worker < hosts.size(); ++worker) {
    found.push_back(DeviceOfWorker(hosts, first, worker, devices));
  }
  return found;
}

TEST(DeviceOfWorker, IsThatOfItsRankOnTheHost) {
  EXPECT_EQ(DevicesOfWorkers({7, 7, 7}, {1, 1, 1}, 4), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(DevicesOfWorkers({7, 7, 7}, {1, 1, 1}, 2), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(DevicesOfWorkers({7, 9, 7, 9}, {1, 2, 1, 2}, 2), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(DevicesOfWorkers({7}, {1}, 8), (std::vector<int>{0}));
}

TEST(DeviceOfWorker, IsItsFirstIfThatIsItsOwn) {
  EXPECT_EQ(DevicesOfWorkers({7, 7, 7}, {3, 1, 2}, 3), (std::vector<int>{0, 0, 0})) << "lists that are rotated";
  EXPECT_EQ(DevicesOfWorkers({7, 7, 9, 9}, {3, 1, 5, 5}, 2), (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(DevicesOfWorkers({7, 7, 7}, {3, 1, 3}, 3), (std::vector<int>{0, 1, 2})) << "two share their first";
}

}  // namespace
}  // namespace xgbgpu
