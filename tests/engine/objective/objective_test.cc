// objective: gradients against the definitions in double; properties; bad input.
#include "xgbgpu/objective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "support/objective_case.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

/// A number, and how far a float that stands for it may be away. The engine evaluates the same formula in float. Every
/// operation adds half a unit of the last place of its result (2^-24 of it, or 2^-150 among denormals) to what the
/// errors of its operands become. This bookkeeping is in double, whose errors are 2^-29 of that: hence 1.0001.
struct Bounded {
  double value;
  double error;

  Bounded(double exact) : value{exact}, error{0} {}  // NOLINT: numbers are meant to become one
  Bounded(double v, double carried, double half_ulps = 1.0)
      : value{v}, error{1.0001 * (carried + (std::fabs(v) + carried) * half_ulps * 0x1p-24 + 0x1p-149)} {}
};
Bounded operator+(Bounded a, Bounded b) { return {a.value + b.value, a.error + b.error}; }
Bounded operator-(Bounded a, Bounded b) { return {a.value - b.value, a.error + b.error}; }
Bounded operator*(Bounded a, Bounded b) {
  double const carried = std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
  return {a.value * b.value, carried};
}
Bounded operator/(Bounded a, Bounded b) {
  double const ratio = a.value / b.value;
  return {ratio, (a.error + std::fabs(ratio) * b.error) / (std::fabs(b.value) - b.error)};
}
Bounded Sqrt(Bounded a) {
  double const root = std::sqrt(a.value);
  return {root, root - std::sqrt(a.value - a.error)};
}
// The portable functions round a little worse than to half a unit.
Bounded Exp(Bounded a) {
  double const e = std::exp(a.value);
  return {e, e * std::expm1(a.error), 1.0 + 0x1p-11};
}
Bounded Log1p(Bounded a) {
  double const log = std::log1p(a.value);
  return {log, log - std::log1p(a.value - a.error), 1.0 + 0x1p-12};
}
Bounded Tanh(Bounded a) {
  double const t = std::tanh(a.value);
  return {t, (1 - t * t) * a.error + a.error * a.error, 1.0 + 0x1p-10};
}
Bounded Max(Bounded a, double b) { return a.value > b ? a : Bounded{b, a.error}; }

void ExpectNear(float value, Bounded expected, char const* what, std::size_t i) {
  ASSERT_LE(std::fabs(value - expected.value), expected.error) << what << " of value " << i << " is " << value;
}

/// Returns the predictions of expectiles from the margins of a row.
std::vector<Bounded> Predictions(float const* margins, std::uint32_t outputs) {
  std::vector<Bounded> predictions{margins[0]};
  for (std::uint32_t k = 1; k < outputs; ++k) {
    double const f = margins[k];
    Bounded const rest = Log1p(Exp(-std::fabs(f)));
    predictions.push_back(predictions.back() + (Bounded{1e-6f} + (f > 0 ? rest + f : rest)));
  }
  return predictions;
}

struct Derivatives {
  Bounded grad, hess;
};

Bounded Probability(double margin) { return Bounded{1} / (Exp(-margin) + 1); }

/// Returns the scale of an output (HasScale), 1 for other objectives.
Bounded ScaleOfOutput(ObjectiveParams const& params, ObjectiveRows const& rows, std::uint32_t output, bool weighted) {
  if (!HasScale(params.kind)) return 1.0;
  double roots = 0, weights = 0;
  std::size_t const columns = HasAlphas(params.kind) ? 1 : rows.outputs;
  for (std::size_t row = 0; row < rows.rows; ++row) {
    double const w = weighted ? rows.weights[row] : 1.0;
    float const d = rows.margins[row * rows.outputs + output] - rows.labels[row * columns + output % columns];
    roots += w * std::sqrt(std::fabs(static_cast<double>(d)));
    weights += w;
  }
  double const root = roots / weights;
  return {root * root, root * root * 0x1p-22};  // a term has two roundings, and their mean is squared
}

