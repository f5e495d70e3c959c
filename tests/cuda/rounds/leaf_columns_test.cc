// Weighed leaf columns on a device: sums one by one, trees of several outputs in lanes, kept trees of evaluation sets.
#include "xgbgpu/leaf_columns.h"

#include <gtest/gtest.h>

#include <cstring>

#include "cuda/device.h"
#include "support/column_case.h"
#include "support/grow.h"
#include "xgbgpu/resident_rows.h"

namespace xgbgpu::testing {
namespace {

constexpr std::uint32_t kOutputs = 3;
constexpr std::size_t kTreesPerOutput = 2;

GrowOptions OnDevice() {
  GrowOptions options;
  options.kind = BackendKind::kCuda;
  return options;
}

/// Rows end inside and at the end of a vector, a warp and a grid. There are more columns than a kernel takes.
TEST(CudaLeafColumnsTest, AreWeighedInOrder) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  for (std::size_t const rows : {1, 31, 32, 33, 1000, 100003}) {
    TreeCase const c = RandomCase({rows, 2}, 3);
    Trainer trainer{MakeDataset(c, OnDevice()), BackendKind::kCuda, 2};
    for (std::uint32_t const outputs : {1U, kOutputs}) {
      auto const resident = trainer.rounds()->MakeResidentRows(outputs);
      ColumnCase{rows, outputs, rows > 1000 ? 20U : 300U}.Check(resident.get());
    }
  }
}

class Rounds {
 public:
  explicit Rounds(float subsample) : c_{RandomCase({5000, 7, 0.1}, 5)} {
    c_.params.subsample = subsample;
    c_.params.max_depth = 5;
    Random random{9};
    for (std::size_t i = 0; i < 5000 * kOutputs; ++i) labels_.push_back(random.Between(-5, 5));
    base_.resize(labels_.size(), 0.5f);
    targets_.labels = labels_.data();
    targets_.label_columns = kOutputs;
  }

  /// Weighs columns, so that every round's gradients are of the margins without the tree before the last.
  void Weigh(LeafColumns* columns) {
    std::vector<float> weights(columns->columns(), 1.0f);
    if (weights.size() > 1) weights[weights.size() - 2] = 0;
    if (!weights.empty()) weights.front() = 0.4f;
    columns->WeighColumns(weights);
  }

  std::vector<float> OnHost() {
    Trainer trainer{MakeDataset(c_), BackendKind::kHost, 2};
    std::size_t const rows = 5000;
    auto const columns = host::MakeLeafColumns(rows, kOutputs, 2);
    columns->BeginColumns(base_);
    std::vector<GradientPair> gradients(rows * kOutputs), of_output(rows);
    std::vector<float> margins(base_.size());
    for (std::uint32_t round = 0; round < 3; ++round) {
      Weigh(columns.get());
      columns->CopyMargins(margins);
      host::ComputeGradients(kObjective, targets_, RowMajor<float const>(margins.data(), rows, kOutputs),
                             RowMajor(gradients.data(), rows, kOutputs), 2);
      for (RoundTree const& wanted : TreesOf(round)) {
        for (std::size_t i = 0; i < rows; ++i) of_output[i] = gradients[i * kOutputs + wanted.output];
        Tree const tree = trainer.Grow(c_.params, of_output, wanted.key);
        trainer.AddLeafValues(tree.leaf_value, columns->NextColumn(wanted.output).data(), 1);
      }
    }
    Weigh(columns.get());
    columns->CopyMargins(margins);
    return margins;
  }

  /// Expects the same on a device, where the training's rows are also evaluated.
  void ExpectSameOnDevice(std::vector<float> const& expected) {
    Trainer trainer{MakeDataset(c_, OnDevice()), BackendKind::kCuda, 2};
    auto const rows = trainer.rounds()->MakeResidentRows(kOutputs);
    auto const evaluated = trainer.rounds()->MakeResidentRows(MemorySource{c_.values}, kOutputs);
    rows->BeginColumns(base_);
    evaluated->BeginColumns(base_);
    rows->SetTargets(targets_);
    for (std::uint32_t round = 0; round < 3; ++round) {
      Weigh(rows.get());
      rows->ComputeGradients(kObjective);
      auto const trees = TreesOf(round);
      rows->Start(c_.params, trees);  // these grow in several lanes
      for (RoundTree const& wanted : trees) {
        Tree const tree = rows->Grow(c_.params, wanted.output, wanted.key);
        rows->AddLeafValues(tree.leaf_value, wanted.output);
        trainer.rounds()->KeepTree(tree, wanted.output);
      }
      evaluated->AddTrees(evaluated->columns(), trainer.rounds()->kept_trees());
    }
    for (ResidentRows* resident : {rows.get(), evaluated.get()}) {
      std::vector<float> margins(expected.size());
      Weigh(resident);
      resident->CopyMargins(margins);
      EXPECT_EQ(std::memcmp(margins.data(), expected.data(), margins.size() * sizeof(float)), 0)
          << (resident == rows.get() ? "training" : "evaluation");
    }
  }

 private:
  static std::vector<RoundTree> TreesOf(std::uint32_t round) {
    std::vector<RoundTree> trees;
    for (std::uint32_t i = 0; i < kOutputs * kTreesPerOutput; ++i) {
      trees.push_back({static_cast<std::uint32_t>(i / kTreesPerOutput), {round, i}});
    }
    return trees;
  }

  inline static ObjectiveParams const kObjective{Objective::kSquaredError};
  TreeCase c_;
  std::vector<float> labels_, base_;
  TargetView targets_;
};

TEST(CudaLeafColumnsTest, RoundsEqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  for (float const subsample : {1.0f, 0.6f}) {
    Rounds rounds{subsample};
    rounds.ExpectSameOnDevice(rounds.OnHost());
  }
}

TEST(CudaLeafColumnsTest, ShortMemoryIsNoError) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  TreeCase const c = RandomCase({5000, 2}, 3);
  Trainer trainer{MakeDataset(c, OnDevice()), BackendKind::kCuda, 2};
  auto const rows = trainer.rounds()->MakeResidentRows(1);
  rows->BeginColumns(std::vector<float>(5000));
  FailDeviceAllocation(0);
  EXPECT_FALSE(rows->ReserveColumns(1));
  FailDeviceAllocation(-1);
  EXPECT_FALSE(rows->ReserveColumns(std::size_t{1} << 40));
  EXPECT_TRUE(rows->ReserveColumns(100));
}

}  // namespace
}  // namespace xgbgpu::testing
