/// Tuning numbers of layouts on the host.
#ifndef XGBGPU_MATRIX_MATRIX_POLICY_H_
#define XGBGPU_MATRIX_MATRIX_POLICY_H_

#include <cstddef>

namespace xgbgpu {

struct MatrixPolicy {
  /// Least share of stored values from which data are dense. A sparse value costs twice a dense one in bytes and about
  /// 1.5 times in time, and needs a search where a dense value has an address.
  double dense_from{0.5};
  /// A dense row of up to this number of bytes is padded to the next power of two, so that it fits one cache line, …
  std::size_t line_bytes{64};
  /// … if padding takes at most this share of the row.
  double most_padding{0.25};
};

/// The pages of an out-of-core matrix. Changing a number changes speed and memory, never a tree.
struct PagePolicy {
  /// Bins of a page: large enough that only the bytes of a read cost time, …
  std::size_t page_bytes{std::size_t{32} << 20};
  /// … and the least size under a limit of memory.
  std::size_t least_page_bytes{std::size_t{1} << 14};
  /// Least bytes of a page per row, so that the list of its rows takes no more than its bins.
  std::size_t row_bytes{8};
};

}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_MATRIX_POLICY_H_
