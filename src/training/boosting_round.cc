// Grows the trees of a round: one by one from gradients of the caller, or all at once from gradients on a device.
#include "xgbgpu/boosting_round.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/buffer.h"
#include "base/message.h"
#include "gradient/gradient.h"
#include "objective/leaf_quantile.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu {

std::vector<RoundTree> TreesOfRound(std::uint32_t iteration, std::uint32_t outputs, std::size_t per_output) {
  std::vector<RoundTree> trees;
  for (std::uint32_t output = 0; output < outputs; ++output) {
    for (std::size_t i = 0; i < per_output; ++i) {
      trees.push_back({output, {iteration, static_cast<std::uint32_t>(trees.size())}});
    }
  }
  return trees;
}

void CheckFinite(Span<GradientPair const> gradients, std::size_t outputs) {
  // In blocks without an exit, which compilers turn into vector instructions.
  constexpr std::size_t kBlock = 1024;
  auto const is_bad = [&](std::size_t i) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    return static_cast<unsigned>(!(std::fabs(gradients[i].grad) <= kLargest)) |
           static_cast<unsigned>(!(std::fabs(gradients[i].hess) <= kLargest));
  };
  for (std::size_t begin = 0; begin < gradients.size(); begin += kBlock) {
    std::size_t const end = std::min(begin + kBlock, gradients.size());
    unsigned bad = 0;
    for (std::size_t i = begin; i < end; ++i) bad |= is_bad(i);
    if (bad == 0) continue;
    std::size_t i = begin;
    while (is_bad(i) == 0) ++i;
    Throw<InvalidArgument>("Gradient of row ", i / outputs, ", output ", i % outputs, " is (grad ", gradients[i].grad,
                           ", hess ", gradients[i].hess, "); both must be finite. ", kCausesOfBadGradients);
  }
}

void CheckLeafRule(TrainParams const& params, bool has_weights) {
  bool const by_gradient = params.SamplesRows() && params.sampling_method != SamplingMethod::kUniform;
  if (!by_gradient || !has_weights) return;
  bool const goss = params.sampling_method == SamplingMethod::kGoss;
  throw Unsupported{
      std::string{"Parameter sampling_method is '"} + (goss ? "goss" : "gradient_based") +
      "', which chooses rows of large weight more often; the leaves of reg:absoluteerror and reg:quantileerror are "
      "weighted quantiles of the chosen rows and would count these rows too much; supported with weights: uniform"};
}

std::vector<NodeIndex> LeafPositions(Trainer const& trainer, Span<GradientPair const> gradients) {
  std::vector<NodeIndex> positions(trainer.data().rows());
  std::vector<std::uint8_t> sampled_out(positions.size());
  trainer.LeafPositions(positions, sampled_out);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    bool const has_no_hessian = !gradients.empty() && gradients[i].hess == 0.0f;
    if (sampled_out[i] != 0 || has_no_hessian) positions[i] = ~positions[i];
  }
  return positions;
}

BoostingRound::BoostingRound(Training* training, RoundOrder order) : training_{*training}, order_{std::move(order)} {
  training_.BeginRound(order_.iteration, order_.keeps_trees);
}

void BoostingRound::BeginTree(std::size_t per_output) {
  if (trees_ != 0) return;
  tree_params_ = order_.params;
  tree_params_.learning_rate /= static_cast<float>(per_output);
}

Tree BoostingRound::Next(Span<GradientPair const> gradients, std::size_t per_output) {
  BeginTree(per_output);
  Tree tree = Make(gradients, per_output);
  ++trees_;
  return tree;
}

void BoostingRound::ScaleLeaves(Tree* tree) const {
  if (order_.leaves != LeafRule::kQuantiles) return;
  for (float& value : tree->leaf_value) value *= tree_params_.learning_rate;
}

VectorTree BoostingRound::NextVectors(Span<GradientPair const> gradients, std::uint32_t outputs, std::size_t trees) {
  BeginTree(trees);
  HostSpan const span{"tree"};
  VectorTree tree = MakeVectors(gradients, outputs);
  ++trees_;
  return tree;
}

void BoostingRound::Keep(VectorTree const& tree) {
  if (!order_.keeps_trees) return;
  Tree of_output = tree.shape;
  for (std::uint32_t k = 0; k < tree.outputs; ++k) {
    of_output.leaf_value = tree.LeafValues(k);
    trainer().rounds()->KeepTree(of_output, k);
  }
}

void BoostingRound::End(std::uint32_t rounds) { training_.EndRound(rounds, order_.keeps_trees); }

HostRound::HostRound(Training* training, RoundOrder order, Residuals residuals)
    : BoostingRound{training, std::move(order)}, residuals_{residuals} {
  training_.last_plan.reset();
}

