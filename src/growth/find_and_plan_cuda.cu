// The kernel that looks for splits, with the plan of the next level behind it.
#include "growth/plan_lists.cuh"
#include "growth/plan_paths.cuh"
#include "sample/feature_sets_cuda.h"
#include "split/find_splits_cuda.cuh"
#include "split/warp_find_splits_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

/// The work of the last block of that kernel: see find_splits_cuda.cuh.
struct LevelPlan {
  using Early = Selection<false>;

  GrowthView growth;
  NextLevel next;
  PathStep step;
  bool reduces;

  /// An order is kept by a kernel of its own.
  __device__ bool HasLast() const { return next != NextLevel::kByHost && growth.order.nodes == nullptr; }
  __device__ Early Begin(SplitView const& view) const { return MakeSelection<false>(PlanOf(view, growth)); }
  template <bool kMonotone>
  __device__ void Finish(SplitView const& view, Early const& level) const {
    PlanView const plan = PlanOf(view, growth);
    if (next == NextLevel::kLists) {
      SelectLevel<kMonotone>(plan, level);
    } else {
      SelectPaths<kMonotone>(plan, level, step);
    }
  }
};

/// Plans for rows in lists alone: only lists have sparse matrices.
struct ListPlan {
  using Early = Selection<false>;
  static constexpr std::size_t kSharedBytes = sizeof(PlanScan::TempStorage) + sizeof(Early);

  GrowthView growth;
  NextLevel next;

  __device__ bool HasLast() const { return next != NextLevel::kByHost && growth.order.nodes == nullptr; }
  __device__ Early Begin(SplitView const& view) const { return MakeSelection<false>(PlanOf(view, growth)); }
  template <bool kMonotone>
  __device__ void Finish(SplitView const& view, Early const& level) const {
    SelectLevel<kMonotone>(PlanOf(view, growth), level);
  }
};

}  // namespace

void FindSplits(SplitView const& view, NextPlan const& plan, LevelBounds const& bounds, DeviceLimits const& limits,
                cudaStream_t stream) {
  GrowthView const& growth = plan.growth;
  if (view.features.are_chosen()) {
    ChooseFeatures({view.tree, &growth.settings->draw, &growth.settings->features, view.matrix.features, view.features},
                   bounds, limits, stream);
  }
  if (view.warp_group_count != 0) {
    FindSplitsByWarps(view, bounds, ListPlan{growth, plan.next}, limits, stream);
  } else {
    bool const reduces = plan.next != NextLevel::kByHost && growth.reduces;
    FindSplitsByBlocks(view, bounds, LevelPlan{growth, plan.next, plan.step, reduces}, limits, stream);
  }
}

}  // namespace xgbgpu::cuda
