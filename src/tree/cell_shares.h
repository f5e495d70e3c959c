/// The division of histogram cells among devices that each search a share of the features.
#ifndef XGBGPU_TREE_CELL_SHARES_H_
#define XGBGPU_TREE_CELL_SHARES_H_

#include <cstdint>

#include "base/hd.h"

namespace xgbgpu::cuda {

/// Device d has the sums over all devices in cells [first[d], first[d + 1]) of every histogram, and no other device
/// has. In all other cells it has the sums over its own rows.
struct CellShares {
  static constexpr int kMost = 16;  ///< most devices

  int devices{0};  ///< 0: no division, every device has all sums
  std::uint64_t first[kMost + 1]{};

  bool used() const { return devices > 0; }
  XGBGPU_HD std::uint64_t size(int device) const { return first[device + 1] - first[device]; }
  /// Returns the number of cells of the largest share.
  std::uint64_t largest() const {
    std::uint64_t most = 0;
    for (int d = 0; d < devices; ++d) most = size(d) > most ? size(d) : most;
    return most;
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREE_CELL_SHARES_H_
