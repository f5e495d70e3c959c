// gradient: choice of format, quantisation, sums.
#include "gradient/gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "gradient/gradient_ops.h"
#include "reference/gradient.h"
#include "support/data.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::Random;
using testing::WhatIsWrong;

struct Quantised {
  GradientFormat format;
  std::vector<NarrowGradient> narrow;
  std::vector<GradientSum> wide;

  GradientView view() const { return {format, narrow.data(), wide.data()}; }
  GradientSum row(std::size_t r) const { return format.narrow ? GradientSum{narrow[r].grad, narrow[r].hess} : wide[r]; }
};

GradientFormat ChooseFormat(std::vector<GradientPair> const& gradients, int threads, float min_child_weight = 1.0f) {
  return host::ChooseGradientFormat(gradients, gradients.size(), min_child_weight, threads);
}

Quantised Quantise(std::vector<GradientPair> const& gradients, std::uint64_t seed, std::uint32_t tree, int threads) {
  Quantised q{ChooseFormat(gradients, threads), {}, {}};
  if (q.format.narrow) {
    q.narrow.resize(gradients.size());
  } else {
    q.wide.resize(gradients.size());
  }
  host::QuantiseGradients(gradients, q.format, {seed, RandomPurpose::kRounding, tree, 0}, q.narrow, q.wide, threads);
  return q;
}

std::vector<GradientPair> Uniform(std::size_t rows, float scale, std::uint64_t seed) {
  Random random{seed};
  std::vector<GradientPair> gradients(rows);
  for (auto& g : gradients) g = {random.Between(-scale, scale), random.Between(0, scale)};
  return gradients;
}

class GradientTest : public ::testing::TestWithParam<int> {};

TEST_P(GradientTest, EqualsTheReference) {
  for (std::size_t rows :
       {std::size_t{1}, std::size_t{5}, std::size_t{1000}, std::size_t{40001}, std::size_t{kNarrowMinRows} + 3}) {
    auto const gradients = Uniform(rows, 3.0f, rows);
    auto const expected = reference::Quantise(gradients, gradients.size(), 1.0f, 99, 65537);
    auto const q = Quantise(gradients, 99, 65537, GetParam());
    EXPECT_EQ(q.format.narrow, rows >= kNarrowMinRows);
    ASSERT_EQ(q.format.narrow, expected.narrow);
    ASSERT_EQ(q.format.grad_shift, expected.grad_shift);
    ASSERT_EQ(q.format.hess_shift, expected.hess_shift);
    for (std::size_t r = 0; r < rows; ++r) ASSERT_EQ(q.row(r), expected.rows[r]) << "row " << r << " of " << rows;
  }
}

TEST_P(GradientTest, AttachesToListedRowsAndSumsThem) {
  for (std::size_t rows : {std::size_t{100}, std::size_t{kNarrowMinRows}}) {
    auto const gradients = Uniform(rows, 1.0f, 17);
    auto const q = Quantise(gradients, 0, 0, GetParam());
    std::vector<RowRecord> listed;
    GradientSum expected;
    for (std::size_t r = 0; r < rows; r += 3) {
      listed.push_back({static_cast<RowIndex>(r), {}});
      expected.grad += q.row(r).grad;
      expected.hess += q.row(r).hess;
    }
    EXPECT_EQ(host::AttachGradients(q.view(), listed, GetParam()), expected);
    EXPECT_EQ(host::AttachGradients(q.view(), {}, GetParam()), GradientSum{});
    for (RowRecord const& record : listed) {
      if (!q.format.narrow) break;
      ASSERT_EQ((GradientSum{record.gradient.grad, record.gradient.hess}), q.row(record.row)) << record.row;
    }
  }
}

TEST_P(GradientTest, NotFiniteNamesTheFirstRow) {
  constexpr float kBad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()};
  for (float bad : kBad) {
    auto gradients = Uniform(70000, 1.0f, 18);
    gradients[40123].grad = bad;
    gradients[66000].hess = bad;
    auto const choose = [&] { ChooseFormat(gradients, GetParam()); };
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(choose, {"row 40123", "grad ", "finite"}), "") << bad;
    gradients[40123].grad = 0;
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(choose, {"row 66000", "hess ", "finite"}), "") << bad;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, GradientTest, ::testing::Values(1, 2, 3, 7));

