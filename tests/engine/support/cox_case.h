/// Rows for tests of survival:cox and cox-nloglik.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_COX_CASE_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_COX_CASE_H_

#include <vector>

#include "support/data.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::testing {

struct CoxRows {
  std::vector<float> margins, labels, weights;

  /// Makes margins in [-spread, spread] and up to `times` different times. A third of the rows are censored, some have
  /// time 0.
  CoxRows(std::size_t rows, float spread, std::size_t times) {
    Random random{rows * 7 + times};
    for (std::size_t i = 0; i < rows; ++i) {
      float const time = random.Below(50) == 0 ? 0.0f : static_cast<float>(random.Below(times) + 1) * 0.25f;
      labels.push_back(random.Below(3) == 0 ? -time : time);
      margins.push_back(random.Between(-1, 1) * spread);
      weights.push_back(random.Below(8) == 0 ? 0.0f : random.Between(0, 4));
    }
  }

  TargetView Targets(bool weighted) const {
    TargetView view;
    view.labels = labels.data();
    view.weights = weighted ? weights.data() : nullptr;
    return view;
  }
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_COX_CASE_H_
