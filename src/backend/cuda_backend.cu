/// The build with the CUDA backend: what devices there are, what code for them, and datasets on one.

#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/message.h"
#include "core/work_sizes.h"
#include "cuda/device.h"
#include "matrix/lower_ends.h"
#include "matrix/paged_builder_cuda.h"
#include "matrix/shards_cuda.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {

namespace {

/// The architectures that this build has code for, ascending: 750 stands for compute capability 7.5.
constexpr int kArchitectures[] = {__CUDA_ARCH_LIST__};

/// Returns the compute capability: 90 for 9.0. It does not start the device.
int ArchitectureOf(int device) {
  int major = 0, minor = 0;
  CheckCuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "asking for a device's limits");
  CheckCuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "asking for a device's limits");
  return 10 * major + minor;
}

std::string Decimal(int tens) { return std::to_string(tens / 10) + "." + std::to_string(tens % 10); }

/// Returns CUDA's version number 12020 as 12.2.
std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string WhyNoDevices(cudaError_t status) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "this machine has no CUDA driver (libcuda.so.1)";
  if (status == cudaErrorInsufficientDriver) {
    return "the CUDA driver is for CUDA " + VersionText(driver) + "; needed: " + VersionText(runtime) + " or newer";
  }
  return std::string{"no CUDA device can be used: "} + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
         ")";
}

/// Returns the number of devices, or 0 and why there is none.
int CountDevices(std::string* why_not) {
  int devices = 0;
  cudaError_t const status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return devices;
  cudaGetLastError();  // it must not show up again at the next call
  *why_not = WhyNoDevices(status == cudaSuccess ? cudaErrorNoDevice : status);
  return 0;
}

std::string WhyNotOn(int device) {
  int const architecture = ArchitectureOf(device), oldest = kArchitectures[0] / 10;
  if (architecture >= oldest) return {};
  return "CUDA device " + std::to_string(device) + " has compute capability " + Decimal(architecture) +
         "; this build has code for " + Decimal(oldest) + " and newer";
}

void CheckDevice(int device) {
  std::string why_not;
  int const devices = CountDevices(&why_not);
  if (devices != 0 && (device < 0 || device >= devices)) {
    Throw<InvalidArgument>("The CUDA device (gpu_id) is ", device, "; allowed: 0 to ", devices - 1);
  }
  if (devices != 0) why_not = WhyNotOn(device);
  if (!why_not.empty()) {
    Throw<Unsupported>("Parameter gpu_backend is cuda, but ", why_not, "; allowed here: auto, host");
  }
}

}  // namespace

bool CudaAvailable(std::string* why_not) {
  std::string reason;
  int const devices = CountDevices(&reason);
  for (int device = 0; device < devices; ++device) {
    reason = WhyNotOn(device);
    if (reason.empty()) return true;
  }
  if (why_not != nullptr) *why_not = reason;
  return false;
}

std::vector<CudaDevice> CudaDevices() {
  std::vector<CudaDevice> devices;
  int count = 0;
  if (!CudaAvailable() || cudaGetDeviceCount(&count) != cudaSuccess) return devices;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) return {};
    devices.push_back({properties.name, 10 * properties.major + properties.minor, properties.totalGlobalMem});
  }
  return devices;
}

std::vector<std::string> CudaArchitectures() {
  std::vector<std::string> architectures;
  for (int architecture : kArchitectures) architectures.push_back(std::to_string(architecture / 10));
  return architectures;
}

int CudaDeviceCount() {
  std::string why_not;
  return CudaAvailable(&why_not) ? CountDevices(&why_not) : 0;
}

bool CudaIsInUse() { return DeviceIsInUse(); }

BackendKind ResolveBackend(BackendKind wanted) {
  if (wanted == BackendKind::kHost) return wanted;
  std::string why_not;
  if (CudaAvailable(&why_not)) return BackendKind::kCuda;
  if (wanted == BackendKind::kAuto) return BackendKind::kHost;
  Throw<Unsupported>("Parameter gpu_backend is cuda, but ", why_not, "; allowed here: auto, host");
}

