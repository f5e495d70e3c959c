#include "group_place.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

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

/// Returns the GPU of a worker among those that train on GPUs.
int DeviceOf(Collective const& workers, DeviceParam const& param, int devices) {
  return (param.gpu_id < 0 ? workers.shard() : param.gpu_id) % devices;
}

/// Returns the workers that have rows, which some have not.
SomeShards* WithRows(ProcessGroup* group, bool has_rows) {
  std::vector<std::int64_t> have(static_cast<std::size_t>(group->shards()));
  have[static_cast<std::size_t>(group->shard())] = has_rows ? 1 : 0;
  group->Sum(Span<std::int64_t>{have});
  std::vector<int> workers;
  for (int worker = 0; worker < group->shards(); ++worker) {
    if (have[static_cast<std::size_t>(worker)] != 0) workers.push_back(worker);
  }
  return group->Some(workers);
}

/// Returns why the workers that have rows cannot train on GPUs together; empty if they can. All get the same answers.
///
/// In   devices      number of GPUs that this worker sees
/// Out  one_insists  has a worker gpu_backend=cuda?
///      with_rows    the workers that have rows, if some have none and it was worth asking; else null
std::string WhyNotOnDevices(ProcessGroup* group, DeviceParam const& param, std::uint64_t rows, int devices,
                            bool* one_insists, SomeShards** with_rows) {
  static std::int64_t const kHost = HostNumber();
  std::string const& backend = param.gpu_backend;
  bool const has_rows = rows != 0;  // where a worker without rows is, and what GPUs it sees, does not matter
  constexpr std::int64_t kNoOpinion = std::numeric_limits<std::int64_t>::min();
  std::int64_t most[] = {has_rows && devices == 0 ? 1 : 0, has_rows ? 0 : 1,          has_rows ? kHost : kNoOpinion,
                         has_rows ? -kHost : kNoOpinion,   backend == "host" ? 1 : 0, backend == "cuda" ? 1 : 0};
  group->Max({most, 6});
  *one_insists = most[5] != 0;
  if (most[4] != 0) return "a worker trains with gpu_backend=host";
  if (most[2] == kNoOpinion) return "no worker has rows";
  if (most[0] != 0) return "a worker with rows sees no GPU that this library can use";
  if (most[1] != 0) *with_rows = WithRows(group, has_rows);
  if (most[2] != -most[3]) return "workers are on several hosts, and their GPUs do not reach each other's memory";
  std::string why_not = "workers with rows say more";
  bool can = true;
  if (*with_rows == nullptr) {
    can = DevicesCanMeet(group, DeviceOf(*group, param, devices), &why_not);
  } else if ((*with_rows)->shards() > 1) {
    (*with_rows)->Together([&] { can = DevicesCanMeet(*with_rows, DeviceOf(**with_rows, param, devices), &why_not); });
    can = !group->AnyOf(!can);
  }
  return can ? std::string{} : "their GPUs cannot reach each other's memory: " + why_not;
}

}  // namespace

Place PlaceInGroup(ProcessGroup* group, DeviceParam const& param, std::uint64_t rows) {
  MemoryLimits const memory = ToMemoryLimits(param);
  Place const host{BackendKind::kHost, 0, group, 1, memory};
  int const devices = param.gpu_backend == "host" || rows == 0 ? 0 : CudaDeviceCount();
  bool one_insists = false;
  SomeShards* with_rows = nullptr;
  std::string const why_not = WhyNotOnDevices(group, param, rows, devices, &one_insists, &with_rows);
  if (why_not.empty()) {
    if (with_rows != nullptr && with_rows->stands_by()) return {BackendKind::kHost, 0, group, 1, {}, with_rows};
    Collective const& on_devices = with_rows == nullptr ? static_cast<Collective&>(*group) : *with_rows;
    return {BackendKind::kCuda, DeviceOf(on_devices, param, devices), group, 1, memory, with_rows};
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