/// Returns the first and second derivative of the loss by the margin f. objective.h defines the losses; bounds are
/// stock's. For losses with a scale the second number is the hessian that objective.h gives.
Derivatives Reference(ObjectiveParams const& params, double f, double y, double weight, Bounded scale) {
  Bounded const w = y == 1 && params.kind <= Objective::kLogitRaw && params.kind != Objective::kHinge
                        ? Bounded{weight} * Bounded{params.scale_pos_weight}
                        : Bounded{weight};
  switch (params.kind) {
    case Objective::kSquaredError:
      return {(Bounded{f} - y) * w, w};
    case Objective::kSquaredLogError: {
      double const bounded = std::max(f, static_cast<double>(-0.999999f));
      Bounded const rise = Log1p(bounded) - Log1p(y), next = Bounded{bounded} + 1;
      return {rise / next * w, Max((Bounded{1} - rise) / (next * next), 1e-6f) * w};
    }
    case Objective::kLogistic:
    case Objective::kLogitRaw: {
      Bounded const p = Probability(f);
      return {(p - y) * w, Max(p * (Bounded{1} - p), 1e-16f) * w};
    }
    case Objective::kHinge:
      if ((2 * y - 1) * f < 1) return {Bounded{1 - 2 * y} * w, w};
      return {0.0, FLT_MIN};
    case Objective::kPoisson:
      return {(Exp(f) - y) * w, Exp(Bounded{f} + params.max_delta_step) * w};
    case Objective::kGamma:
      return {(Bounded{1} - Bounded{y} / Exp(f)) * w, Bounded{y} / Exp(f) * w};
    case Objective::kTweedie: {
      Bounded const a = Bounded{1} - params.tweedie_variance_power, b = Bounded{2} - params.tweedie_variance_power;
      Bounded const of_a = Exp(a * f) * y, of_b = Exp(b * f);
      return {(of_b - of_a) * w, (b * of_b - a * of_a) * w};
    }
    case Objective::kPseudoHuber: {
      Bounded const d = Bounded{f} - y, slope = params.huber_slope;
      Bounded const root = Sqrt(Bounded{1} + (d * d) / (slope * slope));
      // d^2/dF^2 = (1 + (d/slope)^2)^(-3/2)
      return {d / root * w, slope * slope / ((slope * slope + d * d) * root) * w};
    }
    case Objective::kAbsoluteError:
      return {(f > y ? w : f < y ? Bounded{0} - w : Bounded{0}), w};
    case Objective::kQuantile:
      return {(f >= y ? Bounded{1} - params.alphas[0] : Bounded{0} - params.alphas[0]) * w, w};
    case Objective::kExpectile: {
      Bounded const share = f >= y ? Bounded{1} - params.alphas[0] : Bounded{params.alphas[0]};
      return {share * (Bounded{f} - y) * w, share * w};
    }
    case Objective::kSmoothAbsoluteError: {
      Bounded const d = Bounded{f} - y, norm = Sqrt(scale * scale + d * d);
      return {w * d * (scale / norm), w * (scale / norm)};
    }
    case Objective::kSmoothQuantile: {
      Bounded const x = (Bounded{f} - y) / (scale * Bounded{0.04f}), tanh = Tanh(x);
      Bounded const ratio = x.value == 0 ? Bounded{1} : Max(tanh / x, 3e-4f);
      return {w * (Bounded{0.5} * scale * (tanh + 1 - Bounded{2} * params.alphas[0])),
              w * (Bounded{0.5} / Bounded{0.04f} * ratio)};
    }
    case Objective::kSoftmax:
    case Objective::kAft:
    case Objective::kCox:
    case Objective::kRankPairwise:
    case Objective::kRankNdcg:
    case Objective::kRankMap:
      break;
  }
  ADD_FAILURE() << "no objective of one output";
  return {0.0, 0.0};
}

std::vector<GradientPair> Gradients(ObjectiveRows const& rows, ObjectiveParams const& params, bool weighted,
                                    int threads) {
  std::vector<GradientPair> out(rows.margins.size());
  host::ComputeGradients(params, rows.Targets(weighted), rows.Margins(), RowMajor(out.data(), rows.rows, rows.outputs),
                         threads);
  return out;
}

template <typename T>
bool SameBits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

class ObjectiveTest : public ::testing::TestWithParam<ObjectiveCase> {};

