/// Memory for the histograms of a growing tree on a device.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_WORKSPACE_CUDA_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_WORKSPACE_CUDA_H_

#include <cstddef>
#include <cstdint>

#include "cuda/cleared_workspace.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// A number of slots for one histogram each.
class HistogramWorkspace {
 public:
  /// `cells`: of one histogram of all features. `budget`: most bytes of all slots; the callers of Reserve keep to it.
  HistogramWorkspace(std::uint64_t cells, std::size_t budget, ClearedWorkspace* workspace)
      : cells_{cells}, budget_{budget}, workspace_{workspace} {}

  /// Returns the bytes of a histogram of all features.
  std::size_t bytes_of_one() const { return cells_ * sizeof(GradientSum); }
  /// Returns the slots that fit the budget.
  std::size_t most_slots() const { return budget_ / bytes_of_one(); }
  /// Makes room for the slots of the next tree, of `cells` cells each: of all features, or of a copy of columns.
  void Reserve(std::size_t slots, std::uint64_t cells) {
    slots_ = static_cast<std::uint32_t>(slots);
    cells_of_tree_ = cells;
    workspace_->Reserve(&sums_, "histograms", slots * cells);
  }
  std::uint32_t slots() const { return slots_; }
  DeviceHistograms View() const { return {sums_.data(), cells_of_tree_}; }

 private:
  std::uint64_t cells_;
  std::uint64_t cells_of_tree_{cells_};
  std::size_t budget_;
  ClearedWorkspace* workspace_;
  std::uint32_t slots_{0};
  DeviceBuffer<GradientSum> sums_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_WORKSPACE_CUDA_H_
