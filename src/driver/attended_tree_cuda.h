/// A tree that a CUDA device grows attended: the host chooses a batch of nodes, waits for their splits, and chooses
/// again.
#ifndef XGBGPU_DRIVER_ATTENDED_TREE_CUDA_H_
#define XGBGPU_DRIVER_ATTENDED_TREE_CUDA_H_

#include <cstddef>

#include "driver/tree_leaves_cuda.h"
#include "driver/tree_parts_cuda.h"
#include "growth/batch_growth.h"

namespace xgbgpu::cuda {

class AttendedTree {
 public:
  AttendedTree(TreeParts* parts, TreeLeaves* leaves) : parts_{*parts}, leaves_{*leaves} {}

  /// Makes room for a tree with the parameters of the parts.
  void Reserve();
  /// Enqueues what is before the root's histogram, when the settings are told.
  void Start();
  /// Grows the tree to its end. Waits many times.
  void Grow();
  /// Writes the rows' positions and gets the header back, after Grow. Waits.
  void Finish();

  std::size_t batch() const { return batch_; }
  BatchGrowth const& growth() const { return growth_; }

 private:
  void LearnBack(std::size_t first, std::size_t n);
  void Expand(int number);
  void EnqueuePositions();

  TreeParts& parts_;
  TreeLeaves& leaves_;
  std::size_t batch_{0};  ///< families of one batch at most
  BatchGrowth growth_;
  PinnedBuffer<Family> host_families_;  ///< families of a batch
  DeviceBuffer<Node> tree_nodes_;       ///< the finished tree, for rows outside the sample
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_DRIVER_ATTENDED_TREE_CUDA_H_