TEST_P(ObjectiveTest, GradientsAreDerivatives) {
  ObjectiveCase const& c = GetParam();
  ObjectiveParams const params = ParamsOf(c.kind);
  for (std::uint32_t const outputs : {1, 3}) {
    if (outputs > 1 && !c.several) continue;
    ObjectiveRows const rows{c.kind, 20011, outputs, c.low, c.high};
    for (bool const weighted : {false, true}) {
      auto const found = Gradients(rows, params, weighted, 2);
      std::vector<Bounded> scales;
      for (std::uint32_t k = 0; k < outputs; ++k) scales.push_back(ScaleOfOutput(params, rows, k, weighted));
      for (std::size_t i = 0; i < found.size(); ++i) {
        Derivatives const expected = Reference(params, rows.margins[i], rows.labels[i],
                                               weighted ? rows.weights[i / outputs] : 1.0f, scales[i % outputs]);
        ExpectNear(found[i].grad, expected.grad, "gradient", i);
        ExpectNear(found[i].hess, expected.hess, "hessian", i);
      }
    }
  }
}

TEST_P(ObjectiveTest, LayoutAndThreadsDoNotShow) {
  ObjectiveCase const& c = GetParam();
  ObjectiveParams const params = ParamsOf(c.kind);
  std::uint32_t const outputs = c.several ? 3 : 1;
  ObjectiveRows const rows{c.kind, 9999, outputs, c.low, c.high};
  auto const expected = Gradients(rows, params, true, 1);
  for (int const threads : {2, 3, 7}) EXPECT_TRUE(SameBits(Gradients(rows, params, true, threads), expected));

  // These margins are output by output, with room between neighbours.
  std::vector<float> margins(2 * rows.margins.size());
  std::vector<GradientPair> out(margins.size());
  OutputView<float> const spread{margins.data(), rows.rows, outputs, 2, 2 * rows.rows};
  for (std::uint64_t row = 0; row < rows.rows; ++row)
    for (std::uint32_t k = 0; k < outputs; ++k) spread.at(row, k) = rows.Margins().at(row, k);
  OutputView<GradientPair> const pairs{out.data(), rows.rows, outputs, 2, 2 * rows.rows};
  host::ComputeGradients(params, rows.Targets(true), {margins.data(), rows.rows, outputs, 2, 2 * rows.rows}, pairs, 2);
  std::vector<GradientPair> gathered;
  for (std::uint64_t row = 0; row < rows.rows; ++row)
    for (std::uint32_t k = 0; k < outputs; ++k) gathered.push_back(pairs.at(row, k));
  EXPECT_TRUE(SameBits(gathered, expected));
}

TEST_P(ObjectiveTest, LargeMargins) {
  ObjectiveCase const& c = GetParam();
  ObjectiveRows rows{c.kind, 1001, 1, c.low, c.high};
  rows.MakeExtreme();
  std::size_t infinite = 0;
  for (GradientPair const g : Gradients(rows, ParamsOf(c.kind), true, 1))
    infinite += std::isfinite(g.grad) && std::isfinite(g.hess) ? 0 : 1;
  EXPECT_EQ(infinite == 0, c.finite_everywhere);
}

TEST_P(ObjectiveTest, Transform) {
  ObjectiveCase const& c = GetParam();
  ObjectiveRows const rows{c.kind, 9999, 2, c.low, c.high};
  std::vector<float> out(rows.margins.size());
  host::Transform(ParamsOf(c.kind), rows.Margins(), RowMajor(out.data(), rows.rows, 2), 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    double const f = rows.margins[i];
    switch (c.kind) {
      case Objective::kLogistic:
        ExpectNear(out[i], Probability(f), "prediction", i);
        break;
      case Objective::kHinge:
        ASSERT_EQ(out[i], f > 0 ? 1 : 0);
        break;
      case Objective::kPoisson:
      case Objective::kGamma:
      case Objective::kTweedie:
        ExpectNear(out[i], Exp(f), "prediction", i);
        break;
      case Objective::kSmoothQuantile: {  // the smaller margin of the two comes first
        auto const [least, most] = std::minmax(rows.margins[i / 2 * 2], rows.margins[i / 2 * 2 + 1]);
        ASSERT_EQ(out[i], i % 2 == 0 ? least : most);
        break;
      }
      case Objective::kExpectile:
        ExpectNear(out[i], Predictions(rows.margins.data() + i / 2 * 2, 2)[i % 2], "prediction", i);
        break;
      default:
        ASSERT_EQ(out[i], rows.margins[i]);
    }
  }
  std::vector<float> in_place = rows.margins;
  host::Transform(ParamsOf(c.kind), RowMajor<float const>(in_place.data(), rows.rows, 2),
                  RowMajor(in_place.data(), rows.rows, 2), 3);
  EXPECT_TRUE(SameBits(in_place, out));
}

