/// Grows symmetric trees on the host: one split divides all nodes of a level.
#ifndef XGBGPU_GROWTH_SYMMETRIC_H_
#define XGBGPU_GROWTH_SYMMETRIC_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "growth/family_planner.h"
#include "growth/level.h"
#include "growth/symmetric_tree.h"
#include "histogram/histogram.h"
#include "histogram/histogram_slots.h"
#include "split/level_split.h"

namespace xgbgpu::host {

/// Plans the levels of one tree after the other. A level is scored family by family; memory for histograms limits the
/// families of a pass. Then the level is divided.
class SymmetricGrowth {
 public:
  /// Plans for the given stages, which must outlive it. `outputs`: FamilyPlanner's.
  SymmetricGrowth(HistogramBuilder const& histograms, LevelSplitFinder* splits, HistogramSlots* slots,
                  std::uint32_t outputs = 1)
      : splits_{splits}, slots_{slots}, planner_{histograms, slots, outputs}, outputs_{outputs} {}

  /// Forgets the last tree. `root` [outputs]: sums over the rows of all shards. Other arguments, and the data that
  /// `params` points to, must live until the tree is finished.
  void Begin(TrainParams const& train, LevelParams const& params, FeatureSampler const& features,
             Constraints const& constraints, Span<GradientSum const> root);
  /// Makes `level` the next pass over the rows. The results of the last pass have been added to the scores. Returns
  /// false if the tree is finished.
  bool Plan(Level* level);
  /// Adds the families of `level` to the scores.
  void Find(Level* level);

  SymmetricTree const& tree() const { return tree_; }
  /// Growth::MadeOtherNodes and Growth::LeafNumbers. Nodes that were made and cut off are in the leaves above them.
  bool MadeOtherNodes() const { return tree_.WasCut(); }
  Span<NodeIndex const> LeafNumbers() const { return tree_.kept(); }

 private:
  void BeginLevel();
  void Choose();
  bool SumAgain(Level* level);
  void Divide(Level* level);
  void PlanFamilies(Level* level);
  void GiveUpDone();

  LevelSplitFinder* splits_;
  HistogramSlots* slots_;
  FamilyPlanner planner_;
  std::size_t outputs_;
  SymmetricTree tree_;
  std::vector<NodeIndex> parents_;  ///< of the families of the level; kNoNode: the family is the root
  std::size_t planned_{0};          ///< number of parents_ with planned families
  std::vector<NodeIndex> done_;     ///< nodes with histograms that only the next level needs
  bool is_chosen_{false};           ///< the level's split is known
  LevelSplit split_;
  std::vector<GradientSum> lefts_;    ///< [active nodes, outputs] sums of the rows that go left
  std::vector<std::size_t> unknown_;  ///< places in active() of nodes without a known sum in lefts_
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_GROWTH_SYMMETRIC_H_
