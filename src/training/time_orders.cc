#include "training/time_orders.h"

#include <algorithm>

namespace xgbgpu {

std::shared_ptr<host::SortedTimes const> TimeOrders::Get(DataKey const& key, std::uint64_t rows,
                                                         TargetView const& targets, TargetMark const& mark) {
  std::lock_guard<std::mutex> lock{mutex_};
  auto found = std::find_if(kept_.begin(), kept_.end(), [&](Kept const& kept) { return kept.key == key; });
  if (found != kept_.end() && found->mark == mark) return found->times;
  auto times = std::make_shared<host::SortedTimes const>(host::SortTimes(targets.labels, rows));
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
