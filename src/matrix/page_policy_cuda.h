/// Tuning numbers of pages on a device: when bins are in pages, and the pages' sizes.
#ifndef XGBGPU_MATRIX_PAGE_POLICY_CUDA_H_
#define XGBGPU_MATRIX_PAGE_POLICY_CUDA_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu::cuda {

struct DevicePagePolicy {
  /// Bytes of a page. Copies of this size run at the bus's full speed, and kernels on its rows fill a device.
  std::size_t page_bytes{std::size_t{32} << 20};
  /// With little memory a page has at most this part of the limit, …
  double page_share{1.0 / 64};
  /// … but at least this number of bytes.
  std::size_t least_page_bytes{std::size_t{16} << 10};
  /// Bins of at most this part of the limit are made together, before they are divided into pages.
  double window_share{1.0 / 8};
  /// At most this share of the pages stays on the device, if there is room.
  double kept_share{1};
  /// Part of the free memory for a training in pages without a limit. The remaining memory is for other programs.
  double free_share{0.9};
  /// Bytes of a row in core beside its bins: margins, gradients, labels, and its place.
  std::size_t row_bytes{40};
  /// Bytes of everything else in core: histograms, nodes, candidates.
  std::size_t other_bytes{std::size_t{64} << 20};
  /// Copies of the bins of trees by paths, for dense data of at most this number of tiles.
  std::size_t copies{2};
  std::uint32_t most_copied_tiles{4};
  /// Nodes of a level whose histograms count for dense data of more tiles, which have large histograms.
  std::size_t histograms{256};
  // The least memory of a training in pages:
  std::size_t paged_row_bytes{20};                      ///< of a row: margin, label, gradient, node
  std::size_t pages_at_once{4};                         ///< in flight, and unpacked
  std::size_t list_bytes{12};                           ///< of a row of a page during its visit
  std::size_t least_histograms{4};                      ///< a node, its children, and one more
  std::size_t least_other_bytes{std::size_t{1} << 20};  ///< nodes, candidates, scratch
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_PAGE_POLICY_CUDA_H_
