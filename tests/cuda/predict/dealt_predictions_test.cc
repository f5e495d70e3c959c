// Rows that are dealt to several devices get the predictions of one, bit for bit, and whatever fails leaves nothing half
// written. A machine with one GPU has all parts there.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/device.h"
#include "prediction/with_policy.h"
#include "support/data.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "support/host_model.h"
#include "user_arrays/array_case.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/device_prediction.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

constexpr std::uint32_t kRounds = HostModel::kRounds;
constexpr RoundRange kAll{0, kRounds};

/// Everything is worth while.
PredictionPolicy Eager() {
  PredictionPolicy policy;
  policy.device_work = policy.first_use = policy.dealt_work = policy.dealt_explanations = 1;
  policy.read_tree = policy.explained_rows = policy.interaction_columns = 0;
  return policy;
}

WorkPlace On(int devices) { return {{BackendKind::kCuda, 0, nullptr, devices}, 4}; }

/// Has the same rows in one batch, in many, and as an array.
struct Sources {
  explicit Sources(reference::Values const& values)
      : one{values},
        many{values, values.rows / 7 + 1},
        array{{values.at.data()}, values.rows, HostModel::kFeatures, 3} {}

  std::vector<RowSource const*> all() const { return {&one, &many, &array}; }

  MemorySource one, many;
  ArraySource array;
};

/// An array that notes which threads ask for it.
class WatchedSource final : public RowSource {
 public:
  explicit WatchedSource(RowSource const& rows) : rows_{rows} {}

  std::uint64_t rows() const override { return rows_.rows(); }
  FeatureIndex features() const override { return rows_.features(); }
  std::optional<DenseValues> dense() const override {
    std::lock_guard<std::mutex> const lock{mutex_};
    threads_.insert(std::this_thread::get_id());
    return rows_.dense();
  }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { rows_.ForEachBatch(visit); }
  /// How many threads have asked since the last call?
  std::size_t TakeThreads() {
    std::lock_guard<std::mutex> const lock{mutex_};
    return std::exchange(threads_, {}).size();
  }

 private:
  RowSource const& rows_;
  mutable std::mutex mutex_;
  mutable std::set<std::thread::id> threads_;
};

class DealtPredictionTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
  void TearDown() override { FailDeviceAllocation(-1); }
};

TEST_P(DealtPredictionTest, MarginsAndLeavesAreThoseOfTheWalkByHand) {
  int const devices = GetParam();
  HostModel model;
  DevicePrediction prediction = MakeDevicePrediction(model.Warner(), false, Eager());
  for (std::size_t const rows : {1, 2, 3, 17, 3000}) {
    auto const values = RandomValues({rows, HostModel::kFeatures, 0.1}, 30 + rows);
    Sources const sources{values};
    std::vector<float> const own = RandomMargins(rows, 31);
    BaseMargins const score{{}, {0.25f}}, given{own, {0.25f}};
    for (RowSource const* const source : sources.all()) {
      std::vector<float> margins{7};
      ASSERT_TRUE(prediction.PredictMargins(model.View(), On(devices), *source, kAll, &score, &margins));
      EXPECT_EQ(Bits(margins), Bits(model.MarginsByHand(values, kAll, std::vector<float>(rows, 0.25f)))) << rows;
      ASSERT_TRUE(prediction.PredictMargins(model.View(), On(devices), *source, {0, 15}, &given, &margins));
      EXPECT_EQ(Bits(margins), Bits(model.MarginsByHand(values, {0, 15}, own))) << rows;
      ASSERT_TRUE(prediction.PredictMargins(model.View(), On(devices), *source, {15, kRounds}, nullptr, &margins));
      EXPECT_EQ(Bits(margins), Bits(model.MarginsByHand(values, kAll, own))) << rows;
      std::vector<float> leaves;
      ASSERT_TRUE(prediction.PredictLeaves(model.View(), On(devices), *source, {3, 30}, &leaves));
      EXPECT_EQ(leaves, LeavesByHand(model.trees(), 3, 30, values)) << rows;
    }
  }
  EXPECT_EQ(prediction.devices(), devices);
  EXPECT_EQ(model.times_read, 1);
  EXPECT_EQ(model.warnings, 0);
}

