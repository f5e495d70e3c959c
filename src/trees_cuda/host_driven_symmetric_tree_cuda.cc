// Grows a symmetric tree level by level: the host chooses the split of a level by the scores that the device has
// summed.
#include "trees_cuda/host_driven_symmetric_tree_cuda.h"

#include <algorithm>

#include "base/stages.h"
#include "gradient/gradient_ops.h"
#include "growth/plan_cuda.h"
#include "histogram/histogram_cuda.h"
#include "partition/partition_cuda.h"
#include "split/category_ops.h"
#include "split/split_policy.h"
#include "trees_cuda/hist_levels_cuda.h"

namespace xgbgpu::cuda {

HostDrivenSymmetricTree::HostDrivenSymmetricTree(TreeParts* parts, TreeLeaves* leaves)
    : parts_{*parts}, device_{parts->device}, leaves_{*leaves}, tree_{symmetric_.tree()}, scores_{parts->matrix.cuts} {}

void HostDrivenSymmetricTree::Reserve(SpeculativeMargins const&) {
  std::uint64_t const rows = device_.shard.all_rows(), bins = parts_.matrix.cuts.ptr.back();
  int const levels = parts_.request.params.SymmetricDepth();
  // A node that is divided has a row.
  auto const divided = [&](int level) { return std::min(std::uint64_t{1} << level, rows); };
  std::uint64_t nodes = 1;
  for (int level = 0; level < levels; ++level) nodes += 2 * divided(level);
  std::uint64_t const families = divided(std::max(0, levels - 1));
  parts_.rows.ReserveBatches(families);
  parts_.splits.SearchTree();
  parts_.memory.Reserve(nodes, families, nodes);
  parts_.histograms.Reserve(std::max<std::uint64_t>(1, std::min<std::uint64_t>(LevelSlots::Wanted(levels, rows),
                                                                               parts_.histograms.most_slots())),
                            parts_.rows.matrix());
  parts_.splits.ReserveCategories(kMostSymmetricLevels, 0);  // one set a level
  parts_.order.Leave();
  leaves_.BeginHostDriven();

  std::uint64_t const gain_bytes = 2 * bins * sizeof(double);
  constexpr std::uint64_t kMostChunk = 65535;  // blocks of a grid
  std::uint64_t const fitting = std::max<std::uint64_t>(1, SplitPolicy{}.most_gain_bytes / gain_bytes);
  node_chunk_ = static_cast<std::uint32_t>(std::min({fitting, families, kMostChunk}));
  ClearedWorkspace& workspace = device_.workspace;
  workspace.Reserve(&level_nodes_, "nodes", families);
  workspace.Reserve(&level_features_, "split candidates", parts_.matrix.view.features);
  if (parts_.splits.has_categories()) workspace.Reserve(&sorted_, "categories", bins);
  workspace.Reserve(&gains_, "split candidates", node_chunk_ * 2 * bins);
  workspace.Reserve(&device_scores_, "split candidates", 2 * bins);
  workspace.Reserve(&lefts_, "nodes", families);
}

/// Clears the sums of a step, and visits the pages.
void HostDrivenSymmetricTree::VisitPages(PageStep const& step, int depth) {
  ClearStep(parts_, step);
  parts_.rows.pages().ForEach([&](Page<DeviceMatrixView> const& page) { VisitPage(parts_, step, page, depth); });
}

/// Sums the rows of the built children of the level, or of the root. In pages the visit of the level before has summed
/// them.
void HostDrivenSymmetricTree::SumLevel(std::uint32_t families, int depth) {
  LevelBounds const bounds{families, parts_.rows.symbols()};
  if (parts_.rows.in_pages()) {
    if (depth == 0) VisitPages({families, false, true}, depth);
  } else {
    device_.timer.Run(kSum, depth, [&] {
      SumRows(parts_.histograms.OfPage(parts_.matrix.view), parts_.rows.Lists(), parts_.memory.nodes(), bounds,
              device_.limits, device_.stream);
    });
  }
  device_.shard.devices->SumLevel(parts_.memory.View(), parts_.histograms.View(), bounds, device_.stream);
}

void HostDrivenSymmetricTree::Grow() {
  SumLevel(1, 0);
  if (!LearnRoot()) return;
  SortCategories();
  while (tree_.MayDivide()) {
    LevelView const view = UploadLevel();
    LevelSplit const split = FindSplit(view);
    if (split.score <= kLeastGain) return;
    Divide(view, split);
  }
}

/// Begins the tree, now that the format of the gradients is known. Returns false if one is not finite.
bool HostDrivenSymmetricTree::LearnRoot() {
  parts_.memory.ReturnHeader();
  parts_.memory.ReadNodes(0, 1);
  device_.shard.devices->Check();
  TreeHeader const& header = parts_.memory.returned();
  symmetric_.Begin(parts_, parts_.memory.returned_nodes()[0].sum, header.gradient.format);
  scores_.BeginTree(symmetric_.params()[0]);
  slots_.Begin(tree_, parts_.histograms.slots(), parts_.histograms.bytes_of_one());
  return IsFinite(header.gradient.maxima);
}

/// Sorts categories by the root's histogram, on the host.
void HostDrivenSymmetricTree::SortCategories() {
  if (!parts_.splits.has_categories()) return;
  DeviceMatrix const& matrix = parts_.matrix;
  std::vector<GradientSum> root(matrix.view.cells);
  CopyToHost(root.data(), parts_.histograms.View().slot(0), root.size(), device_.stream, "sorting categories");
  device_.stream.Wait("sorting categories");
  std::vector<BinIndex> all(matrix.cuts.ptr.back());
  for (FeatureIndex const f : parts_.request.features->Tree()) {
    if (scores_.KindOf(f) != CandidateKind::kSorted) continue;
    std::uint32_t const columns = matrix.view.tile_columns;
    std::uint64_t const first =
        matrix.view.dense ? matrix.tiles[f / columns].first_cell + f % columns : matrix.cuts.ptr[f];
    std::vector<GradientSum> sums(matrix.cuts.bins(f));
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] = root[first + c * matrix.view.cell_stride()];
    scores_.SortCategories(f, sums);
    std::copy(scores_.sorted(f).begin(), scores_.sorted(f).end(), all.begin() + matrix.cuts.ptr[f]);
  }
  CopyToDevice(sorted_.data(), all.data(), all.size(), device_.stream, "sorting categories");
  device_.stream.Wait("sorting categories");
}

