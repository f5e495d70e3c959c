/// Stands in for the CUDA backend in a build without it.

#include "backend/backend.h"
#include "base/message.h"
#include "predict/predictor.h"
#include "user_arrays/device_pointer.h"
#include "xgbgpu/device_rows.h"
#include "xgbgpu/devices.h"

namespace xgbgpu {

namespace {

[[noreturn]] void ThrowNoCuda() {
  std::string why_not;
  CudaAvailable(&why_not);
  Throw<Unsupported>("Parameter gpu_backend is cuda, but ", why_not, "; allowed here: auto, host");
}

}  // namespace

bool CudaAvailable(std::string* why_not) {
  if (why_not != nullptr) *why_not = "this build of xgboost-gpu has no CUDA backend";
  return false;
}

std::vector<CudaDevice> CudaDevices() { return {}; }
std::vector<std::string> CudaArchitectures() { return {}; }

int CudaDeviceCount() { return 0; }

bool CudaIsInUse() { return false; }

BackendKind ResolveBackend(BackendKind wanted) {
  if (wanted == BackendKind::kCuda) ThrowNoCuda();
  return BackendKind::kHost;
}

std::unique_ptr<TreeBuilder> MakeCudaTreeBuilder(std::shared_ptr<DeviceMatrix const>, int) { ThrowNoCuda(); }
std::unique_ptr<TreeBuilder> MakeCudaTreeBuilder(std::vector<std::shared_ptr<DeviceMatrix const>> const&, int) {
  ThrowNoCuda();
}
std::unique_ptr<TreeBuilder> MakeGroupBuilder(std::shared_ptr<DeviceMatrix const>, Shard const&, int) { ThrowNoCuda(); }
WorkerPlace PlaceOfWorker(Collective*, int) { ThrowNoCuda(); }
bool DevicesCanMeet(Collective*, int, std::string*) { ThrowNoCuda(); }
void ForgetDevices(Collective const*) {}
std::string NcclHere(std::string* why_not) {
  *why_not = "this library was built without CUDA";
  return {};
}
std::shared_ptr<DeviceMatrix const> BuildDeviceShard(RowSource const&, Cuts, int, int, Collective*,
                                                     MemoryLimits const&) {
  ThrowNoCuda();
}
std::vector<std::shared_ptr<DeviceMatrix const>> BuildDeviceShards(RowSource const&, Span<float const>, int,
                                                                   std::vector<int> const&, int, MemoryLimits const&) {
  ThrowNoCuda();
}
std::vector<std::shared_ptr<DeviceMatrix const>> BuildDeviceShards(RowSource const&, Cuts, std::vector<int> const&, int,
                                                                   MemoryLimits const&) {
  ThrowNoCuda();
}
DeviceMatrixFacts FactsOf(DeviceMatrix const&) { ThrowNoCuda(); }
void VisitLowerEnds(DeviceMatrix const&, std::uint64_t, std::uint64_t, int,
                    std::function<void(RowBatch const&)> const&) {
  ThrowNoCuda();
}
std::shared_ptr<DeviceMatrix const> BuildDeviceMatrix(RowSource const&, Span<float const>, int, int, int,
                                                      MemoryLimits const&) {
  ThrowNoCuda();
}
std::shared_ptr<DeviceMatrix const> BuildDeviceMatrix(RowSource const&, Cuts, int, int, MemoryLimits const&) {
  ThrowNoCuda();
}
std::shared_ptr<DeviceMatrix const> DeviceMatrixWithin(std::shared_ptr<DeviceMatrix const>, MemoryLimits const&) {
  ThrowNoCuda();
}
std::shared_ptr<DeviceMatrix const> CopyMatrixToDevice(QuantisedMatrix const&, int, int) { ThrowNoCuda(); }
std::unique_ptr<TreeBuilder> MakeCudaExactBuilder(std::shared_ptr<SortedMatrix const>, int, int) { ThrowNoCuda(); }
std::unique_ptr<DevicePredictor> MakeDevicePredictor(Forest const&, int) { ThrowNoCuda(); }
void PredictContributionsOnDevice(RowSource const&, PathForest const&, std::size_t, std::size_t, bool,
                                  ContributionsView, int, int) {
  ThrowNoCuda();
}
void PredictInteractionsOnDevice(RowSource const&, PathForest const&, std::size_t, std::size_t, InteractionsView, int,
                                 int) {
  ThrowNoCuda();
}

namespace {

[[noreturn]] void ThrowNoArrays() {
  throw Unsupported{
      "An array is in the memory of a GPU, but this build of xgboost-gpu has no CUDA backend; allowed here: arrays of "
      "the host"};
}

}  // namespace

int DeviceOf(void const* address) { return IsDeviceMemory(address) ? 0 : kHostMemory; }
std::unique_ptr<DeviceRowsBuilder> MakeDeviceRowsBuilder(int, std::uint64_t, FeatureIndex) { ThrowNoArrays(); }
std::size_t DeviceRowsBytes(int) { return 0; }
std::size_t FreeDeviceMemory(int) { return 0; }
CallersDevice::CallersDevice() : device_{kHostMemory} {}
void CallersDevice::Call(std::function<void()> const& function) const { function(); }
int DeviceOfTable(DeviceTable const&) { ThrowNoArrays(); }
std::unique_ptr<DeviceRows> CopyDeviceTable(DeviceTable const&, float) { ThrowNoArrays(); }
void CopyDeviceTableToHost(DeviceTable const&, float*) { ThrowNoArrays(); }
void CopyFromDevice(void const*, std::size_t, std::uintptr_t, void*) { ThrowNoArrays(); }
std::unique_ptr<DeviceFloats> CopyFloatsToDevice(float const*, std::size_t, int) { ThrowNoArrays(); }

}  // namespace xgbgpu
