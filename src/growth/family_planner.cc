// Chooses histogram slots for the children of a split, and which child is summed.
#include "growth/family_planner.h"

#include "split/built_child_ops.h"
#include "xgbgpu/collective.h"

namespace xgbgpu::host {

bool FamilyPlanner::Plan(Span<Node const> nodes, NodeIndex parent, bool may_take, Level* level) {
  if (parent == kNoNode) {
    if (!PlanAgain(0, may_take, level)) return false;
    level->families.push_back({{MakeSplitJob(nodes, 0)}, false});
    return true;
  }
  auto const sum = [&](NodeIndex n) { return nodes[static_cast<std::size_t>(n)].sum; };
  NodeIndex const left = nodes[static_cast<std::size_t>(parent)].left;
  bool const left_is_built = LeftIsBuilt(sum(left), sum(left + 1));
  NodeIndex const built = left_is_built ? left : left + 1, sibling = left_is_built ? left + 1 : left;
  bool const subtract = slots_->Has(parent);
  if (!slots_->Acquire(built, may_take, parent)) return false;
  if (subtract) {
    slots_->Pass(parent, sibling);
  } else if (!slots_->Acquire(sibling, may_take)) {
    slots_->Release(built);
    return false;
  }
  level->depth = nodes[static_cast<std::size_t>(left)].depth;
  PlanJob(built, level);
  if (!subtract) PlanJob(sibling, level);
  level->families.push_back({{MakeSplitJob(nodes, built), MakeSplitJob(nodes, sibling)}, subtract});
  return true;
}

bool FamilyPlanner::PlanAgain(NodeIndex node, bool may_take, Level* level) {
  if (!slots_->Acquire(node, may_take)) return false;
  PlanJob(node, level);
  return true;
}

void FamilyPlanner::PlanJob(NodeIndex node, Level* level) {
  GradientSum* const sums = slots_->sums(node);
  level->jobs.push_back({node, sums});
  for (std::uint32_t output = 0; output < outputs_; ++output) {
    GradientSum* const first = sums + output * histograms_.cells();
    for (FeatureBlock const& block : histograms_.blocks()) {
      level->sums.push_back(Integers({first + block.begin, std::size_t{block.end} - block.begin}));
    }
  }
}

SplitJob FamilyPlanner::MakeSplitJob(Span<Node const> nodes, NodeIndex n) const {
  return {n, slots_->sums(n), nodes[static_cast<std::size_t>(n)].sum, {}, {}, {}};
}

}  // namespace xgbgpu::host
