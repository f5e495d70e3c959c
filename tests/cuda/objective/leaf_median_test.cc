// Medians of leaves on a device equal the host's, bit for bit.
#include <gtest/gtest.h>

#include <cstring>

#include "objective/leaf_median_cuda.h"
#include "support/grow.h"
#include "support/leaf_median_case.h"
#include "xgbgpu/error.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/resident_rows.h"

namespace xgbgpu::testing {
namespace {

/// Computes medians on the device. What they keep there stays from case to case.
class DeviceMedians {
 public:
  void Expect(LeafRows const& c, bool weighted) {
    std::size_t const n = c.positions.size();
    auto const positions = Upload(&arena_, "positions", c.positions.data(), n);
    auto const residuals = Upload(&arena_, "residuals", c.residuals.data(), n);
    auto const weights = Upload(&arena_, "weights", c.weights.data(), weighted ? n : 0);
    std::vector<float> found = c.OldValues();
    auto const values = Upload(&arena_, "nodes", found.data(), c.nodes);
    cuda::MedianLeaves(positions.data(), residuals.data(), weights.data(), n, values.data(), c.nodes, &scratch_,
                       limits_, stream_);
    CopyToHost(found.data(), values.data(), c.nodes, stream_, "copying medians");
    stream_.Wait("medians");
    auto const expected = c.Medians(weighted, 2);
    for (std::size_t node = 0; node < c.nodes; ++node) {
      ASSERT_EQ(std::memcmp(&found[node], &expected[node], sizeof(float)), 0)
          << c.name << (weighted ? ", weighted" : "") << ", node " << node << ": " << found[node] << ", on the host "
          << expected[node];
    }
  }

 private:
  DeviceArena arena_{"This test"};
  Stream stream_;
  DeviceLimits limits_{CurrentDeviceLimits()};
  cuda::LeafMedianScratch scratch_{&arena_};
};

TEST(CudaLeafMedianTest, EqualsHost) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceMedians device;
  for (LeafRows const& c : LeafMedianCases()) {
    for (bool const weighted : {false, true}) device.Expect(c, weighted);
  }
  for (bool const weighted : {false, true}) device.Expect(RandomLeafRows("none", {0, 3}), weighted);
}

/// Lane 0 of a warp sums 256 weights a step. Lengths are near whole steps.
TEST(CudaLeafMedianTest, SumsOfAnyLength) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceMedians device;
  for (std::size_t const rows : {1, 31, 32, 33, 255, 256, 257, 511, 512, 513, 4096, 1000003})
    device.Expect(RandomLeafRows("of " + std::to_string(rows), {rows, 1}), true);
}

/// Trains a forest of two rounds, on resident rows and on the host.
struct Forest {
  std::vector<Tree> trees;
  std::vector<float> margins;
};

class ForestCase {
 public:
  ForestCase(SamplingMethod method, float subsample, bool weighted) : c_{RandomCase({5000, 7, 0.1}, 5)} {
    c_.params.sampling_method = method;
    c_.params.subsample = subsample;
    c_.params.max_depth = 5;
    Random random{9};
    for (std::size_t i = 0; i < 5000; ++i) {
      labels_.push_back(random.Between(-5, 5));
      weights_.push_back(random.Below(5) == 0 ? 0.0f : random.Between(0, 4));
    }
    targets_.labels = labels_.data();
    targets_.weights = weighted ? weights_.data() : nullptr;
  }

