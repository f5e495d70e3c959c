/// Finds memory for the histograms of a family, and plans how they are made.
#ifndef XGBGPU_GROWTH_FAMILY_PLANNER_H_
#define XGBGPU_GROWTH_FAMILY_PLANNER_H_

#include <cstdint>

#include "growth/level.h"
#include "histogram/histogram.h"
#include "histogram/histogram_slots.h"
#include "tree/node.h"
#include "xgbgpu/span.h"

namespace xgbgpu::host {

class FamilyPlanner {
 public:
  /// Both must outlive it. `outputs`: a slot has the cells of this number of outputs, one output after the other.
  FamilyPlanner(HistogramBuilder const& histograms, HistogramSlots* slots, std::uint32_t outputs = 1)
      : histograms_{histograms}, slots_{slots}, outputs_{outputs} {}

  /// Plans the family of the children of `parent`, or of the root if `parent` is kNoNode. The built child is summed,
  /// and its sibling, too, if the parent's histogram has been lost. Returns false, and plans nothing, if there is no
  /// memory. With `may_take` other nodes lose their histograms, except histograms of this level: the first family
  /// always finds memory.
  bool Plan(Span<Node const> nodes, NodeIndex parent, bool may_take, Level* level);
  /// Plans to sum the rows of a node once more. Returns false as above.
  bool PlanAgain(NodeIndex node, bool may_take, Level* level);

 private:
  void PlanJob(NodeIndex node, Level* level);
  SplitJob MakeSplitJob(Span<Node const> nodes, NodeIndex n) const;

  HistogramBuilder const& histograms_;
  HistogramSlots* slots_;
  std::uint32_t outputs_;
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_GROWTH_FAMILY_PLANNER_H_
