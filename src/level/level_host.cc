#include <algorithm>

#include "core/parallel.h"
#include "core/stages.h"
#include "level/level.h"
#include "split/built_child_ops.h"
#include "split/split_ops.h"

namespace xgbgpu::host {

LevelBuilder::LevelBuilder(QuantisedMatrix const& matrix, int threads, std::size_t cache_bytes,
                           HostStageTimer const* timer)
    : matrix_{matrix},
      threads_{threads},
      timer_{timer},
      partitioner_{matrix, threads},
      histograms_{matrix, threads},
      cache_{matrix.cells(), cache_bytes},
      set_words_{CategorySetWords(matrix.cuts)} {
  for (auto& list : lists_) list = Buffer<RowRecord>{matrix.rows};
}

void LevelBuilder::Begin(GradientView const& gradients, SplitParams const& params, FeatureSampler const& features,
                         TrainParams const& train, std::size_t rows) {
  gradients_ = gradients;
  params_ = &params;
  features_ = &features;
  queue_.Reset(train);
  constraints_ = Constraints{train, matrix_.features()};
  limits_.Reset(constraints_);
  nodes_.clear();
  category_sets_.clear();
  selected_.clear();
  waiting_.clear();
  cache_.ReleaseAll();
  histograms_.SetFeatures(features.Tree());
  AddNode(kNoNode, AttachGradients(gradients, {lists_[0].data(), rows}, threads_));
  nodes_[0].rows = static_cast<std::uint32_t>(rows);
}

NodeIndex LevelBuilder::AddNode(NodeIndex parent, GradientSum sum) {
  Node child;
  child.parent = parent;
  child.depth = parent == kNoNode ? 0 : node(parent).depth + 1;
  child.sum = sum;
  nodes_.push_back(child);
  return static_cast<NodeIndex>(nodes_.size()) - 1;
}

void LevelBuilder::BuildRoot() {
  AcquireSlot(0, true, kNoNode);
  EvaluateFamilies({{0, kNoNode, false}});
}

bool LevelBuilder::SelectNodes() {
  selected_ = queue_.Pop(nodes_);
  return !selected_.empty();
}

void LevelBuilder::ExpandNodes() {
  for (NodeIndex parent : selected_) {
    SplitCandidate const split = node(parent).split;
    node(parent).left = AddNode(parent, split.left);
    AddNode(parent, split.right);
    limits_.AddChildren(*params_, parent, node(parent).left, split);
  }
  timer_->Run(kMove, node(selected_.front()).depth + 1, [&] { SplitRows(selected_); });
  std::vector<NodeIndex> parents;
  for (NodeIndex parent : selected_) {
    if (queue_.ChildrenMaySplit(node(parent).depth)) {
      parents.push_back(parent);
    } else {
      ReleaseSlot(parent);
    }
  }
  BuildFamilies(parents);
}

PartitionJob LevelBuilder::MakePartitionJob(Node const& parent) {
  auto const from = static_cast<std::size_t>(parent.list);
  return {parent.split.feature,
          parent.split.bin,
          parent.split.default_left,
          lists_[from].data() + parent.first_row,
          lists_[1 - from].data() + parent.first_row,
          parent.rows,
          parent.left,
          0,
          parent.split.categorical ? category_sets().set(parent.split.bin) : nullptr};
}

void LevelBuilder::SplitRows(std::vector<NodeIndex> const& parents) {
  std::vector<PartitionJob> moving, final;
  for (NodeIndex p : parents) {
    auto& jobs = queue_.ChildrenMaySplit(node(p).depth) ? moving : final;
    jobs.push_back(MakePartitionJob(node(p)));
  }
  partitioner_.AssignChildren(final, positions_);
  for (PartitionJob const& job : final) {
    node(job.left).list = node(job.left + 1).list = RowList::kNone;
  }
  partitioner_.Partition(moving);
  for (PartitionJob const& job : moving) {
    Node const& parent = node(node(job.left).parent);
    Node& left = node(job.left);
    Node& right = node(job.left + 1);
    left.list = right.list = parent.list == RowList::kFirst ? RowList::kSecond : RowList::kFirst;
    left.first_row = parent.first_row;
    left.rows = job.n_left;
    right.first_row = parent.first_row + job.n_left;
    right.rows = parent.rows - job.n_left;
  }
}

void LevelBuilder::BuildFamilies(std::vector<NodeIndex> const& parents) {
  std::vector<Family> batch;
  for (NodeIndex parent : parents) {
    Family family;
    if (!PlanFamily(parent, batch.empty(), &family)) {
      EvaluateFamilies(batch);  // what is finished may let go of its slots
      batch.clear();
      PlanFamily(parent, true, &family);
    }
    batch.push_back(family);
  }
  EvaluateFamilies(batch);
}

/// Finds slots for the children of `parent`. False, and nothing changed, if there are none and none may be evicted.
bool LevelBuilder::PlanFamily(NodeIndex parent, bool may_evict, Family* family) {
  NodeIndex const left = node(parent).left;
  bool const left_is_built = LeftIsBuilt(node(left).sum, node(left + 1).sum);
  NodeIndex const small = left_is_built ? left : left + 1;
  NodeIndex const large = left_is_built ? left + 1 : left;
  *family = {small, large, node(parent).slot >= 0};
  if (!AcquireSlot(small, may_evict, parent)) return false;
  if (family->subtract) {
    node(large).slot = std::exchange(node(parent).slot, -1);
    waiting_.emplace_back(large, node(large).slot);
    return true;
  }
  if (AcquireSlot(large, may_evict, small)) return true;
  ReleaseSlot(small);
  return false;
}

/// Takes a free slot, or the one of the node that has waited longest. Ends, because every slot in use has an entry in
/// `waiting_` and there are two slots at least: if only `keep` holds one, another is free.
bool LevelBuilder::AcquireSlot(NodeIndex owner, bool may_evict, NodeIndex keep) {
  int slot = cache_.Acquire();
  while (slot == HistogramCache::kNoSlot && may_evict && !waiting_.empty()) {
    auto const [oldest, its_slot] = waiting_.front();
    waiting_.pop_front();
    if (node(oldest).slot != its_slot) continue;  // released long ago
    if (oldest == keep) {
      waiting_.emplace_back(oldest, its_slot);
      if (waiting_.size() == 1) break;
      continue;
    }
    ReleaseSlot(oldest);
    slot = cache_.Acquire();
  }
  if (slot == HistogramCache::kNoSlot) return false;
  node(owner).slot = slot;
  waiting_.emplace_back(owner, slot);
  return true;
}

void LevelBuilder::ReleaseSlot(NodeIndex owner) {
  if (node(owner).slot < 0) return;
  cache_.Release(node(owner).slot);
  node(owner).slot = -1;
}

std::vector<std::vector<FeatureIndex>> LevelBuilder::FeatureSets(std::vector<NodeIndex> const& nodes) const {
  std::vector<std::vector<FeatureIndex>> sets;
  if (features_->all() && !constraints_.interaction()) return sets;
  sets.resize(nodes.size());
  ParallelTasks(threads_, nodes.size(), [&](std::size_t i, int) {
    sets[i] = features_->Node(nodes_[static_cast<std::size_t>(nodes[i])].depth, nodes[i]);
    limits_.Filter(nodes[i], &sets[i]);
  });
  return sets;
}

void LevelBuilder::EvaluateFamilies(std::vector<Family> const& families) {
  if (families.empty()) return;
  std::vector<HistogramJob> jobs;
  std::vector<NodeIndex> evaluated;  // two places per family: built, sibling
  auto const sums = [&](NodeIndex n) { return cache_.sums(node(n).slot); };
  auto const rows = [&](NodeIndex n) {
    Node const& own = node(n);
    return Span<RowRecord const>{lists_[static_cast<std::size_t>(own.list)].data() + own.first_row, own.rows};
  };
  for (Family const& f : families) {
    jobs.push_back({rows(f.built), sums(f.built)});
    evaluated.push_back(f.built);
    if (f.sibling == kNoNode) continue;
    evaluated.push_back(f.sibling);
    if (!f.subtract) jobs.push_back({rows(f.sibling), sums(f.sibling)});
  }
  int const level = node(families.front().built).depth;
  timer_->Run(kSum, level, [&] { histograms_.Build(gradients_, jobs); });

  auto const sets = FeatureSets(evaluated);
  auto const& blocks = histograms_.blocks();
  std::vector<SplitCandidate> best(evaluated.size() * blocks.size());
  std::vector<std::size_t> place(families.size());  // of each family's first node in `evaluated`
  for (std::size_t f = 1; f < families.size(); ++f)
    place[f] = place[f - 1] + (families[f - 1].sibling == kNoNode ? 1 : 2);
  auto const find_splits = [&](std::size_t task, int) {
    std::size_t const f = task / blocks.size(), b = task % blocks.size();
    Family const& family = families[f];
    FeatureBlock const& block = blocks[b];
    if (family.subtract) SubtractHistogram(block, sums(family.built), sums(family.sibling));
    for (std::size_t i = place[f]; i < place[f] + (family.sibling == kNoNode ? 1 : 2); ++i) {
      Span<FeatureIndex const> features = block.features;
      if (!sets.empty()) {
        auto const* const first = std::lower_bound(sets[i].data(), sets[i].data() + sets[i].size(), features.front());
        auto const* const last = std::upper_bound(first, sets[i].data() + sets[i].size(), features.back());
        features = {first, static_cast<std::size_t>(last - first)};
      }
      best[i * blocks.size() + b] = EvaluateSplits(*params_, matrix_, sums(evaluated[i]), node(evaluated[i]).sum,
                                                   features, constraints_.directions(), limits_.bounds(evaluated[i]));
    }
  };
  timer_->Run(kSplit, level, [&] { ParallelTasks(threads_, families.size() * blocks.size(), find_splits); });

  for (std::size_t i = 0; i < evaluated.size(); ++i) {
    Node& n = node(evaluated[i]);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      SplitCandidate const& candidate = best[i * blocks.size() + b];
      if (IsBetter(candidate, n.split)) n.split = candidate;
    }
  }
  if (set_words_ != 0) WriteCategorySets(evaluated);
  for (NodeIndex i : evaluated) {
    Node& n = node(i);
    bool const queued = queue_.Push(nodes_, i);
    if (!queued || !queue_.ChildrenMaySplit(n.depth)) ReleaseSlot(i);
  }
}

