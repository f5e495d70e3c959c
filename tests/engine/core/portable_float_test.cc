// core: exp, log1p and tanh of a float are within the stated distance of the true value, for every 211th float.
#include "core/portable_float.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace xgbgpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

float FloatOf(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Returns the distance in units of the last place of floats of the size of `exact`.
double Ulps(float value, double exact) {
  double const ulp = exact == 0 ? 0x1p-149 : std::ldexp(1.0, std::max(std::ilogb(exact) - 23, -149));
  return std::fabs(value - exact) / ulp;
}

struct Worst {
  double ulps{0};
  float where{0};

  void See(float x, float value, double exact) {
    double const error = Ulps(value, exact);
    if (!(error <= ulps)) ulps = error, where = x;
  }
};

// The reference is the C library's function of a double, which is off by one unit of a double at most, 2^-29 of a
// float's.
constexpr double kReference = 0x1p-29;

/// Checks every 211th float of both signs. 211 is prime, so every pattern of low bits occurs.
template <typename F>
void ForEachFloat(F&& f) {
  for (std::uint32_t bits = 0; bits < 0x7F800000U; bits += 211) {
    f(FloatOf(bits));
    f(FloatOf(bits | 0x80000000U));
  }
}

TEST(PortableFloatTest, Exp) {
  Worst worst;
  auto const check = [&](float x) {
    if (double const exact = std::exp(static_cast<double>(x)); static_cast<float>(exact) < kInfinity) {
      worst.See(x, PortableExpf(x), exact);
    } else {
      EXPECT_EQ(PortableExpf(x), kInfinity) << x;
    }
  };
  ForEachFloat(check);
  // The range reduction has its ends at odd multiples of ln 2 / 2.
  for (int k = -301; k < 257; k += 2) {
    auto const x = static_cast<float>(k * 0.34657359027997264);
    for (float const near : {std::nextafter(x, -kInfinity), x, std::nextafter(x, kInfinity)}) check(near);
  }
  for (float const x : {88.7228317f, 88.7228394f, -87.3365479f, -103.972076f, -103.972084f, -103.0f}) check(x);
  EXPECT_LE(worst.ulps, 0.5 + 0x1p-12 + kReference) << "at x = " << worst.where;
}

TEST(PortableFloatTest, Log1p) {
  Worst worst;
  auto const check = [&](float x) {
    if (x > -1.0f) worst.See(x, PortableLog1pf(x), std::log1p(static_cast<double>(x)));
  };
  ForEachFloat(check);
  for (float const end : {0x1p-14f, -0x1p-14f, -1.0f, 1.0f})
    for (float const near : {std::nextafter(end, -kInfinity), end, std::nextafter(end, kInfinity)}) check(near);
  EXPECT_LE(worst.ulps, 0.5 + 0x1p-13 + kReference) << "at x = " << worst.where;
}

TEST(PortableFloatTest, Tanh) {
  Worst worst;
  auto const check = [&](float x) { worst.See(x, PortableTanhf(x), std::tanh(static_cast<double>(x))); };
  ForEachFloat(check);
  for (int k = -61; k < 61; k += 2) {  // the ends of the range reduction
    auto const x = static_cast<float>(k * 0.34657359027997264 / 2);
    for (float const near : {std::nextafter(x, -kInfinity), x, std::nextafter(x, kInfinity)}) check(near);
  }
  EXPECT_LE(worst.ulps, 0.5 + 0x1p-11 + kReference) << "at x = " << worst.where;
}

TEST(PortableFloatTest, SpecialValues) {
  EXPECT_EQ(PortableTanhf(0.0f), 0.0f);
  EXPECT_EQ(PortableTanhf(9.5f), 1.0f);
  EXPECT_EQ(PortableTanhf(kInfinity), 1.0f);
  EXPECT_EQ(PortableTanhf(-kInfinity), -1.0f);
  EXPECT_TRUE(std::isnan(PortableTanhf(kNaN)));
  EXPECT_EQ(PortableExpf(0.0f), 1.0f);
  EXPECT_EQ(PortableExpf(-0.0f), 1.0f);
  EXPECT_EQ(PortableExpf(kInfinity), kInfinity);
  EXPECT_EQ(PortableExpf(-kInfinity), 0.0f);
  EXPECT_EQ(PortableExpf(1e30f), kInfinity);
  EXPECT_EQ(PortableExpf(-1e30f), 0.0f);
  EXPECT_TRUE(std::isnan(PortableExpf(kNaN)));
  EXPECT_EQ(PortableLog1pf(0.0f), 0.0f);
  EXPECT_EQ(PortableLog1pf(-1.0f), -kInfinity);
  EXPECT_EQ(PortableLog1pf(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(PortableLog1pf(-1.5f)));
  EXPECT_TRUE(std::isnan(PortableLog1pf(kNaN)));
}

}  // namespace
}  // namespace xgbgpu
