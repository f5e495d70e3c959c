/// What the margins began with that XGBoost has cached.
#ifndef XGBGPU_PLUGIN_CACHED_BASES_H_
#define XGBGPU_PLUGIN_CACHED_BASES_H_

#include <xgboost/data.h>
#include <xgboost/predictor.h>

#include <memory>
#include <vector>

#include "base_mark.h"

namespace xgbgpu::plugin {

/// Margins begin with the base score, as the objective transforms it, or with the matrix's own. XGBoost goes on from
/// cached ones when any of these has been changed between two rounds, so that a tree depends on what is cached, which
/// is not the same on host and device, nor after a model was saved and loaded. Those that began otherwise are dropped
/// here. Each thread has a cache of its own.
class CachedBases {
 public:
  /// Drops the margins in `cache`, which are those of `data`, if they began otherwise than they would now, with `base`
  /// as the model's. True if that is seen for the first time: those that are kept elsewhere did, too. One call at a
  /// time.
  bool DropOlder(float base, xgboost::DMatrix const& data, xgboost::PredictionCacheEntry* cache);

 private:
  struct Begun {
    std::weak_ptr<xgboost::DMatrix> data;
    BaseMark base;
    bool has_changed{false};
    std::vector<xgboost::PredictionCacheEntry const*> current{};  ///< if so: caches that were dropped since
  };

  std::vector<Begun> begun_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_CACHED_BASES_H_
