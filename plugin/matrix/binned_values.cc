// Keeps the values of QuantileDMatrices that a booster predicts in every round.
#include "matrix/binned_values.h"

#include <algorithm>

#include "matrix/value_matrix.h"

namespace xgbgpu::plugin {

BinnedValues::Kept* BinnedValues::FindLocked(DataKey const& key) {
  auto const found = std::find_if(kept_.begin(), kept_.end(), [&](Kept const& kept) { return kept.key == key; });
  return found == kept_.end() ? nullptr : &*found;
}

std::shared_ptr<xgboost::DMatrix> BinnedValues::Keep(DataKey const& key, xgboost::DMatrix* data, int threads) {
  std::lock_guard<std::mutex> lock{mutex_};
  if (Kept const* const kept = FindLocked(key)) return kept->values;
  kept_.push_back({key, ValuesOfBins(data, threads)});
  return kept_.back().values;
}

std::shared_ptr<xgboost::DMatrix> BinnedValues::Find(DataKey const& key) {
  std::lock_guard<std::mutex> lock{mutex_};
  Kept const* const kept = FindLocked(key);
  return kept == nullptr ? nullptr : kept->values;
}

void BinnedValues::Drop(DataKey const& key) {
  std::lock_guard<std::mutex> lock{mutex_};
  kept_.erase(std::remove_if(kept_.begin(), kept_.end(), [&](Kept const& kept) { return kept.key == key; }),
              kept_.end());
}

void BinnedValues::DropExpired() {
  std::lock_guard<std::mutex> lock{mutex_};
  EraseExpired(&kept_);
}

}  // namespace xgbgpu::plugin