Tree HostRound::Make(Span<GradientPair const> gradients, std::size_t per_output) {
  HostSpan const span{"tree"};
  Trainer& trainer = *training_.trainer;
  auto const output = static_cast<std::uint32_t>(trees_ / per_output);
  Tree tree = trainer.Grow(tree_params_, gradients, {order_.iteration, trees_});
  KeptRows& own = training_.own;
  if (order_.adds_columns && own.on_host != nullptr) {
    trainer.AddLeafValues(tree.leaf_value, own.on_host->NextColumn(output).data(), 1);
  } else if (order_.adds_columns) {
    own.rows->AddLeafValues(tree.leaf_value, output);
  }
  if (order_.keeps_trees) trainer.rounds()->KeepTree(tree, output);
  if (adapts_leaves()) AdaptLeaves(gradients, output, &tree);
  return tree;
}

VectorTree HostRound::MakeVectors(Span<GradientPair const> gradients, std::uint32_t outputs) {
  VectorTree tree = trainer().GrowVectors(tree_params_, gradients, outputs, {order_.iteration, trees_});
  Keep(tree);
  return tree;
}

void HostRound::AdaptLeaves(Span<GradientPair const> gradients, std::uint32_t output, Tree* tree) const {
  auto const& [labels, weights, margins, alphas] = residuals_;
  std::size_t const rows = training_.dataset->rows();
  bool const are_medians = order_.leaves == LeafRule::kMedians;
  std::size_t const outputs = are_medians ? 1 : alphas.size();
  auto const check = [&](char const* what, std::size_t n, std::size_t wanted) {
    if (n == wanted) return;
    Throw<InvalidArgument>("There are ", n, " ", what, " for ", rows, " rows; ",
                           are_medians ? "reg:absoluteerror" : "reg:quantileerror",
                           ", which sets leaves from them, takes ", wanted);
  };
  check("labels", labels.size(), rows);
  check("margins", margins.size(), rows * outputs);
  if (!weights.empty()) check("weights", weights.size(), rows);
  auto const positions = LeafPositions(*training_.trainer, gradients);
  Buffer<float> residuals{rows};
  host::ComputeResiduals(labels.data(), margins.data() + output, outputs, residuals.span(), training_.threads);
  Collective* const shards = training_.dataset->place().shards;
  host::QuantileLeaves(positions, residuals.span(), weights.empty() ? nullptr : weights.data(),
                       are_medians ? 0.5 : alphas.at(output), tree->leaf_value, training_.threads,
                       shards == nullptr ? NoOtherShards() : *shards);
  CheckQuantiles(tree->leaf_value);
  ScaleLeaves(tree);
}

ResidentRound::ResidentRound(Training* training, RoundOrder order, ObjectiveParams const& objective,
                             TargetMark const& targets, bool may_speculate)
    : BoostingRound{training, std::move(order)} {
  RoundPlan plan{objective, targets, order_.params};
  speculates_ = may_speculate && training_.last_plan &&
                training_.last_plan->SameGradients(plan.objective, plan.targets) &&
                training_.last_plan->params == plan.params;
  training_.last_plan = std::move(plan);
}

Tree ResidentRound::Make(Span<GradientPair const> /*gradients*/, std::size_t per_output) {
  if (trees_ == 0) GrowAll(per_output);
  return std::move(grown_.at(trees_));
}

void ResidentRound::GrowAll(std::size_t per_output) {
  ResidentRows& rows = *training_.own.rows;
  auto const trees = TreesOfRound(order_.iteration, rows.outputs(), per_output);
  rows.Start(tree_params_, trees);
  for (auto const& [output, key] : trees) {
    HostSpan const span{"tree"};
    grown_.push_back(rows.Grow(tree_params_, output, key));
    Tree& tree = grown_.back();
    if (adapts_leaves()) {
      rows.AdaptLeaves(&tree, output);
      ScaleLeaves(&tree);
    }
    rows.AddLeafValues(tree.leaf_value, output);
    if (order_.keeps_trees) training_.trainer->rounds()->KeepTree(tree, output);
  }
  if (speculates_) {
    training_.Speculate(training_.last_plan->objective, tree_params_, order_.iteration + 1, per_output);
  }
}

VectorTree ResidentRound::MakeVectors(Span<GradientPair const> /*gradients*/, std::uint32_t /*outputs*/) {
  of_vectors_ = true;
  ResidentRows& rows = *training_.own.rows;
  VectorTree tree = rows.GrowVectors(tree_params_, {order_.iteration, trees_});
  rows.AddVectorLeaves(tree);
  Keep(tree);
  return tree;
}

void ResidentRound::End(std::uint32_t rounds) {
  training_.own.rounds = rounds;
  training_.own.of_forest = trees_ > (of_vectors_ ? 1 : training_.own.rows->outputs());
  BoostingRound::End(rounds);
}

}  // namespace xgbgpu
