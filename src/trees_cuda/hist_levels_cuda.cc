// Enqueues the levels of a tree on a device: rows go to their nodes, are summed, and splits are found and planned.
#include "trees_cuda/hist_levels_cuda.h"

#include <algorithm>

#include "base/stages.h"
#include "gradient/gradient.h"
#include "growth/plan_cuda.h"
#include "histogram/histogram_cuda.h"
#include "partition/partition_cuda.h"
#include "partition/path_levels_cuda.h"

namespace xgbgpu::cuda {

namespace {

using DevicePage = Page<DeviceMatrixView>;

/// Rows in lists go to the lists of their children.
class ListLevels {
 public:
  /// `first`: the first level that is enqueued now. Its rows are divided already.
  ListLevels(TreeParts const& parts, int first) : parts_{parts}, device_{parts.device}, first_{first} {}

  void Divide(DevicePage const& page, int level, LevelBounds const& bounds, LevelKind kind = LevelKind::kInner) const {
    if (level == first_) return;
    device_.timer.Run(kMove, level, [&] {
      MoveRows(parts_.Partition(page.matrix), parts_.rows.Lists(), bounds, kind, device_.limits, device_.stream);
    });
  }
  void Sum(DevicePage const& page, int level, LevelBounds const& bounds) const {
    device_.timer.Run(kSum, level, [&] {
      SumRows(parts_.histograms.OfPage(parts_.rows.AtLevel(page.matrix, level)), parts_.rows.Lists(),
              parts_.memory.nodes(), bounds, device_.limits, device_.stream);
    });
  }
  GrowthView Growth() const { return parts_.Growth(); }
  static PathStep step() { return {}; }
  static constexpr NextLevel kNext = NextLevel::kLists;

 private:
  TreeParts const& parts_;
  TreeDevice const& device_;
  int first_;
};

/// Rows by paths stay where they are, and are told their paths. At some levels they are moved.
class PathRows {
 public:
  PathRows(TreeParts const& parts, TreeShape const& shape, int first)
      : parts_{parts},
        device_{parts.device},
        levels_{parts.rows.paths(), shape, parts.rows.RootPaths(), device_.timed(),
                PairsFitShared(parts.rows.matrix(), parts.rows.symbols(), device_.limits)} {
    for (int level = 0; level < first; ++level) {  // enqueued already
      levels_.Next();
      levels_.EndDivide();
      levels_.EndSum();
    }
  }

  void Divide(DevicePage const& page, int level, LevelBounds const& bounds) {
    levels_.Next();
    // Rows are divided by the splits of the level above.
    DeviceMatrixView const matrix = parts_.rows.AtLevel(page.matrix, std::max(0, level - 1));
    auto const divide = [&] { levels_.Divide(parts_.Partition(matrix), bounds, device_.limits, device_.stream); };
    level == 0 ? divide() : device_.timer.Run(kMove, level, divide);
    levels_.EndDivide();
  }
  void Sum(DevicePage const& page, int level, LevelBounds const& bounds) {
    device_.timer.Run(kSum, level, [&] {
      if (levels_.ClearsSlots()) {
        ClearSums(parts_.Partition(page.matrix), bounds, device_.limits, device_.stream);
      }
      bool const divides = levels_.sums() != PathSums::kTold;
      DeviceMatrixView const matrix = parts_.rows.AtLevel(page.matrix, divides ? level - 1 : level);
      SumPaths(parts_.histograms.OfPage(matrix), levels_.paths(), parts_.splits.Categories(), bounds, levels_.sums(),
               device_.limits, device_.stream);
    });
    levels_.EndSum();
  }
  GrowthView Growth() const { return parts_.Growth(levels_.paths()); }
  PathStep step() const { return levels_.step(); }
  static constexpr NextLevel kNext = NextLevel::kPaths;