TEST(GradientFormatTest, ALargestValueThatTowersNeedsTheWideFormat) {
  auto gradients = Uniform(kNarrowMinRows, 1.0f, 20);
  EXPECT_TRUE(ChooseFormat(gradients, 2).narrow);
  auto heavy = gradients;
  heavy[7].grad = 1e6f;
  EXPECT_FALSE(ChooseFormat(heavy, 2).narrow);
  heavy = gradients;
  heavy[7].hess = 1e6f;
  EXPECT_FALSE(ChooseFormat(heavy, 2).narrow);
}

TEST(GradientFormatTest, FewRowsNeedTheWideFormat) {
  EXPECT_FALSE(ChooseFormat(Uniform(kNarrowMinRows - 1, 1.0f, 21), 2).narrow);
}

TEST(GradientFormatTest, MaximaAreAlikeWhoseScalesAre) {
  auto const bits = [](float v) { return MagnitudeBits(v); };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> const largest{
      0.0f, 1e-45f, 3e-45f, 1.1e-38f, 1.2e-38f, 0.5f,      0.75f,        std::nextafter(1.0f, 0.0f),
      1.0f, 1.5f,   2.0f,   1e38f,    3e38f,    kInfinity, std::nanf("")};
  int alike = 0;
  for (float a : largest) {
    for (float b : largest) {
      bool const expected =
          std::isfinite(a) && std::isfinite(b) && a != 0.0f && b != 0.0f && std::ilogb(a) == std::ilogb(b);
      EXPECT_EQ(AreAlike({bits(a), bits(1.0f)}, {bits(b), bits(1.9f)}), expected) << a << ", " << b;
      EXPECT_EQ(AreAlike({bits(1.0f), bits(a)}, {bits(1.0f), bits(b)}), expected) << a << ", " << b;
      if (!expected) continue;
      ++alike;
      GradientFormat const one = MakeGradientFormat(70000, bits(a), bits(1.0f), true);
      GradientFormat const other = MakeGradientFormat(90000, bits(b), bits(1.9f), true);
      EXPECT_EQ(one.grad_shift, other.grad_shift);
      EXPECT_EQ(one.hess_shift, other.hess_shift);
    }
  }
  EXPECT_EQ(alike, 20);  // twelve pairs of equal ones; pairs among three from 0.5 to 1 and two from 1 to 2
}

// Rare labels and large weights do not need the wide format. Gradients decades apart beside equal hessians do.
TEST(GradientFormatTest, SmallGradientsServeInTheNarrowFormatWhereHessiansAreSmallToo) {
  struct Case {
    GradientPair most;  ///< gradients of nearly all rows
    std::size_t large;  ///< so many rows have 1.9, below the power 2
    bool narrow;
  };
  // The smaller mean, as a part of 2, is in each case: 0.003, above 1 / 1024; 0.0004, below it; 0.003 beside 0.95; 0.02
  // beside 0.95, a 45th of it; 0.0004 beside 0.01.
  for (Case const& c :
       {Case{{0.004f, 0.004f}, 70, true}, Case{{1e-5f, 1e-5f}, 30, false}, Case{{0.004f, 1.9f}, 70, false},
        Case{{0.04f, 1.9f}, 70, true}, Case{{0.02f, 1e-5f}, 30, false}}) {
    for (bool swapped : {false, true}) {
      std::vector<GradientPair> gradients(70000, c.most);
      for (std::size_t i = 0; i < c.large; ++i) gradients[i * 1000] = {i % 2 == 0 ? 1.9f : -1.9f, 1.9f};
      if (swapped) {
        for (GradientPair& v : gradients) std::swap(v.grad, v.hess);
      }
      EXPECT_EQ(ChooseFormat(gradients, 2).narrow, c.narrow) << c.most.grad << ", " << c.most.hess;
      EXPECT_EQ(reference::Quantise(gradients, gradients.size(), 1.0f, 1, 1).narrow, c.narrow);
    }
  }
}