INSTANTIATE_TEST_SUITE_P(All, ObjectiveTest, ::testing::ValuesIn(ObjectiveCases()), ObjectiveCaseName{});

/// Returns p_k = e^(F_k - largest) / sum. The sum is in double, and rounded to float once.
std::vector<Bounded> Probabilities(float const* margins, std::uint32_t outputs) {
  double const largest = *std::max_element(margins, margins + outputs);
  Bounded sum{0};
  for (std::uint32_t k = 0; k < outputs; ++k) {
    Bounded const e = Exp(Bounded{margins[k]} - largest);
    sum.value += e.value;
    sum.error += e.error;
  }
  sum = Bounded{sum.value, sum.error};
  std::vector<Bounded> p;
  for (std::uint32_t k = 0; k < outputs; ++k) p.push_back(Exp(Bounded{margins[k]} - largest) / sum);
  return p;
}

TEST(SoftmaxTest, GradientsAndProbabilities) {
  ObjectiveParams const params = ParamsOf(Objective::kSoftmax);
  for (std::uint32_t const classes : {1, 2, 3, 17, 1000}) {
    ObjectiveRows rows{Objective::kSoftmax, 20000 / classes + 1, classes, -30, 30};
    rows.labels[0] += 0.5f;  // a label between two classes
    std::vector<float> predictions(rows.margins.size());
    host::Transform(params, rows.Margins(), RowMajor(predictions.data(), rows.rows, classes), 2);
    for (bool const weighted : {false, true}) {
      auto const found = Gradients(rows, params, weighted, 2);
      for (std::size_t i = 0; i < found.size(); ++i) {
        std::size_t const row = i / classes, k = i % classes;
        std::vector<Bounded> p;
        if (k == 0) p = Probabilities(rows.margins.data() + i, classes);
        for (std::size_t j = i; k == 0 && j < i + classes; ++j) {
          Bounded const& q = p[j - i];
          double const w = weighted ? rows.weights[row] : 1.0f;
          bool const here = rows.labels[row] == static_cast<float>(j - i);
          ExpectNear(found[j].grad, (here ? q - 1 : q) * w, "gradient", j);
          ExpectNear(found[j].hess, Max(Bounded{2} * q * (Bounded{1} - q) * w, 1e-16f), "hessian", j);
          ExpectNear(predictions[j], q, "probability", j);
        }
      }
    }
  }
}

TEST(SoftmaxTest, ThreadsAndPlaceDoNotShow) {
  ObjectiveParams const params = ParamsOf(Objective::kSoftmax);
  ObjectiveRows const rows{Objective::kSoftmax, 4999, 7, -30, 30};
  auto const expected = Gradients(rows, params, true, 1);
  for (int const threads : {2, 3, 7}) EXPECT_TRUE(SameBits(Gradients(rows, params, true, threads), expected));

  std::vector<float> out(rows.margins.size()), in_place = rows.margins;
  host::Transform(params, rows.Margins(), RowMajor(out.data(), rows.rows, 7), 1);
  host::Transform(params, RowMajor<float const>(in_place.data(), rows.rows, 7), RowMajor(in_place.data(), rows.rows, 7),
                  3);
  EXPECT_TRUE(SameBits(in_place, out));
}

