// Keeps the orders of survival times of a model's data sets.
#include "xgbgpu/time_orders.h"

#include <algorithm>

#include "objective/cox.h"

namespace xgbgpu {

std::shared_ptr<TimeOrder const> TimeOrders::Get(DataKey const& key, std::uint64_t rows, TargetView const& targets,
                                                 TargetMark const& mark) {
  std::lock_guard<std::mutex> lock{mutex_};
  auto found = std::find_if(kept_.begin(), kept_.end(), [&](Kept const& kept) { return kept.key == key; });
  if (found != kept_.end() && found->mark == mark) return found->times;
  struct Owned {
    host::SortedTimes times;
    TimeOrder order;
  };
  auto const owned = std::make_shared<Owned>(Owned{host::SortTimes(targets.labels, rows), {}});
  owned->order = owned->times.view();
  std::shared_ptr<TimeOrder const> const times{owned, &owned->order};
  if (found == kept_.end()) found = kept_.insert(kept_.end(), Kept{key, mark, times});
  found->mark = mark;
  found->times = times;
  return times;
}

void TimeOrders::DropExpired() {
  std::lock_guard<std::mutex> lock{mutex_};
  EraseExpired(&kept_);
}

}  // namespace xgbgpu
