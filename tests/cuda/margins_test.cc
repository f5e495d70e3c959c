// Margins on a device, which rounds advance before the host has seen the tree: they are those of the host, bit for bit,
// also where leaf values turn out to be others, or margins are set meanwhile.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda_tree_builder.h"
#include "driver/hist.h"
#include "objective/objective.h"
#include "rounds/resident_rows.h"
#include "support/given_trees.h"
#include "support/grow.h"

namespace xgbgpu {
namespace {

using testing::Bits;
using testing::TreeCase;

constexpr int kThreads = 4;

/// What it throws, or nothing.
template <typename F>
std::string ErrorOf(F&& f) {
  try {
    f();
  } catch (InvalidArgument const& e) {
    return e.what();
  }
  return {};
}

/// One training in both backends; on the device with rows that stay there.
class TwoTrainings {
 public:
  explicit TwoTrainings(TreeCase const& c, ObjectiveParams const& objective = {Objective::kSquaredError})
      : objective_{objective},
        data_{testing::MakeDataset(c)},
        host_{MakeHostTreeBuilder(data_->matrix(), kThreads)},
        cuda_{std::make_unique<CudaTreeBuilder>(CopyMatrixToDevice(data_->matrix(), 0, kThreads), kThreads)},
        margins_(c.values.rows),
        gradients_(c.values.rows) {
    for (GradientPair const& g : c.gradients) {
      bool const is_number = objective.kind == Objective::kSquaredError;
      labels_.push_back(is_number ? -g.grad : (g.grad < 0 ? 1.0f : 0.0f));
      weights_.push_back(g.hess + 0.5f);
    }
    targets_.labels = labels_.data();
    targets_.weights = weights_.data();
    MakeRowsAgain();
  }

  /// As they were first.
  void MakeRowsAgain() {
    rows_.reset();
    rows_ = cuda_->MakeResidentRows(1);
    rows_->SetTargets(targets_);
    SetMargins(0.25f);
  }

  void SetMargins(float value) {
    margins_.assign(margins_.size(), value);
    rows_->SetMargins(margins_);
  }
  void SetLabels(float value) {
    labels_.assign(labels_.size(), value);
    rows_->SetTargets(targets_);
  }
  void SetMargin(std::size_t row, float value) {
    margins_[row] = value;
    rows_->SetMargins(margins_);
  }
  /// A tree on the present margins.
  void Begin(TrainParams const& params) {
    rows_->ComputeGradients(objective_);
    BeginAgain(params);
  }
  /// The same with the gradients that there are.
  void BeginAgain(TrainParams const& params) {
    ComputeOnHost();
    BeginGiven(params);
  }
  void ComputeOnHost() {
    host::ComputeGradients(objective_, targets_, RowMajor<float const>(margins_.data(), margins_.size(), 1),
                           RowMajor(gradients_.data(), gradients_.size(), 1), kThreads);
  }
  void BeginGiven(TrainParams const& params) {
    params_ = params;
    cuda_->Begin(params, rows_.get(), {{0, {round_, 0}}});
  }
  void GrowOnHost() { tree_ = GrowHistTree(host_.get(), params_, gradients_, {round_++, 0}); }
  void Finish() {
    GrowOnHost();
    ASSERT_EQ(cuda_->FinishNext(), tree_);
  }
  void Add(std::vector<float> const& leaf_values) {
    host_->AddLeafValues(leaf_values, margins_.data(), 1);
    cuda_->AddLeafValues(leaf_values, rows_.get(), 0);
  }
  void ExpectSameMargins() const {
    std::vector<float> margins(margins_.size());
    rows_->CopyMargins(margins);
    EXPECT_EQ(Bits(margins), Bits(margins_));
  }
  void ExpectSameLeaves() const {
    std::vector<NodeIndex> positions(margins_.size()), host_positions(margins_.size());
    std::vector<std::uint8_t> out(margins_.size()), host_out(margins_.size());
    cuda_->LeafPositions(positions, out);
    host_->LeafPositions(host_positions, host_out);
    EXPECT_EQ(positions, host_positions);
    EXPECT_EQ(out, host_out);
  }
  void Round(TrainParams const& params) {
    Begin(params);
    ASSERT_NO_FATAL_FAILURE(Finish());
    Add(tree_.leaf_value);
    ExpectSameMargins();
  }
  void Forest(TrainParams const& params, std::uint32_t trees) {
    rows_->ComputeGradients(objective_);
    ComputeOnHost();
    std::vector<RoundTree> all;
    for (std::uint32_t i = 0; i < trees; ++i) all.push_back({0, {round_, i}});
    cuda_->Begin(params, rows_.get(), all);
    for (std::uint32_t i = 0; i < trees; ++i) {
      tree_ = GrowHistTree(host_.get(), params, gradients_, {round_, i});
      ASSERT_EQ(cuda_->FinishNext(), tree_);
      Add(tree_.leaf_value);
    }
    ++round_;
  }
  CudaTreeBuilder& cuda() { return *cuda_; }
  ResidentRows& rows() { return *rows_; }
  Tree const& tree() const { return tree_; }

