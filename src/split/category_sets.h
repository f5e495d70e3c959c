/// Sets of categories on a CUDA device that splits send to the right, and room to sort categories.
/// docs/adr/0011-categories.md
#ifndef XGBGPU_SPLIT_CATEGORY_SETS_H_
#define XGBGPU_SPLIT_CATEGORY_SETS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hd.h"
#include "cuda/device.h"
#include "matrix/device_matrix.h"
#include "split/category_split.h"
#include "split/split.h"
#include "tree/device_categories.h"

namespace xgbgpu::cuda {

constexpr std::uint32_t kSharedCategories = 2048;  ///< most categories that a block sorts in shared memory

/// Owns the memory of sets of categories, and the room to sort them. Sets take 4 · words bytes for every node. Features
/// with more than kSharedCategories categories take 8 bytes for each category and block of the split kernel.
class CategorySetWorkspace {
 public:
  /// `blocks`: most blocks of the split kernel. `arena` must outlive it.
  CategorySetWorkspace(DeviceMatrix const& matrix, std::uint32_t blocks, DeviceArena* arena);

  bool any() const { return words_ != 0; }
  /// Makes room for the sets of `nodes` nodes, and keeps the first `kept` sets. Returns true if the memory has moved.
  bool Reserve(std::size_t nodes, std::size_t kept, Stream const& stream);
  DeviceCategories View() const;
  /// Copies the sets of the first `nodes` nodes to the host, where they are valid until the next call. Waits.
  CategorySets Read(std::size_t nodes, Stream const& stream);

 private:
  DeviceArena* arena_;
  std::uint32_t words_{0};
  std::uint32_t sort_items_{0};
  DeviceBuffer<std::uint32_t> sets_;
  DeviceBuffer<std::uint64_t> sort_workspace_;
  std::vector<std::uint32_t> host_sets_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_CATEGORY_SETS_H_
