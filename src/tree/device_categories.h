/// Sets of categories that splits send to the right, for kernels. docs/adr/0011-categories.md
#ifndef XGBGPU_TREE_DEVICE_CATEGORIES_H_
#define XGBGPU_TREE_DEVICE_CATEGORIES_H_

#include <cstdint>

#include "base/hd.h"
#include "tree/split_candidate.h"

namespace xgbgpu::cuda {

/// A view of the sets. All pointers are null if no feature is categorical.
struct DeviceCategories {
  /// [nodes, words] Set n belongs to the split of node n; its `bin` is n. Bit s: rows with symbol s go right. Missing
  /// values have a symbol, too: tile.bins in dense layouts.
  std::uint32_t* sets;
  std::uint32_t words;
  std::uint32_t sort_items;  ///< most items that one block sorts
  std::uint64_t*
      sort_workspace;  ///< [blocks of the split kernel, sort_items] or nullptr: shared memory is large enough

  XGBGPU_HD std::uint32_t* set(std::uint32_t number) const { return sets + std::uint64_t{number} * words; }
  /// Returns the set of a split, or nullptr if the split is by numbers.
  XGBGPU_HD std::uint32_t const* SetOf(SplitCandidate const& split) const {
    return split.categorical ? set(split.bin) : nullptr;
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREE_DEVICE_CATEGORIES_H_
