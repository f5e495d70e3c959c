// Grows trees of vectors on the host.
#include "trees_host/vector_trees.h"

#include "base/parallel.h"
#include "gradient/gradient_ops.h"
#include "growth/make_tree.h"

namespace xgbgpu::host {

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
      level_splits_{matrix, threads},
      growth_{*histograms, &splits_, &slots_, threads, outputs},
      symmetric_{*histograms, &level_splits_, &slots_, outputs} {
  for (Buffer<GradientSum>& of_output : gradients_) of_output = Buffer<GradientSum>{matrix.rows};
}

std::size_t VectorTrees::bytes() const {
  return column_.bytes() + narrow_.bytes() + outputs() * matrix_.rows * sizeof(GradientSum) + slots_.bytes() +
         level_splits_.bytes();
}

void VectorTrees::Quantise(TrainParams const& params, Span<GradientPair const> gradients,
                           Span<GradientPair const> sample, std::uint32_t tree, std::size_t all_rows,
                           Shard const& shard) {
  constexpr std::size_t kGrain = 1 << 15;
  auto const take_column = [&](std::uint32_t k) {
    ParallelChunks(threads_, matrix_.rows, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        bool const counts = sample.empty() || sample[row].hess != 0.0f;
        column_[row] = counts ? gradients[row * outputs() + k] : GradientPair{0.0f, 0.0f};
      }
    });
  };
  // A weight of 0: what children must have is the mean over outputs, and no output may lose its hessians.
  for (std::uint32_t k = 0; k < outputs(); ++k) {
    take_column(k);
    formats_[k] = ChooseGradientFormat(column_.span(), all_rows, 0.0f, threads_, *shard.collective, shard.first_row);
  }
  AgreeOnFormats({formats_.data(), formats_.size()}, all_rows);
  bool const narrow = formats_[0].narrow;
  if (narrow) narrow_.Reserve(matrix_.rows);
  RandomStream const rounding{params.seed, RandomPurpose::kRounding, tree, 0};
  for (std::uint32_t k = 0; k < outputs(); ++k) {
    take_column(k);
    Span<GradientSum> const to = gradients_[k].span();
    QuantiseGradients(column_.span(), formats_[k], rounding, narrow_.span(), to, threads_, shard.first_row);
    formats_[k].narrow = false;  // what is kept, whatever its units
    if (!narrow) continue;
    ParallelChunks(threads_, matrix_.rows, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) to[row] = {narrow_[row].grad, narrow_[row].hess};
    });
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
  train_ = params;
  constraints_ = Constraints{params, matrix_.features()};
  histograms_->SetFeatures(features.Tree());
  if (IsSymmetric()) {
    params_.clear();
    for (GradientFormat const& format : formats_) {
      params_.push_back(ParamsOfOutput(params, format));
      params_.back().min_child_weight = params.min_child_weight;
    }
    LevelParams const of_level{params_.data(), outputs()};
    level_splits_.Begin(of_level, constraints_, histograms_->blocks());
    symmetric_.Begin(train_, of_level, features, constraints_, roots);
    return;
  }
  TrainParams without_monotone = params;
  without_monotone.monotone_constraints.clear();
  interactions_ = Constraints{without_monotone, matrix_.features()};
  splits_.Begin(params, formats_, roots, constraints_, histograms_->blocks());
  growth_.Begin(params, splits_.params()[0], features, interactions_, TotalOfOutputs(roots), in_pages);
}

void VectorTrees::Sum(Page<QuantisedMatrix> const& page, NodeRows* rows, Span<NodeHistogram const> jobs) {
  std::vector<NodeHistogram> of_output{jobs.begin(), jobs.end()};
  for (std::size_t k = 0; k < outputs(); ++k) {
    histograms_->Sum(page, rows, {formats_[k], nullptr, gradients_[k].data()}, of_output);
    for (NodeHistogram& job : of_output) job.sums += matrix_.cells();
  }
}

VectorTree VectorTrees::Make() const {
  if (IsSymmetric()) {
    SymmetricTree const& tree = symmetric_.tree();
    auto const numbers_of = [&](NodeIndex n) {
      std::size_t const first = static_cast<std::size_t>(n) * outputs();
      return VectorNumbers{tree.sums().data() + first, tree.weights().data() + first};
    };
    return MakeVectorTree({tree.nodes(), {}, level_splits_.category_sets()}, matrix_.cuts, params_,
                          train_.learning_rate, numbers_of);
  }
  auto const numbers_of = [&](NodeIndex n) {
    NodeIndex const made = growth_.MadeNumber(n);
    return VectorNumbers{splits_.sums(made).data(), splits_.weights(made).data()};
  };
  return MakeVectorTree({growth_.nodes(), {}, splits_.category_sets()}, matrix_.cuts, splits_.params(),
                        train_.learning_rate, numbers_of);
}

}  // namespace xgbgpu::host
