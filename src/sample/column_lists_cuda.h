/// The values of a sparse matrix by columns on a CUDA device. Columns are copied side by side from them.
/// docs/adr/0042-columns-of-a-tree.md
#ifndef XGBGPU_SAMPLE_COLUMN_LISTS_CUDA_H_
#define XGBGPU_SAMPLE_COLUMN_LISTS_CUDA_H_

#include <cstdint>

#include "cuda/device.h"
#include "matrix/device_matrix.h"

namespace xgbgpu::cuda {

constexpr std::uint32_t kListRows = 1024;  ///< rows of a chunk: their records fit a block's shared memory

/// A value: its row in its chunk, and its bin.
struct ListedValue {
  std::uint16_t row, bin;
};

/// The lists of each chunk of kListRows rows, one for each feature.
struct ColumnListsView {
  FeatureIndex features;
  std::uint32_t const* begin;  ///< [chunks, features], and the end of the last list
  ListedValue const* values;   ///< in any order in a list
};

/// The lists of one matrix, for the trees of all lanes.
class ColumnLists {
 public:
  /// The arguments must outlive this object.
  ColumnLists(DeviceMatrix const& matrix, DeviceArena* arena) : matrix_{matrix}, arena_{arena} {}

  /// Returns the bytes that Make takes at most; 0 once the lists are made.
  std::uint64_t BytesToMake() const;
  /// Makes the lists, the first time. Features must have at most 2^16 bins, and the matrix less than 2^32 values.
  /// Waits. Cost  two passes over the matrix, with a search in the cuts and an atomic addition for each value
  void Make(Stream const& stream);
  ColumnListsView View() const { return {matrix_.view.features, begin_.data(), values_.data()}; }

 private:
  std::uint64_t Lists() const;

  DeviceMatrix const& matrix_;
  DeviceArena* arena_;
  DeviceBuffer<std::uint32_t> begin_;
  DeviceBuffer<ListedValue> values_;
};

/// Copies the columns of `copy` of all rows to `records`. A missing value becomes the symbol number `bins` of its tile.
/// Cost  reads the lists of the columns once; writes the copy once
void CopyLists(ColumnListsView const& lists, DeviceMatrixView const& copy, std::uint8_t* records,
               DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SAMPLE_COLUMN_LISTS_CUDA_H_
