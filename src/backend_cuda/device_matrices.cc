// Makes matrices on CUDA devices, after a check that the devices are there.
#include "backend_cuda/device_matrices.h"

#include <iterator>
#include <utility>

#include "backend_cuda/cuda_devices.h"
#include "core/work_sizes.h"
#include "cuda/device.h"
#include "matrix/matrix.h"
#include "matrix/paged_builder_cuda.h"
#include "matrix/shards_cuda.h"
#include "shards/deal_rows.h"

namespace xgbgpu {

namespace {

/// Calls make() while the device is current. A DeviceError gets the sizes of the data.
template <typename F>
std::shared_ptr<DeviceMatrix const> MakeOn(int device, std::uint64_t rows, FeatureIndex features, F&& make) {
  return NamingSizes(
      [&] {
        return WorkSizes{device, rows, features, 0};
      },
      [&]() -> std::shared_ptr<DeviceMatrix const> {
        DeviceScope const scope{device};
        return make();
      });
}

/// Returns the devices of consecutive rows. Rows may be too few for all devices.
cuda::RowShards ShardsFor(std::uint64_t rows, std::vector<int> devices) {
  for (int const device : devices) cuda::CheckDevice(device);
  cuda::RowShards shards{DealRows(rows, devices.size()), std::move(devices)};
  shards.devices.resize(shards.bounds.size() - 1);
  return shards;
}

DeviceMatrices Shared(std::vector<std::unique_ptr<DeviceMatrix>> matrices) {
  return {std::make_move_iterator(matrices.begin()), std::make_move_iterator(matrices.end())};
}

}  // namespace

std::shared_ptr<DeviceMatrix const> BuildDeviceMatrix(RowSource const& source, CutRequest const& wanted, int device,
                                                      int threads, MemoryLimits const& memory) {
  cuda::CheckDevice(device);
  return MakeOn(device, source.rows(), source.features(), [&] {
    return cuda::BuildMatrixWithin(source, wanted, {device, threads}, memory);
  });
}

std::shared_ptr<DeviceMatrix const> BuildDeviceMatrix(RowSource const& source, Cuts cuts, int device, int threads,
                                                      MemoryLimits const& memory) {
  cuda::CheckDevice(device);
  return MakeOn(device, source.rows(), source.features(), [&] {
    return cuda::QuantiseMatrixWithin(source, std::move(cuts), {device, threads}, memory);
  });
}

std::shared_ptr<DeviceMatrix const> DeviceMatrixWithin(std::shared_ptr<DeviceMatrix const> const& matrix,
                                                       MemoryLimits const& limits) {
  return MakeOn(matrix->device, matrix->view.rows, matrix->view.features,
                [&] { return cuda::MatrixWithin(matrix, limits); });
}

DeviceMatrices BuildDeviceShards(RowSource const& source, CutRequest const& wanted, std::vector<int> const& devices,
                                 int threads, MemoryLimits const& memory) {
  return Shared(cuda::BuildShards(source, wanted, ShardsFor(source.rows(), devices), {threads, 0, memory, {}}));
}

DeviceMatrices BuildDeviceShards(RowSource const& source, Cuts const& cuts, std::vector<int> const& devices,
                                 int threads, MemoryLimits const& memory) {
  return Shared(cuda::QuantiseShards(source, cuts, ShardsFor(source.rows(), devices), {threads, 0, memory, {}}));
}

std::shared_ptr<DeviceMatrix const> BuildDeviceShard(RowSource const& source, CutRequest const& wanted, int device,
                                                     int threads, Collective* group, MemoryLimits const& memory) {
  return MakeOn(device, source.rows(), source.features(),
                [&] { return cuda::BuildOwnShard(source, wanted, device, threads, group, memory); });
}

std::shared_ptr<DeviceMatrix const> BuildDeviceShard(RowSource const& source, Cuts cuts, int device, int threads,
                                                     Collective* group, MemoryLimits const& memory) {
  return MakeOn(device, source.rows(), source.features(),
                [&] { return cuda::QuantiseOwnShard(source, std::move(cuts), device, threads, group, memory); });
}

std::shared_ptr<DeviceMatrix const> CopyMatrixToDevice(QuantisedMatrix const& matrix, int device, int threads) {
  cuda::CheckDevice(device);
  return NamingSizes(
      [&] {
        return WorkSizes{device, matrix.rows, matrix.features(), 0};
      },
      [&]() -> std::shared_ptr<DeviceMatrix const> { return cuda::UploadMatrix(matrix, device, threads); });
}

}  // namespace xgbgpu
