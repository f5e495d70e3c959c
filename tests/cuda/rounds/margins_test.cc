// Margins on a device, which rounds advance before the host has seen the tree, are those of the host, bit for bit, also
// if leaf values turn out to be others, or margins are set meanwhile.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cuda/two_trainings.h"

namespace xgbgpu {
namespace testing {
namespace {

class MarginsTest : public ::testing::TestWithParam<Shape> {};

TEST_P(MarginsTest, AdvanceAsOnTheHost) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  TreeCase const c = CaseOf(GetParam());
  TwoTrainings both{c};
  for (TrainParams const& params : {
           With([](TrainParams*) {}),
           With([](TrainParams* p) { p->max_depth = 9; }),
           With([](TrainParams* p) { p->max_depth = 1; }),
           With([](TrainParams* p) { p->reg_alpha = 0.5f, p->max_delta_step = 0.1f; }),
           With([](TrainParams* p) { p->min_child_weight = 1e9f; }),  // the tree is a single root
           With([&](TrainParams* p) {
             p->monotone_constraints.resize(c.values.features);
             p->monotone_constraints[0] = 1;
           }),
           With([](TrainParams* p) { p->subsample = 0.3f; }),
           With([](TrainParams* p) { p->sampling_method = SamplingMethod::kGoss; }),
           With([](TrainParams* p) {
             p->sampling_method = SamplingMethod::kGradientBased;
             p->subsample = 0.2f;
           }),
           With([](TrainParams* p) {  // the host cuts it out of a whole tree
             p->grow_policy = GrowPolicy::kLossGuide;
             p->max_leaves = 40;
           }),
           With([](TrainParams* p) {  // with an order
             p->grow_policy = GrowPolicy::kLossGuide;
             p->max_leaves = 60;
             p->max_depth = 0;
           }),
           With([](TrainParams* p) {  // open
             p->max_leaves = 61;
             p->max_depth = 0;
           }),
           With([](TrainParams* p) {  // ends before rows are moved
             p->max_leaves = 5;
             p->max_depth = 0;
           }),
           With([](TrainParams* p) {
             p->max_leaves = 100;
             p->max_depth = 9;
             p->subsample = 0.4f;
           }),
           With([](TrainParams* p) { p->max_depth = 18; }),  // host-driven
           With([](TrainParams* p) { p->grow_policy = GrowPolicy::kSymmetric; }),
           With([](TrainParams* p) {
             p->grow_policy = GrowPolicy::kSymmetric;
             p->min_split_loss = 3.0f;  // levels are cut off
             p->subsample = 0.4f;
           }),
       }) {
    SCOPED_TRACE("depth " + std::to_string(params.max_depth) + ", leaves " + std::to_string(params.max_leaves));
    for (int repeat = 0; repeat < 2; ++repeat) ASSERT_NO_FATAL_FAILURE(both.Round(params));
    both.ExpectSameLeaves();
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MarginsTest,
                         ::testing::Values(Shape{"Moved", {280000, 28, 0.1, 60}, 256},
                                           Shape{"MovedTwoTiles", {140000, 50, 0.1, 100}, 128},
                                           Shape{"MovedCategories", {280000, 28, 0.1, 60}, 256, 50},
                                           Shape{"Bytes", {20003, 13, 0.1}, 64},
                                           Shape{"TwoBytes", {20000, 10, 0.1}, 1000},
                                           Shape{"Sparse", {20000, 20, 0.9}, 64}, Shape{"OneRow", {1, 3}, 256}),
                         [](auto const& c) { return std::string{c.param.name}; });

TEST_P(UnusualRoundTest, OtherLeafValuesAreAdded) {
  TwoTrainings both{case_};
  both.Begin(params_);
  ASSERT_NO_FATAL_FAILURE(both.Finish());
  std::vector<float> values = both.tree().leaf_value;
  for (float& v : values) v = 2 * v + 1;
  both.Add(values);
  both.ExpectSameMargins();
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
}

TEST_P(UnusualRoundTest, LeafValuesAreAddedAgain) {
  TwoTrainings both{case_};
  both.Begin(params_);
  ASSERT_NO_FATAL_FAILURE(both.Finish());
  both.Add(both.tree().leaf_value);
  both.Add(both.tree().leaf_value);
  both.ExpectSameMargins();
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
}

TEST_P(UnusualRoundTest, MarginsAreSetWhileATreeGrows) {
  TwoTrainings both{case_};
  both.Begin(params_);
  both.SetMargins(-3);
  ASSERT_NO_FATAL_FAILURE(both.Finish());
  both.Add(both.tree().leaf_value);
  both.ExpectSameMargins();
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
}

TEST_P(UnusualRoundTest, NobodyWantsTheTree) {
  TwoTrainings both{case_};
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  both.Begin(params_);
  both.cuda().Abandon();
  both.ExpectSameMargins();
  both.Begin(params_);
  ASSERT_NO_FATAL_FAILURE(both.Finish());
  both.ExpectSameMargins();  // nothing was added
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
}

TEST_P(UnusualRoundTest, LeafValuesGoToTheHost) {
  TwoTrainings both{case_};
  both.Begin(params_);
  ASSERT_NO_FATAL_FAILURE(both.Finish());
  std::vector<float> host_margins(case_.values.rows, 0.5f), margins(host_margins);
  std::vector<NodeIndex> positions(case_.values.rows);
  both.cuda().LeafPositions(positions, {});
  both.cuda().CudaBuilder::AddLeafValues(both.tree().leaf_value, margins.data(), 1);
  for (std::size_t r = 0; r < positions.size(); ++r) {
    host_margins[r] += both.tree().leaf_value[static_cast<std::size_t>(positions[r])];
  }
  EXPECT_EQ(Bits(margins), Bits(host_margins));
  both.Add(both.tree().leaf_value);
  both.ExpectSameMargins();
}

TEST_P(UnusualRoundTest, TreesOfOtherParametersOnTheSameGradients) {
  TwoTrainings both{case_};
  both.Begin(params_);
  ASSERT_NO_FATAL_FAILURE(both.Finish());
  for (float subsample : {0.5f, 1.0f, 0.2f}) {
    SetShare(subsample);
    both.BeginAgain(params_);
    ASSERT_NO_FATAL_FAILURE(both.Finish());
  }
  both.Add(both.tree().leaf_value);
  both.ExpectSameMargins();
}

TEST_P(UnusualRoundTest, AForestOnTheSameGradients) {
  TwoTrainings both{case_};
  ASSERT_NO_FATAL_FAILURE(both.Forest(params_, 3));
  both.ExpectSameMargins();
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
}

// A sample does not need the gradients of other rows, but their errors must be told.
TEST_P(UnusualRoundTest, GradientsThatAreNotFiniteAreTold) {
  for (float const value : {std::numeric_limits<float>::quiet_NaN(), 3e38f, 1e30f}) {
    bool told = false;
    for (std::size_t row = 0; row < 5; ++row) {
      SCOPED_TRACE("row " + std::to_string(row) + ", margin " + std::to_string(value));
      TwoTrainings both{case_};
      both.SetMargin(row, value);
      both.Begin(params_);
      std::string const on_host = ErrorOf([&] { both.GrowOnHost(); });
      EXPECT_EQ(ErrorOf([&] { both.cuda().FinishNext(); }), on_host);
      told = told || !on_host.empty();
    }
    EXPECT_EQ(told, value != 1e30f);
  }
}

TEST_P(UnusualRoundTest, EqualMargins) {
  TwoTrainings both{case_};
  for (std::uint32_t const outputs : {1U, 3U}) {
    auto const rows = both.cuda().MakeRows(outputs);
    std::vector<float> margins(case_.values.rows * std::size_t{outputs}, 7.0f);
    rows->SetMargins(margins);
    rows->SetEqualMargins(std::vector<float>{-1.5f});
    rows->CopyMargins(margins);
    EXPECT_EQ(margins, std::vector<float>(margins.size(), -1.5f));
    std::vector<float> const of_outputs{0.5f, -2.0f, 3.0f};
    rows->SetEqualMargins(Span<float const>{of_outputs.data(), outputs});
    rows->CopyMargins(margins);
    for (std::size_t i = 0; i < margins.size(); ++i) ASSERT_EQ(margins[i], of_outputs[i % outputs]) << i;
  }
}

TEST_P(UnusualRoundTest, MarginsOfOtherRowsOnlyGetTheLeafValues) {
  TwoTrainings both{case_};
  auto const others = both.cuda().MakeRows(1);
  std::vector<float> const labels(case_.values.rows);
  std::vector<float> expected(labels);
  others->SetTargets({labels.data()});
  others->SetMargins(expected);
  others->ComputeGradients({Objective::kSquaredError});
  both.cuda().Begin(params_, others.get(), {{0, {0, 0}}});  // the next Begin abandons it, with speculative margins
  ASSERT_NO_FATAL_FAILURE(both.Round(params_));
  both.Begin(params_);
  ASSERT_NO_FATAL_FAILURE(both.Finish());
  both.cuda().AddLeafValues(both.tree().leaf_value, others.get(), 0);
  std::vector<NodeIndex> positions(expected.size());
  both.cuda().LeafPositions(positions, {});
  for (std::size_t r = 0; r < expected.size(); ++r) {
    expected[r] += both.tree().leaf_value[static_cast<std::size_t>(positions[r])];
  }
  std::vector<float> margins(expected.size());
  others->CopyMargins(margins);
  EXPECT_EQ(Bits(margins), Bits(expected));
}

// Memory for speculative margins is given up if anything else needs it.
TEST_P(UnusualRoundTest, EveryAllocationMayFail) {
  auto const train = [&] {
    TwoTrainings both{case_};
    for (int round = 0; round < 2; ++round) both.Round(params_);
  };
  FailDeviceAllocation(-1);
  { TwoTrainings const both{case_}; }
  std::int64_t const before_rounds = FailDeviceAllocation(-1);
  ASSERT_NO_FATAL_FAILURE(train());
  std::int64_t const allocations = FailDeviceAllocation(-1);
  ASSERT_GT(allocations, before_rounds + 10);
  std::int64_t errors = 0;
  for (std::int64_t n = 0; n < allocations; ++n) {
    SCOPED_TRACE(n);
    FailDeviceAllocation(n);
    try {
      train();
    } catch (OutOfDeviceMemory const&) {
      ++errors;
    }
    FailDeviceAllocation(-1);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_EQ(errors, before_rounds);
}

INSTANTIATE_TEST_SUITE_P(Samples, UnusualRoundTest,
                         ::testing::Values(Sampling{"AllRows", SamplingMethod::kUniform, 1.0f}, kAllOfManyRows,
                                           Sampling{"Uniform", SamplingMethod::kUniform, 0.3f},
                                           Sampling{"GradientBased", SamplingMethod::kGradientBased, 0.3f},
                                           Sampling{"Goss", SamplingMethod::kGoss, 0.3f}),
                         [](auto const& c) { return std::string{c.param.name}; });

}  // namespace
}  // namespace testing
}  // namespace xgbgpu
