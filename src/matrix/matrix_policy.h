/// The numbers that decide which data get which layout.
#ifndef XGBGPU_MATRIX_MATRIX_POLICY_H_
#define XGBGPU_MATRIX_MATRIX_POLICY_H_

#include <cstddef>

namespace xgbgpu {

struct MatrixPolicy {
  /// Dense from this share of stored values on. A sparse value costs twice a dense one in bytes and about 1.5 times in
  /// time (docs/log/2026-11.md), and needs a search where a dense one is addressed.
  double dense_from{0.5};
  /// A dense row of up to this many bytes is padded to the next power of two, so that it lies in one cache line, …
  std::size_t line_bytes{64};
  /// … if padding takes at most this share of the row.
  double most_padding{0.25};
};

}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_MATRIX_POLICY_H_
