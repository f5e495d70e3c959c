// Predictions and explanations of a host's model: who makes them, how often the model is read, and what is warned of.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "driver/device_prediction.h"
#include "driver/explanation.h"
#include "driver/prediction_policy.h"
#include "support/covered_trees.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::GivenTree;
using testing::MemorySource;
using testing::Random;
using testing::RandomValues;

constexpr FeatureIndex kFeatures = 6;
constexpr std::uint32_t kRounds = 40;

/// A host's model of one output, which counts what the host is asked.
class HostModel {
 public:
  HostModel() {
    Random random{51};
    auto const values = RandomValues({400, kFeatures, 0.1}, 52);
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      trees_.push_back(testing::RandomTree({16, kFeatures}, values, &random));
      covers_.push_back(testing::RandomCovers(trees_.back(), &random));
    }
  }

  ModelView View() {
    return {kRounds,
            1,
            kFeatures,
            0.25f,
            [this](std::optional<float>) {
              ++forests_read;
              return testing::MakeForest(trees_);
            },
            [this] {
              ++paths_read;
              if (cannot_be_explained) throw InvalidArgument{"A node has no cover"};
              PathForest paths;
              for (std::size_t i = 0; i < trees_.size(); ++i) trees_[i].AddTo(&paths, covers_[i]);
              return paths;
            }};
  }
  std::vector<float> MarginsByHand(reference::Values const& values, RoundRange rounds,
                                   std::vector<float> margins) const {
    testing::AddByHand(trees_, rounds.first, rounds.last, values, 1, &margins);
    return margins;
  }
  std::vector<GivenTree> const& trees() const { return trees_; }
  /// Returns a Warn that counts warnings.
  Warn Warner() {
    return [this](std::string const&, std::string const&) { ++warnings; };
  }

  int forests_read{0}, paths_read{0}, warnings{0};
  bool cannot_be_explained{false};

 private:
  std::vector<GivenTree> trees_;
  std::vector<std::vector<float>> covers_;
};

TEST(DevicePredictionTest, LittleWorkIsTheHosts) {
  HostModel model;
  DevicePrediction prediction{model.Warner()};
  auto const values = RandomValues({20, kFeatures}, 53);
  BaseMargins const base{{}, 0.25f};
  std::vector<float> margins{1, 2, 3};
  EXPECT_FALSE(prediction.IsWorthwhile(model.View(), 20, kRounds));
  EXPECT_FALSE(prediction.PredictMargins(model.View(), {{BackendKind::kCuda, 0}, 2}, MemorySource{values}, {0, kRounds},
                                         &base, &margins));
  EXPECT_EQ(margins, (std::vector<float>{1, 2, 3})) << "they are as before";
  EXPECT_EQ(model.forests_read, 0);
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
  EXPECT_EQ(model.forests_read, 0);
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
  EXPECT_EQ(model.forests_read, 1);
  EXPECT_EQ(model.warnings, 1);
  prediction.Forget();
  EXPECT_FALSE(
      prediction.PredictMargins(model.View(), {{BackendKind::kCuda, 0}, 2}, source, {0, kRounds}, nullptr, &margins));
  EXPECT_EQ(model.forests_read, 2) << "another model is tried";
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
  BaseMargins const score{{}, 0.25f}, given{own, 0.25f};

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
  EXPECT_EQ(model.forests_read, 1);
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
  } const cases[] = {{{{}, 0.25f}, 0, kRounds}, {{own, 0.25f}, 10, 10}, {{{}, 0.5f}, kRounds + 5, kRounds}};
  for (auto const& c : cases) {
    std::vector<float> begin = own;
    if (c.base.given.empty()) begin.assign(300, c.base.score);
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
  EXPECT_EQ(model.paths_read, 1);
  EXPECT_EQ(model.warnings, 0);
}

TEST_P(ExplanationTest, WhatIsNotForItIsTheHosts) {
  HostModel model;
  Explanation explanation{model.Warner()};
  std::vector<float> out{1, 2};
  auto const few = RandomValues({10, kFeatures}, 59), wide = RandomValues({300, kFeatures + 1}, 60),
             fits = RandomValues({300, kFeatures}, 61);
  auto const explain = [&](reference::Values const& values) {
    return explanation.Contributions(model.View(), Where(), MemorySource{values}, {{}, 0.25f}, 0, false, &out);
  };
  EXPECT_FALSE(explain(few));
  EXPECT_FALSE(explain(wide)) << "a column that the model does not have";
  EXPECT_EQ(model.paths_read, 0);
  model.cannot_be_explained = true;
  EXPECT_FALSE(explain(fits));
  EXPECT_FALSE(explain(fits));
  EXPECT_EQ(model.paths_read, 1) << "a model that is not for us is read once";
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
  BaseMargins const base{{}, 0.25f};
  ASSERT_TRUE(explanation.Contributions(model.View(), {{BackendKind::kHost, 0}, 2}, MemorySource{values}, base, 0,
                                        false, &on_host));
  ASSERT_TRUE(explanation.Contributions(model.View(), {{BackendKind::kCuda, 0}, 2}, MemorySource{values}, base, 0,
                                        false, &elsewhere));
  EXPECT_EQ(on_host, elsewhere);
  EXPECT_EQ(model.warnings, 1);
}

INSTANTIATE_TEST_SUITE_P(Backends, ExplanationTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& i) { return testing::NameOf(i.param); });

}  // namespace
}  // namespace xgbgpu
