/// Margins of rows before the first tree.
#ifndef XGBGPU_BASE_MARGINS_H_
#define XGBGPU_BASE_MARGINS_H_

#include <algorithm>
#include <optional>
#include <vector>

#include "xgbgpu/data_key.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Margins before the first tree: given ones, or one score for all rows and outputs.
struct BaseMargins {
  Span<float const> given;  ///< [rows × outputs], row-major; empty: every margin is `score`
  float score{0};
};

/// Tells whether the base margins of a data set have changed.
class BaseMark {
 public:
  /// Remembers base margins. Copies given ones: 4 bytes for each row and output.
  void Set(BaseMargins const& base, DataEpoch const& epoch) {
    epoch_ = epoch;
    given_.assign(base.given.begin(), base.given.end());
    score_ = base.score;
  }
  /// Returns true if the base margins are the remembered ones. Compares values only if the epoch is unknown or another
  /// one, and margins are given.
  bool IsOf(BaseMargins const& base, DataEpoch const& epoch) {
    if (base.score != score_) return false;
    if (epoch && epoch_ == epoch) return true;
    if (!std::equal(given_.cbegin(), given_.cend(), base.given.begin(), base.given.end())) return false;
    if (epoch) epoch_ = epoch;
    return true;
  }

 private:
  DataEpoch epoch_;  ///< the last epoch without a change
  std::vector<float> given_;
  float score_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_MARGINS_H_
