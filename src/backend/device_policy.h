/// How many devices are worth while, and which one is a worker's. Changing a number changes speed and memory, never a
/// model.
#ifndef XGBGPU_BACKEND_DEVICE_POLICY_H_
#define XGBGPU_BACKEND_DEVICE_POLICY_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Times of a tree's parts, in microseconds, measured on two H100 with NVLink (docs/kernels.md, "Limits").
struct DevicePolicy {
  double of_value{0.5e-6};  ///< to look at a value at one level: the least of all data sets measured
  double of_level{10};      ///< for the exchange of the sums of the smallest level
  double of_tree{50};       ///< for all other waits of devices for each other
  /// For the waits of devices between two trees of a round. 2 M × 54, 7 classes, depth 8: 3.94 ms a round on two H200,
  /// 2.57 ms on one. One device grows the trees at the same time (e4c13c31).
  double of_next_tree{150};
  double of_byte{1.0 / 250'000};  ///< for a byte of the sums
  double cell_bytes{8};           ///< of a cell's pair of sums, which nearly always fit 32 bits each
  double of_winners{
      12};  ///< for a level's best splits, where each device searches a share of the features: an estimate
  std::uint64_t tile_columns{32};  ///< of a matrix, at most
  int most_shared_bins{1023};  ///< for shares: with more, sums do not fit shared memory, and data are stored sparsely
  int deep_levels{10};         ///< of trees without a limit of depth
};

/// Returns the device of a worker of a process group that names none, among the devices that it sees. If each worker of
/// its host sees another device first, it is the worker's first device. Otherwise it has the worker's rank among the
/// workers of its host. Tools that start workers hide devices, or put a worker's own in front of the others.
///
/// In  hosts, first_devices  [workers] numbers of each worker's host, and of the device that it sees first
///     own                   this worker
///     devices               1 or more that it sees
inline int DeviceOfWorker(Span<std::int64_t const> hosts, Span<std::int64_t const> first_devices, std::size_t own,
                          int devices) {
  int before = 0;
  std::vector<std::int64_t> first;  // of this host's workers
  for (std::size_t worker = 0; worker < hosts.size(); ++worker) {
    if (hosts[worker] != hosts[own]) continue;
    if (worker < own) ++before;
    first.push_back(first_devices[worker]);
  }
  std::sort(first.begin(), first.end());
  bool const all_differ = std::adjacent_find(first.begin(), first.end()) == first.end();
  return all_differ ? 0 : before % devices;
}

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_DEVICE_POLICY_H_
