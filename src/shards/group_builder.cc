// Grows trees on the device of this process, with the devices of the other processes of its group.
#include "shards/group_builder.h"

#include <string>
#include <utility>

#include "xgbgpu/error.h"

namespace xgbgpu {

GroupBuilder::GroupBuilder(std::shared_ptr<DeviceMatrix const> matrix, Shard const& place, int threads)
    : devices_{GroupDevices::Of(place.collective, matrix->device)} {
  AllOrNone(*place.collective, [&] {
    cuda::DeviceShard const shard{devices_->own(), place, matrix->view.rows, devices_->least_shared_bytes()};
    builder_ = std::make_unique<CudaTreeBuilder>(matrix, shard, threads);
  });
}

Tree GroupBuilder::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  try {
    devices_->own()->Check();
    return builder_->Grow(params, gradients, key);
  } catch (...) {
    devices_->Abort();
    throw;
  }
}

std::unique_ptr<TreeBuilder> MakeGroupBuilder(std::shared_ptr<DeviceMatrix const> matrix, Shard const& place,
                                              int threads) {
  return std::make_unique<GroupBuilder>(std::move(matrix), place, threads);
}

bool DevicesCanMeet(Collective* group, int device, std::string* why_not) {
  try {
    GroupDevices::Of(group, device);
    return true;
  } catch (ShardsLost const&) {
    throw;
  } catch (Error const& error) {
    *why_not = error.what();
    return false;
  }
}

void ForgetDevices(Collective const* group) { GroupDevices::Forget(group); }

}  // namespace xgbgpu
