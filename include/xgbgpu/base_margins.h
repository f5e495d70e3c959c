/// Margins of rows before the first tree.
#ifndef XGBGPU_BASE_MARGINS_H_
#define XGBGPU_BASE_MARGINS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "xgbgpu/data_key.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Margins before the first tree: given ones, or one score for all rows of an output.
struct BaseMargins {
  Span<float const> given;    ///< [rows, outputs], row-major; empty: every margin is its output's score
  std::vector<float> scores;  ///< [outputs], or [1]: the score of all outputs

  /// Writes the margins of `rows` rows, row-major, to `margins`.
  void AssignTo(std::uint64_t rows, std::uint32_t outputs, std::vector<float>* margins) const {
    if (!given.empty()) {
      margins->assign(given.begin(), given.end());
    } else if (scores.size() == 1) {
      margins->assign(rows * outputs, scores[0]);
    } else {
      margins->resize(rows * outputs);
      for (std::size_t i = 0; i < margins->size(); ++i) (*margins)[i] = scores[i % outputs];
    }
  }
};

/// Tells whether the base margins of a data set have changed.
class BaseMark {
 public:
  /// Remembers base margins. Copies given ones: 4 bytes for each row and output.
  void Set(BaseMargins const& base, DataEpoch const& epoch) {
    epoch_ = epoch;
    given_.assign(base.given.begin(), base.given.end());
    scores_ = base.scores;
  }
  /// Returns true if the base margins are the remembered ones. Compares values only if the epoch is unknown or another
  /// one, and margins are given.
  bool IsOf(BaseMargins const& base, DataEpoch const& epoch) {
    if (base.scores != scores_) return false;
    if (epoch && epoch_ == epoch) return true;
    if (!std::equal(given_.cbegin(), given_.cend(), base.given.begin(), base.given.end())) return false;
    if (epoch) epoch_ = epoch;
    return true;
  }

 private:
  DataEpoch epoch_;  ///< the last epoch without a change
  std::vector<float> given_;
  std::vector<float> scores_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_MARGINS_H_
