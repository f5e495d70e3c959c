#include "time_orders.h"

#include <algorithm>

namespace xgbgpu::plugin {

std::shared_ptr<host::SortedTimes const> TimeOrders::Get(std::shared_ptr<xgboost::DMatrix> const& data,
                                                         TargetView const& targets, TargetMark const& mark) {
  std::lock_guard<std::mutex> lock{mutex_};
  auto found = std::find_if(kept_.begin(), kept_.end(), [&](Kept const& kept) { return kept.owner.lock() == data; });
  if (found != kept_.end() && found->mark == mark) return found->times;
  auto times = std::make_shared<host::SortedTimes const>(host::SortTimes(targets.labels, data->Info().num_row_));
  if (found == kept_.end()) found = kept_.insert(kept_.end(), Kept{data, mark, times});
  found->mark = mark;
  found->times = times;
  return times;
}

void TimeOrders::DropExpired() {
  std::lock_guard<std::mutex> lock{mutex_};
  kept_.erase(std::remove_if(kept_.begin(), kept_.end(), [](Kept const& kept) { return kept.owner.expired(); }),
              kept_.end());
}

}  // namespace xgbgpu::plugin