TEST(SoftmaxTest, AnyFiniteMargins) {
  ObjectiveParams const params = ParamsOf(Objective::kSoftmax);
  for (float const middle : {-1e30f, -200.0f, 0.0f, 200.0f, 1e30f}) {
    ObjectiveRows rows{Objective::kSoftmax, 101, 5, -1, 1};
    for (float& m : rows.margins) m += middle;
    if (middle == 0.0f) rows.MakeExtreme();
    for (GradientPair const g : Gradients(rows, params, true, 1)) {
      ASSERT_TRUE(std::isfinite(g.grad));
      ASSERT_TRUE(std::isfinite(g.hess));
      ASSERT_GE(g.hess, 1e-16f);
    }
  }
}

TEST(ExpectilesTest, GradientsAreDerivatives) {
  for (std::uint32_t const outputs : {2, 3, 17}) {
    ObjectiveRows rows{Objective::kExpectile, 4001, outputs, -30, 30};
    rows.margins[1] = 0;
    ObjectiveParams params{Objective::kExpectile};
    for (std::uint32_t k = 0; k < outputs; ++k) params.alphas.push_back(0.05f + 0.9f * k / outputs);
    for (bool const weighted : {false, true}) {
      auto const found = Gradients(rows, params, weighted, 1);
      for (int const threads : {2, 7}) EXPECT_TRUE(SameBits(found, Gradients(rows, params, weighted, threads)));
      for (std::size_t row = 0; row < rows.rows; ++row) {
        std::size_t const first = row * outputs;
        auto const predictions = Predictions(rows.margins.data() + first, outputs);
        for (std::uint32_t k = 0; k < outputs; ++k) {
          Bounded grad{0}, hess{0};
          double const w = weighted ? rows.weights[row] : 1.0f;
          for (std::uint32_t later = k; later < outputs; ++later) {
            Bounded const d = predictions[later] - rows.labels[row];
            ASSERT_TRUE(std::fabs(d.value) > d.error || d.value == d.error) << "either share would be right";
            Bounded const share = d.value >= 0 ? Bounded{1} - params.alphas[later] : Bounded{params.alphas[later]};
            grad = grad + share * d * w;
            hess = hess + share * w;
          }
          Bounded const slope = k == 0 ? Bounded{1} : Probability(rows.margins[first + k]);
          ExpectNear(found[first + k].grad, slope * grad, "gradient", first + k);
          ExpectNear(found[first + k].hess, slope * slope * hess, "hessian", first + k);
        }
      }
    }
  }
}

TEST(ExpectilesTest, PlaceDoesNotShow) {
  ObjectiveRows const rows{Objective::kExpectile, 4999, 3, -30, 30};
  ObjectiveParams params{Objective::kExpectile};
  params.alphas = {0.1f, 0.5f, 0.9f};
  auto const expected = Gradients(rows, params, true, 1);
  // These arrays are output by output.
  std::vector<float> margins(rows.margins.size());
  std::vector<GradientPair> pairs(margins.size());
  OutputView<float> const by_output{margins.data(), rows.rows, 3, 1, rows.rows};
  OutputView<GradientPair> const out{pairs.data(), rows.rows, 3, 1, rows.rows};
  for (std::uint64_t row = 0; row < rows.rows; ++row)
    for (std::uint32_t k = 0; k < 3; ++k) by_output.at(row, k) = rows.Margins().at(row, k);
  host::ComputeGradients(params, rows.Targets(true), {margins.data(), rows.rows, 3, 1, rows.rows}, out, 2);
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    for (std::uint32_t k = 0; k < 3; ++k) {
      ASSERT_EQ(out.at(row, k).grad, expected[3 * row + k].grad);
      ASSERT_EQ(out.at(row, k).hess, expected[3 * row + k].hess);
    }
  }
}

TEST(ExpectilesTest, LargeMargins) {
  ObjectiveRows rows{Objective::kExpectile, 1001, 3, -100, 100};
  rows.MakeExtreme();
  ObjectiveParams params{Objective::kExpectile};
  params.alphas = {0.1f, 0.5f, 0.9f};
  for (GradientPair const g : Gradients(rows, params, true, 1)) {
    ASSERT_TRUE(std::isfinite(g.grad) && std::isfinite(g.hess));
  }
}

