#include "adapt_tree.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "core/buffer.h"
#include "core/message.h"
#include "objective/leaf_median.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

static_assert(std::is_same_v<xgboost::bst_node_t, NodeIndex>);

namespace {

/// A RegTree numbers the bits of a word from the highest down.
std::vector<std::uint32_t> HighBitFirst(Span<std::uint32_t const> words) {
  std::vector<std::uint32_t> reversed(words.size());
  for (std::size_t i = 0; i < 32 * words.size(); ++i) {
    if (((words[i / 32] >> (i % 32)) & 1U) != 0) reversed[i / 32] |= 0x80000000U >> (i % 32);
  }
  return reversed;
}

}  // namespace

void CopyTree(Tree const& tree, float learning_rate, xgboost::RegTree* out) {
  // Until their values are set, leaves have what XGBoost notes of them for good.
  auto const noted = [&](NodeIndex leaf) { return tree.weight[leaf] * learning_rate; };
  // A RegTree numbers children as they are made, two at a time, and so does the engine: repeat the splits in its order.
  std::vector<NodeIndex> inner;
  for (NodeIndex n = 0; n < static_cast<NodeIndex>(tree.size()); ++n) {
    if (!tree.IsLeaf(n)) inner.push_back(n);
  }
  std::sort(inner.begin(), inner.end(), [&](NodeIndex a, NodeIndex b) { return tree.left[a] < tree.left[b]; });

  constexpr NodeIndex kRoot = xgboost::RegTree::kRoot;
  out->Stat(kRoot) = {0.0f, tree.sum_hess[kRoot], tree.weight[kRoot]};
  for (NodeIndex const n : inner) {
    NodeIndex const left = tree.left[n];
    NodeIndex const right = left + 1;
    if (auto const categories = HighBitFirst(tree.RightCategories(n)); !categories.empty()) {
      out->ExpandCategorical(n, tree.feature[n], {categories.data(), categories.size()}, tree.default_left[n] != 0,
                             tree.weight[n], noted(left), noted(right), tree.gain[n], tree.sum_hess[n],
                             tree.sum_hess[left], tree.sum_hess[right]);
    } else {
      out->ExpandNode(n, tree.feature[n], tree.threshold[n], tree.default_left[n] != 0, tree.weight[n], noted(left),
                      noted(right), tree.gain[n], tree.sum_hess[n], tree.sum_hess[left], tree.sum_hess[right]);
    }
  }
  for (NodeIndex n = 0; n < static_cast<NodeIndex>(tree.size()); ++n) {
    if (tree.IsLeaf(n)) (*out)[n].SetLeaf(tree.leaf_value[n]);
  }
}

std::vector<float> LeafValues(xgboost::RegTree const& tree) {
  auto const& nodes = tree.GetNodes();
  std::vector<float> values(nodes.size(), 0.0f);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].IsLeaf()) values[n] = nodes[n].LeafValue();
  }
  return values;
}

void AdaptLeaves(Span<NodeIndex const> positions, xgboost::MetaInfo const& info, Span<float const> margins, int threads,
                 xgboost::RegTree* tree) {
  std::size_t const rows = info.num_row_, weights = info.weights_.Size();
  auto const check = [rows](char const* what, std::size_t n) {
    if (n == rows) return;
    Throw<InvalidArgument>("There are ", n, " ", what, " for ", rows,
                           " rows; reg:absoluteerror, which sets leaves from them, takes one for each");
  };
  check("labels", info.labels.Size());
  check("margins", margins.size());
  if (weights != 0) check("weights", weights);
  Buffer<float> residuals{rows};
  host::ComputeResiduals(info.labels.Data()->ConstHostVector().data(), margins.data(), 1, residuals.span(), threads);
  std::vector<float> values = LeafValues(*tree);
  host::MedianLeaves(positions, residuals.span(), weights == 0 ? nullptr : info.weights_.ConstHostVector().data(),
                     values, threads);
  CheckMedians(values);
  for (std::size_t n = 0; n < values.size(); ++n) {
    auto& node = (*tree)[static_cast<xgboost::bst_node_t>(n)];
    if (node.IsLeaf()) node.SetLeaf(values[n]);
  }
}

void CheckAdaptiveLeaves(TrainParams const& params, xgboost::MetaInfo const& info) {
  bool const by_gradient = params.SamplesRows() && params.sampling_method != SamplingMethod::kUniform;
  if (!by_gradient || info.weights_.Size() == 0) return;
  bool const goss = params.sampling_method == SamplingMethod::kGoss;
  throw Unsupported{
      std::string{"Parameter sampling_method is '"} + (goss ? "goss" : "gradient_based") +
      "', with which heavy rows are chosen more often, and the leaves of the objective are medians of the "
      "chosen rows; supported with weights: uniform"};
}

std::vector<NodeIndex> LeafPositions(Trainer const& trainer, Span<GradientPair const> gradients) {
  std::vector<NodeIndex> positions(trainer.data().rows());
  std::vector<std::uint8_t> sampled_out(positions.size());
  trainer.LeafPositions(positions, sampled_out);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (sampled_out[i] != 0 || gradients[i].hess == 0.0f) positions[i] = ~positions[i];
  }
  return positions;
}

}  // namespace xgbgpu::plugin
