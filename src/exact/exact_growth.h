/// Exact trees on a CUDA device: buffers of a growing tree, and its levels one after the other. CUDA builds only.
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

/// The host chooses which nodes are split; it waits for the best splits of a level and for the sums of the children.
class ExactGrowth {
 public:
  /// `arena` and `stream` must outlive this object.
  ExactGrowth(std::shared_ptr<SortedMatrix const> matrix, int threads, DeviceArena* arena, Stream const& stream);

  /// Starts a tree. Returns false if a gradient is NaN or infinite.
  bool Begin(TrainParams const& params, FeatureSampler const& features, DeviceGradients const& gradients,
             std::uint32_t tree_number);
  void BuildRoot() { FindSplits(); }
  bool SelectNodes();
  void ExpandNodes();
  /// Returns the finished tree, cut back. From then on positions() name its leaves.
  ExactNodes Finish();

  SplitParams const& split_params() const { return *split_params_; }
  Constraints const& constraints() const { return constraints_; }
  StageTimer& timer() { return timer_; }
  NodeIndex const* positions() const { return positions_.data(); }
  DeviceLimits const& limits() const { return limits_; }

 private:
  template <typename T>
  void Put(DeviceBuffer<T>* to, char const* part, std::vector<T> const& from);
  template <typename T>
  void Clear(DeviceBuffer<T>* buffer, char const* part, std::size_t size);
  char* SearchRoom(std::size_t bytes);
  TileStates NextStates();
  void TakeLists(ExactLists const& lists);
  void FindSplits();
  void Divide(std::size_t splits, NodeIndex left_child, bool left_only);
  void MoveRows(ChildRows const* child_rows, NodeIndex left_child, bool left_only);
  void FindThresholds();
  void LeadUnsampled();
  bool Sampled() const { return params_.subsample < 1.0f; }
  ExactRows Rows() const {
    std::uint64_t const* const begin = lists_.begin + std::size_t{matrix_->features()} * (lists_.nodes + 1);
    return {renumbered_ ? origin_[rows_at_].data() : nullptr, begin, lists_.nodes, matrix_->rows};
  }
  ExactGradients Gradients() const {
    return {is_compact_ ? compact_[rows_at_].data() : nullptr, wide_[rows_at_].data()};
  }

  std::shared_ptr<SortedMatrix const> matrix_;
  DeviceArena* arena_;
  Stream const& stream_;
  StagedCopies copies_;  ///< before the buffers: freeing those waits for copies
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
  std::vector<Neighbours> neighbours_;  ///< [nodes] of each split
  std::vector<ExactChoice> made_;       ///< [nodes]
  ExactLists lists_{};
  int spare_{0};              ///< which of list_ is free
  int rows_at_{0};            ///< which of compact_, wide_ and origin_ has the level's rows
  bool renumbered_{false};    ///< the level's rows are not those of the matrix
  bool rows_in_tree_{false};  ///< some rows are not at their leaf yet
  std::uint32_t epoch_{0};

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
