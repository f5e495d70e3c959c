// Codes and ordered target statistics on a device, bit for bit those of the host; arrays in either memory; errors.
#include "xgbgpu/encode.h"

#include <gtest/gtest.h>

#include <cstring>

#include "cuda/device.h"
#include "support/encode_case.h"
#include "support/grow.h"

namespace xgbgpu::testing {
namespace {

Encoded OnDevice(EncodeCase const& c, RowOrder const& order) {
  Encoded found = c.Room();
  OrderTargetsOnDevice(c.columns(), order, c.rule(), c.priors().data(), c.view(&found), found.totals(), 0);
  return found;
}

TEST(CudaEncodeTest, StatisticsEqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  auto cases = EncodeCases();
  cases.push_back(RandomEncodeCase("a million rows", 1000003, 300000, 2, true));
  for (EncodeCase const& c : cases) {
    for (RowOrder const& order : {GivenOrder(c.rows()), ShuffledOrder(c.rows(), 9, 2)}) {
      EXPECT_TRUE(OnDevice(c, order) == c.OnHost(order, 2)) << c.name;
    }
  }
}

TEST(CudaEncodeTest, SumsAloneEqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  for (EncodeCase const& c : EncodeCases()) {
    Encoded expected = c.Room(), found = c.Room();
    host::SumTargets(c.columns(), expected.totals(), 2);
    OrderTargetsOnDevice(c.columns(), GivenOrder(c.rows()), c.rule(), c.priors().data(), {nullptr, c.targets},
                         found.totals(), 0);
    EXPECT_TRUE(found == expected) << c.name;
  }
}

TEST(CudaEncodeTest, ArraysOfTheDeviceAreReadAndWrittenWhereTheyAre) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  EncodeCase const c = RandomEncodeCase("on the device", 30000, 1000, 3, true);
  RowOrder const order = ShuffledOrder(c.rows(), 1, 0);
  Encoded found = c.Room();
  DeviceArena arena{"a test"};
  auto const codes = Upload(&arena, "codes", c.codes.data(), c.codes.size());
  auto const values = Upload(&arena, "values", c.values.data(), c.values.size());
  auto const weights = Upload(&arena, "weights", c.weights.data(), c.weights.size());
  auto const statistics = Upload(&arena, "statistics", found.statistics.data(), found.statistics.size());
  OrderTargetsOnDevice({codes.data(), c.rows(), c.categories, values.data(), c.targets, weights.data()}, order,
                       c.rule(), c.priors().data(), {statistics.data(), c.targets + std::uint64_t{1}}, found.totals(),
                       0);
  Stream const stream;
  CopyToHost(found.statistics.data(), statistics.data(), found.statistics.size(), stream, "a test");
  stream.Wait("a test");
  EXPECT_TRUE(found == c.OnHost(order, 2));
}

TEST(CudaEncodeTest, CodesEqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  Random random{4};
  for (std::size_t const n : {1, 31, 1000, 300001}) {
    for (std::uint64_t const range : {std::uint64_t{1}, std::uint64_t{1000}, ~std::uint64_t{0}}) {
      std::vector<std::uint64_t> keys(n);
      for (auto& key : keys) key = random.Bits() % range;
      std::vector<std::uint32_t> expected(n), found(n);
      EXPECT_EQ(NumberKeysOnDevice(keys, found.data(), 0), host::NumberKeys(keys, expected.data(), 2));
      EXPECT_EQ(found, expected) << n << " keys below " << range;
    }
  }
}

TEST(CudaEncodeTest, RefusesWhatTheHostRefuses) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  constexpr std::int64_t kMost = std::int64_t{1} << 61;  // of two rows
  EncodeCase const cases[]{{"", 2, 1, {0, 2}, {1, 1}, {}},
                           {"", 2, 1, {0, 1}, {1, kMost + 1}, {}},
                           {"", 2, 1, {0, 1}, {1, -kMost - 1}, {}},
                           {"", 2, 1, {0, 1}, {1, 1}, {1, -1}},
                           {"", 2, 1, {0, 1}, {1, 1}, {kMost + 1, 1}}};
  for (EncodeCase const& c : cases) {
    EXPECT_THROW(c.OnHost(GivenOrder(2), 1), InvalidArgument);
    EXPECT_THROW(OnDevice(c, GivenOrder(2)), InvalidArgument);
  }
  EncodeCase const allowed{"", 2, 1, {0, 1}, {-kMost, kMost}, {}};
  EXPECT_TRUE(OnDevice(allowed, GivenOrder(2)) == allowed.OnHost(GivenOrder(2), 1));
}

}  // namespace
}  // namespace xgbgpu::testing
