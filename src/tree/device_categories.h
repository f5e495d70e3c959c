/// Sets of categories that splits send to the right, as kernels see them. docs/adr/0011-categories.md
#ifndef XGBGPU_TREE_DEVICE_CATEGORIES_H_
#define XGBGPU_TREE_DEVICE_CATEGORIES_H_

#include <cstdint>

#include "core/hd.h"
#include "tree/split_candidate.h"

namespace xgbgpu::cuda {

/// What kernels see. All null where no feature is categorical.
struct DeviceCategories {
  /// [nodes, words] Set n is of node n's split, which has n as its `bin`. Bit s: rows with symbol s go right, that of
  /// missing values included (tile.bins in dense layouts).
  std::uint32_t* sets;
  std::uint32_t words;
  std::uint32_t sort_items;  ///< for one block
  std::uint64_t* sort_room;  ///< [blocks of the split kernel, sort_items]; nullptr: shared memory has room

  XGBGPU_HD std::uint32_t* set(std::uint32_t number) const { return sets + std::uint64_t{number} * words; }
  /// The set of a split; nullptr: it is by numbers.
  XGBGPU_HD std::uint32_t const* SetOf(SplitCandidate const& split) const {
    return split.categorical ? set(split.bin) : nullptr;
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREE_DEVICE_CATEGORIES_H_
