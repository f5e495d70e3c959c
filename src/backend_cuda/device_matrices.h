/// Matrices on CUDA devices that are named by their numbers. CUDA builds only.
#ifndef XGBGPU_BACKEND_CUDA_DEVICE_MATRICES_H_
#define XGBGPU_BACKEND_CUDA_DEVICE_MATRICES_H_

#include <memory>
#include <vector>

#include "backend/host_cuts.h"
#include "matrix/device_matrix.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/memory_limits.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

using DeviceMatrices = std::vector<std::shared_ptr<DeviceMatrix const>>;

/// Makes cuts and bins on a device. The bins are in pages if a training would take more than `memory` allows in core
/// (matrix/paged_builder_cuda.h). `threads` are for the host's part.
/// Throws  InvalidArgument (no such device), Unsupported (no code for it), and errors of the stages; a DeviceError
///         names the sizes of the data
std::shared_ptr<DeviceMatrix const> BuildDeviceMatrix(RowSource const& source, CutRequest const& wanted, int device,
                                                      int threads, MemoryLimits const& memory = {});
/// Bins the rows by these cuts.
std::shared_ptr<DeviceMatrix const> BuildDeviceMatrix(RowSource const& source, Cuts cuts, int device, int threads,
                                                      MemoryLimits const& memory = {});

/// Returns the matrix for trainings within other limits (matrix/paged_builder_cuda.h): itself, or one in pages.
std::shared_ptr<DeviceMatrix const> DeviceMatrixWithin(std::shared_ptr<DeviceMatrix const> const& matrix,
                                                       MemoryLimits const& limits);

/// Does the work of BuildDeviceMatrix with several devices. Rows are dealt to them in order (shards/deal_rows.h), to
/// fewer devices if rows are few. All shards have the same cuts. An ordinal may come several times.
DeviceMatrices BuildDeviceShards(RowSource const& source, CutRequest const& wanted, std::vector<int> const& devices,
                                 int threads, MemoryLimits const& memory = {});
DeviceMatrices BuildDeviceShards(RowSource const& source, Cuts const& cuts, std::vector<int> const& devices,
                                 int threads, MemoryLimits const& memory = {});

/// Finds cuts of the rows of all processes of `group`, and bins the rows of this process, in the layout that the rows
/// of all processes ask for. All processes call it at the same time; if one fails, all throw. Returns null in all if a
/// device has too little memory for the search for cuts.
std::shared_ptr<DeviceMatrix const> BuildDeviceShard(RowSource const& source, CutRequest const& wanted, int device,
                                                     int threads, Collective* group, MemoryLimits const& memory = {});

/// Bins the rows of this process by cuts that all processes have. Otherwise as above.
std::shared_ptr<DeviceMatrix const> BuildDeviceShard(RowSource const& source, Cuts cuts, int device, int threads,
                                                     Collective* group, MemoryLimits const& memory = {});

/// Copies a matrix of the host to a device.
std::shared_ptr<DeviceMatrix const> CopyMatrixToDevice(QuantisedMatrix const& matrix, int device, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_CUDA_DEVICE_MATRICES_H_