 private:
  TreeParts const& parts_;
  TreeDevice const& device_;
  PathLevels levels_;
};

/// Tells whether the tree's nodes are bounded by its parameters. Else they are bounded by its rows, each of which is in
/// one leaf, and wrong sums know no rows. Sums of few rows have the wide format, and never fit.
bool HasMemoryForAnySums(TreeParts const& parts) {
  TrainParams const& params = parts.request.params;
  std::uint64_t const rows = parts.device.shard.all_rows();
  bool const by_depth = params.max_depth > 0 && params.max_depth < 32 && std::uint64_t{1} << params.max_depth <= rows;
  bool const by_leaves = params.max_leaves > 0 && static_cast<std::uint64_t>(params.max_leaves) <= rows;
  return rows >= kNarrowMinRows && (by_depth || by_leaves);
}

LevelBounds BoundsOf(TreeParts const& parts, TreeShape const& shape, int level) {
  LevelBounds bounds{level == 0 ? 1 : shape.Split(level - 1), parts.rows.symbols(), level + 1 < shape.possible_levels};
  bounds.may_overflow = HasMemoryForAnySums(parts);
  return bounds;
}

void SumOverDevices(TreeParts const& parts, LevelBounds const& bounds, int level) {
  parts.histograms.SumOverDevices(parts.splits.shares(), bounds, level);
}

NextPlan PlanByHost(TreeParts const& parts) { return {parts.Growth(), NextLevel::kByHost, {}}; }

/// The level of a symmetric tree is divided by one split.
void DivideAndPlan(TreeParts const& parts, NextPlan const& plan, LevelBounds const& bounds, int level) {
  TreeDevice const& device = parts.device;
  LevelSearchWorkspace const& level_search = parts.splits.level_search();
  SplitView const view = parts.splits.View();
  LevelSearchView const search = level_search.View(level);
  FindLevelSplit(view, search, bounds, level_search.chunk(), device.limits, device.stream);
  DivideLevel(view, search, plan, bounds, device.limits, device.stream);
}

/// Where each device searches a share of the features, the best split of a node is known when all devices have told
/// theirs. The plan is made behind that.
void FindAndPlan(TreeParts const& parts, SplitView const& view, NextPlan const& plan, LevelBounds const& bounds) {
  TreeDevice const& device = parts.device;
  bool const shared = parts.splits.shares() != nullptr;
  NextPlan const in_search{plan.growth, shared ? NextLevel::kByHost : plan.next, plan.step};
  FindSplits(view, in_search, bounds, device.limits, device.stream);
  if (shared) device.shard.devices->BestOfLevel(parts.memory.View(), bounds, device.stream);
  if (plan.next == NextLevel::kByHost) return;
  if (shared) PlanLevel(view, plan, device.limits, device.stream);
  PlanOrdered(view, plan, device.limits, device.stream);
}

template <typename Rows>
void EnqueueLevelsOf(TreeParts const& parts, TreeShape const& shape, Rows* rows, int first, int end) {
  for (int level = first; level < end; ++level) {
    LevelBounds const bounds = BoundsOf(parts, shape, level);
    parts.rows.pages().ForEach([&](DevicePage const& page) {
      rows->Divide(page, level, bounds);
      rows->Sum(page, level, bounds);
    });
    SumOverDevices(parts, bounds, level);
    parts.device.timer.Run(kSplit, level, [&] {
      NextPlan const plan{rows->Growth(), Rows::kNext, rows->step()};
      parts.request.symmetric() ? DivideAndPlan(parts, plan, bounds, level)
                                : FindAndPlan(parts, parts.splits.AtLevel(level), plan, bounds);
    });
  }
}

}  // namespace

void EnqueueLevels(TreeParts const& parts, TreeShape const& shape, int first, int end) {
  if (parts.rows.by_paths()) {
    PathRows rows{parts, shape, first};
    EnqueueLevelsOf(parts, shape, &rows, first, end);
    return;
  }
  ListLevels rows{parts, first};
  EnqueueLevelsOf(parts, shape, &rows, first, end);
  bool const is_final = end == shape.possible_levels;
  parts.rows.pages().ForEach([&](DevicePage const& page) {
    rows.Divide(page, end, BoundsOf(parts, shape, end), is_final ? LevelKind::kFinal : LevelKind::kInner);
  });
}

void EnqueueBatch(TreeParts const& parts, BatchSizes const& sizes, int batch) {
  ListLevels const rows{parts, 0};
  LevelBounds const bounds{sizes.families, parts.rows.symbols(), true, sizes.siblings};
  if (batch != 0) PrepareFamilies(parts.splits.View(), parts.Growth(), sizes.families, parts.device.stream);
  parts.rows.pages().ForEach([&](DevicePage const& page) {
    rows.Divide(page, batch, bounds);
    rows.Sum(page, batch, bounds);
  });
  SumOverDevices(parts, bounds, batch);
  parts.device.timer.Run(kSplit, batch, [&] { FindAndPlan(parts, parts.splits.View(), PlanByHost(parts), bounds); });
}

PageStep BeginStep(TreeParts const& parts, BatchSizes const& sizes, int number, bool evaluates) {
  if (number != 0) PrepareFamilies(parts.splits.View(), parts.Growth(), sizes.families, parts.device.stream);
  PageStep const step{sizes.families, number != 0, evaluates, sizes.siblings};
  ClearStep(parts, step);
  return step;
}

void ClearStep(TreeParts const& parts, PageStep const& step) {
  if (!step.divides || !step.sums) return;  // the root's sums are clear
  ClearSums(parts.Partition(parts.matrix.view), {step.families, parts.rows.symbols()}, parts.device.limits,
            parts.device.stream);
}

void VisitPage(TreeParts const& parts, PageStep const& step, DevicePage const& page, int number) {
  TreeDevice const& device = parts.device;
  PartitionView const view = parts.Partition(page.matrix);
  PagedRowsView const rows = parts.rows.PagedRows();
  device.timer.Run(kMove, number,
                   [&] { DividePagedRows(view, rows, page.first_row, step, device.limits, device.stream); });
  if (!step.sums) return;
  device.timer.Run(kSum, number, [&] {
    RowLists const lists =
        ListPagedRows(view, rows, page.first_row, step, &parts.memory.settings()->draw, device.limits, device.stream);
    SumRows(parts.histograms.OfPage(page.matrix), lists, parts.memory.nodes(), {step.families, parts.rows.symbols()},
            device.limits, device.stream);
  });
}

void EndStep(TreeParts const& parts, PageStep const& step, int number) {
  if (!step.sums) return;
  LevelBounds const bounds{step.families, parts.rows.symbols(), true, step.siblings};
  SumOverDevices(parts, bounds, number);
  parts.device.timer.Run(kSplit, number, [&] { FindAndPlan(parts, parts.splits.View(), PlanByHost(parts), bounds); });
}

}  // namespace xgbgpu::cuda