/// The sets of those nodes that may be split by categories, while their histograms are there.
void LevelBuilder::WriteCategorySets(std::vector<NodeIndex> const& nodes) {
  std::vector<NodeIndex> by_categories;
  for (NodeIndex n : nodes) {
    if (node(n).split.categorical && queue_.IsCandidate(node(n))) by_categories.push_back(n);
  }
  std::size_t const first = category_sets_.size() / set_words_;
  category_sets_.resize((first + by_categories.size()) * set_words_);
  ParallelTasks(threads_, by_categories.size(), [&](std::size_t i, int) {
    Node& n = node(by_categories[i]);
    FeatureIndex const f = n.split.feature;
    Span<GradientSum const> const sums{cache_.sums(n.slot) + matrix_.cell_ptr[f], matrix_.cuts.bins(f)};
    WriteCategorySet(*params_, sums, n.split, category_sets_.data() + (first + i) * set_words_);
    n.split.bin = static_cast<BinIndex>(first + i);
  });
}

void LevelBuilder::LeafPositions(NodeIndex* positions) {
  struct Run {
    NodeIndex leaf;
    RowRecord const* rows;
    std::size_t n;
  };
  constexpr std::size_t kRunRows = 1 << 14;
  std::vector<Run> runs;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node const& n = nodes_[i];
    if (n.left != kNoNode || n.list == RowList::kNone) continue;
    RowRecord const* const rows = lists_[static_cast<std::size_t>(n.list)].data() + n.first_row;
    for (std::size_t first = 0; first < n.rows; first += kRunRows) {
      runs.push_back({static_cast<NodeIndex>(i), rows + first, std::min<std::size_t>(kRunRows, n.rows - first)});
    }
  }
  ParallelTasks(threads_, runs.size(), [&](std::size_t r, int) {
    for (std::size_t i = 0; i < runs[r].n; ++i) positions[runs[r].rows[i].row] = runs[r].leaf;
  });
}

std::size_t LevelBuilder::bytes() const {
  return cache_.bytes() + histograms_.bytes() + lists_[0].bytes() + lists_[1].bytes();
}

}  // namespace xgbgpu::host