/// Tells the device the nodes and the features of the level.
LevelView HostDrivenSymmetricTree::UploadLevel() {
  Constraints const& constraints = parts_.splits.constraints();
  std::vector<NodeIndex> const& active = tree_.active();
  host_nodes_.clear();
  for (std::size_t i = 0; i < active.size(); ++i) {
    host_nodes_.push_back({*tree_.level_node(active[i]), active[i], slots_.of_nodes()[i]});
  }
  host_features_.clear();
  scores_.BeginLevel(tree_.Features());
  for (FeatureIndex const f : scores_.features()) {
    CandidateKind const kind = scores_.KindOf(f);
    BinIndex const splits =
        kind == CandidateKind::kSorted ? SortedSplits(symmetric_.params()[0], parts_.matrix.cuts.bins(f)) : 0;
    std::int8_t const direction = constraints.monotone() ? constraints.directions()[f] : std::int8_t{0};
    host_features_.push_back({f, splits, kind, direction});
  }
  CopyToDevice(level_nodes_.data(), host_nodes_.data(), host_nodes_.size(), device_.stream, "scoring a level");
  CopyToDevice(level_features_.data(), host_features_.data(), host_features_.size(), device_.stream, "scoring a level");
  return {parts_.matrix.view,
          parts_.histograms.View(),
          level_nodes_.data(),
          level_features_.data(),
          static_cast<std::uint32_t>(host_features_.size()),
          sorted_.data(),
          parts_.matrix.cuts.ptr.back()};
}

LevelSplit HostDrivenSymmetricTree::FindSplit(LevelView const& view) {
  if (view.feature_count == 0) return {};
  bool const monotone = parts_.splits.constraints().monotone();
  auto const nodes = static_cast<std::uint32_t>(host_nodes_.size());
  device_.timer.Run(kSplit, tree_.depth(), [&] {
    for (std::uint32_t first = 0; first < nodes; first += node_chunk_) {
      AddLevelGains(view, symmetric_.params()[0], monotone, first, std::min(node_chunk_, nodes - first), gains_.data(),
                    device_scores_.data(), device_.stream);
    }
  });
  CopyToHost(scores_.first(), device_scores_.data(), view.bins, device_.stream, "reading scores");
  CopyToHost(scores_.second(), device_scores_.data() + view.bins, view.bins, device_.stream, "reading scores");
  device_.stream.Wait("looking for the split of a level");
  device_.shard.devices->Check();
  return scores_.Best();
}

void HostDrivenSymmetricTree::Divide(LevelView const& view, LevelSplit const& split) {
  std::vector<NodeIndex> const parents = tree_.active();
  bool const is_last = tree_.IsLastDivision();
  int const depth = tree_.depth() + 1;
  auto const families = static_cast<std::uint32_t>(parents.size());
  std::uint32_t const* const right_categories = parts_.splits.UploadCategories(split, scores_.category_sets());
  WriteLevelSplit(view, split, right_categories, families, parts_.memory.nodes(), lefts_.data(), device_.stream);
  std::vector<GradientSum> lefts(families);
  CopyToHost(lefts.data(), lefts_.data(), lefts.size(), device_.stream, "dividing a level");
  device_.stream.Wait("dividing a level");
  tree_.Divide(split, lefts);

  CopyToDevice(parts_.memory.View().families, slots_.Plan(tree_, parents, is_last).data(), families, device_.stream,
               "dividing a level");
  SplitView without_limits = parts_.splits.View();  // the host keeps the limits of symmetric trees
  without_limits.limits = {};
  LevelBounds const bounds{families, parts_.rows.symbols()};
  if (parts_.rows.in_pages()) {
    PrepareFamilies(without_limits, parts_.Growth(), families, device_.stream);
    VisitPages({families, true, !is_last}, depth);
  } else {
    device_.timer.Run(kMove, depth, [&] {
      PrepareFamilies(without_limits, parts_.Growth(), families, device_.stream);
      MoveRows(parts_.Partition(parts_.matrix.view), parts_.rows.Lists(), bounds, LevelKind::kInner, device_.limits,
               device_.stream);
    });
  }
  if (is_last) return;
  SumLevel(families, depth);
  SubtractSiblings(parts_.memory.View(), parts_.histograms.View(), families, device_.limits, device_.stream);
}

bool HostDrivenSymmetricTree::Finish() {
  if (!IsFinite(parts_.memory.returned().gradient.maxima)) return true;
  std::size_t const made = tree_.nodes().size();
  parts_.memory.ReadNodes(0, made);
  Span<Node const> const returned{parts_.memory.returned_nodes(), made};
  std::vector<NodeIndex> const leaf = symmetric_.End(returned);
  leaves_.FindHostDriven(returned, leaf, symmetric_.nodes());
  return true;
}

}  // namespace xgbgpu::cuda
