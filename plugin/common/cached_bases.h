/// What the margins began with that XGBoost has cached.
#ifndef XGBGPU_PLUGIN_CACHED_BASES_H_
#define XGBGPU_PLUGIN_CACHED_BASES_H_

#include <xgboost/data.h>
#include <xgboost/predictor.h>

#include <memory>
#include <unordered_set>
#include <vector>

#include "base_mark.h"

namespace xgbgpu::plugin {

/// Margins begin with the base score, as the objective transforms it, or with the matrix's own. XGBoost goes on from
/// cached ones when any of these has been changed between two rounds, or the model itself, so that a tree depends on
/// what is cached, which is not the same on host and device, nor after a model was saved and loaded. Those that began
/// otherwise are dropped here, and those that somebody else has left: a learner keeps its caches when it gets another
/// booster, with a model that it loads for instance. Each thread has a cache of its own.
class CachedBases {
 public:
  /// Drops the margins in `cache`, which are those of `data`, unless they are known to have begun as they would now,
  /// with `base` as the model's. True if the matrix is seen to begin otherwise than before: what is kept elsewhere did,
  /// too. One call at a time.
  bool DropOlder(float base, xgboost::DMatrix const& data, xgboost::PredictionCacheEntry* cache);
  bool any() const { return !begun_.empty(); }
  /// Others, who do not look at that, go on from what is cached of `data`, or begin with `base`.
  void Leave(float base, xgboost::DMatrix const& data);
  /// Whatever is cached now is not the model's.
  void Forget() { begun_.clear(); }

 private:
  struct Begun {
    std::weak_ptr<xgboost::DMatrix> data;
    BaseMark base;
    std::unordered_set<xgboost::PredictionCacheEntry const*> current;  ///< caches whose margins began so
  };

  std::vector<Begun> begun_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_CACHED_BASES_H_
