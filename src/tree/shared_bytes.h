/// The least size of a histogram that devices divide into shares.
#ifndef XGBGPU_TREE_SHARED_BYTES_H_
#define XGBGPU_TREE_SHARED_BYTES_H_

#include <cstddef>

namespace xgbgpu {

/// Returns the least bytes for `devices` devices, 2 or more, from the least bytes `on_two` of two devices
/// (CollectivePolicy::least_shared_bytes). Without shares a device sends whole sums to each of the n - 1 other devices,
/// with shares an nth of the sums. Shares save (n - 1)² / n times the bytes of a histogram: half of them on two
/// devices. The cost of shares is the same for all n.
constexpr std::size_t LeastSharedBytes(std::size_t on_two, int devices) {
  auto const n = static_cast<std::size_t>(devices);
  return on_two / (2 * (n - 1) * (n - 1)) * n;
}

}  // namespace xgbgpu

#endif  // XGBGPU_TREE_SHARED_BYTES_H_