DeviceMatrixFacts FactsOf(DeviceMatrix const& matrix) {
  return {matrix.view.rows, matrix.stored, matrix.arena.bytes(), &matrix.cuts, matrix.pages != nullptr};
}

void VisitLowerEnds(DeviceMatrix const& matrix, std::uint64_t first, std::uint64_t count, int threads,
                    std::function<void(RowBatch const&)> const& visit) {
  cuda::VisitLowerEnds(matrix, first, count, threads, visit);
}

std::shared_ptr<DeviceMatrix const> BuildDeviceMatrix(RowSource const& source, Span<float const> weights, int max_bin,
                                                      int device, int threads, MemoryLimits const& memory) {
  CheckDevice(device);
  auto const sizes = [&] { return WorkSizes{device, source.rows(), source.features(), 0}; };
  return NamingSizes(sizes, [&] {
    DeviceScope const scope{device};
    return cuda::BuildMatrixWithin(source, {max_bin, weights}, {device, threads}, memory);
  });
}

std::shared_ptr<DeviceMatrix const> BuildDeviceMatrix(RowSource const& source, Cuts cuts, int device, int threads,
                                                      MemoryLimits const& memory) {
  CheckDevice(device);
  auto const sizes = [&] { return WorkSizes{device, source.rows(), source.features(), 0}; };
  return NamingSizes(sizes, [&] {
    DeviceScope const scope{device};
    return cuda::QuantiseMatrixWithin(source, std::move(cuts), {device, threads}, memory);
  });
}

std::shared_ptr<DeviceMatrix const> DeviceMatrixWithin(std::shared_ptr<DeviceMatrix const> matrix,
                                                       MemoryLimits const& limits) {
  auto const sizes = [&] { return WorkSizes{matrix->device, matrix->view.rows, matrix->view.features, 0}; };
  return NamingSizes(sizes, [&] {
    DeviceScope const scope{matrix->device};
    return cuda::MatrixWithin(matrix, limits);
  });
}

namespace {

/// Returns which rows lie on which of the devices: rows may be too few for all.
cuda::RowShards ShardsFor(std::uint64_t rows, std::vector<int> devices) {
  for (int const device : devices) CheckDevice(device);
  cuda::RowShards shards{DealRows(rows, devices.size()), std::move(devices)};
  shards.devices.resize(shards.bounds.size() - 1);
  return shards;
}

std::vector<std::shared_ptr<DeviceMatrix const>> Shared(std::vector<std::unique_ptr<DeviceMatrix>> matrices) {
  return {std::make_move_iterator(matrices.begin()), std::make_move_iterator(matrices.end())};
}

}  // namespace

std::vector<std::shared_ptr<DeviceMatrix const>> BuildDeviceShards(RowSource const& source, Span<float const> weights,
                                                                   int max_bin, std::vector<int> const& devices,
                                                                   int threads, MemoryLimits const& memory) {
  return Shared(
      cuda::BuildShards(source, {max_bin, weights}, ShardsFor(source.rows(), devices), {threads, 0, memory, {}}));
}

std::vector<std::shared_ptr<DeviceMatrix const>> BuildDeviceShards(RowSource const& source, Cuts cuts,
                                                                   std::vector<int> const& devices, int threads,
                                                                   MemoryLimits const& memory) {
  return Shared(cuda::QuantiseShards(source, cuts, ShardsFor(source.rows(), devices), {threads, 0, memory, {}}));
}

std::shared_ptr<DeviceMatrix const> BuildDeviceShard(RowSource const& source, Cuts cuts, int device, int threads,
                                                     Collective* group, MemoryLimits const& memory) {
  auto const sizes = [&] { return WorkSizes{device, source.rows(), source.features(), 0}; };
  return NamingSizes(sizes,
                     [&] { return cuda::QuantiseOwnShard(source, std::move(cuts), device, threads, group, memory); });
}

std::shared_ptr<DeviceMatrix const> CopyMatrixToDevice(QuantisedMatrix const& matrix, int device, int threads) {
  CheckDevice(device);
  auto const sizes = [&] { return WorkSizes{device, matrix.rows, matrix.features(), 0}; };
  return NamingSizes(sizes, [&] { return cuda::UploadMatrix(matrix, device, threads); });
}

}  // namespace xgbgpu
