/// What the margins began with that the host has cached.
#ifndef XGBGPU_MARGIN_BASES_H_
#define XGBGPU_MARGIN_BASES_H_

#include <unordered_set>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/data_key.h"

namespace xgbgpu {

/// Knows in which of the host's caches the margins of a data set began as they would begin now.
///
/// Margins begin with the base score, as the objective transforms it, or with those of the data set. XGBoost goes on
/// from cached ones when any of these has been changed between two rounds, or the model itself, so that a tree depends
/// on what is cached; that is not the same on host and device, nor after a model was saved and loaded. So margins that
/// began otherwise are to be dropped, and so are those that somebody else has left: a learner keeps its caches when it
/// gets another booster, for instance with a model that it loads. Each thread has caches of its own.
class XGBGPU_API MarginBases {
 public:
  /// Says which margins must not be used any more.
  struct Stale {
    bool cached;  ///< the margins in the cache that was asked about
    bool kept;    ///< margins of this data set anywhere else: it is seen to begin otherwise than before
  };

  /// `cache` is about to be used for margins of the data `key`, which begin with `base` now. From now on its margins
  /// count as begun so. `cache` is an address to compare with only. One call at a time.
  Stale Look(DataKey const& key, BaseMargins const& base, DataEpoch const& epoch, void const* cache);
  /// Returns true if anything is known of some data set.
  bool any() const { return !begun_.empty(); }
  /// Others, who do not look at that, go on from what is cached of the data `key`, or begin with `base`.
  void Leave(DataKey const& key, BaseMargins const& base, DataEpoch const& epoch);
  /// Forgets all caches: whatever is cached now is not the model's.
  void Forget() { begun_.clear(); }

 private:
  struct Begun {
    DataKey key;
    BaseMark base;
    std::unordered_set<void const*> current;  ///< caches whose margins began so
  };

  std::vector<Begun> begun_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_MARGIN_BASES_H_
