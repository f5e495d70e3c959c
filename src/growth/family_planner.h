/// Finds memory for the histograms of a family, and plans how they are made.
#ifndef XGBGPU_GROWTH_FAMILY_PLANNER_H_
#define XGBGPU_GROWTH_FAMILY_PLANNER_H_

#include "growth/level.h"
#include "histogram/histogram.h"
#include "histogram/histogram_slots.h"
#include "tree/node.h"
#include "xgbgpu/span.h"

namespace xgbgpu::host {

class FamilyPlanner {
 public:
  /// Both must outlive it.
  FamilyPlanner(HistogramBuilder const& histograms, HistogramSlots* slots) : histograms_{histograms}, slots_{slots} {}

  /// Plans the family of the children of `parent`, or of the root if that is kNoNode: the built child is summed, and
  /// the other one too if the parent's histogram has been lost. Returns false, with nothing planned, if there is no
  /// memory. With `may_take` others lose theirs, but not what they got in this level: the first family always finds
  /// some.
  bool Plan(Span<Node const> nodes, NodeIndex parent, bool may_take, Level* level);
  /// Plans to sum the rows of a node once more. Returns false as above.
  bool PlanAgain(NodeIndex node, bool may_take, Level* level);

 private:
  void PlanJob(NodeIndex node, Level* level);
  SplitJob MakeSplitJob(Span<Node const> nodes, NodeIndex n) const;

  HistogramBuilder const& histograms_;
  HistogramSlots* slots_;
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_GROWTH_FAMILY_PLANNER_H_
