#include "growth/growth.h"

#include <algorithm>

#include "core/parallel.h"

namespace xgbgpu::host {

Growth::Growth(HistogramBuilder const& histograms, SplitFinder* splits, HistogramSlots* slots, int threads)
    : splits_{splits}, slots_{slots}, planner_{histograms, slots}, threads_{threads} {}

void Growth::Begin(TrainParams const& train, SplitParams const& params, FeatureSampler const& features,
                   Constraints const& constraints, GradientSum root) {
  params_ = &params;
  features_ = &features;
  constraints_ = &constraints;
  queue_.Reset(train);
  limits_.Reset(constraints);
  slots_->Begin();
  nodes_.clear();
  AddNode(kNoNode, root);
  parents_ = {kNoNode};
  planned_ = 0;
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
  if (planned_ == parents_.size()) SplitNodes(level);
  PlanFamilies(level);
  return !level->empty();
}

/// Notes the best splits. Nobody needs the histogram of a node any more that will not be split, or whose children will
/// not.
void Growth::TakeSplits(Span<SplitFamily const> families) {
  for (SplitFamily const& family : families) {
    for (SplitJob const& job : family.jobs) {
      node(job.node).split = job.best;
      bool const queued = queue_.Push(nodes_, job.node);
      if (!queued || !queue_.ChildrenMaySplit(node(job.node).depth)) slots_->Release(job.node);
    }
  }
}

/// Takes the nodes to split next from the queue.
void Growth::SplitNodes(Level* level) {
  parents_.clear();
  planned_ = 0;
  for (NodeIndex const parent : queue_.Pop(nodes_)) {
    SplitCandidate const split = node(parent).split;
    NodeIndex const left = AddNode(parent, split.left);
    AddNode(parent, split.right);
    node(parent).left = left;
    limits_.AddChildren(*params_, parent, left, split);
    bool const is_last = !queue_.ChildrenMaySplit(node(parent).depth);
    level->depth = node(left).depth;
    level->divisions.push_back({parent, left, split.feature, split.bin, split.default_left,
                                split.categorical ? splits_->category_sets().set(split.bin) : nullptr, is_last});
    if (is_last) {
      slots_->Release(parent);
    } else {
      parents_.push_back(parent);
    }
  }
}

/// Plans as many of the families that are left as there is memory for. There is always memory for one.
void Growth::PlanFamilies(Level* level) {
  while (planned_ < parents_.size() && planner_.Plan(nodes_, parents_[planned_], level->families.empty(), level)) {
    for (SplitJob& job : level->families.back().jobs) job.bounds = limits_.bounds(job.node);
    ++planned_;
  }
  ChooseFeatures(level);
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
