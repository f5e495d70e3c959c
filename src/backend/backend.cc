// Chooses a backend, and answers what the front door asks of the CUDA backend.
#include "backend/backend.h"

#include <algorithm>

#include "base/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

[[noreturn]] void RefuseCuda(std::string const& why_not) {
  Throw<Unsupported>("Parameter gpu_backend is cuda, but ", why_not, "; allowed here: auto, host");
}

}  // namespace

DeviceBackend* Backend::Cuda(std::string* why_not) {
  std::string reason;
  DeviceBackend* const cuda = DeviceBackend::OfBuild(&reason);
  if (cuda != nullptr) reason = cuda->WhyNotUsable();
  if (reason.empty()) return cuda;
  if (why_not != nullptr) *why_not = std::move(reason);
  return nullptr;
}

Backend& Backend::For(BackendKind wanted, Collective const* shards) {
  bool const sharded = shards != nullptr && shards->shards() > 1;
  if (wanted == BackendKind::kHost || (wanted == BackendKind::kAuto && sharded)) return Host();
  std::string why_not;
  if (DeviceBackend* const cuda = Cuda(&why_not)) return *cuda;
  if (wanted == BackendKind::kCuda) RefuseCuda(why_not);
  return Host();
}

DeviceBackend& DeviceBackend::Get() {
  std::string why_not;
  DeviceBackend* const cuda = OfBuild(&why_not);
  if (cuda == nullptr) RefuseCuda(why_not);
  return *cuda;
}

std::vector<int> OrdinalsOf(Place const& place) {
  if (place.devices < 1) Throw<InvalidArgument>("The number of devices is ", place.devices, "; allowed: 1 or more");
  int const there = std::max(1, CudaDeviceCount());
  std::vector<int> ordinals;
  ordinals.reserve(static_cast<std::size_t>(place.devices));
  for (int d = 0; d < place.devices; ++d) ordinals.push_back((place.device + d) % there);
  return ordinals;
}

bool CudaAvailable(std::string* why_not) { return Backend::Cuda(why_not) != nullptr; }

int CudaDeviceCount() {
  DeviceBackend const* const cuda = Backend::Cuda();
  return cuda == nullptr ? 0 : cuda->CountDevices();
}

std::vector<CudaDevice> CudaDevices() {
  DeviceBackend const* const cuda = Backend::Cuda();
  return cuda == nullptr ? std::vector<CudaDevice>{} : cuda->Devices();
}

std::vector<std::string> CudaArchitectures() {
  DeviceBackend const* const cuda = DeviceBackend::OfBuild();
  return cuda == nullptr ? std::vector<std::string>{} : cuda->Architectures();
}

bool CudaIsInUse() {
  DeviceBackend const* const cuda = DeviceBackend::OfBuild();
  return cuda != nullptr && cuda->IsInUse();
}

WorkerPlace PlaceOfWorker(Collective* group, int devices) { return DeviceBackend::Get().PlaceOf(group, devices); }

bool DevicesCanMeet(Collective* group, int device, std::string* why_not) {
  return DeviceBackend::Get().CanMeet(group, device, why_not);
}

void ForgetDevices(Collective const* group) {
  if (DeviceBackend const* const cuda = DeviceBackend::OfBuild()) cuda->Forget(group);
}

std::string NcclHere(std::string* why_not) {
  DeviceBackend const* const cuda = DeviceBackend::OfBuild(why_not);
  return cuda == nullptr ? std::string{} : cuda->Nccl(why_not);
}

void OrderTargetsOnDevice(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                          double const* priors, StatisticsView statistics, CategoryTotals totals, int device) {
  DeviceBackend::Get().OrderTargets(columns, order, rule, priors, statistics, totals, device);
}

std::uint32_t NumberKeysOnDevice(Span<std::uint64_t const> keys, std::uint32_t* codes, int device) {
  return DeviceBackend::Get().NumberKeys(keys, codes, device);
}

}  // namespace xgbgpu
