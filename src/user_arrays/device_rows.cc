// Finds the user's arrays in the memory of a device, in every build, and has the CUDA backend copy them.
#include "xgbgpu/device_rows.h"

#include "backend/backend.h"
#include "backend/device_arrays.h"
#include "user_arrays/device_pointer.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

/// Returns null in a build without CUDA.
DeviceArrays const* ArraysOfBuild() {
  DeviceBackend const* const cuda = DeviceBackend::OfBuild();
  return cuda == nullptr ? nullptr : &cuda->arrays();
}

/// Throws Unsupported in a build without CUDA.
DeviceArrays const& Arrays() {
  DeviceArrays const* const arrays = ArraysOfBuild();
  if (arrays == nullptr) {
    throw Unsupported{
        "An array is in the memory of a GPU, but this build of xgboost-gpu has no CUDA backend; allowed here: arrays "
        "of the host"};
  }
  return *arrays;
}

}  // namespace

int DeviceOf(void const* address) {
  if (!IsDeviceMemory(address)) return kHostMemory;
  DeviceArrays const* const arrays = ArraysOfBuild();
  return arrays == nullptr ? 0 : arrays->DeviceOf(address);
}

std::unique_ptr<DeviceRowsBuilder> MakeDeviceRowsBuilder(int device, std::uint64_t rows, FeatureIndex features) {
  return Arrays().MakeRowsBuilder(device, rows, features);
}

std::size_t DeviceRowsBytes(int device) {
  DeviceArrays const* const arrays = ArraysOfBuild();
  return arrays == nullptr ? 0 : arrays->BytesOfRows(device);
}

std::size_t FreeDeviceMemory(int device) {
  DeviceArrays const* const arrays = ArraysOfBuild();
  return arrays == nullptr ? 0 : arrays->FreeMemory(device);
}

CallersDevice::CallersDevice() : device_{kHostMemory} {
  if (DeviceArrays const* const arrays = ArraysOfBuild()) device_ = arrays->CurrentDevice();
}

void CallersDevice::Call(std::function<void()> const& function) const {
  if (device_ == kHostMemory) return function();
  Arrays().RunOn(device_, function);
}

int DeviceOfTable(DeviceTable const& table) { return Arrays().DeviceOf(table); }

std::unique_ptr<DeviceRows> CopyDeviceTable(DeviceTable const& table, float missing) {
  return Arrays().Copy(table, missing);
}

void CopyDeviceTableToHost(DeviceTable const& table, float* to) { Arrays().CopyToHost(table, to); }

void CopyFromDevice(void const* from, std::size_t bytes, std::uintptr_t stream, void* to) {
  Arrays().CopyToHost(from, bytes, stream, to);
}

std::unique_ptr<DeviceFloats> CopyFloatsToDevice(float const* from, std::size_t n, int device) {
  return Arrays().CopyFloats(from, n, device);
}

}  // namespace xgbgpu
