// Agrees with the other workers whether all train on GPUs, and on which.
#include "group/group_place.h"

#include <string>
#include <vector>

#include "base/message.h"
#include "errors/notice.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/process_devices.h"

namespace xgbgpu::plugin {

namespace {

/// Returns the workers that have rows. All workers call it, if some have no rows.
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

/// Findings of the workers of a group about their GPUs.
struct GroupPlace {
  bool one_insists{false};         ///< true: a worker has gpu_backend=cuda
  SomeShards* with_rows{nullptr};  ///< the workers that have rows, if some have none and it was worth asking
  int device{0};                   ///< this worker's
  std::uint64_t on_host{1};        ///< workers that train on devices of this worker's host
};

/// Returns why the workers that have rows cannot train on GPUs together; empty if they can. All get the same answers.
/// `devices`: number of GPUs that this worker sees.
std::string WhyNotOnDevices(ProcessGroup* group, DeviceParam const& param, std::uint64_t rows, int devices,
                            GroupPlace* place) {
  std::string const& backend = param.gpu_backend;
  bool const has_rows = rows != 0;  // what GPUs a worker without rows sees does not matter
  std::int64_t most[] = {has_rows && devices == 0 ? 1 : 0, has_rows ? 1 : 0, has_rows ? 0 : 1,
                         backend == "host" ? 1 : 0, backend == "cuda" ? 1 : 0};
  group->Max({most, 5});
  place->one_insists = most[4] != 0;
  if (most[3] != 0) return "a worker trains with gpu_backend=host";
  if (most[1] == 0) return "no worker has rows";
  if (most[0] != 0) return "a worker with rows sees no GPU that this library can use";
  if (most[2] != 0) place->with_rows = WithRows(group, has_rows);
  std::string why_not;
  bool can = true;
  auto const meet = [&](Collective* workers) {
    WorkerPlace const own = PlaceOfWorker(workers, devices);  // all ask, whether they name a device or not
    place->device = param.gpu_id < 0 ? own.device : param.gpu_id % devices;
    place->on_host = own.on_host;
    can = workers->shards() == 1 || DevicesCanMeet(workers, place->device, &why_not);
  };
  if (place->with_rows == nullptr) {
    meet(group);
  } else {
    place->with_rows->Together([&] { meet(place->with_rows); });
    can = !group->AnyOf(!can);
    if (!can) why_not = FirstText(*group, why_not);  // a worker that stands by does not know it
  }
  return can ? std::string{} : "their GPUs cannot train together: " + why_not;
}

}  // namespace

Place PlaceInGroup(ProcessGroup* group, DeviceParam const& param, std::uint64_t rows) {
  MemoryLimits memory = ToMemoryLimits(param);
  Place const host{BackendKind::kHost, 0, group, 1, memory};
  int const devices = param.gpu_backend == "host" || rows == 0 ? 0 : CudaDeviceCount();
  GroupPlace found;
  std::string const why_not = WhyNotOnDevices(group, param, rows, devices, &found);
  if (why_not.empty() && rows == 0) return {BackendKind::kHost, 0, group, 1, {}, found.with_rows};
  if (why_not.empty()) {
    // A limit that the user gives is each worker's own.
    if (memory.host_bytes == 0) memory.host_sharers = found.on_host;
    return {BackendKind::kCuda, found.device, group, 1, memory, found.with_rows};
  }
  auto const refuse = [&] {
    if (param.gpu_backend != "cuda") return;
    Throw<Unsupported>("Parameter gpu_backend is 'cuda', and this process is one of ", group->shards(),
                       " workers, and ", why_not, "; supported: gpu_backend=host, which gives the same model, or auto");
  };
  if (found.one_insists) Agree(*group, {}, refuse);
  if (param.gpu_backend == "host") return host;
  WarnGroupOnce("process group",
                "training runs on the CPU because this process is one of " + std::to_string(group->shards()) +
                    " workers, and " + why_not +
                    ". The model is the same. Set gpu_backend=host to train there without this warning.");
  return host;
}

}  // namespace xgbgpu::plugin
