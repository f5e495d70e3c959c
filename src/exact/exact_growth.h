/// Growth of exact trees on a CUDA device: the buffers of a tree, and the stages of its levels. CUDA builds only.
#ifndef XGBGPU_EXACT_EXACT_GROWTH_H_
#define XGBGPU_EXACT_EXACT_GROWTH_H_

#include <memory>
#include <optional>
#include <vector>

#include "cuda/device.h"
#include "cuda/staged_copies.h"
#include "cuda/timeline.h"
#include "exact/device_columns.h"
#include "exact/exact.h"
#include "sample/sample.h"
#include "split/constraints.h"

namespace xgbgpu::cuda {

/// Host-driven growth: the host selects the nodes to split. It waits twice a level, for the best splits and for the
/// children's sums.
class ExactGrowth {
 public:
  /// `arena` and `stream` must outlive this object.
  ExactGrowth(std::shared_ptr<SortedMatrix const> matrix, int threads, DeviceArena* arena, Stream const& stream);

  /// Starts a tree: quantises the gradients and draws the sample. Returns false if a gradient is NaN or infinite.
  bool Begin(TrainParams const& params, FeatureSampler const& features, DeviceGradients const& gradients,
             std::uint32_t tree_number);
  void BuildRoot() { FindSplits(); }
  /// Selects the nodes of the level to split. Returns false if there are none.
  bool SelectNodes();
  /// Splits the selected nodes and finds the best splits of the children.
  void ExpandNodes();
  /// Returns the finished, pruned tree. positions() then has leaves of this tree.
  ExactNodes Finish();

  SplitParams const& split_params() const { return *split_params_; }
  Constraints const& constraints() const { return constraints_; }
  StageTimer& timer() { return timer_; }
  NodeIndex const* positions() const { return positions_.data(); }
  DeviceLimits const& limits() const { return limits_; }

 private:
  template <typename T>
  void CopyIn(DeviceBuffer<T>* to, char const* part, std::vector<T> const& from);
  template <typename T>
  void Clear(DeviceBuffer<T>* buffer, char const* part, std::size_t size);
  char* SearchWorkspace(std::size_t bytes);
  TileStates NextStates();
  void SetLists(ExactLists const& lists);
  void FindSplits();
  void Divide(NodeIndex left_child, bool left_only);
  void MoveRows(ChildRows const* child_rows, NodeIndex left_child, bool left_only);
  void FindThresholds();
  void RouteUnsampled();
  bool Sampled() const { return params_.subsample < 1.0f; }
  ExactRows Rows() const {
    std::uint64_t const* const begin = lists_.begin + std::size_t{matrix_->features()} * (lists_.nodes + 1);
    return {renumbered_ ? origin_[rows_at_].data() : nullptr, begin, lists_.nodes, matrix_->rows};
  }
  ExactGradients Gradients() const {
    return {is_compact_ ? compact_[rows_at_].data() : nullptr, wide_[rows_at_].data()};
  }
  MutableExactGradients GradientsAt(int place) {
    return {is_compact_ ? compact_[place].data() : nullptr, wide_[place].data()};
  }
  ExactSplits Splits() const { return {splits_.data(), split_count_, pieces_, split_of_.data()}; }

  std::shared_ptr<SortedMatrix const> matrix_;
  DeviceArena* arena_;
  Stream const& stream_;
  StagedCopies copies_;  ///< declared before the buffers: freeing a buffer waits for copies
  DeviceLimits limits_;
  DeviceColumns columns_;

  TrainParams params_;
  FeatureSampler const* features_{nullptr};
  std::optional<SplitParams> split_params_;
  Constraints constraints_;
  NodeLimits node_limits_;
  StageTimer timer_;
  bool is_compact_{false};
  ExactNodes nodes_;
  NodeIndex level_{0};  ///< first node of the level to split next
  std::vector<NodeIndex> selected_;
  std::vector<ExactChoice> choices_;  ///< best splits of the level's nodes
  struct Neighbours {
    RowIndex lower, upper;
  };
  std::vector<Neighbours> neighbours_;  ///< [nodes] rows next to each node's split
  std::vector<ExactChoice> made_;       ///< [nodes] the split of each split node
  ExactLists lists_{};
  int spare_{0};              ///< index in list_ of the free list
  int rows_at_{0};            ///< index in compact_, wide_ and origin_ of the level's rows
  bool renumbered_{false};    ///< the level has its own numbers of rows
  bool rows_in_tree_{false};  ///< some rows have not reached their leaf
  std::uint32_t epoch_{0};    ///< TileStates::epoch of the last kernel
  std::uint32_t split_count_{0};
  std::uint32_t pieces_{0};

  DeviceBuffer<std::uint64_t> root_begin_, begin_[2];
  DeviceBuffer<std::uint32_t> list_[2];
  DeviceBuffer<GradientState> gradient_state_;
  DeviceBuffer<TreeDraw> draw_;
  DeviceBuffer<int2> compact_[2];
  DeviceBuffer<GradientSum> wide_[2], sum_;
  DeviceBuffer<RowIndex> origin_[2];
  DeviceBuffer<SearchedNode> searched_;
  DeviceBuffer<std::int8_t> directions_;
  DeviceBuffer<char> search_;
  DeviceBuffer<std::uint32_t> allowed_, left_entries_, located_ptr_;
  DeviceBuffer<unsigned long long> states_;
  DeviceBuffer<NodeIndex> positions_, node_of_;
  DeviceBuffer<std::uint8_t> sides_;
  DeviceBuffer<RowWord> words_;
  DeviceBuffer<TileSpan> spans_;
  DeviceBuffer<ChildRows> child_rows_;
  DeviceBuffer<std::int32_t> split_of_;
  DeviceBuffer<ExactChoice> choices_on_device_;
  DeviceBuffer<ExactSplit> splits_;
  DeviceBuffer<ExactOutcome> outcomes_;
  DeviceBuffer<RowIndex> located_rows_;
  DeviceBuffer<std::uint64_t> places_;
  DeviceBuffer<ExactStep> steps_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_EXACT_EXACT_GROWTH_H_
