// Quantiles of leaves on a device equal the host's, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "objective/leaf_quantile_cuda.h"
#include "support/grow.h"
#include "support/leaf_quantile_case.h"
#include "xgbgpu/boosting_round.h"
#include "xgbgpu/error.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/resident_rows.h"

namespace xgbgpu::testing {
namespace {

/// Computes quantiles on the device. What they keep there stays from case to case.
class DeviceQuantiles {
 public:
  void Expect(LeafRows const& c, bool weighted, double alpha = 0.5) {
    std::size_t const n = c.positions.size();
    auto const positions = Upload(&arena_, "positions", c.positions.data(), n);
    auto const residuals = Upload(&arena_, "residuals", c.residuals.data(), n);
    auto const weights = Upload(&arena_, "weights", c.weights.data(), weighted ? n : 0);
    std::vector<float> found = c.OldValues();
    auto const values = Upload(&arena_, "nodes", found.data(), c.nodes);
    cuda::QuantileLeaves(positions.data(), residuals.data(), weights.data(), alpha, n, values.data(), c.nodes,
                         &scratch_, limits_, stream_);
    CopyToHost(found.data(), values.data(), c.nodes, stream_, "copying quantiles");
    stream_.Wait("quantiles");
    auto const expected = c.Quantiles(alpha, weighted, 2);
    for (std::size_t node = 0; node < c.nodes; ++node) {
      ASSERT_EQ(std::memcmp(&found[node], &expected[node], sizeof(float)), 0)
          << c.name << (weighted ? ", weighted" : "") << ", quantile " << alpha << ", node " << node << ": "
          << found[node] << ", on the host " << expected[node];
    }
  }

 private:
  DeviceArena arena_{"This test"};
  Stream stream_;
  DeviceLimits limits_{CurrentDeviceLimits()};
  cuda::LeafQuantileScratch scratch_{&arena_};
};

TEST(CudaLeafQuantileTest, EqualsHost) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceQuantiles device;
  for (LeafRows const& c : LeafQuantileCases()) {
    for (float const alpha : kAlphas) {
      for (bool const weighted : {false, true}) device.Expect(c, weighted, alpha);
    }
  }
  for (bool const weighted : {false, true}) device.Expect(RandomLeafRows("none", {0, 3}), weighted);
}

/// Lane 0 of a warp sums 256 weights a step. Lengths are near whole steps.
TEST(CudaLeafQuantileTest, SumsOfAnyLength) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceQuantiles device;
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
  ForestCase(ObjectiveParams objective, SamplingMethod method, float subsample, bool weighted)
      : objective_{std::move(objective)},
        outputs_{std::max<std::uint32_t>(1, static_cast<std::uint32_t>(objective_.alphas.size()))},
        c_{RandomCase({5000, 7, 0.1}, 5)} {
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
    Forest made{{}, std::vector<float>(rows * outputs_)};
    std::vector<GradientPair> gradients(rows * outputs_), of_output(rows);
    std::vector<std::vector<float>> residuals(outputs_, std::vector<float>(rows));
    std::vector<NodeIndex> positions(rows);
    std::vector<std::uint8_t> sampled_out(rows);
    for (std::uint32_t round = 0; round < 2; ++round) {
      host::ComputeGradients(objective_, targets_, RowMajor<float const>(made.margins.data(), rows, outputs_),
                             RowMajor(gradients.data(), rows, outputs_), 2);
      for (std::uint32_t k = 0; k < outputs_; ++k) {
        host::ComputeResiduals(labels_.data(), made.margins.data() + k, outputs_, residuals[k], 2);
      }
      for (auto const& [output, key] : Trees(round)) {
        for (std::size_t i = 0; i < rows; ++i) of_output[i] = gradients[i * outputs_ + output];
        Tree tree = trainer.Grow(c_.params, of_output, key);
        trainer.LeafPositions(positions, sampled_out);
        for (std::size_t i = 0; i < rows; ++i) positions[i] = sampled_out[i] != 0 ? ~positions[i] : positions[i];
        double const alpha = objective_.alphas.empty() ? 0.5 : objective_.alphas[output];
        host::QuantileLeaves(positions, residuals[output], targets_.weights, alpha, tree.leaf_value, 2);
        trainer.AddLeafValues(tree.leaf_value, made.margins.data() + output, outputs_);
        made.trees.push_back(tree);
      }
    }
    return made;
  }

  Forest OnDevice() const {
    GrowOptions options;
    options.kind = BackendKind::kCuda;
    Trainer trainer{MakeDataset(c_, options), BackendKind::kCuda, 2};
    auto const rows = trainer.rounds()->MakeResidentRows(outputs_);
    Forest made{{}, std::vector<float>(labels_.size() * outputs_)};
    rows->SetMargins(made.margins);
    rows->SetTargets(targets_);
    for (std::uint32_t round = 0; round < 2; ++round) {
      rows->ComputeGradients(objective_);
      rows->Start(c_.params, Trees(round));  // these grow in lanes
      for (auto const& [output, key] : Trees(round)) {
        Tree tree = rows->Grow(c_.params, output, key);
        rows->AdaptLeaves(&tree, output);
        rows->AddLeafValues(tree.leaf_value, output);
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
    for (auto const& objective : {objective_, ObjectiveParams{Objective::kSquaredError}}) {
      rows->ComputeGradients(objective);
      Tree tree = rows->Grow(c_.params, 0, {0, 0});
      if (AdaptsLeaves(objective.kind)) {
        EXPECT_NO_THROW(rows->AdaptLeaves(&tree, 0));
      } else {
        EXPECT_THROW(rows->AdaptLeaves(&tree, 0), InvalidArgument);
      }
    }
  }

 private:
  /// Two trees of each output.
  std::vector<RoundTree> Trees(std::uint32_t round) const { return TreesOfRound(round, outputs_, 2); }

  ObjectiveParams objective_;
  std::uint32_t outputs_;
  TreeCase c_;
  std::vector<float> labels_, weights_;
  TargetView targets_;
};

TEST(CudaLeafQuantileTest, ForestsEqualTheHosts) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  ObjectiveParams const median{Objective::kAbsoluteError};
  ObjectiveParams quantiles{Objective::kQuantile};
  quantiles.alphas = {0.1f, 0.5f, 0.95f};
  struct Sample {
    SamplingMethod method;
    float subsample;
  };
  for (Sample const& sample : {Sample{SamplingMethod::kUniform, 1.0f}, Sample{SamplingMethod::kUniform, 0.6f},
                               Sample{SamplingMethod::kGradientBased, 0.3f}, Sample{SamplingMethod::kGoss, 1.0f}}) {
    for (ObjectiveParams const& objective : {median, quantiles}) {
      for (bool const weighted : {false, true}) {
        ForestCase const c{objective, sample.method, sample.subsample, weighted};
        Forest const host = c.OnHost(), device = c.OnDevice();
        EXPECT_EQ(host.trees, device.trees)
            << NameOf(objective.kind) << ", sampling method " << static_cast<int>(sample.method) << ", subsample "
            << sample.subsample << ", weighted " << weighted;
        EXPECT_EQ(std::memcmp(host.margins.data(), device.margins.data(), host.margins.size() * sizeof(float)), 0);
      }
    }
  }
  ForestCase{median, SamplingMethod::kUniform, 1.0f, false}.ExpectRefused();
}

}  // namespace
}  // namespace xgbgpu::testing
