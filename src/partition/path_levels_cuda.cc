// Chooses how the rows of each level are divided: by summing kernels, by path kernels, or by moves.
#include "partition/path_levels_cuda.h"

#include "partition/partition_policy.h"

namespace xgbgpu::cuda {

namespace {

/// Numbers for the paths of four levels between two moves. No two levels of a tree share a number, and all numbers fit
/// a byte.
constexpr std::uint32_t kHeap = 16;
static_assert(1U << kPartitionPolicy.move_every <= kHeap);
static_assert(kHeap * ((kPartitionPolicy.most_path_levels - 1) / kPartitionPolicy.move_every + 1) <= kDeadPath);

}  // namespace

PathLevels::PathLevels(PathWorkspace const& workspace, TreeShape const& shape, RowPaths const& root, bool timed,
                       bool pairs)
    : workspace_{workspace},
      shape_{shape},
      paths_{root},
      // Constant for the whole tree, because numbers of paths depend on it.
      divides_{workspace.divides() && !timed},
      clears_ahead_{divides_ && !workspace.ordered()},  // trees with an order reuse slots
      slots_{clears_ahead_ && !workspace.NeedsClearHistograms() ? static_cast<std::uint32_t>(shape.WidestNodes()) : 0},
      cached_{workspace.matrix().rows * workspace.matrix().record_bytes() <= kPartitionPolicy.cached_bytes},
      pairs_{pairs && !cached_} {
  NumberPaths();
}

PathSums PathLevels::SumsAt(int level) const {
  if (!divides_ || level == 0 || IsMoved(level)) return PathSums::kTold;
  int const below = workspace_.Below(level);
  if (!workspace_.moves() || below == 1) return PathSums::kDivide;
  // If the rows of many parents are interleaved, a kernel that only divides is faster.
  if (below > 2) return PathSums::kTold;
  return cached_ ? PathSums::kDivide : pairs_ ? PathSums::kPairs : PathSums::kTold;
}

PathStep PathLevels::step() const { return {IsMoved(level_ + 1), IsMoved(level_ + 2), SumsAt(level_ + 1)}; }

/// Numbers paths like a heap. Every move begins a new heap.
void PathLevels::NumberPaths() {
  paths_.first = divides_ ? kHeap * moves_ + (1U << paths_.depth) : 0;
  paths_.next_first = divides_ ? kHeap * moves_ + (2U << paths_.depth) : 0;
}

void PathLevels::Descend() {
  paths_.path = paths_.next_path;
  ++paths_.depth;
  NumberPaths();
}

void PathLevels::Next() {
  ++level_;
  divides_now_ = SumsAt(level_) != PathSums::kTold;
  paths_.cleared = clears_ahead_;
  if (IsMoved(level_)) {
    workspace_.BeginMove(&paths_);
  } else if (level_ > 0) {
    workspace_.NextPaths(&paths_);
  }
}

void PathLevels::Divide(PartitionView const& view, LevelBounds const& bounds, DeviceLimits const& limits,
                        cudaStream_t stream) {
  if (IsMoved(level_)) {
    MovePaths(view, paths_, bounds, limits, stream);
  } else if (level_ > 0 && !divides_now_) {
    AdvancePaths(view, paths_, bounds, step(), limits, stream);
  }
}

void PathLevels::EndDivide() {
  if (IsMoved(level_)) {
    PathWorkspace::EndMove(&paths_);
    ++moves_;
    NumberPaths();
  } else if (level_ > 0 && !divides_now_) {
    Descend();
  }
  paths_.slots = level_ + 1 < shape_.levels ? slots_ : 0;
}

void PathLevels::EndSum() {
  if (divides_now_) Descend();
}

}  // namespace xgbgpu::cuda