TEST(ExpectilesTest, PredictionsAscend) {
  ObjectiveRows const rows{Objective::kExpectile, 4999, 5, -30, 30};
  std::vector<float> out(rows.margins.size());
  host::Transform({Objective::kExpectile}, rows.Margins(), RowMajor(out.data(), rows.rows, 5), 2);
  for (std::size_t i = 0; i < out.size(); i += 5) {
    auto const expected = Predictions(rows.margins.data() + i, 5);
    for (std::size_t k = 0; k < 5; ++k) {
      ExpectNear(out[i + k], expected[k], "prediction", i + k);
      ASSERT_TRUE(k == 0 || out[i + k] >= out[i + k - 1]);
    }
  }
}

TEST(AlphasTest, EachOutputHasItsOwnAndAllTheSameLabel) {
  for (Objective const kind : {Objective::kQuantile, Objective::kSmoothQuantile}) {
    ObjectiveRows const rows{kind, 20001, 3, -100, 100};
    ObjectiveParams params = ParamsOf(kind);
    params.alphas = {0.1f, 0.5f, 1.0f};
    for (bool const weighted : {false, true}) {
      auto const found = Gradients(rows, params, weighted, 1);
      EXPECT_TRUE(SameBits(found, Gradients(rows, params, weighted, 4)));
      for (std::uint32_t k = 0; k < 3; ++k) {
        ObjectiveParams one = params;
        one.alphas = {params.alphas[k]};
        std::vector<float> margins;
        std::vector<GradientPair> of_output, expected(rows.rows);
        for (std::size_t row = 0; row < rows.rows; ++row) {
          margins.push_back(rows.margins[3 * row + k]);
          of_output.push_back(found[3 * row + k]);
        }
        host::ComputeGradients(one, rows.Targets(weighted), RowMajor<float const>(margins.data(), rows.rows, 1),
                               RowMajor(expected.data(), rows.rows, 1), 2);
        EXPECT_TRUE(SameBits(of_output, expected)) << NameOf(kind) << ", output " << k;
      }
    }
  }
}

TEST(AlphasTest, AMarginAtItsLabelIsAboveIt) {
  std::vector<float> const labels{2, 2}, margins{2, NAN};
  TargetView targets;
  targets.labels = labels.data();
  std::vector<GradientPair> out(2);
  host::ComputeGradients(ParamsOf(Objective::kQuantile), targets, RowMajor<float const>(margins.data(), 2, 1),
                         RowMajor(out.data(), 2, 1), 1);
  EXPECT_EQ(out[0].grad, 1.0f - 0.3f);
  EXPECT_EQ(out[1].grad, -0.3f);
}

TEST(ObjectiveNameTest, Known) {
  EXPECT_EQ(ObjectiveByName("reg:squarederror"), Objective::kSquaredError);
  EXPECT_EQ(ObjectiveByName("reg:linear"), Objective::kSquaredError);
  EXPECT_EQ(ObjectiveByName("reg:squaredlogerror"), Objective::kSquaredLogError);
  EXPECT_EQ(ObjectiveByName("reg:logistic"), Objective::kLogistic);
  EXPECT_EQ(ObjectiveByName("binary:logistic"), Objective::kLogistic);
  EXPECT_EQ(ObjectiveByName("binary:logitraw"), Objective::kLogitRaw);
  EXPECT_EQ(ObjectiveByName("binary:hinge"), Objective::kHinge);
  EXPECT_EQ(ObjectiveByName("count:poisson"), Objective::kPoisson);
  EXPECT_EQ(ObjectiveByName("reg:gamma"), Objective::kGamma);
  EXPECT_EQ(ObjectiveByName("reg:tweedie"), Objective::kTweedie);
  EXPECT_EQ(ObjectiveByName("reg:pseudohubererror"), Objective::kPseudoHuber);
  EXPECT_EQ(ObjectiveByName("reg:absoluteerror"), Objective::kAbsoluteError);
  EXPECT_EQ(ObjectiveByName("reg:quantileerror"), Objective::kQuantile);
  EXPECT_EQ(ObjectiveByName("reg:expectileerror"), Objective::kExpectile);
  EXPECT_EQ(ObjectiveByName("multi:softmax"), Objective::kSoftmax);
  EXPECT_EQ(ObjectiveByName("multi:softprob"), Objective::kSoftmax);
  for (char const* name : {"survival:", "rank:pair", "", "softmax"})
    EXPECT_EQ(ObjectiveByName(name), std::nullopt) << name;
}

