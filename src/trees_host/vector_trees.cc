// Grows trees of vectors on the host.
#include "trees_host/vector_trees.h"

#include <utility>

#include "base/message.h"
#include "base/parallel.h"
#include "gradient/gradient_ops.h"
#include "growth/make_tree.h"

namespace xgbgpu::host {

void ValidateVectors(TrainParams const& params) {
  if (params.grow_policy == GrowPolicy::kSymmetric) {
    Throw<Unsupported>(
        "Parameter grow_policy is 'symmetric', which trees of vectors (multi_strategy=multi_output_tree) do not have; "
        "allowed with them: depthwise, lossguide");
  }
  if (params.SamplesRows() && params.sampling_method != SamplingMethod::kUniform) {
    Throw<Unsupported>("Parameter sampling_method is '",
                       params.sampling_method == SamplingMethod::kGoss ? "goss" : "gradient_based",
                       "', which trees of vectors (multi_strategy=multi_output_tree) do not have; allowed with them: "
                       "uniform");
  }
}

VectorTrees::VectorTrees(QuantisedMatrix const& matrix, HistogramBuilder* histograms, std::uint32_t outputs,
                         std::size_t histogram_bytes, int threads)
    : matrix_{matrix},
      histograms_{histograms},
      threads_{threads},
      column_{matrix.rows},
      formats_(outputs),
      gradients_(outputs),
      slots_{std::size_t{matrix.cells()} * outputs, histogram_bytes},
      splits_{matrix, outputs, threads},
      growth_{*histograms, &splits_, &slots_, threads, outputs} {
  for (Buffer<GradientSum>& of_output : gradients_) of_output = Buffer<GradientSum>{matrix.rows};
}

std::size_t VectorTrees::bytes() const {
  return column_.bytes() + outputs() * matrix_.rows * sizeof(GradientSum) + slots_.bytes();
}

void VectorTrees::Quantise(TrainParams const& params, Span<GradientPair const> gradients,
                           Span<GradientPair const> sample, std::size_t all_rows, Shard const& shard) {
  constexpr std::size_t kGrain = 1 << 15;
  for (std::uint32_t k = 0; k < outputs(); ++k) {
    ParallelChunks(threads_, matrix_.rows, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        bool const counts = sample.empty() || sample[row].hess != 0.0f;
        column_[row] = counts ? gradients[row * outputs() + k] : GradientPair{0.0f, 0.0f};
      }
    });
    GradientMaxima const most = LargestGradients(column_.span(), threads_, *shard.collective, shard.first_row);
    formats_[k] = MakeGradientFormat(all_rows, most.grad, most.hess, false);
    RandomStream const unused{params.seed, RandomPurpose::kRounding, 0, 0};  // the wide format rounds to nearest
    QuantiseGradients(column_.span(), formats_[k], unused, {}, gradients_[k].span(), threads_, shard.first_row);
  }
}

void VectorTrees::Begin(TrainParams const& params, FeatureSampler const& features, std::size_t sampled, NodeRows* rows,
                        bool in_pages, Collective* collective) {
  rows->Begin(sampled, {formats_[0], nullptr, gradients_[0].data()});
  std::vector<GradientSum> roots(outputs());
  for (std::size_t k = 0; k < roots.size(); ++k) {
    roots[k] = SumGradients({formats_[k], nullptr, gradients_[k].data()}, matrix_.rows, threads_);
  }
  collective->Sum(Integers({roots.data(), roots.size()}));
  TrainParams without_monotone = params;
  without_monotone.monotone_constraints.clear();
  constraints_ = Constraints{params, matrix_.features()};
  interactions_ = Constraints{without_monotone, matrix_.features()};
  histograms_->SetFeatures(features.Tree());
  splits_.Begin(params, formats_, roots, constraints_, histograms_->blocks());
  growth_.Begin(params, splits_.params(0), features, interactions_, splits_.Total(roots.data()), in_pages);
}

void VectorTrees::Sum(Page<QuantisedMatrix> const& page, NodeRows* rows, Span<NodeHistogram const> jobs) {
  std::vector<NodeHistogram> of_output{jobs.begin(), jobs.end()};
  for (std::size_t k = 0; k < outputs(); ++k) {
    histograms_->Sum(page, rows, {formats_[k], nullptr, gradients_[k].data()}, of_output);
    for (NodeHistogram& job : of_output) job.sums += matrix_.cells();
  }
}

VectorTree VectorTrees::Make(float learning_rate) const {
  Span<Node const> const nodes = growth_.nodes();
  VectorTree tree;
  tree.outputs = outputs();
  std::vector<float> const none(nodes.size());
  tree.shape = MakeTree({nodes, none, splits_.category_sets()}, matrix_.cuts, splits_.params(0), learning_rate);
  tree.shape.weight.clear();
  tree.shape.leaf_value.clear();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    NodeIndex const made = growth_.MadeNumber(static_cast<NodeIndex>(n));
    tree.shape.sum_hess[n] = static_cast<float>(splits_.HessianSum(made));
    for (float const weight : splits_.weights(made)) {
      tree.weight.push_back(weight);
      tree.leaf_value.push_back(weight * learning_rate);
    }
  }
  return tree;
}

}  // namespace xgbgpu::host
