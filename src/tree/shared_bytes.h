/// From how many bytes of a histogram on devices search a share of the features each.
#ifndef XGBGPU_TREE_SHARED_BYTES_H_
#define XGBGPU_TREE_SHARED_BYTES_H_

#include <cstddef>

namespace xgbgpu {

/// Returns the least bytes for so many devices, 2 or more, if they are `on_two` for two
/// (CollectivePolicy::least_shared_bytes). A device sends each of the n - 1 others whole sums, or of these an nth: shares
/// save (n - 1)² / n times the bytes of a histogram, half of them on two devices. What they cost is the same for all n.
constexpr std::size_t LeastSharedBytes(std::size_t on_two, int devices) {
  auto const n = static_cast<std::size_t>(devices);
  return on_two / (2 * (n - 1) * (n - 1)) * n;
}

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_SHARED_BYTES_H_