/// Returns the message of the exception, or "" if there is none.
std::string Complaint(ObjectiveParams const& params, std::vector<float> const& labels, std::uint64_t rows,
                      std::uint32_t outputs, std::uint32_t label_columns = 1) {
  TargetView targets;
  targets.labels = labels.empty() ? nullptr : labels.data();
  targets.label_columns = label_columns;
  try {
    CheckTargets(params, targets, rows, outputs, 2);
  } catch (InvalidArgument const& e) {
    return e.what();
  }
  return "";
}
std::string Complaint(Objective kind, std::vector<float> const& labels, std::uint32_t outputs = 1) {
  return Complaint(ParamsOf(kind), labels, labels.size(), outputs);
}

TEST(CheckTargetsTest, RangesOfLabels) {
  constexpr float kAboveMinusOne = -0.99999994f, kLeast = 1e-45f;
  EXPECT_EQ(Complaint(Objective::kSquaredError, {-1e30f, 1e30f}), "");
  EXPECT_EQ(Complaint(Objective::kHinge, {-3, 3}), "");
  EXPECT_EQ(Complaint(Objective::kPseudoHuber, {-3, 3}), "");
  EXPECT_EQ(Complaint(Objective::kSquaredLogError, {kAboveMinusOne, 1e30f}), "");
  EXPECT_EQ(Complaint(Objective::kLogistic, {0, 0.5f, 1}), "");
  EXPECT_EQ(Complaint(Objective::kLogitRaw, {0, 0.5f, 1}), "");
  EXPECT_EQ(Complaint(Objective::kPoisson, {0, 1e30f}), "");
  EXPECT_EQ(Complaint(Objective::kTweedie, {0, 1e30f}), "");
  EXPECT_EQ(Complaint(Objective::kGamma, {kLeast, 1e30f}), "");
  EXPECT_EQ(Complaint(Objective::kSoftmax, {0, 2, 1.5f}, 3), "");

  EXPECT_EQ(Complaint(Objective::kSquaredLogError, {0, -1}),
            "Label of row 1 is -1. label must be greater than -1 for rmsle so that log(label + 1) can be valid.");
  EXPECT_EQ(Complaint(Objective::kLogistic, {0, 1, 2, -1}),
            "Label of row 2 is 2. label must be in [0,1] for logistic regression");
  EXPECT_EQ(Complaint(Objective::kLogitRaw, {-0.5f}),
            "Label of row 0 is -0.5. label must be in [0,1] for logistic regression");
  EXPECT_EQ(Complaint(Objective::kLogistic, {std::nanf("")}),
            "Label of row 0 is nan. label must be in [0,1] for logistic regression");
  EXPECT_EQ(Complaint(Objective::kPoisson, {-1}), "Label of row 0 is -1. PoissonRegression: label must be nonnegative");
  EXPECT_EQ(Complaint(Objective::kTweedie, {-1}), "Label of row 0 is -1. TweedieRegression: label must be nonnegative");
  EXPECT_EQ(Complaint(Objective::kGamma, {0}), "Label of row 0 is 0. GammaRegression: label must be positive.");
  ObjectiveParams of_3_2 = ParamsOf(Objective::kSoftmax);
  of_3_2.whole_classes = true;
  EXPECT_EQ(Complaint(of_3_2, {0, 2, 1}, 3, 3), "");
  EXPECT_EQ(
      Complaint(of_3_2, {0, 2, 1.5f}, 3, 3),
      "Label of row 2 is 1.5. SoftmaxMultiClassObj: label must be discrete values in the range of [0, num_class). "
      "num_class is 3.");
  for (float const label : {3.0f, -1.0f}) {
    EXPECT_EQ(Complaint(Objective::kSoftmax, {0, label}, 3),
              "Label of row 1 is " + std::to_string(static_cast<int>(label)) +
                  ". SoftmaxMultiClassObj: label must be in [0, num_class). num_class is 3.");
  }
}

