/// A host-driven tree on a CUDA device: the host chooses a batch of nodes, waits for their splits, and chooses
/// again.
#ifndef XGBGPU_TREES_CUDA_HOST_DRIVEN_TREE_CUDA_H_
#define XGBGPU_TREES_CUDA_HOST_DRIVEN_TREE_CUDA_H_

#include <cstddef>
#include <vector>

#include "growth/batch_growth.h"
#include "trees_cuda/tree_growth_cuda.h"
#include "trees_cuda/tree_leaves_cuda.h"
#include "trees_cuda/tree_parts_cuda.h"

namespace xgbgpu::cuda {

class HostDrivenTree : public TreeGrowth {
 public:
  HostDrivenTree(TreeParts* parts, TreeLeaves* leaves) : parts_{*parts}, device_{parts->device}, leaves_{*leaves} {}

  void Reserve(SpeculativeMargins const& speculative) override;
  void SetFeatures() override;
  GrowthLimits limits() const override;
  /// Enqueues all work before the root's histogram.
  void Start() override;
  /// Waits many times.
  void Grow() override;
  /// Grows trees that have been started on the same pages: every page is visited once for a batch of each.
  static void GrowTogether(std::vector<HostDrivenTree*> const& trees);
  /// Writes the rows' positions, too.
  bool Finish() override;
  void Discard() override { device_.stream.Wait("giving up a tree"); }
  GrownTree Take() override;

 private:
  void LearnBack(std::size_t first, std::size_t n);
  void TellBatch();
  bool BeginBatchInPages(int number);
  void EndBatchInPages(int number);

  TreeParts& parts_;
  TreeDevice& device_;
  TreeLeaves& leaves_;
  std::size_t batch_{0};  ///< families of one batch at most
  BatchGrowth growth_;
  std::vector<Family> families_;        ///< of the batch that is under way
  std::size_t first_{0};                ///< the first node that the batch makes
  PageStep step_{};                     ///< the work of the batch in pages
  PinnedBuffer<Family> host_families_;  ///< families of a batch
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_HOST_DRIVEN_TREE_CUDA_H_
