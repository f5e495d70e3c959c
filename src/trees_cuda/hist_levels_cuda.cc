#include "trees_cuda/hist_levels_cuda.h"

#include "base/stages.h"
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
  ListLevels(TreeParts const& parts, int first) : parts_{parts}, first_{first} {}

  void Divide(DevicePage const& page, int level, LevelBounds const& bounds, LevelKind kind = LevelKind::kInner) const {
    if (level == first_) return;
    parts_.timer.Run(kMove, level, [&] {
      MoveRows(parts_.Partition(page.matrix), parts_.Lists(), bounds, kind, parts_.limits, parts_.stream);
    });
  }
  void Sum(DevicePage const& page, int level, LevelBounds const& bounds) const {
    parts_.timer.Run(kSum, level, [&] {
      SumRows(parts_.Histogram(page.matrix), parts_.Lists(), parts_.memory.nodes(), bounds, parts_.limits,
              parts_.stream);
    });
  }
  GrowthView Growth() const { return parts_.Growth(); }
  static PathStep step() { return {}; }
  static constexpr NextLevel kNext = NextLevel::kLists;

 private:
  TreeParts const& parts_;
  int first_;
};

/// Rows by paths stay where they are, and are told their paths; at some levels they are moved.
class PathRows {
 public:
  PathRows(TreeParts const& parts, TreeShape const& shape, int first)
      : parts_{parts},
        levels_{parts.paths, shape, parts.RootPaths(), parts.timed(),
                PairsFitShared(parts.tree_matrix(), parts.symbols, parts.limits)} {
    for (int level = 0; level < first; ++level) {  // these are enqueued already
      levels_.Next();
      levels_.EndDivide();
      levels_.EndSum();
    }
  }

  void Divide(DevicePage const& page, int level, LevelBounds const& bounds) {
    levels_.Next();
    auto const divide = [&] { levels_.Divide(parts_.Partition(page.matrix), bounds, parts_.limits, parts_.stream); };
    level == 0 ? divide() : parts_.timer.Run(kMove, level, divide);
    levels_.EndDivide();
  }
  void Sum(DevicePage const& page, int level, LevelBounds const& bounds) {
    parts_.timer.Run(kSum, level, [&] {
      if (levels_.ClearsSlots()) ClearSums(parts_.Partition(page.matrix), bounds, parts_.limits, parts_.stream);
      SumPaths(parts_.Histogram(page.matrix), levels_.paths(), parts_.splits.categories().View(), bounds,
               levels_.sums(), parts_.limits, parts_.stream);
    });
    levels_.EndSum();
  }
  GrowthView Growth() const { return parts_.Growth(levels_.paths()); }
  PathStep step() const { return levels_.step(); }
  static constexpr NextLevel kNext = NextLevel::kPaths;

 private:
  TreeParts const& parts_;
  PathLevels levels_;
};

LevelBounds BoundsOf(TreeParts const& parts, TreeShape const& shape, int level) {
  return {level == 0 ? 1 : shape.Split(level - 1), parts.symbols, level + 1 < shape.possible_levels};
}

void SumOverDevices(TreeParts const& parts, LevelBounds const& bounds, int level) {
  if (parts.shard.alone()) return;
  DeviceCollective& devices = *parts.shard.devices;
  parts.timer.Run(kExchange, level, [&] {
    if (parts.searches_shares()) {
      devices.ShareLevel(parts.memory.View(), parts.histograms.View(), parts.shares.cells, bounds, parts.stream);
    } else {
      devices.SumLevel(parts.memory.View(), parts.histograms.View(), bounds, parts.stream);
    }
  });
}

/// The level of a symmetric tree is divided by one split.
void DivideAndPlan(TreeParts const& parts, GrowthView const& growth, LevelBounds const& bounds, int level,
                   NextLevel next, PathStep step) {
  SplitView const view = parts.Split();
  LevelSearchView const search = parts.level_search.View(level);
  FindLevelSplit(view, search, bounds, parts.level_search.chunk(), parts.limits, parts.stream);
  DivideLevel(view, search, growth, bounds, next, step, parts.limits, parts.stream);
}

