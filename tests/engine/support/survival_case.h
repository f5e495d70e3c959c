/// Rows for tests of survival:aft: times known exactly, and bounds of every kind.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_SURVIVAL_CASE_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_SURVIVAL_CASE_H_

#include <limits>
#include <vector>

#include "core/portable_math.h"
#include "support/data.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::testing {

constexpr AftDistribution kAftDistributions[] = {AftDistribution::kNormal, AftDistribution::kLogistic,
                                                 AftDistribution::kExtreme};

inline ObjectiveParams AftParams(AftDistribution distribution, float scale) {
  ObjectiveParams params{Objective::kAft};
  params.aft_distribution = distribution;
  params.aft_scale = scale;
  return params;
}

struct SurvivalRows {
  std::vector<float> margins, lower, upper, weights;

  /// Margins are up to `spread` away from the logarithm of the row's time.
  SurvivalRows(std::size_t rows, float spread) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    Random random{rows * 7 + 3};
    for (std::size_t i = 0; i < rows; ++i) {
      float const time = random.Between(0.01f, 100), later = time * random.Between(1.001f, 3);
      std::size_t const kind = random.Below(5);
      // 0: an exact time; 1: before a time; 2: after a time; 3: between two; 4: nothing is known.
      lower.push_back(kind == 1 || kind == 4 ? 0.0f : time);
      upper.push_back(kind == 0 ? time : kind == 2 || kind == 4 ? kInfinity : later);
      margins.push_back(static_cast<float>(PortableLog(time)) + random.Between(-spread, spread));
      weights.push_back(random.Below(8) == 0 ? 0.0f : random.Between(0, 4));
    }
  }

  TargetView Targets(bool weighted) const {
    TargetView view;
    view.weights = weighted ? weights.data() : nullptr;
    view.lower = lower.data();
    view.upper = upper.data();
    return view;
  }
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_SURVIVAL_CASE_H_
