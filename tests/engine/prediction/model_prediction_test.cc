// Predictions and explanations of a host's model: who makes them, how often the model is read, and what is warned of.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "prediction/with_policy.h"
#include "support/covered_trees.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "support/host_model.h"
#include "xgbgpu/device_prediction.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::HostModel;
using testing::MemorySource;
using testing::RandomValues;

constexpr FeatureIndex kFeatures = HostModel::kFeatures;
constexpr std::uint32_t kRounds = HostModel::kRounds;

TEST(DevicePredictionTest, LittleWorkIsTheHosts) {
  HostModel model;
  DevicePrediction prediction{model.Warner()};
  auto const values = RandomValues({20, kFeatures}, 53);
  BaseMargins const base{{}, {0.25f}};
  std::vector<float> margins{1, 2, 3};
  EXPECT_FALSE(prediction.IsWorthwhile(model.View(), 20, kRounds));
  EXPECT_FALSE(prediction.PredictMargins(model.View(), {{BackendKind::kCuda, 0}, 2}, MemorySource{values}, {0, kRounds},
                                         &base, &margins));
  EXPECT_EQ(margins, (std::vector<float>{1, 2, 3})) << "they are as before";
  EXPECT_EQ(model.times_read, 0);
  EXPECT_EQ(model.warnings, 0);
}

TEST(DevicePredictionTest, RoundsThatAreNotThereAreTheHosts) {
  HostModel model;
  DevicePrediction prediction{model.Warner()};
  auto const values = RandomValues({20, kFeatures}, 54);
  std::vector<float> margins;
  for (RoundRange const rounds : {RoundRange{0, kRounds + 1}, RoundRange{3, 3}}) {
    EXPECT_FALSE(prediction.PredictMargins(model.View(), {{BackendKind::kCuda, 0}, 2}, MemorySource{values}, rounds,
                                           nullptr, &margins));
  }
  EXPECT_EQ(model.times_read, 0);
}

TEST(DevicePredictionTest, ADeviceThatFailsIsWarnedOfAndNotAskedAgain) {
  if (CudaAvailable()) GTEST_SKIP() << "there is a device, which does not fail";
  HostModel model;
  DevicePrediction prediction{model.Warner()};
  std::size_t const rows = kPredictionPolicy.first_use;  // enough for a process that uses no device yet
  struct Many final : RowSource {
    explicit Many(std::uint64_t n) : n_{n} {}
    std::uint64_t rows() const override { return n_; }
    FeatureIndex features() const override { return kFeatures; }
    void ForEachBatch(std::function<void(RowBatch const&)> const&) const override { FAIL() << "nobody reads them"; }
    std::uint64_t n_;
  } const source{rows};
  std::vector<float> margins{1, 2, 3};
  ASSERT_TRUE(prediction.IsWorthwhile(model.View(), rows, kRounds));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(
        prediction.PredictMargins(model.View(), {{BackendKind::kCuda, 0}, 2}, source, {0, kRounds}, nullptr, &margins));
  }
  EXPECT_EQ(margins, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(model.times_read, 1);
  EXPECT_EQ(model.warnings, 1);
  EXPECT_EQ(prediction.devices(), 0);
  prediction.Forget();
  EXPECT_FALSE(
      prediction.PredictMargins(model.View(), {{BackendKind::kCuda, 0}, 2}, source, {0, kRounds}, nullptr, &margins));
  EXPECT_EQ(model.times_read, 2) << "another model is tried";
}

TEST(DevicePredictionTest, OneDeviceIsTriedWhereSeveralFail) {
  if (CudaAvailable()) GTEST_SKIP() << "there is a device, which does not fail";
  PredictionPolicy policy;
  policy.first_use = policy.dealt_work = 1;
  HostModel model;
  DevicePrediction prediction = MakeDevicePrediction(model.Warner(), false, policy);
  std::size_t const rows = policy.read_tree + 1;
  MemorySource const source{RandomValues({rows, kFeatures}, 63)};
  std::vector<float> margins(rows, 3.0f), leaves{5};
  WorkPlace const where{{BackendKind::kCuda, 0, nullptr, 3}, 2};
  EXPECT_FALSE(prediction.PredictMargins(model.View(), where, source, {0, kRounds}, nullptr, &margins));
  EXPECT_FALSE(prediction.PredictLeaves(model.View(), where, source, {0, kRounds}, &leaves));
  EXPECT_EQ(margins, std::vector<float>(rows, 3.0f));
  EXPECT_EQ(leaves, std::vector<float>{5});
  EXPECT_EQ(model.times_read, 2) << "for three devices and for one, and then never again";
  EXPECT_EQ(model.warnings, 2);
}

TEST(DevicePredictionTest, GivesTheBitsOfTheWalkByHand) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  HostModel model;
  DevicePrediction prediction{model.Warner()};
  // This is enough for a process that uses no device yet, and for a model that the device does not have.
  std::size_t const rows = kPredictionPolicy.first_use / kRounds + kPredictionPolicy.read_tree + 1;
  auto const values = RandomValues({rows, kFeatures, 0.1}, 55);
  MemorySource const source{values};
  WorkPlace const where{{BackendKind::kCuda, 0}, 2};
  std::vector<float> const own = testing::RandomMargins(rows, 56);
  BaseMargins const score{{}, {0.25f}}, given{own, {0.25f}};

  std::vector<float> margins{7};
  ASSERT_TRUE(prediction.PredictMargins(model.View(), where, source, {0, kRounds}, &score, &margins));
  EXPECT_EQ(margins, model.MarginsByHand(values, {0, kRounds}, std::vector<float>(rows, 0.25f)));
  ASSERT_TRUE(prediction.PredictMargins(model.View(), where, source, {0, 20}, &given, &margins));
  EXPECT_EQ(margins, model.MarginsByHand(values, {0, 20}, own));
  ASSERT_TRUE(prediction.PredictMargins(model.View(), where, source, {20, kRounds}, nullptr, &margins));
  EXPECT_EQ(margins, model.MarginsByHand(values, {0, kRounds}, own)) << "the rest was added";

  std::vector<float> leaves;
  ASSERT_TRUE(prediction.PredictLeaves(model.View(), where, source, {0, kRounds}, &leaves));
  EXPECT_EQ(leaves, testing::LeavesByHand(model.trees(), 0, kRounds, values));
  EXPECT_EQ(model.times_read, 1);
  EXPECT_EQ(model.warnings, 0);
}

class ExplanationTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(GetParam()); }
  WorkPlace Where() const { return {{GetParam(), 0}, 2}; }
};

TEST_P(ExplanationTest, RowsSumToMargins) {
  HostModel model;
  Explanation explanation{model.Warner()};
  auto const values = RandomValues({300, kFeatures, 0.1}, 57);
  MemorySource const source{values};
  std::vector<float> const own = testing::RandomMargins(300, 58);
  struct {
    BaseMargins base;
    std::uint32_t wanted, rounds;
  } const cases[] = {{{{}, {0.25f}}, 0, kRounds}, {{own, {0.25f}}, 10, 10}, {{{}, {0.5f}}, kRounds + 5, kRounds}};
  for (auto const& c : cases) {
    std::vector<float> begin = own;
    if (c.base.given.empty()) begin.assign(300, c.base.scores[0]);
    auto const margins = model.MarginsByHand(values, {0, c.rounds}, begin);
    std::vector<float> contributions, interactions;
    ASSERT_TRUE(explanation.Contributions(model.View(), Where(), source, c.base, c.wanted, false, &contributions));
    ASSERT_TRUE(explanation.Interactions(model.View(), Where(), source, c.base, c.wanted, &interactions));
    std::size_t const columns = kFeatures + 1;
    ASSERT_EQ(contributions.size(), 300 * columns);
    ASSERT_EQ(interactions.size(), 300 * columns * columns);
    for (std::size_t row = 0; row < 300; ++row) {
      double sum = 0, sum_of_pairs = 0, size = std::abs(double{begin[row]});
      for (std::size_t i = 0; i < columns; ++i) sum += contributions[row * columns + i];
      for (std::size_t i = 0; i < columns * columns; ++i) {
        sum_of_pairs += interactions[row * columns * columns + i];
        size += std::abs(double{interactions[row * columns * columns + i]});
      }
      // Each value, and each of the margin's steps, as many as rounds, is rounded to a float once. `size` bounds them.
      double const bound = (size + std::abs(margins[row]) + c.rounds) * (c.rounds + 2.0) * testing::kUnit;
      ASSERT_NEAR(sum, margins[row], bound) << row;
      ASSERT_NEAR(sum_of_pairs, margins[row], bound) << row;
    }
  }
  EXPECT_EQ(model.times_read, 1);
  EXPECT_EQ(model.warnings, 0);
}

TEST_P(ExplanationTest, WhatIsNotForItIsTheHosts) {
  HostModel model;
  Explanation explanation{model.Warner()};
  std::vector<float> out{1, 2};
  auto const few = RandomValues({10, kFeatures}, 59), wide = RandomValues({300, kFeatures + 1}, 60),
             fits = RandomValues({300, kFeatures}, 61);
  auto const explain = [&](reference::Values const& values) {
    return explanation.Contributions(model.View(), Where(), MemorySource{values}, {{}, {0.25f}}, 0, false, &out);
  };
  EXPECT_FALSE(explain(few));
  EXPECT_FALSE(explain(wide)) << "a column that the model does not have";
  EXPECT_EQ(model.times_read, 0);
  model.cannot_be_explained = true;
  EXPECT_FALSE(explain(fits));
  EXPECT_FALSE(explain(fits));
  EXPECT_EQ(model.times_read, 1) << "a model that is not for us is read once";
  EXPECT_EQ(out, (std::vector<float>{1, 2}));
  model.cannot_be_explained = false;
  explanation.Forget();
  EXPECT_TRUE(explain(fits));
}

TEST(ExplanationWithoutDeviceTest, WithoutADeviceTheHostExplainsAndSaysSo) {
  if (CudaAvailable()) GTEST_SKIP() << "there is a device";
  HostModel model;
  Explanation explanation{model.Warner()};
  auto const values = RandomValues({300, kFeatures}, 62);
  std::vector<float> on_host, elsewhere;
  BaseMargins const base{{}, {0.25f}};
  ASSERT_TRUE(explanation.Contributions(model.View(), {{BackendKind::kHost, 0}, 2}, MemorySource{values}, base, 0,
                                        false, &on_host));
  ASSERT_TRUE(explanation.Contributions(model.View(), {{BackendKind::kCuda, 0}, 2}, MemorySource{values}, base, 0,
                                        false, &elsewhere));
  EXPECT_EQ(on_host, elsewhere);
  EXPECT_EQ(model.warnings, 1);

  PredictionPolicy policy;
  policy.dealt_explanations = 1;
  Explanation several = MakeExplanation(model.Warner(), policy);
  WorkPlace const where{{BackendKind::kCuda, 0, nullptr, 3}, 2};
  ASSERT_TRUE(several.Contributions(model.View(), where, MemorySource{values}, base, 0, false, &elsewhere));
  EXPECT_EQ(on_host, elsewhere);
  EXPECT_EQ(model.warnings, 3) << "three devices cannot, and one cannot";
}

INSTANTIATE_TEST_SUITE_P(Backends, ExplanationTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& i) { return testing::NameOf(i.param); });

}  // namespace
}  // namespace xgbgpu
