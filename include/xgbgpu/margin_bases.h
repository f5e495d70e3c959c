/// Base margins of the margins in the caller's caches.
#ifndef XGBGPU_MARGIN_BASES_H_
#define XGBGPU_MARGIN_BASES_H_

#include <unordered_set>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/data_key.h"

namespace xgbgpu {

/// Keeps the set of caches with margins that began with the current base margins of their data set.
///
/// Margins begin with the base score or with the data set's own base margins. XGBoost continues from cached margins
/// even if the base margins or the model have changed between two rounds. Then trees depend on caches. Caches differ
/// between host and device, and before and after a model is saved and loaded. So margins with another beginning are
/// dropped. Margins of another booster are dropped, too: a learner keeps its caches when it loads a model. Each thread
/// has caches of its own.
class XGBGPU_API MarginBases {
 public:
  /// Margins that must not be used any more.
  struct Stale {
    bool cached;  ///< the margins in the cache of the call
    bool kept;    ///< all other margins of this data set, because its base margins have changed
  };

  /// Prepares the use of `cache` for margins of data set `key`, which begin with `base` now. Afterwards its margins
  /// count as begun with `base`. `cache` is only compared with other addresses. One call at a time.
  Stale Begin(DataKey const& key, BaseMargins const& base, DataEpoch const& epoch, void const* cache);
  /// Returns true if any data set is known.
  bool any() const { return !begun_.empty(); }
  /// Notes that XGBoost itself uses the caches of data set `key`: it continues from cached margins, or begins with
  /// `base`.
  void LeaveToXGBoost(DataKey const& key, BaseMargins const& base, DataEpoch const& epoch);
  /// Forgets the caches of data set `key`, because XGBoost itself puts margins there that it makes in another way.
  void Forget(DataKey const& key);
  /// Forgets all caches, because no cached margins are the model's.
  void Forget() { begun_.clear(); }

 private:
  struct Begun {
    DataKey key;
    BaseMark base;
    std::unordered_set<void const*> current;  ///< caches with margins that began so
  };

  std::vector<Begun> begun_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_MARGIN_BASES_H_
