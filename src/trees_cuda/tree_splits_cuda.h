/// The search for the splits of the nodes of a tree.
#ifndef XGBGPU_TREES_CUDA_TREE_SPLITS_CUDA_H_
#define XGBGPU_TREES_CUDA_TREE_SPLITS_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "growth/tree_memory_cuda.h"
#include "matrix/device_matrix.h"
#include "split/level_scores.h"
#include "split/level_search_cuda.h"
#include "split/split_shares.h"
#include "split/split_workspace_cuda.h"
#include "trees_cuda/tree_device_cuda.h"
#include "trees_cuda/tree_histograms_cuda.h"
#include "trees_cuda/tree_request.h"
#include "trees_cuda/tree_rows_cuda.h"

namespace xgbgpu::cuda {

/// A device searches all features, or a share of them. The levels of device-driven symmetric trees are searched as a
/// whole, by every device.
class TreeSplits {
 public:
  /// All arguments must outlive this object.
  TreeSplits(DeviceMatrix const& matrix, TreeDevice* device, TreeRequest const& request, TreeMemory const& memory,
             TreeRows const& rows, TreeHistograms const& histograms);

  // Before a tree.

  /// Tells whether the device can choose the splits of a level of `nodes` nodes, in a tree of `params`.
  bool CanChoose(TrainParams const& params, std::size_t nodes) const;
  /// Returns how many families of a batch the host may choose, at least one: their candidates take memory.
  std::size_t MostFamilies() const;
  /// The next tree is searched in the matrix that it is grown on. This matrix has been reserved.
  void SearchTree();
  /// Returns the bytes that ReserveLevels takes for a tree of `params`, at most.
  std::uint64_t BytesFor(TrainParams const& params, std::size_t tree_nodes, std::uint64_t widest) const;
  /// Reserves the search of levels of at most `widest` nodes, in a device-driven tree of `tree_nodes` nodes.
  void ReserveLevels(std::size_t tree_nodes, std::size_t widest);
  /// Reserves the search of batches of `nodes` nodes, in a host-driven tree. Reserve the tree's memory first.
  void ReserveBatches(std::size_t nodes) { workspace_.Reserve(nodes, memory_.node_capacity()); }
  /// Reserves sets of categories for `sets` splits; the first `kept` stay.
  void ReserveCategories(std::size_t sets, std::size_t kept) {
    device_.workspace.Note([&] { return workspace_.categories().Reserve(sets, kept, device_.stream); });
  }
  /// Tells the device the features of the tree, and reserves sets of features for `nodes` nodes of a level, or for
  /// `levels` levels of a symmetric tree.
  void SetFeatures(std::size_t nodes, int levels);
  /// Sets the constraints of the trees to come. The memory of the tree has been reserved.
  void SetConstraints(Constraints constraints);
  /// Reserves limits for `nodes` nodes; the limits of the first `kept` stay.
  void ExtendConstraints(std::size_t kept, std::size_t nodes);

  // While a tree grows.

  SplitView View() const;
  /// Returns View of the columns that nodes of this level need.
  SplitView AtLevel(int level) const;
  LevelSearchWorkspace const& level_search() const { return level_search_; }  ///< of symmetric trees
  Constraints const& constraints() const { return workspace_.constraints().constraints(); }
  /// Tells whether any feature has categories.
  bool has_categories() const { return workspace_.categories().any(); }
  DeviceCategories Categories() const { return workspace_.categories().View(); }
  /// Writes the categories that go right by the split of a level to the device, under the number of their set in
  /// `sets`. Returns where; nullptr if the split is by numbers. Enqueued.
  std::uint32_t const* UploadCategories(LevelSplit const& split, CategorySets const& sets);
  /// Copies the sets of categories of the first `nodes` nodes to the host, if any feature has categories. Waits.
  CategorySets ReadCategories(std::size_t nodes);

  /// Tells whether each device searches a share of the features, in trees with a search for each node.
  bool deals_features() const { return shares_of_whole_.used(); }
  /// Returns the cells that each device searches in the tree that grows now; null: all.
  CellShares const* shares() const { return searches_share() ? &shares_.cells : nullptr; }
  /// GrowthView::reduces
  bool PlanReduces() const {
    return workspace_.PlanReduces() && !searches_share() && !request_.symmetric() && !rows_.by_levels();
  }
  /// GrowthView::level_nodes
  LevelNode const* level_nodes() const { return request_.symmetric() ? level_search_.View(0).nodes : nullptr; }

  /// Returns the values that a recorded tree depends on.
  auto RecordingKey() const {
    return std::tuple{level_search_.features(), workspace_.features().View(), workspace_.constraints().View()};
  }

 private:
  SplitShares SharesOf(DeviceMatrixView const& view, std::vector<DeviceTile> const& tiles) const;
  bool searches_share() const { return shares_.used() && !request_.symmetric(); }

  TreeDevice& device_;
  TreeRequest const& request_;
  TreeMemory const& memory_;
  TreeRows const& rows_;
  TreeHistograms const& histograms_;
  DeviceMatrix const& matrix_;
  SplitWorkspace workspace_;
  SplitShares shares_of_whole_;
  SplitShares shares_;  ///< of the matrix that the tree is grown on
  LevelSearchWorkspace level_search_;
  std::vector<std::uint32_t> host_set_;  ///< source of a copy, until the stream has been waited for
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_SPLITS_CUDA_H_
