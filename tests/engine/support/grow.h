/// Whole trees by the engine and by the reference, from the same inputs.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_GROW_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_GROW_H_

#include <gtest/gtest.h>

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "backend/tree_builder.h"
#include "matrix/matrix.h"
#include "reference/matrix.h"
#include "support/data.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu {

/// GoogleTest shows trees that differ with these.
void PrintTo(Tree const& tree, std::ostream* os);
void PrintTo(BackendKind kind, std::ostream* os);
void PrintTo(GrowPolicy policy, std::ostream* os);

namespace testing {

/// Makes a builder on a matrix that the host has quantised; for CUDA, on a copy of it on the first device.
std::unique_ptr<TreeBuilder> MakeTreeBuilder(BackendKind kind, QuantisedMatrix const& matrix, int threads);

/// Suites that every backend must pass are instantiated over these.
inline constexpr BackendKind kBackends[] = {BackendKind::kHost, BackendKind::kCuda};
std::string NameOf(BackendKind kind);
/// Suites that every growth policy must pass are instantiated over these.
inline constexpr GrowPolicy kPolicies[] = {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide, GrowPolicy::kSymmetric};
std::string NameOf(GrowPolicy policy);
/// Returns why tests cannot run on `kind` here, which a skipped test gives as its reason; empty if they can.
std::string WhyNotHere(BackendKind kind);
#define XGBGPU_SKIP_UNLESS_HERE(kind) \
  if (std::string const why_not = ::xgbgpu::testing::WhyNotHere(kind); !why_not.empty()) GTEST_SKIP() << why_not

/// Everything that one tree depends on.
struct TreeCase {
  reference::Values values;
  std::vector<GradientPair> gradients;
  TrainParams params;
  int max_bin{256};
  std::vector<float> weights{};  ///< weights of rows, for the quantiles only
  TreeKey key{};
  std::vector<std::uint8_t> categorical{};  ///< [features], or empty
};

/// Cuts, bins and the tree are made on `kind`; for CUDA, on the first device.
struct GrowOptions {
  BackendKind kind{BackendKind::kHost};
  int threads{2};
  std::size_t batch_rows{0};
};

std::shared_ptr<Dataset const> MakeDataset(TreeCase const& c, GrowOptions const& options = {});
Tree Grow(TreeCase const& c, GrowOptions const& options = {});
Tree GrowReference(TreeCase const& c);

/// Sets a policy, and makes the limits of depth and leaves such as it takes.
void SetPolicy(TrainParams* params, GrowPolicy policy);

/// Makes a feature of the case categorical.
void AddCategories(TreeCase* c, std::size_t feature, std::size_t levels);

/// A case with random data and gradients and XGBoost's default parameters.
TreeCase RandomCase(DataShape const& shape, std::uint64_t seed);

}  // namespace testing
}  // namespace xgbgpu

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_GROW_H_
