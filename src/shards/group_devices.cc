// Connects the GPUs of a process group, with memory that all can write to or with NCCL.
#include "shards/group_devices.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/device_policy.h"
#include "base/hash.h"
#include "base/message.h"
#include "collective/nccl_devices_cuda.h"
#include "collective/peer_devices_cuda.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

/// Seconds that one process may keep the devices of other processes waiting.
constexpr double kPatience = 300;

/// GPUs of one host, which write to each other's memory.
class PeersOfOneHost final : public GroupDevices {
 public:
  PeersOfOneHost(Collective* group, int device) : peers_{group, device, kPatience}, shard_{group->shard()} {}

  cuda::DeviceCollective* own() override { return peers_.of(shard_); }
  std::size_t least_shared_bytes() const override { return CollectivePolicy{}.least_shared_bytes; }
  void Abort() noexcept override { peers_.Abort(); }
  void End() noexcept override {}  // a training that is left ends with its own memory
  bool failed() const override { return peers_.failed(); }

 private:
  cuda::PeerDevices peers_;
  int shard_;
};

/// Returns the UUID of a device in nvidia-smi's format.
std::string UuidOf(int device) {
  cudaDeviceProp properties{};
  CheckCuda(cudaGetDeviceProperties(&properties, device), "asking for a device's number");
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(properties.uuid.bytes); ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    auto const byte = static_cast<unsigned char>(properties.uuid.bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    (text += kDigits[byte >> 4]) += kDigits[byte & 0xf];
  }
  return text;
}

/// GPUs of any hosts.
class WithNccl final : public GroupDevices {
 public:
  WithNccl(Collective* group, int device)
      : devices_{Library(group), group, device, OwnUuid(group, device), Patience()},
        least_shared_bytes_{devices_.MeasureLeastSharedBytes(group)} {}

  cuda::DeviceCollective* own() override { return &devices_; }
  std::size_t least_shared_bytes() const override { return least_shared_bytes_; }
  void Abort() noexcept override { devices_.Abort(); }
  void End() noexcept override { devices_.End(); }
  bool failed() const override { return devices_.failed(); }

 private:
  static cuda::NcclLibrary const& Library(Collective* group) {
    cuda::NcclLibrary const* library = nullptr;
    AllOrNone(*group, [&] { library = &cuda::LoadNccl(); });
    return *library;
  }
  static std::string OwnUuid(Collective* group, int device) {
    std::string uuid;
    AllOrNone(*group, [&] { uuid = UuidOf(device); });
    return uuid;
  }
  static cuda::NcclPatience Patience() {
    cuda::NcclPatience patience;
    patience.exchange = kPatience;
    return patience;
  }

  cuda::NcclDevices devices_;
  std::size_t least_shared_bytes_;
};

/// Returns a number that is the same for processes of one host, and differs between hosts. Containers count as hosts.
/// In tests the environment variable XGBGPU_HOST_ID stands for the name of the host.
std::int64_t HostNumber() {
  std::string text;
  std::getline(std::ifstream{"/proc/sys/kernel/random/boot_id"}, text);
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  char const* const given = std::getenv("XGBGPU_HOST_ID");
  text += given == nullptr ? name.data() : given;
  return static_cast<std::int64_t>(HashText(text) >> 1);
}

/// A number of the first device that this process sees, which no other device has; 0 if it cannot be asked for.
std::int64_t NumberOfFirstDevice() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    cudaGetLastError();  // it must not show up again at the next call
    return 0;
  }
  return static_cast<std::int64_t>(HashText({properties.uuid.bytes, sizeof(properties.uuid.bytes)}) >> 1);
}

/// Returns [shards of the group] the numbers that their processes give.
std::vector<std::int64_t> NumbersOfAll(Collective* group, std::int64_t own) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(group->shards()));
  numbers[static_cast<std::size_t>(group->shard())] = own;
  group->Sum(Span<std::int64_t>{numbers});
  return numbers;
}

bool AreOnOneHost(Collective* group) {
  auto const hosts = NumbersOfAll(group, HostNumber());
  return std::adjacent_find(hosts.begin(), hosts.end(), std::not_equal_to<>{}) == hosts.end();
}

/// Why devices cannot be made.
struct Refusal {
  std::string why;
  bool may_pass{false};  ///< memory was short: another time they may be made
};

