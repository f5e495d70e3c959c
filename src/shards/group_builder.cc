// Grows trees on the device of this process, together with the other processes of a group.
#include "shards/group_builder.h"

#include <utility>

namespace xgbgpu {

std::unique_ptr<GroupBuilder> GroupBuilder::Make(std::shared_ptr<DeviceMatrix const> const& matrix, Shard const& place,
                                                 int threads) {
  auto const connected = GroupDevices::Of(place.collective, matrix->device);
  std::unique_ptr<GroupBuilder> made;
  AllOrNone(*place.collective, [&] { made.reset(new GroupBuilder{connected, matrix, place, threads}); });
  auto const bytes = static_cast<std::int64_t>(made->limits().block_bytes);
  std::int64_t most[] = {bytes, -bytes};
  place.collective->Max({most, 2});
  made->are_alike_ = most[0] == -most[1];
  return made;
}

GroupBuilder::GroupBuilder(std::shared_ptr<GroupDevices> const& connected, std::shared_ptr<DeviceMatrix const> matrix,
                           Shard const& place, int threads)
    : HeldGroupDevices{connected},
      CudaTreeBuilder{matrix, {connected->own(), place, matrix->view.rows, connected->least_shared_bytes()}, threads},
      group_{*place.collective} {}

/// Calls work(), unless another process has failed. If it throws, no process waits for this one any more.
template <typename Work>
decltype(auto) GroupBuilder::OrAbort(Work&& work) {
  try {
    devices->own()->Check();
    return work();
  } catch (...) {
    devices->Abort();
    throw;
  }
}

Tree GroupBuilder::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  return OrAbort([&] { return CudaTreeBuilder::Grow(params, gradients, key); });
}

std::unique_ptr<ResidentRows> GroupBuilder::MakeResidentRows(std::uint32_t outputs) {
  auto rows = MakeRows(outputs);
  rows->JoinDevices(devices->own());
  return rows;
}

void GroupBuilder::ComputeGradients(cuda::DeviceResidentRows* rows, ObjectiveParams const& objective) {
  if (!HasScale(objective.kind)) return CudaTreeBuilder::ComputeGradients(rows, objective);
  OrAbort([&] { CudaTreeBuilder::ComputeGradients(rows, objective); });
}

void GroupBuilder::AdaptLeaves(Tree* tree, cuda::DeviceResidentRows* rows, std::uint32_t output) {
  OrAbort([&] {
    CudaTreeBuilder::AdaptLeaves(tree, rows, output);
    devices->own()->Check();
  });
}

void GroupBuilder::Begin(TrainParams const& params, cuda::DeviceResidentRows* rows, std::vector<RoundTree> trees) {
  OrAbort([&] { CudaTreeBuilder::Begin(params, rows, std::move(trees)); });
}

VectorTree GroupBuilder::GrowVectors(TrainParams const& params, Span<GradientPair const> gradients,
                                     std::uint32_t outputs, TreeKey key) {
  return OrAbort([&] { return CudaTreeBuilder::GrowVectors(params, gradients, outputs, key); });
}

VectorTree GroupBuilder::GrowVectors(TrainParams const& params, cuda::DeviceResidentRows* rows, TreeKey key) {
  return OrAbort([&] { return CudaTreeBuilder::GrowVectors(params, rows, key); });
}

Tree GroupBuilder::FinishNext() {
  return OrAbort([&] { return CudaTreeBuilder::FinishNext(); });
}

void GroupBuilder::ShareBounds(cuda::DeviceResidentRows* rows) { rows->ShareBoundsOver(&group_); }

std::vector<double> GroupBuilder::EvaluateInGroup(cuda::DeviceResidentRows* rows, ObjectiveParams const& objective,
                                                  Span<MetricParams const> metrics, TargetView const& targets,
                                                  int /*threads*/, Collective* group, Span<SharedRows* const> shared) {
  auto const gather = [&](std::uint32_t* words, std::uint64_t n, cudaStream_t stream) {
    // Pairs of words as one number: no sum of a word overflows into the next.
    devices->own()->Sum(reinterpret_cast<std::int64_t*>(words), n / 2, stream);
  };
  return OrAbort([&] {
    auto values = rows->EvaluateOver(objective, metrics, targets, group, gather, shared);
    devices->own()->Check();
    return values;
  });
}

}  // namespace xgbgpu