// A gradient beside a hessian that rounds to 0 would be lost, wherever min_child_weight lets such rows be a side.
TEST(GradientFormatTest, AHessianThatVanishesNeedsTheWideFormat) {
  constexpr float kUnit = 0x1p-13f;  // the unit if the largest hessian or gradient is 1
  struct Case {
    GradientPair row;
    float min_child_weight;
    bool narrow;
  };
  for (Case const& c :
       {Case{{1.0f, 1e-12f}, 0.0f, false}, Case{{-1.0f, 1e-40f}, 0.0f, false}, Case{{1.0f, 0.99f * kUnit}, 0.0f, false},
        Case{{1.0f, kUnit}, 0.0f, true}, Case{{1.0f, 0.0f}, 0.0f, true},  // a hessian of 0 has nothing to lose
        Case{{32.1f * kUnit, 0.5f * kUnit}, 0.0f, false},                 // 64 times the hessian, or less
        Case{{32.0f * kUnit, 0.5f * kUnit}, 0.0f, true}, Case{{1e-9f, 1e-9f}, 0.0f, true},
        Case{{1e-9f, 1e-12f}, 0.0f, false},  // a million such rows make a sum
        Case{{1.0f, 1e-12f}, 255.9f * kUnit, false}, Case{{1.0f, 1e-12f}, 256 * kUnit, true},
        Case{{1.0f, 1e-12f}, 1.0f, true}}) {
    auto gradients = Uniform(kNarrowMinRows, 1.0f, 22);
    for (auto& v : gradients) v.hess = std::max(v.hess, 2 * kUnit);
    gradients[3] = {1.0f, 1.0f};
    gradients[kNarrowMinRows - 1] = c.row;
    EXPECT_EQ(ChooseFormat(gradients, 2, c.min_child_weight).narrow, c.narrow)
        << c.row.grad << ", " << c.row.hess << ", " << c.min_child_weight;
    EXPECT_EQ(reference::Quantise(gradients, gradients.size(), c.min_child_weight, 1, 1).narrow, c.narrow);
  }
}

// All rows are rounded up by nearly a unit, so their integers sum to more than the gradients do.
TEST(GradientFormatTest, RoundingDoesNotTellThatTheFormatMustBeNarrow) {
  constexpr std::size_t kRows = 70000;
  constexpr float kUnit = 0x1p-13f;  // the unit if the largest gradient is 1
  constexpr std::uint32_t kBits = 0x3F800000U;
  NarrowScales const scales = MakeNarrowScales(MakeGradientFormat(kRows, kBits, kBits, true));
  FloatScale const coarse_scale = CoarseScale(kBits);
  for (GradientPair const most : {GradientPair{15.1f * kUnit, 15.1f * kUnit}, GradientPair{127.1f * kUnit, 1.0f},
                                  GradientPair{1.0f, 127.1f * kUnit}}) {
    GradientSum coarse, magnitudes;
    for (std::size_t r = 0; r < kRows; ++r) {
      GradientPair const v = r == 0 ? GradientPair{1, 1} : most;
      NarrowGradient const q = QuantiseNarrow(v, scales, 0xFFFFFFFFU);
      coarse.grad += CoarseMagnitude(v.grad, coarse_scale);
      coarse.hess += CoarseMagnitude(v.hess, coarse_scale);
      magnitudes.grad += q.grad;
      magnitudes.hess += q.hess;
    }
    EXPECT_FALSE(MayBeNarrow(coarse, kRows));
    EXPECT_TRUE(MayBeNarrow({magnitudes.grad * 64, magnitudes.hess * 64}, kRows)) << "or the case is none";
    EXPECT_FALSE(MustBeNarrow(magnitudes, kRows));
  }
}

