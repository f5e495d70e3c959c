// Grows trees by the engine and by the reference from the same inputs.
#include "support/grow.h"

#include <numeric>
#include <ostream>

#include "backend/backend.h"
#include "histogram/histogram_policy.h"
#include "reference/tree.h"
#include "sample/sample.h"
#include "xgbgpu/devices.h"

namespace xgbgpu {

void PrintTo(Tree const& tree, std::ostream* os) {
  auto const precision = os->precision(9);
  *os << "tree of " << tree.size() << " nodes\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(tree.size(), 40); ++i) {
    *os << i << ": H " << tree.sum_hess[i] << ", w " << tree.weight[i] << ", leaf value " << tree.leaf_value[i];
    if (tree.left[i] != kNoNode) {
      *os << ", f" << tree.feature[i] << " < " << tree.threshold[i] << " (bin " << tree.split_bin[i] << ") ? "
          << tree.left[i] << " : " << tree.left[i] + 1 << ", missing " << (tree.default_left[i] != 0 ? "left" : "right")
          << ", gain " << tree.gain[i];
    }
    *os << '\n';
  }
  os->precision(precision);
}

void PrintTo(BackendKind kind, std::ostream* os) { *os << testing::NameOf(kind); }
void PrintTo(GrowPolicy policy, std::ostream* os) { *os << testing::NameOf(policy); }

namespace testing {

std::unique_ptr<TreeBuilder> MakeTreeBuilder(BackendKind kind, QuantisedMatrix const& matrix, int threads) {
  std::shared_ptr<QuantisedMatrix const> const borrowed{std::shared_ptr<void>{}, &matrix};
  TrainingMatrix const bins{HostBins{borrowed, HostHistogramPolicy{}.cache_bytes}};
  return Backend::For(kind).MakeBuilder(bins, Shard::Whole(matrix.rows), threads);
}

std::string NameOf(BackendKind kind) { return kind == BackendKind::kHost ? "Host" : "Cuda"; }

std::string NameOf(GrowPolicy policy) {
  switch (policy) {
    case GrowPolicy::kDepthWise:
      return "DepthWise";
    case GrowPolicy::kLossGuide:
      return "LossGuide";
    default:
      return "Symmetric";
  }
}

std::string WhyNotHere(BackendKind kind) {
  std::string why_not;
  if (kind == BackendKind::kCuda && !CudaAvailable(&why_not)) return "no test on CUDA: " + why_not;
  return {};
}

std::shared_ptr<Dataset const> MakeDataset(TreeCase const& c, GrowOptions const& options) {
  MemorySource source{c.values, options.batch_rows};
  source.SetCategorical(c.categorical);
  return Dataset::Build(source, c.weights, c.max_bin, options.threads, {options.kind, 0});
}

Tree Grow(TreeCase const& c, GrowOptions const& options) {
  return Trainer{MakeDataset(c, options), options.kind, options.threads}.Grow(c.params, c.gradients, c.key);
}

Tree GrowReference(TreeCase const& c) {
  Cuts const cuts = reference::MakeCuts(c.values, c.weights, c.max_bin, c.categorical);
  auto const bins = reference::MakeBins(c.values, cuts);
  auto const sample = reference::SampleRows(c.gradients, c.params, TreeNumber(c.key));
  auto const gradients = reference::Quantise(sample.gradients, sample.rows.size(), c.params.min_child_weight,
                                             c.params.seed, TreeNumber(c.key));
  // Which features are drawn is the sampler's business, tested in sample_test.cc.
  FeatureSampler const sampler{c.params, static_cast<FeatureIndex>(c.values.features), TreeNumber(c.key)};
  return reference::GrowTree(bins, cuts, gradients, c.params, sample.rows,
                             [&](int depth, NodeIndex node) { return sampler.Node(depth, node); });
}

void SetPolicy(TrainParams* params, GrowPolicy policy) {
  params->grow_policy = policy;
  if (policy != GrowPolicy::kSymmetric) return;
  while ((params->max_leaves & (params->max_leaves - 1)) != 0) params->max_leaves &= params->max_leaves - 1;
  if (params->max_depth == 0 && params->max_leaves == 0) params->max_depth = 9;
}

void AddCategories(TreeCase* c, std::size_t feature, std::size_t levels) {
  c->categorical.resize(c->values.features);
  c->categorical[feature] = 1;
  MakeCategories(&c->values, feature, levels, 900 + feature, &c->gradients);
}

TreeCase RandomCase(DataShape const& shape, std::uint64_t seed) {
  auto values = RandomValues(shape, seed);
  auto gradients = RandomGradients(values, seed + 1);
  return {std::move(values), std::move(gradients), {}};
}

}  // namespace testing
}  // namespace xgbgpu
