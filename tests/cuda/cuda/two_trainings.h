/// One training in both backends, round by round.
#ifndef XGBGPU_TESTS_CUDA_TWO_TRAININGS_H_
#define XGBGPU_TESTS_CUDA_TWO_TRAININGS_H_

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend_cuda/device_matrices.h"
#include "support/dataset_forms.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "trees_cuda/cuda_tree_builder.h"
#include "trees_host/hist_host.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/resident_rows.h"

namespace xgbgpu {
namespace testing {

constexpr int kThreads = 4;

/// Returns the text of the InvalidArgument that f() throws, or an empty one.
template <typename F>
std::string ErrorOf(F&& f) {
  try {
    f();
  } catch (InvalidArgument const& e) {
    return e.what();
  }
  return {};
}

/// Runs one training in both backends; on the device with resident rows.
class TwoTrainings {
 public:
  explicit TwoTrainings(TreeCase const& c, ObjectiveParams const& objective = {Objective::kSquaredError})
      : objective_{objective},
        data_{MakeDataset(c)},
        host_{MakeHostTreeBuilder(testing::BinsOf(*data_), kThreads)},
        cuda_{std::make_unique<CudaTreeBuilder>(CopyMatrixToDevice(testing::BinsOf(*data_), 0, kThreads), kThreads)},
        margins_(c.values.rows),
        gradients_(c.values.rows) {
    bool const of_two = objective.kind == Objective::kLogistic || objective.kind == Objective::kLogitRaw ||
                        objective.kind == Objective::kHinge;
    bool const positive = !of_two && objective.kind != Objective::kSquaredError;
    for (GradientPair const& g : c.gradients) {
      labels_.push_back(of_two ? (g.grad < 0 ? 1.0f : 0.0f) : (positive ? std::abs(g.grad) + 0.5f : -g.grad));
      weights_.push_back(g.hess + 0.5f);
    }
    targets_.labels = labels_.data();
    targets_.weights = weights_.data();
    MakeRowsAgain();
  }

  /// Makes the resident rows again, as they were first.
  void MakeRowsAgain() {
    rows_.reset();
    rows_ = cuda_->MakeRows(1);
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
  void SetLabel(std::size_t row, float value) {
    labels_[row] = value;
    rows_->SetTargets(targets_);
  }
  /// Sets the objective of the next trees.
  void SetObjective(ObjectiveParams const& objective) { objective_ = objective; }
  void SetMargin(std::size_t row, float value) {
    margins_[row] = value;
    rows_->SetMargins(margins_);
  }
  /// Begins a tree on gradients of the present margins.
  void Begin(TrainParams const& params) {
    objective_.iteration = round_;  // as XGBoost's rounds tell it
    rows_->ComputeGradients(objective_);
    BeginAgain(params);
  }
  /// Begins a tree on the gradients that the device has.
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
  void GrowOnHost() { tree_ = host_->Grow(params_, gradients_, {round_++, 0}); }
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
      tree_ = host_->Grow(params, gradients_, {round_, i});
      ASSERT_EQ(cuda_->FinishNext(), tree_);
      Add(tree_.leaf_value);
    }
    ++round_;
  }
  /// The labels on the host. SetLabel copies all of them to the device.
  std::vector<float>& labels() { return labels_; }
  CudaTreeBuilder& cuda() { return *cuda_; }
  ResidentRows& rows() { return *rows_; }
  Tree const& tree() const { return tree_; }

 private:
  ObjectiveParams objective_;
  std::shared_ptr<Dataset const> data_;
  std::unique_ptr<TreeBuilder> host_;
  std::unique_ptr<CudaTreeBuilder> cuda_;
  std::unique_ptr<cuda::DeviceResidentRows> rows_;
  std::vector<float> labels_, weights_, margins_;
  std::vector<GradientPair> gradients_;
  TargetView targets_;
  TrainParams params_;
  Tree tree_;
  std::uint32_t round_{0};
};

inline TrainParams With(std::function<void(TrainParams*)> const& change) {
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
  std::size_t levels{0};  ///< categories of a categorical column; 0: there is none
};

inline TreeCase CaseOf(Shape const& shape) {
  TreeCase c = RandomCase(shape.data, 41);
  c.max_bin = shape.max_bin;
  if (shape.levels != 0) AddCategories(&c, 2, shape.levels);
  return c;
}

struct Sampling {
  char const* name;
  SamplingMethod method;
  float share;            ///< part of the rows that is drawn
  bool only_this{false};  ///< this share, whatever share a test asks for
  std::size_t rows{20003};
};
/// All of so many rows that gradients may have the narrow format, and that trees compute them.
constexpr Sampling kAllOfManyRows{"AllOfManyRows", SamplingMethod::kUniform, 1.0f, true, 70003};

class UnusualRoundTest : public ::testing::TestWithParam<Sampling> {
 protected:
  UnusualRoundTest() { SetShare(GetParam().share); }
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
  void TearDown() override { FailDeviceAllocation(-1); }
  void SetShare(float share) {
    if (GetParam().only_this) share = GetParam().share;
    params_.sampling_method = GetParam().method;
    if (GetParam().method == SamplingMethod::kGoss) {
      params_.top_rate = params_.other_rate = share / 2;
    } else {
      params_.subsample = share;
    }
  }
  TrainParams params_ = With([](TrainParams*) {});
  TreeCase case_ = CaseOf({"", {GetParam().rows, 13, 0.1}, 64});
};

}  // namespace testing
}  // namespace xgbgpu

#endif  // XGBGPU_TESTS_CUDA_TWO_TRAININGS_H_
