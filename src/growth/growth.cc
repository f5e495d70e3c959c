// Grows the nodes of depth-wise and loss-guided trees on the host.
#include "growth/growth.h"

#include <algorithm>

#include "base/parallel.h"

namespace xgbgpu::host {

Growth::Growth(HistogramBuilder const& histograms, NodeSplits* splits, HistogramSlots* slots, int threads,
               std::uint32_t outputs)
    : splits_{splits}, slots_{slots}, planner_{histograms, slots, outputs}, threads_{threads} {}

void Growth::Begin(TrainParams const& train, SplitParams const& params, FeatureSampler const& features,
                   Constraints const& constraints, GradientSum root, bool in_pages) {
  params_ = &params;
  features_ = &features;
  constraints_ = &constraints;
  in_pages_ = in_pages;
  in_order_ = train.grow_policy != GrowPolicy::kLossGuide || !in_pages || features.per_node();
  root_ = root;
  grown_.Reset(train, in_order_);
  limits_.Reset(constraints);
  slots_->Begin();
  nodes_.clear();
}

NodeIndex Growth::AddNode(NodeIndex parent, GradientSum sum) {
  Node child;
  child.parent = parent;
  child.depth = parent == kNoNode ? 0 : node(parent).depth + 1;
  child.sum = sum;
  nodes_.push_back(child);
  return static_cast<NodeIndex>(nodes_.size()) - 1;
}

bool Growth::Plan(Level* level) {
  TakeSplits(level->families);
  *level = {};
  slots_->BeginLevel();
  if (nodes_.empty()) {
    AddNode(kNoNode, root_);
    planner_.Plan(nodes_, kNoNode, true, level);
  } else {
    SplitNodes(level);
  }
  ChooseFeatures(level);
  return !level->empty();
}

/// Notes the best splits. A histogram is not needed any more if its node will not be split, or if its children will
/// not.
void Growth::TakeSplits(Span<SplitFamily const> families) {
  for (SplitFamily const& family : families) {
    for (SplitJob const& job : family.jobs) node(job.node).split = job.best;
  }
  if (!nodes_.empty()) grown_.Learn(nodes_);
  for (SplitFamily const& family : families) {
    for (SplitJob const& job : family.jobs) {
      Node const& found = node(job.node);
      if (!grown_.IsCandidate(found) || !grown_.ChildrenMaySplit(found)) slots_->Release(job.node);
    }
  }
}

/// Splits the next nodes while there is memory. There is always memory for one.
void Growth::SplitNodes(Level* level) {
  for (NodeIndex const parent : grown_.Next(nodes_, nodes_.size())) {
    if (!PlanChildren(parent, level)) return;
    Node const& from = node(parent);
    SplitCandidate const& split = from.split;
    bool const is_last = !grown_.ChildrenMaySplit(from);
    limits_.AddChildren(*params_, parent, from.left, split);
    splits_->AddChildren(parent, from.left);
    level->depth = from.depth + 1;
    level->divisions.push_back({parent, from.left, split.feature, split.bin, split.default_left,
                                split.categorical ? splits_->category_sets().set(split.bin) : nullptr, is_last});
    if (is_last) continue;
    for (SplitJob& job : level->families.back().jobs) job.bounds = limits_.bounds(job.node);
  }
}

/// Gives a node its children, and plans their histograms if they may be split. Returns false, without children, if
/// there is no memory. Memory that others have is worth less than a pass over pages, but more than one over rows in
/// core.
bool Growth::PlanChildren(NodeIndex parent, Level* level) {
  bool const is_last = !grown_.ChildrenMaySplit(node(parent));
  NodeIndex const left = AddNode(parent, node(parent).split.left);
  AddNode(parent, node(parent).split.right);
  node(parent).left = left;
  if (is_last) {
    slots_->Release(parent);
    return true;
  }
  if (planner_.Plan(nodes_, parent, in_pages_ || level->families.empty(), level)) return true;
  nodes_.resize(static_cast<std::size_t>(left));
  node(parent).left = kNoNode;
  return false;
}

/// Gives each node the features that sampling and constraints leave to it.
void Growth::ChooseFeatures(Level* level) const {
  if (features_->all() && !constraints_->interaction()) return;
  std::vector<SplitJob*> jobs;
  for (SplitFamily& family : level->families) {
    for (SplitJob& job : family.jobs) jobs.push_back(&job);
  }
  ParallelTasks(threads_, jobs.size(), [&](std::size_t i, int) {
    NodeIndex const n = jobs[i]->node;
    jobs[i]->features = features_->Node(nodes_[static_cast<std::size_t>(n)].depth, n);
    limits_.Filter(n, &*jobs[i]->features);
  });
}

}  // namespace xgbgpu::host