// Early gradients say that the format must be narrow only where the gradients themselves say so, and nearly always
// there. Means are near the least that may be narrow, and near the least beside the other mean.
TEST(GradientFormatTest, MagnitudesOfNarrowGradientsTellWhatMustBeNarrow) {
  constexpr std::size_t kRows = 70000;
  int sure = 0, narrow = 0;
  for (float largest : {1.0f, 1.99f, 3e-40f, 2e38f}) {
    std::uint32_t const bits = MagnitudeBits(largest);
    NarrowScales const scales = MakeNarrowScales(MakeGradientFormat(kRows, bits, bits, true));
    FloatScale const coarse_scale = CoarseScale(bits);
    double const above = std::ldexp(1.0, ExponentAbove(bits));
    for (int peak : {kNarrowPeak, kNarrowApart}) {
      for (int percent = 80; percent < 120; ++percent) {  // of the least mean that may be narrow
        for (bool swapped : {false, true}) {
          GradientSum coarse, magnitudes;
          for (std::size_t r = 0; r < kRows; ++r) {
            double const part = 2.0 * static_cast<double>(r) / kRows * percent / 100 / peak;
            float const small = r == 0 ? largest : static_cast<float>((r % 2 == 0 ? -part : part) * above);
            float const other = peak == kNarrowPeak ? small : static_cast<float>(0.999 * above);
            GradientPair const v = swapped ? GradientPair{other, small} : GradientPair{small, other};
            auto const word = RandomStream{7, RandomPurpose::kRounding, 0, 0}.Word(static_cast<std::uint32_t>(r));
            NarrowGradient const q = QuantiseNarrow(v, scales, word);
            coarse.grad += CoarseMagnitude(v.grad, coarse_scale);
            coarse.hess += CoarseMagnitude(v.hess, coarse_scale);
            magnitudes.grad += std::abs(int{q.grad});
            magnitudes.hess += std::abs(int{q.hess});
          }
          bool const must = MustBeNarrow(magnitudes, kRows), may = MayBeNarrow(coarse, kRows);
          EXPECT_LE(must, may) << largest << ", " << peak << ", " << percent;
          sure += must ? 1 : 0;
          narrow += may ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GE(narrow, 16 * 18);  // half of 640
  EXPECT_LE(narrow, 16 * 22);
  EXPECT_GE(sure, narrow - 8 * 8);  // a mean of 16 units may be off by one, and one of 256, too
}

TEST(GradientFormatTest, HessiansAreAlikeOnlyIfTheyHaveOneMagnitude) {
  constexpr std::size_t kRows = 1000;
  auto const are_alike = [](float hess, float other) {
    std::uint32_t const bits = std::max(MagnitudeBits(hess), MagnitudeBits(other));
    std::int64_t coarse = 0;
    for (std::size_t r = 0; r < kRows; ++r) coarse += CoarseMagnitude(r == 77 ? other : hess, CoarseScale(bits));
    return AreHessiansAlike(coarse, kRows, bits);
  };
  for (float hess : {1.0f, 0x1p-126f, 0x1p127f, 0.25f}) {
    EXPECT_TRUE(are_alike(hess, hess)) << hess;
    EXPECT_TRUE(are_alike(hess, -hess)) << hess;
    for (float other : {std::nextafter(hess, 0.0f), std::nextafter(hess, 3e38f), 0.0f}) {
      EXPECT_FALSE(are_alike(hess, other)) << hess << ", " << other;
      EXPECT_FALSE(are_alike(other, hess)) << hess << ", " << other;
    }
  }
  EXPECT_FALSE(are_alike(1.5f, 1.5f)) << "no power of two";
  EXPECT_FALSE(are_alike(0.0f, 0.0f));
}

TEST(GradientFormatTest, ZerosAndExtremes) {
  std::vector<GradientPair> const zeros(100, {0.0f, 0.0f});
  auto const q = Quantise(zeros, 0, 0, 1);
  for (std::size_t r = 0; r < zeros.size(); ++r) EXPECT_EQ(q.row(r), GradientSum{});

  constexpr float kLargest = std::numeric_limits<float>::max(), kSmallest = std::numeric_limits<float>::denorm_min();
  for (float scale : {kLargest, kSmallest, std::numeric_limits<float>::min()}) {
    std::vector<GradientPair> const gradients{{scale, scale}, {-scale, scale}, {0.0f, 0.0f}};
    auto const extreme = Quantise(gradients, 0, 0, 1);
    double const unit = ScaleByPowerOfTwo(1.0, -extreme.format.grad_shift);
    EXPECT_EQ(static_cast<double>(extreme.row(0).grad) * unit, static_cast<double>(scale));
    EXPECT_EQ(extreme.row(1).grad, -extreme.row(0).grad);
    EXPECT_LT(extreme.row(0).grad, std::int64_t{1} << kWideBits);
  }
}

TEST(GradientFormatTest, NarrowRecordsKeepTheirBoundAtTheExtremes) {
  float const below_one = std::nextafter(1.0f, 0.0f);
  std::vector<GradientPair> const gradients(kNarrowMinRows, {-below_one, below_one});
  auto const q = Quantise(gradients, 5, 0, 2);
  ASSERT_TRUE(q.format.narrow);
  EXPECT_EQ(q.format.grad_shift, kNarrowBits);
  for (auto const& g : q.narrow) {
    ASSERT_GE(g.grad, -(1 << kNarrowBits));
    ASSERT_LE(g.hess, 1 << kNarrowBits);
  }
}

TEST(GradientFormatTest, WideIsExactFor2PowMinus21OfTheLargest) {
  std::vector<GradientPair> gradients = Uniform(1000, 1.0f, 22);
  gradients[0] = {std::nextafter(1.0f, 0.0f), 1.0f};
  auto const q = Quantise(gradients, 0, 0, 1);
  double const unit = ScaleByPowerOfTwo(1.0, -q.format.grad_shift);
  for (std::size_t r = 0; r < gradients.size(); ++r) {
    if (std::fabs(gradients[r].grad) < 0x1p-21f) continue;
    ASSERT_EQ(static_cast<double>(q.row(r).grad) * unit, static_cast<double>(gradients[r].grad)) << r;
  }
}

// Otherwise no split could separate rows with such hessians from others.
TEST(GradientFormatTest, AHessianAboveZeroIsAUnitAtLeast) {
  std::vector<GradientPair> const gradients{
      {1.0f, 1.0f}, {1.0f, 1e-30f}, {1.0f, 0.0f}, {1.0f, -1e-30f}, {1e-30f, 0.5f}};
  auto const q = Quantise(gradients, 0, 0, 1);
  ASSERT_FALSE(q.format.narrow);
  auto const expected = reference::Quantise(gradients, gradients.size(), 1.0f, 0, 0);
  for (std::size_t r = 0; r < gradients.size(); ++r) EXPECT_EQ(q.row(r), expected.rows[r]) << r;
  EXPECT_EQ(q.row(1).hess, 1);
  EXPECT_EQ(q.row(2).hess, 0);
  EXPECT_EQ(q.row(3).hess, 0);
  EXPECT_EQ(q.row(4).grad, 0);
}

TEST(GradientRoundingTest, NoiseOfASumIsWhatIndependentDrawsGive) {
  // Gradients are constant, so every row rounds up with the same chance. By Hoeffding's inequality the sum of n
  // independent variables in an interval of one unit is further than t from its expectation with a chance below
  // 2 exp(-2 t²/n); t = sqrt(n · 10.8) makes that 1e-9. The expectation itself is off by at most 2^-17 per row.
  constexpr std::size_t kRows = std::size_t{1} << 20;
  for (float v : {0.7300123f, -0.51003f, 0.9999f}) {
    std::vector<GradientPair> const gradients(kRows, {v, std::fabs(v)});
    for (std::uint32_t tree : {0U, 1U, 65536U}) {
      auto const q = Quantise(gradients, 11, tree, 2);
      ASSERT_TRUE(q.format.narrow);
      GradientSum sum;
      for (NarrowGradient const& g : q.narrow) sum = {sum.grad + g.grad, sum.hess + g.hess};
      double const n = kRows, bound = std::sqrt(n * 10.8) + n * 0x1p-17;
      EXPECT_NEAR(static_cast<double>(sum.grad), n * std::ldexp(static_cast<double>(v), q.format.grad_shift), bound);
      EXPECT_NEAR(static_cast<double>(sum.hess), n * std::ldexp(std::fabs(static_cast<double>(v)), q.format.hess_shift),
                  bound);
    }
  }
}

TEST(GradientRoundingTest, DependsOnSeedAndTree) {
  auto const gradients = Uniform(kNarrowMinRows, 1.0f, 23);
  auto const sum = [&](std::uint64_t seed, std::uint32_t tree) {
    auto const q = Quantise(gradients, seed, tree, 2);
    std::int64_t differs = 0;
    for (std::size_t r = 0; r < gradients.size(); ++r) differs += q.row(r).grad * static_cast<std::int64_t>(r % 1009);
    return differs;
  };
  EXPECT_EQ(sum(1, 1), sum(1, 1));
  EXPECT_NE(sum(1, 1), sum(2, 1));
  EXPECT_NE(sum(1, 1), sum(1, 2));
}

}  // namespace
}  // namespace xgbgpu
