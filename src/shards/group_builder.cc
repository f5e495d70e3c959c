// Grows trees on the device of this process, together with the other processes of a group.
#include "shards/group_builder.h"

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

}  // namespace xgbgpu
