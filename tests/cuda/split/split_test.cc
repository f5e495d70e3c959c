// Splits that are hard to choose, host = CUDA: the device looks closely at few candidates (split/score_bound_ops.h).
#include <gtest/gtest.h>
#include <omp.h>

#include <cstdint>
#include <string>
#include <utility>

#include "support/grow.h"

namespace xgbgpu::testing {
namespace {

struct SplitSettings {
  char const* name;
  float reg_lambda, reg_alpha, max_delta_step, min_child_weight;
  std::int8_t direction;  ///< direction of every other feature; the rest have the opposite one
};

constexpr SplitSettings kSettings[] = {
    {"plain", 1, 0, 0, 1, 0},
    {"lambda0", 0, 0, 0, 0, 0},
    {"lambda0, heavy", 0, 0, 0, 40, 0},
    {"alpha", 1, 8, 0, 1, 0},
    {"large alpha", 1, 200, 0, 1, 0},
    {"step", 1, 0, 0.05f, 1, 0},
    {"alpha and step", 1, 3, 0.2f, 1, 0},
    {"monotone", 1, 0, 0, 1, 1},
    {"monotone, falling", 0, 0, 0, 0, -1},
    {"all", 2, 1, 0.3f, 5, 1},
    {"too heavy", 1, 0, 0, 1e30f, 0},
};

constexpr float kLow = -1.0f, kHigh = 0.1f;  // values below and above these are low and high

class CudaSplitTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  /// Compares trees of all settings. Returns the number of leaves of the host's.
  static std::size_t ExpectSameTrees(TreeCase c, int max_depth) {
    std::size_t leaves = 0;
    c.params.max_depth = max_depth;
    for (SplitSettings const& s : kSettings) {
      SCOPED_TRACE(s.name);
      c.params.reg_lambda = s.reg_lambda;
      c.params.reg_alpha = s.reg_alpha;
      c.params.max_delta_step = s.max_delta_step;
      c.params.min_child_weight = s.min_child_weight;
      c.params.monotone_constraints.clear();
      for (std::size_t f = 0; s.direction != 0 && f < c.values.features; ++f) {
        c.params.monotone_constraints.push_back(f % 2 == 0 ? s.direction : -s.direction);
      }
      Tree const host = Grow(c, {BackendKind::kHost, omp_get_max_threads()});
      EXPECT_EQ(Grow(c, {BackendKind::kCuda, omp_get_max_threads()}), host);
      leaves += host.Leaves();
    }
    return leaves;
  }

  /// Makes columns that repeat each other, rising and falling, with missing values where the value is low or high. So
  /// the same splits are there many times, with default directions either way.
  static TreeCase WithTwins(DataShape const& shape, std::uint64_t seed) {
    TreeCase c = RandomCase(shape, seed);
    reference::Values const once = std::move(c.values);
    c.values = {once.rows, 5 * once.features};
    for (std::size_t r = 0; r < once.rows; ++r) {
      for (std::size_t f = 0; f < once.features; ++f) {
        float const v = once(r, f);
        c.values(r, 5 * f) = c.values(r, 5 * f + 1) = v;
        c.values(r, 5 * f + 2) = -v;
        c.values(r, 5 * f + 3) = v < kLow ? reference::kMissing : v;
        c.values(r, 5 * f + 4) = v > kHigh ? reference::kMissing : v;
      }
    }
    return c;
  }
};

TEST_F(CudaSplitTest, Ties) {
  TreeCase c = WithTwins({4000, 5, 0.0, 12}, 1);
  for (std::size_t i = 0; i < c.gradients.size(); ++i) {
    c.gradients[i] = {c.gradients[i].grad > 0 ? 1.0f : -1.0f, 1.0f};
  }
  EXPECT_GT(ExpectSameTrees(c, 6), 100U);
}

TEST_F(CudaSplitTest, TiesOfFewRows) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    TreeCase c = WithTwins({20 + 15 * seed, 9, 0.2, 4}, 10 + seed);
    for (auto& g : c.gradients) g = {g.grad > 0 ? 1.0f : -1.0f, 1.0f};
    EXPECT_GT(ExpectSameTrees(c, 5), 20U);
  }
}

TEST_F(CudaSplitTest, NothingToGain) {
  TreeCase c = RandomCase({3000, 6}, 2);
  for (auto& g : c.gradients) g = {0.25f, 1.0f};
  ExpectSameTrees(c, 4);
}

/// All rows but a few weigh hardly anything, so most splits leave one side too light.
TEST_F(CudaSplitTest, LightSides) {
  TreeCase c = RandomCase({20000, 8, 0.1}, 3);
  for (std::size_t i = 0; i < c.gradients.size(); ++i) {
    c.gradients[i].hess = i % 700 == 0 ? 3.0f : 1e-6f;
    c.gradients[i].grad *= i % 3 == 0 ? 1e-3f : 1.0f;
  }
  EXPECT_GT(ExpectSameTrees(c, 6), 50U);
}

/// There are more bins than a block has threads, and more than it has registers for.
TEST_F(CudaSplitTest, ManyBins) {
  for (int const max_bin : {300, 1024, 1025, 5000}) {
    SCOPED_TRACE(max_bin);
    TreeCase c = WithTwins({30000, 2, 0.1}, 4);
    c.max_bin = max_bin;
    EXPECT_GT(ExpectSameTrees(c, 7), 200U);
  }
}

/// Sums are beyond 2^53, and so rounded where they become doubles. Gradients are wide, and of many sizes.
TEST_F(CudaSplitTest, HugeSums) {
  TreeCase c = WithTwins({70000, 3, 0.0, 500}, 5);
  for (std::size_t i = 0; i < c.gradients.size(); ++i) {
    c.gradients[i].grad *= i % 900 == 0 ? 1e6f : 1.0f;
    c.gradients[i].hess += 1.0f;
  }
  EXPECT_GT(ExpectSameTrees(c, 7), 200U);
  for (auto& g : c.gradients) {
    g.grad *= 0x1p42f;  // some gains are too large for a float
    g.hess *= 0x1p-20f;
  }
  ExpectSameTrees(c, 4);
}

}  // namespace
}  // namespace xgbgpu::testing