TEST_P(DealtPredictionTest, ManyBlocksAreThoseOfOneDevice) {
  HostModel model;
  std::size_t const rows = 4'000'001;  // a block has 350,000 of an array
  auto const values = RandomValues({rows, HostModel::kFeatures, 0.1}, 40);
  ArraySource const array{{values.at.data()}, rows, HostModel::kFeatures, 3};
  struct Batches final : RowSource {  // the same rows, not as an array
    explicit Batches(RowSource const& from) : rows_{from} {}
    std::uint64_t rows() const override { return rows_.rows(); }
    FeatureIndex features() const override { return rows_.features(); }
    void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { rows_.ForEachBatch(visit); }
    RowSource const& rows_;
  } const batches{array};
  DevicePrediction one = MakeDevicePrediction(model.Warner(), false, Eager());
  DevicePrediction several = MakeDevicePrediction(model.Warner(), false, Eager());
  BaseMargins const base{{}, {0.25f}};
  std::vector<float> expected, margins;
  ASSERT_TRUE(one.PredictMargins(model.View(), On(1), array, kAll, &base, &expected));
  for (RowSource const* const source :
       {static_cast<RowSource const*>(&array), static_cast<RowSource const*>(&batches)}) {
    ASSERT_TRUE(several.PredictMargins(model.View(), On(GetParam()), *source, kAll, &base, &margins));
    EXPECT_TRUE(Bits(margins) == Bits(expected));
  }
  EXPECT_EQ(one.devices(), 1);
  EXPECT_EQ(several.devices(), GetParam());
}

TEST_P(DealtPredictionTest, OneDeviceDoesWhatSeveralHaveNoRoomFor) {
  auto const values = RandomValues({500, HostModel::kFeatures, 0.1}, 41);
  Sources const sources{values};
  std::vector<float> const own = RandomMargins(500, 42);
  BaseMargins const given{own, {0.25f}};
  for (RowSource const* const source : sources.all()) {
    std::int64_t made = 1;
    for (std::int64_t n = 0; n < made; ++n) {
      HostModel model;
      DevicePrediction prediction = MakeDevicePrediction(model.Warner(), false, Eager());
      std::vector<float> const expected = model.MarginsByHand(values, kAll, own);
      std::vector<float> margins;
      FailDeviceAllocation(n);
      ASSERT_TRUE(prediction.PredictMargins(model.View(), On(GetParam()), *source, kAll, &given, &margins)) << n;
      made = FailDeviceAllocation(-1);
      EXPECT_EQ(Bits(margins), Bits(expected)) << n;
      EXPECT_EQ(model.warnings, n < made ? 1 : 0) << n;
      EXPECT_EQ(prediction.devices(), n < made ? 1 : GetParam()) << n;
      ASSERT_TRUE(prediction.PredictMargins(model.View(), On(GetParam()), *source, kAll, &given, &margins)) << n;
      EXPECT_EQ(Bits(margins), Bits(expected)) << n;
      std::vector<float> leaves;
      ASSERT_TRUE(prediction.PredictLeaves(model.View(), On(GetParam()), *source, kAll, &leaves)) << n;
      EXPECT_EQ(leaves, LeavesByHand(model.trees(), 0, kRounds, values)) << n;
      EXPECT_EQ(prediction.devices(), n < made ? 1 : GetParam()) << n << ": several were not asked again";
    }
    EXPECT_GE(made, 3 * GetParam()) << "each device takes memory for the model";
  }
}

TEST_P(DealtPredictionTest, MarginsWithSomeTreesAreNotLeftBehind) {
  auto const values = RandomValues({500, HostModel::kFeatures, 0.1}, 43);
  Sources const sources{values};
  std::vector<float> const own = RandomMargins(500, 44);
  int lost = 0;
  for (RowSource const* const source : sources.all()) {
    std::int64_t made = 1;
    for (std::int64_t n = 0; n < made; ++n) {
      HostModel model;
      DevicePrediction prediction = MakeDevicePrediction(model.Warner(), false, Eager());
      std::vector<float> margins = own;
      FailDeviceAllocation(n);
      bool const done = prediction.PredictMargins(model.View(), On(GetParam()), *source, kAll, nullptr, &margins);
      made = FailDeviceAllocation(-1);
      if (done) {
        EXPECT_EQ(Bits(margins), Bits(model.MarginsByHand(values, kAll, own))) << n;
      } else {
        EXPECT_TRUE(margins.empty()) << n;
        ++lost;
      }
    }
  }
  // A device keeps the memory that rows go through, of which a second part at the same time needs more.
  if (CudaDeviceCount() < GetParam()) {
    EXPECT_GT(lost, 0);
  }
}