 private:
  ObjectiveParams objective_;
  std::shared_ptr<Dataset const> data_;
  std::unique_ptr<TreeBuilder> host_;
  std::unique_ptr<CudaTreeBuilder> cuda_;
  std::unique_ptr<ResidentRows> rows_;
  std::vector<float> labels_, weights_, margins_;
  std::vector<GradientPair> gradients_;
  TargetView targets_;
  TrainParams params_;
  Tree tree_;
  std::uint32_t round_{0};
};

TrainParams With(std::function<void(TrainParams*)> const& change) {
  TrainParams params;
  params.max_depth = 6;
  params.learning_rate = 0.3f;
  change(&params);
  return params;
}

struct Shape {
  char const* name;
  testing::DataShape data;
  int max_bin;
  std::size_t levels{0};  ///< of a categorical column
};

TreeCase CaseOf(Shape const& shape) {
  TreeCase c = testing::RandomCase(shape.data, 41);
  c.max_bin = shape.max_bin;
  if (shape.levels != 0) testing::AddCategories(&c, 2, shape.levels);
  return c;
}

class MarginsTest : public ::testing::TestWithParam<Shape> {};

TEST_P(MarginsTest, AdvanceAsOnTheHost) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  TreeCase const c = CaseOf(GetParam());
  TwoTrainings both{c};
  for (TrainParams const& params : {
           With([](TrainParams*) {}), With([](TrainParams* p) { p->max_depth = 9; }),
           With([](TrainParams* p) { p->max_depth = 1; }),
           With([](TrainParams* p) { p->reg_alpha = 0.5f, p->max_delta_step = 0.1f; }),
           With([](TrainParams* p) { p->min_child_weight = 1e9f; }),  // a root alone
           With([&](TrainParams* p) {
             p->monotone_constraints.resize(c.values.features);
             p->monotone_constraints[0] = 1;
           }),
           With([](TrainParams* p) { p->subsample = 0.3f; }),
           With([](TrainParams* p) { p->sampling_method = SamplingMethod::kGoss; }), With([](TrainParams* p) {
             p->sampling_method = SamplingMethod::kGradientBased;
             p->subsample = 0.2f;
           }),
           With([](TrainParams* p) {  // cut out of a whole tree by the host
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
           With([](TrainParams* p) {  // has ended before rows are moved
             p->max_leaves = 5;
             p->max_depth = 0;
           }),
           With([](TrainParams* p) {
             p->max_leaves = 100;
             p->max_depth = 9;
             p->subsample = 0.4f;
           }),
           With([](TrainParams* p) { p->max_depth = 18; }),  // attended
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

struct Sampling {
  char const* name;
  SamplingMethod method;
  float share;  ///< of the rows
};

class UnusualRoundTest : public ::testing::TestWithParam<Sampling> {
 protected:
  UnusualRoundTest() { SetShare(GetParam().share); }
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
  void TearDown() override { FailDeviceAllocation(-1); }
  void SetShare(float share) {
    params_.sampling_method = GetParam().method;
    if (GetParam().method == SamplingMethod::kGoss) {
      params_.top_rate = params_.other_rate = share / 2;
    } else {
      params_.subsample = share;
    }
  }
  TrainParams params_ = With([](TrainParams*) {});
  TreeCase case_ = CaseOf({"", {20003, 13, 0.1}, 64});
};

/// Of those with samples.
using SampledGradientsTest = UnusualRoundTest;

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

// A sample may do without the gradients of other rows, but not without their errors.
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

TEST_P(UnusualRoundTest, MarginsOfOtherRowsOnlyGetTheLeafValues) {
  TwoTrainings both{case_};
  std::unique_ptr<ResidentRows> const others = both.cuda().MakeResidentRows(1);
  std::vector<float> const labels(case_.values.rows);
  std::vector<float> expected(labels);
  others->SetTargets({labels.data()});
  others->SetMargins(expected);
  others->ComputeGradients({Objective::kSquaredError});
  both.cuda().Begin(params_, others.get(), {{0, {0, 0}}});  // abandoned by the next, with what it has in store
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

// Memory for margins ahead is given up where it is wanted for anything else.
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

auto const kNameOf = [](auto const& c) { return std::string{c.param.name}; };
INSTANTIATE_TEST_SUITE_P(Samples, UnusualRoundTest,
                         ::testing::Values(Sampling{"AllRows", SamplingMethod::kUniform, 1.0f},
                                           Sampling{"Uniform", SamplingMethod::kUniform, 0.3f},
                                           Sampling{"GradientBased", SamplingMethod::kGradientBased, 0.3f},
                                           Sampling{"Goss", SamplingMethod::kGoss, 0.3f}),
                         kNameOf);
INSTANTIATE_TEST_SUITE_P(Samples, SampledGradientsTest,
                         ::testing::Values(Sampling{"Uniform", SamplingMethod::kUniform, 0.2f},
                                           Sampling{"GradientBased", SamplingMethod::kGradientBased, 0.2f},
                                           Sampling{"Goss", SamplingMethod::kGoss, 0.2f}),
                         kNameOf);

}  // namespace
}  // namespace xgbgpu
