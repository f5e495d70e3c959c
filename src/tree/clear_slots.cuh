/// Clears the histogram slots of a level for the next kernel, which adds to them.
#ifndef XGBGPU_TREE_CLEAR_SLOTS_CUH_
#define XGBGPU_TREE_CLEAR_SLOTS_CUH_

#include <algorithm>
#include <cstdint>

#include "cuda/block_scan.cuh"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

constexpr std::uint32_t kClearPiece = 16 * kPlanThreads;  ///< cells that a block clears at a time

/// Returns the number of pieces to clear for `families` families without summed siblings: enough blocks for a launch.
inline std::uint64_t ClearPieces(DeviceHistograms const& histograms, std::uint64_t families) {
  return families * ((histograms.cells + kClearPiece - 1) / kClearPiece);
}

/// Clears the slots that the level will sum: of built children, and of siblings that are not subtracted.
__device__ inline void ClearSlots(GrowingTree const& tree, DeviceHistograms const& histograms) {
  std::uint64_t const cells = histograms.cells;
  auto const pieces = static_cast<std::uint32_t>((cells + kClearPiece - 1) / kClearPiece);
  std::uint32_t const slots = 2 * tree.state->families;  // siblings seldom need clearing
  for (std::uint32_t p = blockIdx.x; p < slots * pieces; p += gridDim.x) {
    std::uint32_t const place = p / pieces;
    Family const& family = tree.families[place / 2];
    bool const built = place % 2 == 0;
    if (!built && family.subtract != 0) continue;
    std::int32_t const slot = built ? family.built_slot : family.sibling_slot;
    auto* const to = reinterpret_cast<ulonglong2*>(histograms.slot(slot));
    std::uint64_t const first = std::uint64_t{p - place * pieces} * kClearPiece;
    for (std::uint64_t c = first + threadIdx.x; c < min(first + kClearPiece, cells); c += kPlanThreads) to[c] = {0, 0};
  }
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREE_CLEAR_SLOTS_CUH_
