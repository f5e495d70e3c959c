#include "group_place.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "core/message.h"
#include "core/text_hash.h"
#include "driver/backend.h"
#include "notice.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// A number that processes of one host have in common, and those of two hosts do not. Containers count as hosts.
std::int64_t HostNumber() {
  std::string text;
  std::getline(std::ifstream{"/proc/sys/kernel/random/boot_id"}, text);
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  text += name.data();
  return static_cast<std::int64_t>(HashText(text) >> 2);  // its negative is a number, too
}

/// Returns why the workers cannot train on GPUs together; empty if they can. `one_insists`: has a worker
/// gpu_backend=cuda? All get the same answers.
std::string WhyNotOnDevices(ProcessGroup* group, DeviceParam const& param, std::uint64_t rows, int devices,
                            bool* one_insists) {
  static std::int64_t const kHost = HostNumber();
  std::string const& backend = param.gpu_backend;
  std::int64_t most[] = {devices == 0 ? 1 : 0,      rows == 0 ? 1 : 0,        kHost, -kHost,
                         backend == "host" ? 1 : 0, backend == "cuda" ? 1 : 0};
  group->Max({most, 6});
  *one_insists = most[5] != 0;
  if (most[4] != 0) return "a worker trains with gpu_backend=host";
  if (most[0] != 0) return "a worker sees no GPU that this library can use";
  if (most[1] != 0) return "a worker has no rows";
  if (most[2] != -most[3]) return "workers are on several hosts, and their GPUs do not reach each other's memory";
  std::string why_not;
  int const device = (param.gpu_id < 0 ? group->shard() : param.gpu_id) % devices;
  bool const can = DevicesCanMeet(group, device, &why_not);
  return can ? std::string{} : "their GPUs cannot reach each other's memory: " + why_not;
}

}  // namespace

Place PlaceInGroup(ProcessGroup* group, DeviceParam const& param, std::uint64_t rows) {
  MemoryLimits const memory = ToMemoryLimits(param);
  Place const host{BackendKind::kHost, 0, group, 1, memory};
  int const devices = param.gpu_backend == "host" ? 0 : CudaDeviceCount();
  bool one_insists = false;
  std::string const why_not = WhyNotOnDevices(group, param, rows, devices, &one_insists);
  if (why_not.empty()) {
    return {BackendKind::kCuda, (param.gpu_id < 0 ? group->shard() : param.gpu_id) % devices, group, 1, memory};
  }
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
