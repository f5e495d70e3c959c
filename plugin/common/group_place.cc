#include "group_place.h"

#include <string>

#include "core/message.h"
#include "driver/backend.h"
#include "notice.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Returns why the workers cannot train on GPUs together; empty if they can. `one_insists`: has a worker
/// gpu_backend=cuda? All get the same answers. *device becomes this worker's GPU, of `devices`.
std::string WhyNotOnDevices(ProcessGroup* group, DeviceParam const& param, std::uint64_t rows, int devices,
                            bool* one_insists, int* device) {
  std::string const& backend = param.gpu_backend;
  std::int64_t most[] = {devices == 0 ? 1 : 0, rows == 0 ? 1 : 0, backend == "host" ? 1 : 0, backend == "cuda" ? 1 : 0};
  group->Max({most, 4});
  *one_insists = most[3] != 0;
  if (most[2] != 0) return "a worker trains with gpu_backend=host";
  if (most[0] != 0) return "a worker sees no GPU that this library can use";
  if (most[1] != 0) return "a worker has no rows";
  std::string why_not;
  int const place = RankOnHost(group);
  *device = (param.gpu_id < 0 ? place : param.gpu_id) % devices;
  bool const can = DevicesCanMeet(group, *device, &why_not);
  return can ? std::string{} : "their GPUs cannot train together: " + why_not;
}

}  // namespace

Place PlaceInGroup(ProcessGroup* group, DeviceParam const& param, std::uint64_t rows) {
  MemoryLimits const memory = ToMemoryLimits(param);
  Place const host{BackendKind::kHost, 0, group, 1, memory};
  int const devices = param.gpu_backend == "host" ? 0 : CudaDeviceCount();
  bool one_insists = false;
  int device = 0;
  std::string const why_not = WhyNotOnDevices(group, param, rows, devices, &one_insists, &device);
  if (why_not.empty()) return {BackendKind::kCuda, device, group, 1, memory};
  auto const refuse = [&] {
    if (param.gpu_backend != "cuda") return;
    Throw<Unsupported>("Parameter gpu_backend is 'cuda', and this process is one of ", group->shards(),
                       " workers, and ", why_not, "; supported: gpu_backend=host, which gives the same model, or auto");
  };
  if (one_insists) Agree(*group, {}, refuse);
  if (param.gpu_backend == "host") return host;
  WarnOnce("process group", "training runs on the CPU because this process is one of " +
                                std::to_string(group->shards()) + " workers, and " + why_not +
                                ". The model is the same. Set gpu_backend=host to train there without this warning.");
  return host;
}

}  // namespace xgbgpu::plugin
