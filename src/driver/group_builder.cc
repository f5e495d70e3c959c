#include "driver/group_builder.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "core/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

/// How long one process may keep the devices of the others waiting, in seconds.
constexpr double kPatience = 300;

/// The devices of groups, which all trainings of a group share.
class GroupDevices {
 public:
  static GroupDevices& Instance() {
    static auto* const kDevices = new GroupDevices;  // never freed: at exit the runtime may be gone already
    return *kDevices;
  }

  /// Returns the devices of the group, or makes them. All processes ask at the same time, and all have them or none.
  std::shared_ptr<cuda::PeerDevices> Get(Collective* group, int device) {
    std::lock_guard<std::mutex> const lock{mutex_};
    auto const usable = [&](Slot const& slot) {
      return slot.group == group && slot.device == device && !slot.peers->failed();
    };
    std::size_t found = 0;
    while (found < slots_.size() && !usable(slots_[found])) ++found;
    bool const missing = group->AnyOf(found == slots_.size());
    if (!missing) return slots_[found].peers;
    // What one process has lost, none may find again. Trainings that have it keep it until they end.
    auto const of_group = [&](Slot const& slot) { return slot.group == group; };
    slots_.erase(std::remove_if(slots_.begin(), slots_.end(), of_group), slots_.end());
    auto made = std::make_shared<cuda::PeerDevices>(group, device, kPatience);
    slots_.push_back({group, device, made});
    return made;
  }

 private:
  struct Slot {
    Collective* group;  ///< lives as long as the process
    int device;
    std::shared_ptr<cuda::PeerDevices> peers;
  };

  std::mutex mutex_;
  std::vector<Slot> slots_;
};

}  // namespace

GroupBuilder::GroupBuilder(std::shared_ptr<DeviceMatrix const> matrix, Shard const& place, int threads)
    : peers_{GroupDevices::Instance().Get(place.collective, matrix->device)} {
  AllOrNone(*place.collective, [&] {
    cuda::DeviceShard const shard{peers_->of(place.collective->shard()), place, matrix->view.rows};
    builder_ = std::make_unique<CudaTreeBuilder>(matrix, shard, threads);
  });
}

Tree GroupBuilder::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  try {
    return builder_->Grow(params, gradients, key);
  } catch (...) {
    peers_->Abort();
    throw;
  }
}

std::unique_ptr<TreeBuilder> MakeGroupBuilder(std::shared_ptr<DeviceMatrix const> matrix, Shard const& place,
                                              int threads) {
  return std::make_unique<GroupBuilder>(std::move(matrix), place, threads);
}

bool DevicesCanMeet(Collective* group, int device, std::string* why_not) {
  try {
    GroupDevices::Instance().Get(group, device);
    return true;
  } catch (ShardsLost const&) {
    throw;
  } catch (Error const& error) {
    *why_not = error.what();
    return false;
  }
}

}  // namespace xgbgpu
