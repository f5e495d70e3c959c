// Boosting rounds as a host asks for them: whole models, rows that are evaluated, rounds that fail.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/grow.h"
#include "support/model_case.h"
#include "xgbgpu/boosting_round.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::ModelCase;
using testing::ModelOptions;
using testing::OwnedData;
using testing::RandomValues;
using testing::WhatIsWrong;

TEST(TreesOfRoundTest, AreThoseOfAnOutputOneAfterTheOther) {
  auto const trees = TreesOfRound(7, 2, 3);
  ASSERT_EQ(trees.size(), 6U);
  for (std::uint32_t i = 0; i < 6; ++i) EXPECT_EQ(trees[i], (RoundTree{i / 3, {7, i}})) << i;
}

TEST(KeptRoundsTest, KnowWhichTreesRowsLack) {
  KeptRounds kept;
  EXPECT_FALSE(kept.FirstMissing(0, 2, 0)) << "no tree is kept";
  kept.from = 3;
  kept.until = 5;
  EXPECT_EQ(kept.FirstMissing(3, 5, 12), std::size_t{0});
  EXPECT_EQ(kept.FirstMissing(4, 5, 12), std::size_t{6});
  EXPECT_FALSE(kept.FirstMissing(2, 5, 12)) << "trees before round 3 are gone";
  EXPECT_FALSE(kept.FirstMissing(4, 6, 12)) << "the last round's trees were not kept";
}

TEST(LeafRuleTest, RefusesToWeighRowsTwice) {
  TrainParams params;
  params.sampling_method = SamplingMethod::kGoss;
  EXPECT_EQ(WhatIsWrong<Unsupported>([&] { CheckLeafRule(params, true); }, {"sampling_method is 'goss'"}), "");
  EXPECT_NO_THROW(CheckLeafRule(params, false));
  params.sampling_method = SamplingMethod::kUniform;
  params.subsample = 0.5f;
  EXPECT_NO_THROW(CheckLeafRule(params, true));
}

TEST(CheckFiniteTest, NamesRowClassAndValue) {
  std::vector<GradientPair> gradients(3000, GradientPair{1, 1});
  EXPECT_NO_THROW(CheckFinite(gradients, 3));
  gradients[2501] = {1e-9f, std::numeric_limits<float>::infinity()};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { CheckFinite(gradients, 3); },
                                         {"row 833, output 2 is (grad 1e-09, hess inf); both must be finite"}),
            "");
}

ObjectiveParams ObjectiveOf(Objective kind) { return ObjectiveParams{kind}; }

class RoundsTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(GetParam()); }
};

/// Makes the model by plain calls of a trainer on the host.
struct PlainModel {
  std::vector<Tree> trees;
  std::vector<float> margins;
};
PlainModel TrainPlainly(OwnedData* data, ModelOptions const& options, std::uint32_t rounds) {
  PlainModel model;
  std::uint32_t const outputs = options.outputs;
  model.margins.assign(data->rows() * outputs, 0.5f);
  Trainer trainer{Dataset::Build(data->source(), {}, 256, 1), BackendKind::kHost, 1};
  TrainParams params = options.params;
  params.learning_rate /= static_cast<float>(options.per_output);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    ObjectiveParams objective = options.objective;
    objective.iteration = round;
    std::vector<GradientPair> all(model.margins.size()), gradients(data->rows());
    host::ComputeGradients(objective, data->targets(),
                           RowMajor<float const>(model.margins.data(), data->rows(), outputs),
                           RowMajor(all.data(), data->rows(), outputs), 1);
    std::uint32_t index = 0;
    for (std::uint32_t output = 0; output < outputs; ++output) {
      for (std::size_t row = 0; row < data->rows(); ++row) gradients[row] = all[row * outputs + output];
      for (std::size_t i = 0; i < options.per_output; ++i) {
        model.trees.push_back(trainer.Grow(params, gradients, {round, index++}));
        trainer.AddLeafValues(model.trees.back().leaf_value, model.margins.data() + output, outputs);
      }
    }
  }
  return model;
}

TEST_P(RoundsTest, GiveTheModelOfPlainCalls) {
  ModelOptions options[4];
  options[1].objective = ObjectiveOf(Objective::kSoftmax);
  options[1].outputs = 3;
  options[2].per_output = 3;
  options[2].params.subsample = 0.5f;
  options[3].objective = ObjectiveOf(Objective::kLogitRaw);
  options[3].speculates = false;
  options[3].params.max_depth = 3;
  for (auto const& o : options) {
    OwnedData data{RandomValues({700, 5, 0.1}, 21), o.outputs, 22};
    if (o.objective.kind == Objective::kLogitRaw) {
      for (float& label : data.labels()) label = label > 0.5f ? 1.0f : 0.0f;
    }
    constexpr std::uint32_t kRounds = 5;
    auto const expected = TrainPlainly(&data, o, kRounds);
    ModelCase model{&data, GetParam(), o};
    for (std::uint32_t round = 0; round < kRounds; ++round) model.Round();
    EXPECT_EQ(model.trees(), expected.trees);
    EXPECT_EQ(model.Margins(), expected.margins);
    EXPECT_EQ(model.rounds(), kRounds);
  }
}

