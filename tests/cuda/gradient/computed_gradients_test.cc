// Gradients that trees compute themselves, for a sample or for all rows. Other gradients are computed when somebody
// asks for them, also if margins or labels have changed meanwhile.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cuda/timeline.h"
#include "cuda/two_trainings.h"
#include "rounds/resident_rows_cuda.h"

namespace xgbgpu {
namespace testing {
namespace {

using ComputedGradientsTest = UnusualRoundTest;

/// Makes rows of as many kinds as columns. Each kind has a gradient of its own, so trees are chains.
TreeCase RowsOfKinds(std::size_t kinds, int max_bin, float growth) {
  constexpr std::size_t kRows = 70003;
  TreeCase c = CaseOf({"", {kRows, kinds}, max_bin});
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t f = 0; f < kinds; ++f) c.values(row, f) = f == row % kinds ? 1.0f : 0.0f;
    c.gradients[row] = {-std::pow(growth, static_cast<float>(row % kinds)), 0.5f};
  }
  return c;
}

TEST_P(ComputedGradientsTest, AreThoseOfEveryObjective) {
  for (Objective kind :
       {Objective::kSquaredError, Objective::kSquaredLogError, Objective::kLogistic, Objective::kLogitRaw,
        Objective::kHinge, Objective::kPoisson, Objective::kGamma, Objective::kTweedie, Objective::kPseudoHuber,
        Objective::kExpectile, Objective::kSmoothAbsoluteError, Objective::kSmoothQuantile}) {
    for (float scale : {1.0f, 3.0f}) {
      SCOPED_TRACE(static_cast<int>(kind));
      ObjectiveParams objective{kind};
      objective.scale_pos_weight = scale;
      if (HasAlphas(kind)) objective.alphas = {0.2f};
      TwoTrainings both{case_, objective};
      for (float subsample : {0.1f, 0.5f, 0.1f}) {
        SetShare(subsample);
        ASSERT_NO_FATAL_FAILURE(both.Round(params_));
      }
    }
  }
}

// A recorded tree is recorded again for another objective.
TEST_P(ComputedGradientsTest, OfAnotherObjectiveOnTheSameRows) {
  TwoTrainings both{case_, {Objective::kPoisson}};
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  for (float step : {0.1f, 2.0f}) {
    ObjectiveParams objective{Objective::kPoisson};
    objective.max_delta_step = step;
    both.SetObjective(objective);
    ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  }
  both.SetObjective({Objective::kPseudoHuber});
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
}

// A tree is recorded once, and reads what changes from round to round.
TEST_P(ComputedGradientsTest, OfManyRoundsByOneRecording) {
  TwoTrainings both{case_, {Objective::kLogistic}};
  for (int round = 0; round < 2; ++round) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  SpoilRecordings(1000);
  for (int round = 0; round < 4; ++round) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  EXPECT_EQ(SpoilRecordings(0), 0);
}

// Gradients are quantised while they are computed, as if their maxima were like those of the tree before. They are; or
// they are not; or the format is the other one.
TEST_P(ComputedGradientsTest, MaximaLikeThoseOfTheTreeBeforeOrNot) {
  case_ = CaseOf({"", {150003, 6, 0.1}, 64});
  TwoTrainings both{case_};
  for (float label : {0.3f, 0.3f, 40.0f, 40.0f, 1e-20f, 1e30f}) {
    SCOPED_TRACE(label);
    both.SetLabels(label);
    both.SetMargins(0);
    for (int repeat = 0; repeat < 2; ++repeat) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  }
  both.SetLabels(1);
  both.SetMargins(0);
  for (std::size_t row = 0; row < case_.values.rows; row += 5000) both.SetMargin(row, 1e6f);  // these tower above all
  for (int repeat = 0; repeat < 3; ++repeat) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
}

// Records have all sizes. One recording serves every round of a training.
TEST_P(ComputedGradientsTest, OfRecordsOfEverySize) {
  for (std::size_t columns : {3, 7, 13, 28}) {
    for (Objective kind : {Objective::kLogistic, Objective::kSquaredError}) {
      SCOPED_TRACE(columns);
      TwoTrainings both{CaseOf({"", {GetParam().rows, columns, 0.1}, 64}), {kind}};
      ASSERT_NO_FATAL_FAILURE(both.Round(params_));
      SpoilRecordings(1000);
      for (int round = 0; round < 3; ++round) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
      both.SetMargins(0.1f);
      ASSERT_NO_FATAL_FAILURE(both.Round(params_));
      EXPECT_EQ(SpoilRecordings(0), 0);
    }
  }
}

// Gradients are 0, or one is far from all others.
TEST_P(ComputedGradientsTest, OfUnusualGradients) {
  TwoTrainings both{case_};
  for (std::size_t row = 0; row < case_.values.rows; ++row) {
    both.labels()[row] = case_.values(row, 0) > 0 ? 0.25f : (row % 2 == 0 ? 1.0f : -1.0f);
  }
  both.SetLabel(1, 1e12f);
  both.SetMargins(0.25f);
  for (int round = 0; round < 4; ++round) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  both.SetLabel(1, 1);
  for (int round = 0; round < 3; ++round) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
}

// If stages are timed one by one, no margins are speculative.
TEST_P(ComputedGradientsTest, BesideTreesThatAreTimed) {
  TwoTrainings both{case_, {Objective::kLogistic}};
  for (int times = 0; times < 2; ++times) {
    for (int round = 0; round < 2; ++round) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
    Timeline timeline{both.cuda().stream()};
    both.cuda().SetTimeline(&timeline);
    ASSERT_NO_FATAL_FAILURE(both.Round(params_));
    both.cuda().SetTimeline(nullptr);
    EXPECT_FALSE(timeline.entries().empty());
  }
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
}

// Deeper trees, of another kind, come between them.
TEST_P(ComputedGradientsTest, BesideTreesOfAnotherDepth) {
  SetShare(0.5f);
  TwoTrainings both{RowsOfKinds(32, 256, 1.2f)};
  for (int depth : {6, 0, 6, 6}) {
    params_.max_depth = depth;
    params_.max_leaves = depth == 0 ? 20 : 0;
    for (int round = 0; round < 2; ++round) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  }
}

// Labels, margins, leaf values, parameters change between two rounds, or a tree is given up.
TEST_P(ComputedGradientsTest, OfRoundsBetweenWhichAnythingChanges) {
  enum { kLabelsBefore, kLabels, kMargins, kOtherValues, kScale, kMethod, kAbandon, kRows, kAll };
  for (int change = kLabelsBefore; change < kAll; ++change) {
    SCOPED_TRACE(change);
    TwoTrainings both{case_, {Objective::kLogistic}};
    for (int round = 0; round < 2; ++round) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
    both.Begin(params_);
    if (change == kLabelsBefore) both.SetLabels(1);
    if (change == kAbandon) {
      both.cuda().Abandon();
    } else {
      ASSERT_NO_FATAL_FAILURE(both.Finish());
      std::vector<float> values = both.tree().leaf_value;
      if (change == kOtherValues) {
        for (float& value : values) value *= -2;
      }
      both.Add(values);
      both.ExpectSameMargins();
    }
    if (change == kLabels) both.SetLabels(1);
    if (change == kMargins) both.SetMargins(2);
    if (change == kRows) both.MakeRowsAgain();
    if (change == kScale) {
      ObjectiveParams objective{Objective::kLogistic};
      objective.scale_pos_weight = 5;
      both.SetObjective(objective);
    }
    TrainParams params = params_;
    if (change == kMethod && params.sampling_method == SamplingMethod::kGradientBased) {
      params.sampling_method = SamplingMethod::kGoss;
      params.subsample = 1;
    } else if (change == kMethod && params.sampling_method == SamplingMethod::kGoss) {
      params = With([](TrainParams* p) { p->sampling_method = SamplingMethod::kGradientBased, p->subsample = 0.2f; });
    }
    for (int round = 0; round < 2; ++round) ASSERT_NO_FATAL_FAILURE(both.Round(params));
  }
}

TEST_P(ComputedGradientsTest, AreGoneWhenMarginsHaveChanged) {
  TwoTrainings both{case_};
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  for (int change = 0; change < 3; ++change) {
    SCOPED_TRACE(change);
    EXPECT_NE(ErrorOf([&] { both.BeginGiven(params_); }).find("margins or labels have changed"), std::string::npos);
    if (change == 0) both.SetMargins(1);
    if (change == 1) both.SetLabels(0.5f);
  }
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
}

TEST_P(ComputedGradientsTest, AreKeptWhenMarginsOrLabelsAreSetBeforeTheTree) {
  for (bool labels : {false, true}) {
    TwoTrainings both{case_};
    both.rows().ComputeGradients({Objective::kSquaredError});
    both.ComputeOnHost();
    labels ? both.SetLabels(5) : both.SetMargins(5);
    both.BeginGiven(params_);
    ASSERT_NO_FATAL_FAILURE(both.Finish());
    both.Add(both.tree().leaf_value);
    both.ExpectSameMargins();
    ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  }
}

// The first tree of the wide format on moved rows finds no room for its gradients, and is grown again on the same
// gradients.
TEST_P(ComputedGradientsTest, OfATreeThatIsGrownAgain) {
  TreeCase c = CaseOf({"", {280000, 28, 0.1, 60}, 256});
  for (std::size_t row = 0; row < 20; ++row) c.gradients[row].hess = 1e9f;  // weights
  SetShare(0.5f);
  params_.max_depth = 8;
  enum { kNothing, kMargins, kLabels, kAbandon, kAll };
  for (int change = kNothing; change < kAll; ++change) {
    SCOPED_TRACE(change);
    TwoTrainings both{c};
    both.Begin(params_);
    if (change == kMargins) both.SetMargins(5);
    if (change == kLabels) both.SetLabels(5);
    if (change == kAbandon) {
      both.cuda().Abandon();
    } else {
      ASSERT_NO_FATAL_FAILURE(both.Finish());
      both.Add(both.tree().leaf_value);
      both.ExpectSameMargins();
    }
    for (int repeat = 0; repeat < 2; ++repeat) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  }
}

TEST_P(ComputedGradientsTest, OfATreeThatIsGrownAgainWhereMemoryIsShort) {
  TreeCase c = CaseOf({"", {280000, 28, 0.1, 60}, 256});
  for (std::size_t row = 0; row < 20; ++row) c.gradients[row].hess = 1e9f;
  SetShare(0.5f);
  params_.max_depth = 8;
  for (std::int64_t n = 0; n < 3; ++n) {
    SCOPED_TRACE(n);
    TwoTrainings both{c};
    both.Begin(params_);
    FailDeviceAllocation(n);
    ASSERT_NO_FATAL_FAILURE(both.Finish());
    FailDeviceAllocation(-1);
    both.Add(both.tree().leaf_value);
    both.ExpectSameMargins();
  }
}

// A larger sample finds room for only some of its arrays. The tree that was recorded before must not read memory that
// is gone. (Freed memory may still hold what it held, so only compute-sanitizer tells for sure.)
TEST_P(ComputedGradientsTest, OfARecordedTreeAfterMemoryWasShort) {
  TrainParams const recorded = With([](TrainParams* p) { p->subsample = 0.1f; });
  for (std::int64_t n = 0; n < 5; ++n) {
    SCOPED_TRACE(n);
    TwoTrainings both{case_};
    FailDeviceAllocation(0);  // speculative margins are given up
    ASSERT_NO_FATAL_FAILURE(both.Round(recorded));
    ASSERT_NO_FATAL_FAILURE(both.Round(recorded));
    SetShare(0.5f);
    FailDeviceAllocation(n);
    try {
      both.Begin(params_);
      both.cuda().Abandon();
    } catch (OutOfDeviceMemory const&) {
    }
    FailDeviceAllocation(-1);
    for (int repeat = 0; repeat < 2; ++repeat) ASSERT_NO_FATAL_FAILURE(both.Round(recorded));
  }
}

// Trees are too deep to be device-driven, and are grown again.
TEST_P(ComputedGradientsTest, OfATreeThatIsTooDeep) {
  TreeCase const c = RowsOfKinds(62, 64, 1.1f);
  SetShare(0.9f);
  params_.max_depth = 0;
  params_.max_leaves = 100;
  for (GrowPolicy const policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide}) {
    params_.grow_policy = policy;
    TwoTrainings both{c};
    for (int round = 0; round < 3; ++round) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
    EXPECT_GT(both.tree().size(), 120U);  // a chain of 61 splits
  }
}

TEST_P(ComputedGradientsTest, RowsMayGoBeforeTheirTree) {
  TreeCase c = CaseOf({"", {280000, 28, 0.1, 60}, 256});
  for (std::size_t row = 0; row < 20; ++row) c.gradients[row].hess = 1e9f;
  for (float subsample : {0.5f, 1.0f}) {
    SetShare(subsample);
    params_.max_depth = 8;
    TwoTrainings both{c};
    both.Begin(params_);
    both.MakeRowsAgain();
    for (int repeat = 0; repeat < 2; ++repeat) ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, ComputedGradientsTest,
                         ::testing::Values(kAllOfManyRows, Sampling{"Uniform", SamplingMethod::kUniform, 0.2f},
                                           Sampling{"GradientBased", SamplingMethod::kGradientBased, 0.2f},
                                           Sampling{"Goss", SamplingMethod::kGoss, 0.2f}),
                         [](auto const& c) { return std::string{c.param.name}; });

}  // namespace
}  // namespace testing
}  // namespace xgbgpu
