/// The margins that rows have before the first tree.
#ifndef XGBGPU_BASE_MARGINS_H_
#define XGBGPU_BASE_MARGINS_H_

#include <algorithm>
#include <optional>
#include <vector>

#include "xgbgpu/data_key.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

struct BaseMargins {
  Span<float const> given;  ///< [rows × outputs], row-major; empty: every margin is `score`
  float score{0};
};

/// Tells the base margins of a data set from those that it had at another time.
class BaseMark {
 public:
  /// Remembers the data set's base margins; copies them if they are given.
  void Set(BaseMargins const& base, DataEpoch const& epoch) {
    epoch_ = epoch;
    given_.assign(base.given.begin(), base.given.end());
    score_ = base.score;
  }
  /// Costs nothing if the epoch is known and the same, or if no margins are given.
  bool IsOf(BaseMargins const& base, DataEpoch const& epoch) {
    if (base.score != score_) return false;
    if (epoch && epoch_ == epoch) return true;
    if (!std::equal(given_.cbegin(), given_.cend(), base.given.begin(), base.given.end())) return false;
    if (epoch) epoch_ = epoch;
    return true;
  }

 private:
  DataEpoch epoch_;  ///< in which they were found unchanged last
  std::vector<float> given_;
  float score_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_MARGINS_H_