TEST_P(RoundsTest, ChangedLabelsAndParametersCountAtOnce) {
  // Three rounds are alike, so a device has begun the fourth when the labels change.
  OwnedData data{RandomValues({700, 5, 0.1}, 23), 1, 24};
  ModelCase model{&data, GetParam()};
  for (int round = 0; round < 3; ++round) model.Round();
  auto const before = model.Margins();
  for (float& label : data.labels()) label = 1 - label;
  model.Round();

  Trainer trainer{Dataset::Build(data.source(), {}, 256, 1), BackendKind::kHost, 1};
  std::vector<GradientPair> gradients(data.rows());
  host::ComputeGradients(ObjectiveOf(Objective::kSquaredError), data.targets(), RowMajor(before.data(), data.rows(), 1),
                         RowMajor(gradients.data(), data.rows(), 1), 1);
  EXPECT_EQ(model.trees().back(), trainer.Grow({}, gradients, {3, 0}));
}

TEST_P(RoundsTest, LeavesOfAbsoluteErrorAreMedians) {
  OwnedData data{RandomValues({300, 4}, 25), 1, 26};
  ModelOptions options;
  options.objective = ObjectiveOf(Objective::kAbsoluteError);
  options.params.max_depth = 1;
  ModelCase model{&data, GetParam(), options};
  model.Round();
  Tree const& tree = model.trees().front();
  ASSERT_EQ(tree.size(), 3U);
  for (NodeIndex leaf : {1, 2}) {
    std::vector<float> residuals;
    for (std::size_t row = 0; row < data.rows(); ++row) {
      bool const left = data.values()(row, tree.feature[0]) < tree.threshold[0];
      if (left == (leaf == 1)) residuals.push_back(data.labels()[row] - 0.5f);
    }
    std::sort(residuals.begin(), residuals.end());
    std::size_t const n = residuals.size();
    float const low = residuals[(n - 1) / 2], high = residuals[n / 2];
    EXPECT_GE(tree.leaf_value[leaf], low);
    EXPECT_LE(tree.leaf_value[leaf], high);
  }
}

/// Returns the residuals of the rows in each leaf of a tree of depth 1, in ascending order.
std::vector<std::vector<float>> SortedResiduals(OwnedData* data, Tree const& tree, float margin) {
  std::vector<std::vector<float>> residuals(3);
  for (std::size_t row = 0; row < data->rows(); ++row) {
    bool const left = data->values()(row, tree.feature[0]) < tree.threshold[0];
    residuals[left ? 1 : 2].push_back(data->labels()[row] - margin);
  }
  for (auto& of_leaf : residuals) std::sort(of_leaf.begin(), of_leaf.end());
  return residuals;
}

TEST_P(RoundsTest, LeavesOfEachQuantileAreThatQuantileTimesEta) {
  OwnedData data{RandomValues({300, 4}, 31), 1, 32};
  ModelOptions options;
  options.objective = ObjectiveOf(Objective::kQuantile);
  options.objective.alphas = {0.1f, 0.75f};
  options.outputs = 2;
  options.per_output = 2;
  options.params.max_depth = 1;
  options.params.learning_rate = 0.5f;
  ModelCase model{&data, GetParam(), options};
  model.Round();
  ASSERT_EQ(model.trees().size(), 4U);
  for (std::size_t t = 0; t < 4; ++t) {
    Tree const& tree = model.trees()[t];
    ASSERT_EQ(tree.size(), 3U);
    auto const residuals = SortedResiduals(&data, tree, 0.5f);
    double const alpha = options.objective.alphas[t / 2];
    for (std::size_t const leaf : {1, 2}) {
      double const place = alpha * static_cast<double>(residuals[leaf].size() + 1);
      auto const k = static_cast<std::size_t>(place);
      ASSERT_GE(k, 1U);
      ASSERT_LT(k, residuals[leaf].size());
      double const low = residuals[leaf][k - 1], gap = residuals[leaf][k] - low;
      double const eta = 0.25;  // of two trees of an output
      EXPECT_FLOAT_EQ(tree.leaf_value[leaf], static_cast<float>((low + (place - static_cast<double>(k)) * gap) * eta));
    }
  }
}