TEST(CheckTargetsTest, AnAlphaForEachOutput) {
  ObjectiveParams params{Objective::kQuantile};
  params.alphas = {0, 1};
  EXPECT_EQ(Complaint(params, {1, 2}, 2, 2), "");
  EXPECT_EQ(Complaint(params, {1, 2}, 2, 1),
            "Rows have 1 outputs, and quantile_alpha has 2 numbers; allowed: one for each output");
  EXPECT_NE(Complaint(params, {1, 2, 3, 4}, 2, 2, 2).find("this objective takes one label for each row"),
            std::string::npos);
  params.kind = Objective::kExpectile;
  for (float const alpha : {-0.1f, 1.5f, NAN}) {
    params.alphas[1] = alpha;
    EXPECT_NE(Complaint(params, {1, 2}, 2, 2).find("expectile_alpha is "), std::string::npos) << alpha;
  }
}

TEST(CheckTargetsTest, HessiansOfPoissonAreFinite) {
  ObjectiveParams params = ParamsOf(Objective::kPoisson);
  for (float const step : {0.0f, 88.72f}) {
    params.max_delta_step = step;
    EXPECT_EQ(Complaint(params, {1}, 1, 1), "") << step;
  }
  for (float const step : {88.75f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    params.max_delta_step = step;
    std::ostringstream begin;
    begin << "Parameter max_delta_step is " << step << "; allowed with count:poisson: at most 88.72";
    EXPECT_EQ(Complaint(params, {1}, 1, 1).substr(0, begin.str().size()), begin.str());
    params.kind = Objective::kTweedie;  // Tweedie does not use it
    EXPECT_EQ(Complaint(params, {1}, 1, 1), "");
    params.kind = Objective::kPoisson;
  }
}

TEST(CheckTargetsTest, NamesTheFirstOfMany) {
  std::vector<float> labels(300000, 1.0f);
  for (std::size_t i = 150001; i < labels.size(); i += 7) labels[i] = 5.0f;
  EXPECT_EQ(Complaint(Objective::kLogistic, labels),
            "Label of row 150001 is 5. label must be in [0,1] for logistic regression");
  EXPECT_EQ(Complaint(ParamsOf(Objective::kLogistic), labels, 100000, 3, 3),
            "Label of target 1 of row 50000 is 5. label must be in [0,1] for logistic regression");
}

TEST(CheckTargetsTest, Shapes) {
  std::vector<float> const six(6, 1.0f);
  EXPECT_EQ(Complaint(ParamsOf(Objective::kSquaredError), six, 2, 3, 3), "");
  EXPECT_EQ(Complaint(ParamsOf(Objective::kSquaredError), {}, 0, 1), "");
  EXPECT_EQ(
      Complaint(ParamsOf(Objective::kSquaredError), six, 3, 1, 2),
      "Invalid shape of labels. A row has 2 labels and 1 outputs (num_class or targets); this objective takes one "
      "label for each output");
  EXPECT_EQ(
      Complaint(ParamsOf(Objective::kPoisson), six, 6, 3),
      "labels are not correctly provided. A row has 1 labels and 3 outputs (num_class or targets); this objective "
      "takes one label for each output");
  EXPECT_EQ(
      Complaint(ParamsOf(Objective::kSoftmax), six, 3, 3, 2),
      "SoftmaxMultiClassObj: label size and pred size does not match. A row has 2 labels and 3 outputs (num_class "
      "or targets); this objective takes one label for each row");
  EXPECT_EQ(Complaint(ParamsOf(Objective::kGamma), {}, 4, 1),
            "label set cannot be empty: 4 rows have no labels. labels are not correctly provided");
  EXPECT_EQ(Complaint(ParamsOf(Objective::kLogistic), six, 6, 0),
            "Rows have 0 outputs (num_class or targets); allowed: 1 and more");
  ObjectiveParams flat = ParamsOf(Objective::kPseudoHuber);
  flat.huber_slope = 0;
  EXPECT_EQ(Complaint(flat, six, 6, 1),
            "huber_slope is 0; allowed: any other number. slope for pseudo huber cannot be 0.");
}

}  // namespace
}  // namespace xgbgpu::testing
