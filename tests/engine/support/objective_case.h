/// Rows for tests of objectives: margins, labels and weights as each of them takes.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_OBJECTIVE_CASE_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_OBJECTIVE_CASE_H_

#include <ostream>
#include <vector>

#include "support/data.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::testing {

struct ObjectiveCase {
  char const* name;
  Objective kind;
  float low, high;         ///< margins between these have gradients that are ordinary numbers
  bool several;            ///< takes several targets
  bool finite_everywhere;  ///< finite margins give finite gradients, however large they are
};

inline std::vector<ObjectiveCase> const& ObjectiveCases() {
  static std::vector<ObjectiveCase> const cases{
      {"SquaredError", Objective::kSquaredError, -100, 100, true, true},
      {"SquaredLogError", Objective::kSquaredLogError, -2, 100, true, true},
      {"Logistic", Objective::kLogistic, -80, 80, true, true},
      {"LogitRaw", Objective::kLogitRaw, -8, 8, true, true},
      {"Hinge", Objective::kHinge, -3, 3, false, true},
      {"Poisson", Objective::kPoisson, -80, 80, false, false},
      {"Gamma", Objective::kGamma, -80, 80, false, false},
      {"Tweedie", Objective::kTweedie, -80, 80, false, false},
      {"PseudoHuber", Objective::kPseudoHuber, -100, 100, true, true},
      {"AbsoluteError", Objective::kAbsoluteError, -100, 100, false, true},
      {"Quantile", Objective::kQuantile, -100, 100, false, true},
      {"Expectile", Objective::kExpectile, -100, 100, false, true},
      {"SmoothAbsoluteError", Objective::kSmoothAbsoluteError, -100, 100, true, true},
      {"SmoothQuantile", Objective::kSmoothQuantile, -100, 100, false, true},
  };
  return cases;
}

inline void PrintTo(ObjectiveCase const& c, std::ostream* os) { *os << c.name; }
struct ObjectiveCaseName {
  template <typename Info>
  std::string operator()(Info const& info) const {
    return info.param.name;
  }
};

/// No parameter is at its default, so that a forgotten one shows.
inline ObjectiveParams ParamsOf(Objective kind) {
  ObjectiveParams params{kind, 2.5f, 0.4f, 1.3f, 1.7f};
  if (HasAlphas(kind)) params.alphas = {0.3f};
  return params;
}

/// Returns a label that the objective allows. `outputs` is the number of classes for kSoftmax.
inline float RandomLabel(Objective kind, std::uint32_t outputs, Random* random) {
  switch (kind) {
    case Objective::kSquaredError:
    case Objective::kPseudoHuber:
    case Objective::kAbsoluteError:
    case Objective::kQuantile:
    case Objective::kExpectile:
    case Objective::kSmoothAbsoluteError:
    case Objective::kSmoothQuantile:
      return random->Below(4) == 0 ? 1.0f : random->Between(-100, 100);
    case Objective::kSquaredLogError:
      return random->Below(4) == 0 ? 1.0f : random->Between(-0.99f, 100);
    case Objective::kLogistic:
    case Objective::kLogitRaw:
      return random->Below(4) == 0 ? random->Uniform() : static_cast<float>(random->Below(2));
    case Objective::kHinge:
      return static_cast<float>(random->Below(2));
    case Objective::kPoisson:
      return static_cast<float>(random->Below(10));
    case Objective::kGamma:
      return random->Between(0.01f, 10);
    case Objective::kTweedie:
      return random->Below(2) == 0 ? 0.0f : random->Between(0, 10);
    case Objective::kSoftmax:
    case Objective::kAft:
    case Objective::kCox:
    case Objective::kRankPairwise:
    case Objective::kRankNdcg:
    case Objective::kRankMap:
      break;
  }
  return static_cast<float>(random->Below(outputs));
}

/// All vectors are row-major.
struct ObjectiveRows {
  std::uint64_t rows;
  std::uint32_t outputs;
  std::vector<float> margins, labels, weights;

  ObjectiveRows(Objective kind, std::uint64_t rows_wanted, std::uint32_t outputs_wanted, float low, float high)
      : rows{rows_wanted}, outputs{outputs_wanted}, margins(rows * outputs), weights(rows) {
    Random random{rows * 31 + outputs};
    for (float& m : margins) m = random.Between(low, high);
    labels.resize(kind == Objective::kSoftmax || HasAlphas(kind) ? rows : rows * outputs);
    for (float& y : labels) y = RandomLabel(kind, outputs, &random);
    for (float& w : weights) w = random.Below(8) == 0 ? 0.0f : random.Between(0, 4);
  }

  /// Makes every 7th margin so large, of either sign, that its square is no float.
  void MakeExtreme() {
    for (std::size_t i = 0; i < margins.size(); i += 7) margins[i] = i % 2 == 0 ? 1e30f : -1e30f;
  }

  TargetView Targets(bool weighted) const {
    TargetView view;
    view.labels = labels.data();
    view.label_columns = rows == 0 ? 1 : static_cast<std::uint32_t>(labels.size() / rows);
    view.weights = weighted ? weights.data() : nullptr;
    return view;
  }
  OutputView<float const> Margins() const { return RowMajor<float const>(margins.data(), rows, outputs); }
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_OBJECTIVE_CASE_H_
