// Gradients that a sample has left out: those of sampled rows alone are computed, and the others when somebody asks for
// them, also if margins or labels have changed meanwhile.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "two_trainings.h"

namespace xgbgpu {
namespace testing {
namespace {

/// Of those with samples.
using SampledGradientsTest = UnusualRoundTest;

TEST_P(SampledGradientsTest, AreThoseOfEveryObjective) {
  for (ObjectiveParams objective : {ObjectiveParams{Objective::kSquaredError}, ObjectiveParams{Objective::kLogistic},
                                    ObjectiveParams{Objective::kLogitRaw}, ObjectiveParams{Objective::kHinge}}) {
    for (float scale : {1.0f, 3.0f}) {
      SCOPED_TRACE(static_cast<int>(objective.kind));
      objective.scale_pos_weight = scale;
      TwoTrainings both{case_, objective};
      for (float subsample : {0.1f, 0.5f, 0.1f}) {
        SetShare(subsample);
        ASSERT_NO_FATAL_FAILURE(both.Round(params_));
      }
    }
  }
}

TEST_P(SampledGradientsTest, AreGoneWhenMarginsHaveChanged) {
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

TEST_P(SampledGradientsTest, AreKeptWhenMarginsOrLabelsAreSetBeforeTheTree) {
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

// The first tree of the wide format on moved rows finds no room for its gradients, and is grown again: on the same
// ones.
TEST_P(SampledGradientsTest, OfATreeThatIsGrownAgain) {
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

TEST_P(SampledGradientsTest, OfATreeThatIsGrownAgainWhereMemoryIsShort) {
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

TEST_P(SampledGradientsTest, RowsMayGoBeforeTheirTree) {
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

INSTANTIATE_TEST_SUITE_P(Samples, SampledGradientsTest,
                         ::testing::Values(Sampling{"Uniform", SamplingMethod::kUniform, 0.2f},
                                           Sampling{"GradientBased", SamplingMethod::kGradientBased, 0.2f},
                                           Sampling{"Goss", SamplingMethod::kGoss, 0.2f}),
                         [](auto const& c) { return std::string{c.param.name}; });

}  // namespace
}  // namespace testing
}  // namespace xgbgpu
