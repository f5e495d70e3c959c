/// The numbers that decide which data get which layout.
#ifndef XGBGPU_MATRIX_MATRIX_POLICY_H_
#define XGBGPU_MATRIX_MATRIX_POLICY_H_

#include <cstddef>

namespace xgbgpu {

struct MatrixPolicy {
  /// Dense from this share of stored values on. A sparse value costs twice a dense one in bytes and about 1.5 times in
  /// time, and needs a search where a dense one is addressed.
  double dense_from{0.5};
  /// A dense row of up to this many bytes is padded to the next power of two, so that it lies in one cache line, …
  std::size_t line_bytes{64};
  /// … if padding takes at most this share of the row.
  double most_padding{0.25};
};

/// A page of a matrix that is not in core. Changing one of these numbers changes speed and memory, never a tree.
struct PagePolicy {
  /// Bins of a page: large enough that a read costs nothing beside its bytes, …
  std::size_t page_bytes{std::size_t{32} << 20};
  /// … and the least that a limit of memory makes of it.
  std::size_t least_page_bytes{std::size_t{1} << 14};
  /// A page has at most one row for so many of its bytes: the list of its rows takes no more than its bins.
  std::size_t row_bytes{8};
};

}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_MATRIX_POLICY_H_