TEST_P(RoundsTest, QuantilesNeedAMarginForEach) {
  if (GetParam() != BackendKind::kHost) GTEST_SKIP() << "rows on a device have them";
  OwnedData data{RandomValues({50, 2}, 27), 1, 28};
  TrainingPool pool;
  Training& training = pool.Get(data.Request({BackendKind::kHost, 0}), 2);
  std::vector<float> const few(50);
  std::vector<GradientPair> const gradients(data.rows(), GradientPair{1, 1});
  RoundOrder order;
  order.leaves = LeafRule::kQuantiles;
  HostRound round{&training, order, {data.labels(), {}, few, {0.1f, 0.9f}}};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { round.Next(gradients, 1); }, {"50 margins for 50 rows", "takes 100"}),
            "");
}

TEST_P(RoundsTest, MediansNeedOneLabelAndMarginARow) {
  if (GetParam() != BackendKind::kHost) GTEST_SKIP() << "rows on a device have them";
  OwnedData data{RandomValues({50, 2}, 27), 1, 28};
  TrainingPool pool;
  Training& training = pool.Get(data.Request({BackendKind::kHost, 0}), 2);
  std::vector<float> const few(3);
  std::vector<GradientPair> const gradients(data.rows(), GradientPair{1, 1});
  RoundOrder order;
  order.leaves = LeafRule::kMedians;
  HostRound round{&training, order, {data.labels(), {}, few, {}}};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { round.Next(gradients, 1); }, {"3 margins for 50 rows"}), "");
}

TEST_P(RoundsTest, OneThatFailsLeavesNothingThatLooksCurrent) {
  OwnedData data{RandomValues({300, 4}, 29), 1, 30};
  ModelCase model{&data, GetParam()};
  model.Round();
  Training& training = model.training();
  training.own.rounds = 1;
  std::vector<GradientPair> gradients(data.rows(), GradientPair{std::numeric_limits<float>::quiet_NaN(), 1});
  RoundOrder order;
  order.iteration = 1;
  {
    HostRound round{&training, order, {}};
    EXPECT_THROW(round.Next(gradients, 1), InvalidArgument);
  }
  EXPECT_FALSE(training.own.rounds);
  EXPECT_EQ(model.pool().FindMargins(data.key(), 1), nullptr);
}

TEST_P(RoundsTest, RowsThatAreEvaluatedFollowTheModel) {
  OwnedData data{RandomValues({700, 5, 0.1}, 31), 1, 32}, other{RandomValues({1500, 5, 0.1}, 33), 1, 34};
  ModelCase model{&data, GetParam()};
  model.Round();
  Training& training = model.training();
  bool const admitted = training.Admit(other.key(), other.source(), model.Predict(other), 1, model.rounds());
  EXPECT_EQ(admitted, GetParam() == BackendKind::kCuda) << "the host predicts its own";
  EXPECT_EQ(training.EvaluatesOnDevice(), admitted);
  EXPECT_EQ(training.Advance(data.key(), model.rounds()), nullptr) << "these rows are not evaluated";
  if (!admitted) return;

  std::vector<float> margins(other.rows());
  for (int round = 0; round < 4; ++round) {
    model.Round(true);
    if (round == 1) continue;  // the rows are asked for after two rounds
    KeptRows* const rows = training.Advance(other.key(), model.rounds());
    ASSERT_NE(rows, nullptr);
    rows->rows->CopyMargins(margins);
    EXPECT_EQ(margins, model.Predict(other)) << round;
  }
  model.Round(false);
  EXPECT_EQ(training.Advance(other.key(), model.rounds()), nullptr) << "that round's trees were not kept";
  EXPECT_TRUE(training.Admit(other.key(), other.source(), model.Predict(other), 1, model.rounds()));
  EXPECT_NE(training.Advance(other.key(), model.rounds()), nullptr);
  other.Die();
  EXPECT_EQ(training.Advance(other.key(), model.rounds()), nullptr);
  EXPECT_FALSE(training.EvaluatesOnDevice());
}

TEST_P(RoundsTest, FewRowsAreNotForADevice) {
  OwnedData data{RandomValues({700, 5, 0.1}, 35), 1, 36}, few{RandomValues({1000, 5, 0.1}, 37), 1, 38};
  ModelCase model{&data, GetParam()};
  model.Round();
  EXPECT_FALSE(model.training().Admit(few.key(), few.source(), model.Predict(few), 1, model.rounds()));
}

INSTANTIATE_TEST_SUITE_P(Backends, RoundsTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& i) { return testing::NameOf(i.param); });

}  // namespace
}  // namespace xgbgpu
