// Grows a symmetric tree of vectors level by level: the host chooses the split of a level by the scores that the device
// has summed.
#include "trees_cuda/symmetric_vectors_cuda.h"

#include <algorithm>
#include <utility>

#include "base/stages.h"
#include "growth/make_tree.h"
#include "growth/plan_cuda.h"
#include "partition/partition_cuda.h"
#include "split/category_ops.h"
#include "split/level_gains_cuda.h"
#include "split/split_policy.h"

namespace xgbgpu::cuda {

SymmetricVectors::SymmetricVectors(TreeParts* parts, TreeLeaves* leaves)
    : parts_{*parts}, device_{parts->device}, leaves_{*leaves}, tree_{symmetric_.tree()}, scores_{parts->matrix.cuts} {}

/// Returns the most nodes of a level that are divided: such a node has a row.
std::uint64_t SymmetricVectors::Divided(int level) const {
  return std::min(std::uint64_t{1} << level, device_.shard.all_rows());
}

std::size_t SymmetricVectors::HistogramsFor(TrainParams const& params) const {
  return LevelSlots::Wanted(params.SymmetricDepth(), device_.shard.all_rows());
}

std::size_t SymmetricVectors::Reserve(TrainParams const& params, std::uint32_t outputs) {
  std::uint64_t const bins = parts_.matrix.cuts.ptr.back();
  int const levels = params.SymmetricDepth();
  std::uint64_t nodes = 1;
  for (int level = 0; level < levels; ++level) nodes += 2 * Divided(level);
  std::uint64_t const families = Divided(std::max(0, levels - 1));
  parts_.rows.ReserveBatches(families);
  parts_.memory.Reserve(nodes, families, nodes);
  constexpr std::uint64_t kMostChunk = 65535;  // blocks of a grid
  std::uint64_t const fitting = std::max<std::uint64_t>(1, SplitPolicy{}.most_gain_bytes / (2 * bins * sizeof(double)));
  node_chunk_ = static_cast<std::uint32_t>(std::min({fitting, families, kMostChunk}));
  ClearedWorkspace& workspace = device_.workspace;
  workspace.Reserve(&params_, "nodes", outputs);
  workspace.Reserve(&level_nodes_, "nodes", families);
  workspace.Reserve(&level_numbers_, "nodes", families * outputs);
  workspace.Reserve(&lefts_, "nodes", families * outputs);
  workspace.Reserve(&may_divide_, "split candidates", parts_.matrix.view.features);
  if (parts_.splits.has_categories()) {
    workspace.Reserve(&level_categorical_, "split candidates", parts_.matrix.view.features);
    workspace.Reserve(&sorted_, "categories", bins);
    parts_.splits.ReserveCategories(kMostSymmetricLevels, 0);  // one set a level
  }
  workspace.Reserve(&gains_, "split candidates", node_chunk_ * 2 * bins);
  workspace.Reserve(&device_scores_, "split candidates", 2 * bins);
  return families;
}

void SymmetricVectors::Begin(TrainParams const& train, std::vector<SplitParams> params, Constraints const& constraints,
                             Span<GradientSum const> root) {
  learning_rate_ = train.learning_rate;
  constraints_ = &constraints;
  symmetric_.Begin(train, std::move(params), *parts_.request.features, constraints, root);
  scores_.BeginTree(symmetric_.params()[0]);
  slots_.Begin(tree_, parts_.histograms.slots(), parts_.histograms.View().cells * sizeof(GradientSum));
  CopyToDevice(params_.data(), symmetric_.params().data(), root.size(), device_.stream, "beginning a tree");
}

void SymmetricVectors::Grow(VectorSplitView const& view, SumLevel const& sum) {
  view_ = view;
  view_.misses = nullptr;
  sum(1, 0);
  SortCategories();
  Accumulate(1, true);
  while (tree_.MayDivide()) {
    VectorLevelView const level = UploadLevel();
    LevelSplit const split = FindSplit(level);
    if (split.score <= kLeastGain) return;
    Divide(level, split, sum);
  }
}

/// Sorts categories by the root's histogram, on the host.
void SymmetricVectors::SortCategories() {
  if (!parts_.splits.has_categories()) return;
  DeviceMatrix const& matrix = parts_.matrix;
  std::vector<std::int64_t> cells(2 * parts_.histograms.View().cells);
  auto const* const root = reinterpret_cast<std::int64_t const*>(parts_.histograms.View().slot(0));
  CopyToHost(cells.data(), root, cells.size(), device_.stream, "sorting categories");
  device_.stream.Wait("sorting categories");
  std::uint32_t const outputs = view_.cells.outputs;
  std::vector<GradientSum> total(outputs);
  for (std::uint32_t k = 0; k < outputs; ++k) total[k] = tree_.level_node(0)[k].total;
  std::vector<BinIndex> all(matrix.cuts.ptr.back());
  for (FeatureIndex const f : parts_.request.features->Tree()) {
    if (scores_.KindOf(f) != CandidateKind::kSorted) continue;
    std::uint32_t const columns = matrix.view.tile_columns;
    std::uint64_t const first =
        matrix.view.dense ? matrix.tiles[f / columns].first_cell + f % columns : matrix.cuts.ptr[f];
    std::vector<std::vector<GradientSum>> sums(outputs, std::vector<GradientSum>(matrix.cuts.bins(f)));
    std::vector<GradientSum const*> of_outputs;
    for (std::uint32_t k = 0; k < outputs; ++k) {
      for (std::size_t c = 0; c < sums[k].size(); ++c) {
        sums[k][c] = view_.cells.Load(cells.data(), first + c * matrix.view.cell_stride(), k);
      }
      of_outputs.push_back(sums[k].data());
    }
    scores_.SortCategories(f, {symmetric_.params().data(), outputs}, total.data(), of_outputs);
    std::copy(scores_.sorted(f).begin(), scores_.sorted(f).end(), all.begin() + matrix.cuts.ptr[f]);
  }
  CopyToDevice(sorted_.data(), all.data(), all.size(), device_.stream, "sorting categories");
  device_.stream.Wait("sorting categories");
}

void SymmetricVectors::Accumulate(std::uint32_t families, bool root) {
  device_.timer.Run(kSplit, tree_.depth(), [&] { AccumulateVectors(view_, families, root, device_.stream); });
}

/// Tells the device the nodes and the features of the level.
VectorLevelView SymmetricVectors::UploadLevel() {
  std::vector<NodeIndex> const& active = tree_.active();
  std::uint32_t const outputs = view_.cells.outputs;
  host_nodes_.clear();
  host_numbers_.clear();
  for (std::size_t i = 0; i < active.size(); ++i) {
    LevelNode const* const numbers = tree_.level_node(active[i]);
    host_nodes_.push_back({active[i], slots_.of_nodes()[i]});
    host_numbers_.insert(host_numbers_.end(), numbers, numbers + outputs);
  }
  scores_.BeginLevel(tree_.Features());
  host_may_divide_.assign(parts_.matrix.view.features, 0);
  host_categorical_.clear();
  for (FeatureIndex const f : scores_.features()) {
    CandidateKind const kind = scores_.KindOf(f);
    host_may_divide_[f] = kind == CandidateKind::kNumbers ? 1 : 0;
    if (kind == CandidateKind::kNumbers) continue;
    BinIndex const splits =
        kind == CandidateKind::kSorted ? SortedSplits(symmetric_.params()[0], parts_.matrix.cuts.bins(f)) : 0;
    std::int8_t const direction = constraints_->monotone() ? constraints_->directions()[f] : std::int8_t{0};
    host_categorical_.push_back({f, splits, kind, direction});
  }
  Stream const& stream = device_.stream;
  CopyToDevice(level_nodes_.data(), host_nodes_.data(), host_nodes_.size(), stream, "scoring a level");
  CopyToDevice(level_numbers_.data(), host_numbers_.data(), host_numbers_.size(), stream, "scoring a level");
  CopyToDevice(may_divide_.data(), host_may_divide_.data(), host_may_divide_.size(), stream, "scoring a level");
  if (!host_categorical_.empty()) {
    CopyToDevice(level_categorical_.data(), host_categorical_.data(), host_categorical_.size(), stream,
                 "scoring a level");
  }
  return {parts_.matrix.view,
          parts_.histograms.View(),
          view_.cells,
          {params_.data(), outputs},
          level_nodes_.data(),
          level_numbers_.data(),
          may_divide_.data(),
          view_.directions,
          parts_.matrix.cuts.ptr.back(),
          level_categorical_.data(),
          static_cast<std::uint32_t>(host_categorical_.size()),
          sorted_.data(),
          view_.categories.ends};
}

LevelSplit SymmetricVectors::FindSplit(VectorLevelView const& level) {
  if (scores_.features().empty()) return {};
  auto const nodes = static_cast<std::uint32_t>(host_nodes_.size());
  std::uint64_t const candidates = std::uint64_t{2} * level.bins;
  device_.timer.Run(kSplit, tree_.depth(), [&] {
    for (std::uint32_t first = 0; first < nodes; first += node_chunk_) {
      std::uint32_t const count = std::min(node_chunk_, nodes - first);
      FindVectorLevelGains(level, first, count, gains_.data(), device_.limits, device_.stream);
      AddGains(gains_.data(), candidates, count, first != 0, device_scores_.data(), device_.stream);
    }
  });
  CopyToHost(scores_.first(), device_scores_.data(), level.bins, device_.stream, "reading scores");
  CopyToHost(scores_.second(), device_scores_.data() + level.bins, level.bins, device_.stream, "reading scores");
  device_.stream.Wait("looking for the split of a level");
  device_.shard.devices->Check();
  return scores_.Best();
}

void SymmetricVectors::Divide(VectorLevelView const& level, LevelSplit const& split, SumLevel const& sum) {
  std::vector<NodeIndex> const parents = tree_.active();
  bool const is_last = tree_.IsLastDivision();
  auto const families = static_cast<std::uint32_t>(parents.size());
  std::uint32_t const* const right_categories = parts_.splits.UploadCategories(split, scores_.category_sets());
  WriteVectorLevelSplit(level, split, right_categories, families, parts_.memory.nodes(), lefts_.data(), device_.stream);
  host_lefts_.resize(parents.size() * view_.cells.outputs);
  CopyToHost(host_lefts_.data(), lefts_.data(), host_lefts_.size(), device_.stream, "dividing a level");
  device_.stream.Wait("dividing a level");
  tree_.Divide(split, host_lefts_);

  CopyToDevice(parts_.memory.View().families, slots_.Plan(tree_, parents, is_last).data(), families, device_.stream,
               "dividing a level");
  SplitView without_limits = view_.of;  // the host keeps the limits of symmetric trees
  without_limits.limits = {};
  device_.timer.Run(kMove, tree_.depth(), [&] {
    PrepareFamilies(without_limits, parts_.Growth(), families, device_.stream);
    PartitionView partition = parts_.Partition(parts_.matrix.view);
    if (is_last) partition.histograms.cells = 0;  // nothing is to be cleared
    MoveRows(partition, parts_.rows.Lists(), {families, parts_.rows.symbols()}, LevelKind::kInner, device_.limits,
             device_.stream);
  });
  if (is_last) return;
  sum(families, tree_.depth());
  Accumulate(families, false);
}

VectorTree SymmetricVectors::Take() {
  std::size_t const made = tree_.nodes().size();
  parts_.memory.ReadNodes(0, made);
  Span<Node const> const returned{parts_.memory.returned_nodes(), made};
  std::vector<NodeIndex> const leaf = symmetric_.End(returned);
  leaves_.FindHostDriven(returned, leaf, symmetric_.nodes());  // waits
  std::size_t const outputs = symmetric_.params().size();
  auto const numbers_of = [&](NodeIndex n) {
    std::size_t const first = static_cast<std::size_t>(n) * outputs;
    return VectorNumbers{tree_.sums().data() + first, tree_.weights().data() + first};
  };
  return MakeVectorTree({symmetric_.nodes(), {}, scores_.category_sets()}, parts_.matrix.cuts, symmetric_.params(),
                        learning_rate_, numbers_of);
}

}  // namespace xgbgpu::cuda
