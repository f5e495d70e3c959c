/// Trees on a matrix whose rows lie on the devices of several processes. CUDA builds only.
/// docs/adr/0021-several-devices.md
#ifndef XGBGPU_SHARDS_GROUP_BUILDER_H_
#define XGBGPU_SHARDS_GROUP_BUILDER_H_

#include <memory>

#include "shards/group_devices.h"
#include "trees_cuda/cuda_tree_builder.h"
#include "xgbgpu/collective.h"

namespace xgbgpu {

/// The builder of this process. All processes grow the same trees at the same time, on gradients of their hosts. If one
/// process fails, the other processes stop waiting for it.
class GroupBuilder final : public TreeBuilder {
 public:
  /// All processes make one at the same time. `place`: of this process among all.
  GroupBuilder(std::shared_ptr<DeviceMatrix const> matrix, Shard const& place, int threads);

  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) override;
  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const override {
    builder_->LeafPositions(positions, sampled_out);
  }
  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const override {
    builder_->AddLeafValues(node_values, margins, stride);
  }
  void Trace(std::shared_ptr<TraceFile> file) override { builder_->Trace(std::move(file)); }
  MemoryReport memory() const override { return builder_->memory(); }
  std::uint64_t memory_version() const override { return builder_->memory_version(); }
  bool lost() const override { return devices_->failed(); }

 private:
  std::shared_ptr<GroupDevices> devices_;
  std::unique_ptr<CudaTreeBuilder> builder_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_SHARDS_GROUP_BUILDER_H_
