/// Trees on a matrix with rows on the devices of several processes. CUDA builds only. docs/adr/0021-several-devices.md
#ifndef XGBGPU_SHARDS_GROUP_BUILDER_H_
#define XGBGPU_SHARDS_GROUP_BUILDER_H_

#include <memory>
#include <vector>

#include "shards/group_devices.h"
#include "trees_cuda/cuda_tree_builder.h"
#include "xgbgpu/collective.h"

namespace xgbgpu {

/// Keeps the devices for longer than the builder that uses them.
struct HeldGroupDevices {
  std::shared_ptr<GroupDevices> devices;
};

/// The builder of this process. All processes grow the same trees at the same time. If one process fails, the other
/// processes stop waiting for it. The rows of its rounds are the rows of this process: their calls concern no other
/// process, except for Grow, GrowVectors, Start, ShareBounds, EvaluateInGroup, AdaptLeaves, and ComputeGradients of an
/// objective with HasScale.
class GroupBuilder final : private HeldGroupDevices, public CudaTreeBuilder {
 public:
  /// All processes make one at the same time. `place`: of this process among all.
  static std::unique_ptr<GroupBuilder> Make(std::shared_ptr<DeviceMatrix const> const& matrix, Shard const& place,
                                            int threads);

  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) override;
  bool lost() const override { return devices->failed(); }
  /// Null if the devices are of different kinds. The shared memory of a device decides where a tree computes its
  /// gradients, and so the data that devices exchange.
  ResidentRounds* rounds() override { return are_alike_ ? this : nullptr; }

  /// The devices of all processes count the areas under a curve together, so none may be without its rows.
  std::uint64_t least_evaluated_rows() const override { return 0; }

  using CudaTreeBuilder::MakeResidentRows;
  std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs) override;
  void ComputeGradients(cuda::DeviceResidentRows* rows, ObjectiveParams const& objective) override;
  void AdaptLeaves(Tree* tree, cuda::DeviceResidentRows* rows, std::uint32_t output) override;
  void Begin(TrainParams const& params, cuda::DeviceResidentRows* rows, std::vector<RoundTree> trees) override;
  VectorTree GrowVectors(TrainParams const& params, Span<GradientPair const> gradients, std::uint32_t outputs,
                         TreeKey key) override;
  VectorTree GrowVectors(TrainParams const& params, cuda::DeviceResidentRows* rows, TreeKey key) override;
  Tree FinishNext() override;
  void ShareBounds(cuda::DeviceResidentRows* rows) override;
  std::vector<double> EvaluateInGroup(cuda::DeviceResidentRows* rows, ObjectiveParams const& objective,
                                      Span<MetricParams const> metrics, TargetView const& targets, int threads,
                                      Collective* group, Span<SharedRows* const> shared) override;

 private:
  GroupBuilder(std::shared_ptr<GroupDevices> const& connected, std::shared_ptr<DeviceMatrix const> matrix,
               Shard const& place, int threads);

  template <typename Work>
  decltype(auto) OrAbort(Work&& work);

  Collective& group_;
  bool are_alike_{false};
};

}  // namespace xgbgpu

#endif  // XGBGPU_SHARDS_GROUP_BUILDER_H_
