// core: exp and log are within 1 ulp of the true value everywhere, and their relatives as close as documented, as are
// special values.
#include "core/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/data.h"

namespace xgbgpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Returns the distance in units of the last place of the double nearest to `exact`. The reference has 64 bits of
/// significand, and is itself off by less than one of its units, 2^-11 of a double's.
double Ulps(double value, long double exact) {
  auto const nearest = static_cast<double>(std::fabs(exact));
  double const ulp = std::nextafter(nearest, kInfinity) - nearest;
  return static_cast<double>(std::fabs(value - exact) / ulp);
}

constexpr double kAllowed = 1.0 + 0x1p-11;

class PortableMathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double is no wider than double here";
  }
};

TEST_F(PortableMathTest, ExpIsWithinOneUlp) {
  testing::Random random{3};
  double worst = 0, where = 0;
  auto const check = [&](double x) {
    double const error = Ulps(PortableExp(x), std::exp(static_cast<long double>(x)));
    if (error > worst) worst = error, where = x;
  };
  for (int i = 0; i < 300000; ++i) {
    double const u = static_cast<double>(random.Bits() >> 11) * 0x1p-53;
    check(u * 2 - 1);
    check(u * 1400 - 700);    // normal results
    check(-745.13 + u * 40);  // down into the denormal ones
    check(std::ldexp(u - 0.5, -static_cast<int>(random.Below(60))));
  }
  // The range reduction has its ends at odd multiples of ln 2 / 2.
  for (int k = -2149; k < 2047; k += 2) {
    double const x = k * 0.34657359027997264;
    check(x);
    check(std::nextafter(x, kInfinity));
    check(std::nextafter(x, -kInfinity));
  }
  for (double x : {709.782712893384, 709.78, -708.396418532264, -745.1332191019411, -0.0, 0.0}) check(x);
  EXPECT_LE(worst, kAllowed) << "at x = " << where;
}

TEST_F(PortableMathTest, LogIsWithinOneUlp) {
  testing::Random random{4};
  double worst = 0, where = 0;
  auto const check = [&](double x) {
    double const error = Ulps(PortableLog(x), std::log(static_cast<long double>(x)));
    if (error > worst) worst = error, where = x;
  };
  for (int i = 0; i < 300000; ++i) {
    check(detail::FromBits(random.Bits() % 0x7FF0000000000000U + 1));  // every exponent, denormals too
    double const u = static_cast<double>((random.Bits() >> 11) + 1) * 0x1p-53;
    check(u);
    if (double const near_one = 1 + std::ldexp(u - 0.5, -static_cast<int>(random.Below(52))); near_one != 1)
      check(near_one);
  }
  for (double x : {0x1p-1074, 0x1p-1022, 1.7976931348623157e308, 1.4142135623730951, 1.4142135623730954,
                   0.70710678118654746, 0.70710678118654757, 2.0, 0.5}) {
    check(x);
  }
  EXPECT_LE(worst, kAllowed) << "at x = " << where;
}

TEST_F(PortableMathTest, LogGammaIsAsCloseAsItSays) {
  testing::Random random{6};
  double worst = 0, where = 0;
  auto const check = [&](double x) {
    long double const exact = std::lgamma(static_cast<long double>(x));
    auto const error =
        static_cast<double>(std::fabs(PortableLogGamma(x) - exact) / (0x1p-46L + 0x1p-50L * std::fabs(exact)));
    if (error > worst) worst = error, where = x;
  };
  for (int i = 0; i < 300000; ++i) {
    double const u = static_cast<double>((random.Bits() >> 11) + 1) * 0x1p-53;
    check(u * 12);
    check(u * 1000);
    check(std::ldexp(u, static_cast<int>(random.Below(280)) - 140));
  }
  for (int i = 1; i < 200; ++i) check(i);
  for (double x : {0.5, 1 + 0x1p-23, 1 - 0x1p-24, 2 + 0x1p-22, 9.999999999999998, 10.0, 3.4e38, 0x1p-149}) check(x);
  EXPECT_LE(worst, 1.0) << "at x = " << where;
}

TEST_F(PortableMathTest, ErfIsWithinTwoAndAHalfUlp) {
  testing::Random random{5};
  double worst = 0, where = 0;
  auto const check = [&](double x) {
    double const error = Ulps(PortableErf(x), std::erf(static_cast<long double>(x)));
    if (error > worst) worst = error, where = x;
    ASSERT_EQ(PortableErf(-x), -PortableErf(x)) << x;
  };
  for (int i = 0; i < 300000; ++i) {
    double const u = static_cast<double>((random.Bits() >> 11) + 1) * 0x1p-53;
    check(u);
    check(1 + 5 * u);
    check(std::ldexp(u, -static_cast<int>(random.Below(1000))));
  }
  for (double x : {1.0, 5.95, 26.0})
    for (double const near : {std::nextafter(x, 0.0), x, std::nextafter(x, kInfinity)}) check(near);
  EXPECT_LE(worst, 2.5 + 0x1p-11) << "at x = " << where;
}

TEST(PortableMathSpecialTest, Erf) {
  EXPECT_EQ(PortableErf(0.0), 0.0);
  EXPECT_EQ(PortableErf(kInfinity), 1.0);
  EXPECT_EQ(PortableErf(-kInfinity), -1.0);
  EXPECT_TRUE(std::isnan(PortableErf(kNaN)));
}

TEST(PortableMathSpecialTest, LogGamma) {
  EXPECT_EQ(PortableLogGamma(1.0), 0.0);
  EXPECT_EQ(PortableLogGamma(2.0), 0.0);
  EXPECT_EQ(PortableLogGamma(0.0), kInfinity);
  EXPECT_EQ(PortableLogGamma(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(PortableLogGamma(-0.5)));
  EXPECT_TRUE(std::isnan(PortableLogGamma(kNaN)));
}

TEST(PortableMathSpecialTest, Exp) {
  EXPECT_EQ(PortableExp(0.0), 1.0);
  EXPECT_EQ(PortableExp(kInfinity), kInfinity);
  EXPECT_EQ(PortableExp(-kInfinity), 0.0);
  EXPECT_EQ(PortableExp(710.0), kInfinity);
  EXPECT_EQ(PortableExp(-746.0), 0.0);
  EXPECT_TRUE(std::isnan(PortableExp(kNaN)));
}

TEST(PortableMathSpecialTest, Log) {
  EXPECT_EQ(PortableLog(1.0), 0.0);
  EXPECT_EQ(PortableLog(0.0), -kInfinity);
  EXPECT_EQ(PortableLog(-0.0), -kInfinity);
  EXPECT_EQ(PortableLog(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(PortableLog(-1.0)));
  EXPECT_TRUE(std::isnan(PortableLog(-kInfinity)));
  EXPECT_TRUE(std::isnan(PortableLog(kNaN)));
}

}  // namespace
}  // namespace xgbgpu