/// Where each device searches a share of the features, the best of a node is known only when all have told theirs, so
/// that the plan is made behind that.
void FindAndPlan(TreeParts const& parts, GrowthView const& growth, LevelBounds const& bounds, NextLevel next,
                 PathStep step) {
  SplitView const view = parts.Split();
  bool const shared = parts.searches_shares();
  FindSplits(view, growth, bounds, shared ? NextLevel::kByHost : next, step, parts.limits, parts.stream);
  if (shared) parts.shard.devices->BestOfLevel(parts.memory.View(), bounds, parts.stream);
  if (next == NextLevel::kByHost) return;
  if (shared) PlanLevel(view, growth, next, step, parts.limits, parts.stream);
  PlanOrdered(view, growth, next, step, parts.limits, parts.stream);
}

template <typename Rows>
void EnqueueLevelsOf(TreeParts const& parts, TreeShape const& shape, Rows* rows, int first, int end) {
  for (int level = first; level < end; ++level) {
    LevelBounds const bounds = BoundsOf(parts, shape, level);
    parts.pages().ForEach([&](DevicePage const& page) {
      rows->Divide(page, level, bounds);
      rows->Sum(page, level, bounds);
    });
    SumOverDevices(parts, bounds, level);
    parts.timer.Run(kSplit, level, [&] {
      parts.symmetric() ? DivideAndPlan(parts, rows->Growth(), bounds, level, Rows::kNext, rows->step())
                        : FindAndPlan(parts, rows->Growth(), bounds, Rows::kNext, rows->step());
    });
  }
}

}  // namespace

void EnqueueLevels(TreeParts const& parts, TreeShape const& shape, int first, int end) {
  if (parts.by_paths) {
    PathRows rows{parts, shape, first};
    EnqueueLevelsOf(parts, shape, &rows, first, end);
    return;
  }
  ListLevels rows{parts, first};
  EnqueueLevelsOf(parts, shape, &rows, first, end);
  bool const is_final = end == shape.possible_levels;
  parts.pages().ForEach([&](DevicePage const& page) {
    rows.Divide(page, end, BoundsOf(parts, shape, end), is_final ? LevelKind::kFinal : LevelKind::kInner);
  });
}

void EnqueueBatch(TreeParts const& parts, BatchSizes const& sizes, int batch) {
  ListLevels const rows{parts, 0};
  LevelBounds const bounds{sizes.families, parts.symbols, true, sizes.siblings};
  GrowthView const growth = rows.Growth();
  if (batch != 0) PrepareFamilies(parts.Split(), growth, sizes.families, parts.stream);
  parts.pages().ForEach([&](DevicePage const& page) {
    rows.Divide(page, batch, bounds);
    rows.Sum(page, batch, bounds);
  });
  SumOverDevices(parts, bounds, batch);
  parts.timer.Run(kSplit, batch, [&] { FindAndPlan(parts, growth, bounds, NextLevel::kByHost, {}); });
}

PageStep BeginStep(TreeParts const& parts, BatchSizes const& sizes, int number, bool evaluates) {
  if (number != 0) PrepareFamilies(parts.Split(), parts.Growth(), sizes.families, parts.stream);
  PageStep const step{sizes.families, number != 0, evaluates, sizes.siblings};
  ClearStep(parts, step);
  return step;
}

void ClearStep(TreeParts const& parts, PageStep const& step) {
  if (!step.divides || !step.sums) return;  // the root's sums are clear
  ClearSums(parts.Partition(parts.matrix.view), {step.families, parts.symbols}, parts.limits, parts.stream);
}

void VisitPage(TreeParts const& parts, PageStep const& step, DevicePage const& page, int number) {
  PartitionView const view = parts.Partition(page.matrix);
  PagedRowsView const rows = parts.PagedRows();
  parts.timer.Run(kMove, number,
                  [&] { DividePagedRows(view, rows, page.first_row, step, parts.limits, parts.stream); });
  if (!step.sums) return;
  parts.timer.Run(kSum, number, [&] {
    RowLists const lists =
        ListPagedRows(view, rows, page.first_row, step, &parts.memory.settings()->draw, parts.limits, parts.stream);
    SumRows(parts.Histogram(page.matrix), lists, parts.memory.nodes(), {step.families, parts.symbols}, parts.limits,
            parts.stream);
  });
}

void EndStep(TreeParts const& parts, PageStep const& step, int number) {
  if (!step.sums) return;
  LevelBounds const bounds{step.families, parts.symbols, true, step.siblings};
  SumOverDevices(parts, bounds, number);
  parts.timer.Run(kSplit, number, [&] { FindAndPlan(parts, parts.Growth(), bounds, NextLevel::kByHost, {}); });
}

}  // namespace xgbgpu::cuda