/// Calls make(). If that throws, notes why, and returns null.
template <typename F>
std::shared_ptr<GroupDevices> TryToMake(Refusal* refusal, F&& make) {
  std::string why;
  try {
    return make();
  } catch (ShardsLost const&) {
    throw;
  } catch (OutOfDeviceMemory const& error) {
    why = error.what();
    refusal->may_pass = true;
  } catch (Error const& error) {
    why = error.what();
  }
  refusal->why += (refusal->why.empty() ? "" : "; and ") + why;
  return nullptr;
}

/// Returns null if they cannot be made. All get the same `may_pass`.
std::shared_ptr<GroupDevices> Make(Collective* group, int device, Refusal* refusal) {
  std::shared_ptr<GroupDevices> made;
  if (AreOnOneHost(group)) {
    made = TryToMake(refusal, [&] { return std::make_shared<PeersOfOneHost>(group, device); });
  }
  if (made == nullptr) made = TryToMake(refusal, [&] { return std::make_shared<WithNccl>(group, device); });
  if (made == nullptr) refusal->may_pass = group->AnyOf(refusal->may_pass);
  return made;
}

/// The devices of all groups of this process.
class AllGroups {
 public:
  static AllGroups& Instance() {
    static auto* const kGroups = new AllGroups;  // never freed: at exit the runtime may be gone already
    return *kGroups;
  }

  std::shared_ptr<GroupDevices> Get(Collective* group, int device) {
    enum : std::int64_t { kHere, kRefused, kMissing };
    Slot const found = Find(group, device);
    std::int64_t const state = found.group == nullptr ? kMissing : found.devices ? kHere : kRefused;
    std::int64_t most[] = {state, -state};
    group->Max({most, 2});  // without the lock: another thread may be in another group
    if (most[0] == kHere) return found.devices;
    if (most[0] == kRefused && most[0] == -most[1]) throw Unsupported{found.why_not};
    // A connection that one process has lost is lost for all. Trainings that hold it keep it until they end.
    Take(group);
    Refusal refusal;
    auto made = Make(group, device, &refusal);
    if (made != nullptr || !refusal.may_pass) {
      std::lock_guard<std::mutex> const lock{mutex_};
      slots_.push_back({group, device, made, refusal.why});
    }
    if (made == nullptr) throw Unsupported{refusal.why};
    return made;
  }

  /// Removes and returns what there is of a group.
  std::vector<std::shared_ptr<GroupDevices>> Take(Collective const* group) {
    std::lock_guard<std::mutex> const lock{mutex_};
    std::vector<std::shared_ptr<GroupDevices>> taken;
    auto const of_group = [&](Slot const& slot) { return slot.group == group; };
    for (Slot const& slot : slots_) {
      if (of_group(slot) && slot.devices) taken.push_back(slot.devices);
    }
    slots_.erase(std::remove_if(slots_.begin(), slots_.end(), of_group), slots_.end());
    return taken;
  }

 private:
  struct Slot {
    Collective* group;  ///< lives as long as the process
    int device;
    std::shared_ptr<GroupDevices> devices;  ///< null: they cannot be made, and to try again would take its time
    std::string why_not;
  };

  /// Returns what there is, unless it has failed; else a slot of no group.
  Slot Find(Collective* group, int device) {
    std::lock_guard<std::mutex> const lock{mutex_};
    for (Slot const& slot : slots_) {
      bool const failed = slot.devices != nullptr && slot.devices->failed();
      if (slot.group == group && slot.device == device && !failed) return slot;
    }
    return {nullptr, 0, nullptr, {}};
  }

  std::mutex mutex_;
  std::vector<Slot> slots_;
};

}  // namespace

WorkerPlace GroupDevices::PlaceOf(Collective* group, int devices) {
  // A group is of one thread, and no address of a group comes twice. Some workers of a group are a group of their own:
  // who has asked for which, all of that one know.
  thread_local std::map<Collective const*, WorkerPlace> places;
  auto const known = places.find(group);
  if (known != places.end()) return known->second;
  auto const hosts = NumbersOfAll(group, HostNumber());
  auto const first = NumbersOfAll(group, NumberOfFirstDevice());
  auto const own = static_cast<std::size_t>(group->shard());
  auto const on_host = std::count(hosts.begin(), hosts.end(), hosts[own]);
  return places[group] = {DeviceOfWorker(hosts, first, own, devices), static_cast<std::uint64_t>(on_host)};
}

std::shared_ptr<GroupDevices> GroupDevices::Of(Collective* group, int device) {
  return AllGroups::Instance().Get(group, device);
}

void GroupDevices::Forget(Collective const* group) {
  for (auto const& devices : AllGroups::Instance().Take(group)) devices->End();
}

}  // namespace xgbgpu
