/// Stage 2 on a CUDA device for data larger than the device: the bins in pages. docs/adr/0024-pages.md
#ifndef XGBGPU_MATRIX_PAGED_BINS_CUDA_H_
#define XGBGPU_MATRIX_PAGED_BINS_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/device.h"
#include "matrix/device_matrix.h"
#include "page/page_store.h"

namespace xgbgpu {

/// Consecutive rows of a matrix.
struct RowPage {
  std::uint64_t first_row;
  DeviceMatrixView view;  ///< of the page's rows, with null bins; a sparse page may be CSR in a layout of tiles
  std::uint64_t stored;   ///< number of values that are not missing; sparse pages only
};

/// Holds the pages of a matrix outside the device, in host memory or in a file. Immutable once all pages are added.
///
/// Dense pages are packed: a symbol takes the bits of the largest symbol, the symbols of a row are contiguous, and so
/// are rows. Sparse pages have the layout of kernels: first the rows' offsets, then their cells.
class PagedBins {
 public:
  /// `layout` is all pages' layout, by SetDeviceLayout; `tiles` are its tiles on the host. At most `kept_share` of the
  /// pages stays on a device.
  PagedBins(DeviceMatrixView const& layout, std::vector<DeviceTile> const& tiles, double kept_share,
            PageStore::Options options);

  /// Appends rows [first, first + n) of `part`, on the current device. Rows of `part` count from first_row in the
  /// whole. Waits.
  void Add(DeviceMatrix const& part, std::uint64_t first_row, std::uint64_t first, std::uint64_t n, DeviceArena* arena);

  std::vector<RowPage> const& pages() const { return pages_; }
  PageStore const& store() const { return store_; }
  /// Returns the bytes of a page in the store.
  std::size_t bytes(std::size_t page) const { return store_.bytes(page); }
  std::size_t most_bytes() const { return most_bytes_; }
  std::size_t all_bytes() const { return all_bytes_; }
  std::uint64_t most_rows() const { return most_rows_; }
  /// Returns the most bytes that Unpack needs beside the packed page. Sparse pages need none.
  std::size_t most_unpacked_bytes() const;

  /// Enqueues the unpacking of a page. Its bytes are at `packed`, on the device at a multiple of 256. `room` has
  /// most_unpacked_bytes(). The packed bytes of a dense page may be overwritten afterwards; a sparse page stays there.
  DeviceMatrixView Unpack(std::size_t page, std::uint8_t const* packed, std::uint8_t* room, DeviceLimits const& limits,
                          cudaStream_t stream) const;
  bool is_dense() const { return layout_.dense; }
  std::size_t most_kept() const { return static_cast<std::size_t>(kept_share_ * static_cast<double>(pages_.size())); }

 private:
  void Keep(RowPage const& page, std::size_t bytes);
  std::uint8_t* ReserveOnItsWay(std::size_t bytes);
  /// Packs the rows into on_its_way_, and returns the number of bytes.
  std::size_t BringDense(DeviceMatrixView const& part, std::uint64_t first, std::uint64_t n, DeviceArena* arena);
  template <typename Place, typename Cell>
  std::size_t BringSparse(DeviceMatrixView const& part, Place const* places, Cell const* cells, std::uint64_t first,
                          RowPage* page);
  std::size_t PackedBytes(std::uint64_t rows) const;

  DeviceMatrixView layout_;
  std::uint32_t symbol_bits_{8};
  double kept_share_;
  PageStore store_;
  std::vector<RowPage> pages_;
  std::size_t most_bytes_{0}, all_bytes_{0};
  std::uint64_t most_rows_{0};
  PinnedBuffer<std::uint8_t> on_its_way_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_PAGED_BINS_CUDA_H_