TEST_P(DealtPredictionTest, RowsThatTheModelCannotTakeAreTheHosts) {
  HostModel model;
  auto values = RandomValues({500, HostModel::kFeatures}, 45);
  MemorySource bad{values};
  bad.data()[400].push_back({HostModel::kFeatures + 7, 1.0f});
  DevicePrediction prediction = MakeDevicePrediction(model.Warner(), false, Eager());
  BaseMargins const base{{}, {0.25f}};
  std::vector<float> margins, leaves{3};
  EXPECT_FALSE(prediction.PredictMargins(model.View(), On(GetParam()), bad, kAll, &base, &margins));
  EXPECT_TRUE(margins.empty());
  EXPECT_FALSE(prediction.PredictLeaves(model.View(), On(GetParam()), bad, kAll, &leaves));
  EXPECT_EQ(leaves, std::vector<float>{3});
  EXPECT_EQ(model.warnings, 0);
  Sources const good{values};
  ASSERT_TRUE(prediction.PredictMargins(model.View(), On(GetParam()), good.one, kAll, &base, &margins));
  EXPECT_EQ(Bits(margins), Bits(model.MarginsByHand(values, kAll, std::vector<float>(500, 0.25f))));
  EXPECT_EQ(prediction.devices(), GetParam());
}

TEST_P(DealtPredictionTest, ExplanationsAreThoseOfOneDevice) {
  HostModel model;
  Explanation one = MakeExplanation(model.Warner(), Eager());
  Explanation several = MakeExplanation(model.Warner(), Eager());
  BaseMargins const base{{}, {0.25f}};
  for (std::size_t const rows : {1, 2, 17, 3000}) {
    auto const values = RandomValues({rows, HostModel::kFeatures, 0.1}, 50 + rows);
    Sources const sources{values};
    for (RowSource const* const source : sources.all()) {
      std::vector<float> expected, found;
      for (bool const approximate : {false, true}) {
        ASSERT_TRUE(one.Contributions(model.View(), On(1), *source, base, 0, approximate, &expected));
        ASSERT_TRUE(several.Contributions(model.View(), On(GetParam()), *source, base, 0, approximate, &found));
        EXPECT_EQ(Bits(found), Bits(expected)) << rows;
      }
      ASSERT_TRUE(one.Interactions(model.View(), On(1), *source, base, 12, &expected));
      ASSERT_TRUE(several.Interactions(model.View(), On(GetParam()), *source, base, 12, &found));
      EXPECT_EQ(Bits(found), Bits(expected)) << rows;
    }
    std::vector<float> found;
    auto const parts = static_cast<std::size_t>(GetParam());
    WatchedSource watched{sources.array};
    ASSERT_TRUE(several.Contributions(model.View(), On(GetParam()), watched, base, 0, false, &found));
    EXPECT_EQ(watched.TakeThreads(), parts);
    ASSERT_TRUE(several.Contributions(model.View(), On(1), watched, base, 0, false, &found));
    EXPECT_EQ(watched.TakeThreads(), 1U);
    ASSERT_TRUE(several.Interactions(model.View(), On(GetParam()), watched, base, 0, &found));
    EXPECT_EQ(watched.TakeThreads(), parts);
  }
  EXPECT_EQ(model.warnings, 0);
}