  Forest OnHost() const {
    Trainer trainer{MakeDataset(c_), BackendKind::kHost, 2};
    std::size_t const rows = labels_.size();
    Forest made{{}, std::vector<float>(rows)};
    std::vector<GradientPair> gradients(rows);
    std::vector<float> residuals(rows);
    std::vector<NodeIndex> positions(rows);
    std::vector<std::uint8_t> sampled_out(rows);
    for (std::uint32_t round = 0; round < 2; ++round) {
      host::ComputeGradients(kObjective, targets_, RowMajor<float const>(made.margins.data(), rows, 1),
                             RowMajor(gradients.data(), rows, 1), 2);
      host::ComputeResiduals(labels_.data(), made.margins.data(), 1, residuals, 2);
      for (std::uint32_t k = 0; k < 2; ++k) {
        Tree tree = trainer.Grow(c_.params, gradients, {round, k});
        trainer.LeafPositions(positions, sampled_out);
        for (std::size_t i = 0; i < rows; ++i) positions[i] = sampled_out[i] != 0 ? ~positions[i] : positions[i];
        host::MedianLeaves(positions, residuals, targets_.weights, tree.leaf_value, 2);
        trainer.AddLeafValues(tree.leaf_value, made.margins.data(), 1);
        made.trees.push_back(tree);
      }
    }
    return made;
  }

  Forest OnDevice() const {
    GrowOptions options;
    options.kind = BackendKind::kCuda;
    Trainer trainer{MakeDataset(c_, options), BackendKind::kCuda, 2};
    auto const rows = trainer.rounds()->MakeResidentRows(1);
    Forest made{{}, std::vector<float>(labels_.size())};
    rows->SetMargins(made.margins);
    rows->SetTargets(targets_);
    for (std::uint32_t round = 0; round < 2; ++round) {
      rows->ComputeGradients(kObjective);
      rows->Start(c_.params, {{0, {round, 0}}, {0, {round, 1}}});  // these grow in two lanes
      for (std::uint32_t k = 0; k < 2; ++k) {
        Tree tree = rows->Grow(c_.params, 0, {round, k});
        rows->AdaptLeaves(&tree);
        rows->AddLeafValues(tree.leaf_value, 0);
        made.trees.push_back(tree);
      }
    }
    rows->CopyMargins(made.margins);
    return made;
  }

  /// Expects an error: after gradients of another objective there is nothing to adapt leaves to.
  void ExpectRefused() const {
    GrowOptions options;
    options.kind = BackendKind::kCuda;
    Trainer trainer{MakeDataset(c_, options), BackendKind::kCuda, 2};
    auto const rows = trainer.rounds()->MakeResidentRows(1);
    rows->SetMargins(std::vector<float>(labels_.size()));
    rows->SetTargets(targets_);
    for (auto const& objective : {kObjective, ObjectiveParams{Objective::kSquaredError}}) {
      rows->ComputeGradients(objective);
      Tree tree = rows->Grow(c_.params, 0, {0, 0});
      if (objective.kind == Objective::kAbsoluteError) {
        EXPECT_NO_THROW(rows->AdaptLeaves(&tree));
      } else {
        EXPECT_THROW(rows->AdaptLeaves(&tree), InvalidArgument);
      }
    }
  }

 private:
  static constexpr ObjectiveParams kObjective{Objective::kAbsoluteError};
  TreeCase c_;
  std::vector<float> labels_, weights_;
  TargetView targets_;
};

TEST(CudaLeafMedianTest, ForestsEqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  struct Sample {
    SamplingMethod method;
    float subsample;
  };
  for (Sample const& sample : {Sample{SamplingMethod::kUniform, 1.0f}, Sample{SamplingMethod::kUniform, 0.6f},
                               Sample{SamplingMethod::kGradientBased, 0.3f}, Sample{SamplingMethod::kGoss, 1.0f}}) {
    for (bool const weighted : {false, true}) {
      ForestCase const c{sample.method, sample.subsample, weighted};
      Forest const host = c.OnHost(), device = c.OnDevice();
      EXPECT_EQ(host.trees, device.trees) << "sampling method " << static_cast<int>(sample.method) << ", subsample "
                                          << sample.subsample << ", weighted " << weighted;
      EXPECT_EQ(std::memcmp(host.margins.data(), device.margins.data(), host.margins.size() * sizeof(float)), 0);
    }
  }
  ForestCase{SamplingMethod::kUniform, 1.0f, false}.ExpectRefused();
}

}  // namespace
}  // namespace xgbgpu::testing
