/// The numbers that decide when bins are in pages on a device, and how large these are.
#ifndef XGBGPU_MATRIX_PAGE_POLICY_CUDA_H_
#define XGBGPU_MATRIX_PAGE_POLICY_CUDA_H_

#include <cstddef>
#include <cstdint>

namespace xgbgpu::cuda {

struct DevicePagePolicy {
  /// Bytes of a page. Copies of so many run at the bus's full speed, and kernels on so many rows fill a device.
  std::size_t page_bytes{std::size_t{32} << 20};
  /// With little memory a page has at most this part of the limit …
  double page_share{1.0 / 64};
  /// … but so many bytes at least.
  std::size_t least_page_bytes{std::size_t{16} << 10};
  /// Bins of at most this part of the limit are made together, before they are dealt to pages.
  double window_share{1.0 / 8};
  /// At most this share of the pages stays on the device, if there is room.
  double kept_share{1};
  /// Without a limit a training in pages takes so much of what is free: the rest is for others.
  double free_share{0.9};
  /// Bytes that a row takes in core beside its bins: margins, gradients, labels, and where it is.
  std::size_t row_bytes{40};
  /// Bytes of all else in core: histograms, nodes, candidates.
  std::size_t other_bytes{std::size_t{64} << 20};
  /// Copies of the bins of trees by paths, which dense data of so many tiles or fewer have.
  std::size_t copies{2};
  std::uint32_t most_copied_tiles{4};
  /// Nodes of a level whose histograms count with dense data of more tiles, which have large ones.
  std::size_t histograms{256};
  // What a training in pages takes at least:
  std::size_t paged_row_bytes{20};                      ///< of a row: margin, label, gradient, node
  std::size_t pages_at_once{4};                         ///< on their way, and unpacked
  std::size_t list_bytes{12};                           ///< of a row of a page, while it is visited
  std::size_t least_histograms{4};                      ///< a node, its children, and one more
  std::size_t least_other_bytes{std::size_t{1} << 20};  ///< nodes, candidates, scratch
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_PAGE_POLICY_CUDA_H_