TEST_P(DealtPredictionTest, ExplanationsSurviveDevicesWithoutRoom) {
  HostModel model;
  auto const values = RandomValues({300, HostModel::kFeatures, 0.1}, 60);
  MemorySource const source{values, 70};
  BaseMargins const base{{}, {0.25f}};
  std::vector<float> expected, expected_pairs, found;
  Explanation explanation = MakeExplanation(model.Warner(), Eager());
  ASSERT_TRUE(explanation.Contributions(model.View(), On(1), source, base, 0, false, &expected));
  ASSERT_TRUE(explanation.Interactions(model.View(), On(1), source, base, 0, &expected_pairs));
  std::int64_t made = 1;
  for (std::int64_t n = 0; n < made; ++n) {
    model.warnings = 0;
    Explanation several = MakeExplanation(model.Warner(), Eager());  // it keeps away from devices that have failed
    FailDeviceAllocation(n);
    ASSERT_TRUE(several.Contributions(model.View(), On(GetParam()), source, base, 0, false, &found)) << n;
    made = FailDeviceAllocation(-1);
    EXPECT_EQ(Bits(found), Bits(expected)) << n;
    EXPECT_EQ(model.warnings, n < made ? 1 : 0) << n;
  }
  EXPECT_GT(made, 3 * GetParam());
  for (std::int64_t n = 0; n < made; n += 3) {
    Explanation several = MakeExplanation(model.Warner(), Eager());
    FailDeviceAllocation(n);
    ASSERT_TRUE(several.Interactions(model.View(), On(GetParam()), source, base, 0, &found)) << n;
    FailDeviceAllocation(-1);
    EXPECT_EQ(Bits(found), Bits(expected_pairs)) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DealtPredictionTest, ::testing::Values(2, 3, 5),
                         [](auto const& i) { return "On" + std::to_string(i.param); });

TEST(DealtPredictionPolicyTest, DevicesComeWithTheWork) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  HostModel model;
  PredictionPolicy policy = Eager();
  policy.dealt_work = 100 * kRounds;
  DevicePrediction prediction = MakeDevicePrediction(model.Warner(), false, policy);
  BaseMargins const base{{}, {0.25f}};
  auto const devices_for = [&](std::size_t rows, RoundRange rounds, int allowed) {
    auto const values = RandomValues({rows, HostModel::kFeatures, 0.1}, 70 + rows);
    std::vector<float> margins;
    EXPECT_TRUE(prediction.PredictMargins(model.View(), On(allowed), MemorySource{values}, rounds, &base, &margins));
    EXPECT_EQ(Bits(margins), Bits(model.MarginsByHand(values, rounds, std::vector<float>(rows, 0.25f))));
    return prediction.devices();
  };
  EXPECT_EQ(devices_for(199, kAll, 4), 1);
  EXPECT_EQ(devices_for(200, {0, kRounds - 1}, 4), 1);
  EXPECT_EQ(devices_for(200, kAll, 4), 2);
  EXPECT_EQ(model.times_read, 2) << "once for one device, once for two";
  EXPECT_EQ(devices_for(350, kAll, 4), 3);
  EXPECT_EQ(devices_for(5000, kAll, 2), 3) << "who has the model keeps it";
  EXPECT_EQ(devices_for(10, kAll, 4), 3);
  EXPECT_EQ(model.times_read, 3);
  prediction.Forget();
  EXPECT_EQ(prediction.devices(), 0);
  EXPECT_EQ(devices_for(5000, kAll, 4), 4);
  EXPECT_EQ(model.warnings, 0);
}

TEST(DealtPredictionPolicyTest, RowsOnADeviceAreNotDealt) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  HostModel model;
  auto const values = RandomValues({900, HostModel::kFeatures, 0.1}, 80);
  DeviceArena arena{"This test"};
  auto const copy = Upload(&arena, "values", values.at.data(), values.at.size());
  MemorySource const host{values};
  DeviceArraySource const source{host, {copy.data(), ValueType::kFloat32, std::nanf(""), 0}};
  DevicePrediction prediction = MakeDevicePrediction(model.Warner(), false, Eager());
  BaseMargins const base{{}, {0.25f}};
  std::vector<float> margins;
  ASSERT_TRUE(prediction.PredictMargins(model.View(), On(3), source, kAll, &base, &margins));
  EXPECT_EQ(Bits(margins), Bits(model.MarginsByHand(values, kAll, std::vector<float>(900, 0.25f))));
  EXPECT_EQ(prediction.devices(), 1);

  struct Watched final : RowSource {
    explicit Watched(DeviceArraySource const& from) : rows_{from} {}
    std::uint64_t rows() const override { return rows_.rows(); }
    FeatureIndex features() const override { return rows_.features(); }
    std::optional<DenseValues> dense() const override {
      asked_here_ = asked_here_ && std::this_thread::get_id() == here_;
      return rows_.dense();
    }
    void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { rows_.ForEachBatch(visit); }
    DeviceArraySource const& rows_;
    std::thread::id here_{std::this_thread::get_id()};
    mutable bool asked_here_{true};
  } const watched{source};
  Explanation explanation = MakeExplanation(model.Warner(), Eager());
  std::vector<float> found, expected;
  ASSERT_TRUE(explanation.Contributions(model.View(), On(3), watched, base, 0, false, &found));
  ASSERT_TRUE(explanation.Contributions(model.View(), On(1), host, base, 0, false, &expected));
  EXPECT_EQ(Bits(found), Bits(expected));
  EXPECT_TRUE(watched.asked_here_);
}

}  // namespace
}  // namespace xgbgpu::testing
