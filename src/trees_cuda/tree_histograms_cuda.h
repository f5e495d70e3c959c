/// The histograms of the nodes of a tree.
#ifndef XGBGPU_TREES_CUDA_TREE_HISTOGRAMS_CUDA_H_
#define XGBGPU_TREES_CUDA_TREE_HISTOGRAMS_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "growth/tree_memory_cuda.h"
#include "histogram/histogram_cuda.h"
#include "histogram/histogram_workspace_cuda.h"
#include "tree/cell_shares.h"
#include "trees_cuda/tree_device_cuda.h"

namespace xgbgpu::cuda {

/// Sums of gradients, in slots that nodes use in turn.
class TreeHistograms {
 public:
  /// `device` and `memory` must outlive this object. `cells`: of one histogram of all features. `budget`: the most
  /// bytes of all, the same on all devices.
  TreeHistograms(std::uint64_t cells, std::size_t budget, TreeDevice* device, TreeMemory const& memory)
      : device_{*device}, memory_{memory}, workspace_{cells, budget, &device->workspace} {}

  /// Returns the bytes of a histogram of all features.
  std::size_t bytes_of_one() const { return workspace_.bytes_of_one(); }
  /// Slots that fit the budget.
  std::size_t most_slots() const { return workspace_.most_slots(); }
  std::uint32_t slots() const { return workspace_.slots(); }
  /// Makes room for `slots` histograms of the next tree, which grows on `matrix`.
  void Reserve(std::size_t slots, DeviceMatrixView const& matrix) { ReserveCells(slots, matrix.cells); }
  /// Makes room for `slots` histograms of `cells` cells each.
  void ReserveCells(std::size_t slots, std::uint64_t cells) { workspace_.Reserve(slots, cells); }

  DeviceHistograms View() const { return workspace_.View(); }
  /// Returns the view for kernels that sum rows of this page.
  HistogramView OfPage(DeviceMatrixView const& page) const {
    return {page, View(), &memory_.header()->state, &memory_.header()->gradient};
  }
  /// Enqueues the sums of a level over all devices: of the cells of each device's share, or, if `shares` is null, of
  /// all cells. A device that is alone enqueues nothing.
  void SumOverDevices(CellShares const* shares, LevelBounds const& bounds, int level) const;

  /// Returns the values that a recorded tree depends on.
  auto RecordingKey() const { return std::tuple{slots()}; }

 private:
  TreeDevice& device_;
  TreeMemory const& memory_;
  HistogramWorkspace workspace_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_HISTOGRAMS_CUDA_H_
