/// Settings that whole trees are compared over, between backends, shards and pages.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_TREE_CASES_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_TREE_CASES_H_

#include <cstddef>
#include <ostream>

#include "reference/matrix.h"
#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/params.h"

namespace xgbgpu::testing {

/// Data, and what is set for a tree on them.
struct NamedCase {
  char const* name;
  DataShape shape;
  void (*set)(TreeCase*);
};

inline void PrintTo(NamedCase const& c, std::ostream* os) { *os << c.name; }

inline void KeepDefaults(TreeCase*) {}

inline constexpr DataShape kPlain{1500, 7};
inline constexpr DataShape kMissingSome{1500, 7, 0.2, 30};
inline constexpr DataShape kSparse{1500, 25, 0.9};
inline constexpr DataShape kNarrow{(std::size_t{1} << 18) + 77, 3, 0.1};

inline constexpr NamedCase kTreeCases[] = {
    {"Plain", kPlain, KeepDefaults},
    {"Missing", kMissingSome, KeepDefaults},
    {"Sparse", kSparse, KeepDefaults},
    {"Shallow", kPlain, [](TreeCase* c) { c->params.max_depth = 1; }},
    {"NoDepthLimit", kPlain, [](TreeCase* c) { c->params.max_depth = 0; }},
    {"NoDepthLimitLeaves", kMissingSome,
     [](TreeCase* c) {
       c->params.max_depth = 0;
       c->params.max_leaves = 21;
     }},
    {"DepthAndLeaves", kMissingSome, [](TreeCase* c) { c->params.max_leaves = 11; }},
    {"OneLeaf", kPlain, [](TreeCase* c) { c->params.max_leaves = 1; }},
    {"Gamma", kMissingSome, [](TreeCase* c) { c->params.min_split_loss = 0.8f; }},
    {"GammaTooLarge", kPlain, [](TreeCase* c) { c->params.min_split_loss = 1e6f; }},
    {"NoLambda", kSparse, [](TreeCase* c) { c->params.reg_lambda = 0; }},
    {"Alpha", kMissingSome, [](TreeCase* c) { c->params.reg_alpha = 2.5f; }},
    {"MaxDeltaStep", kMissingSome, [](TreeCase* c) { c->params.max_delta_step = 0.1f; }},
    {"AlphaAndMaxDeltaStep", kSparse,
     [](TreeCase* c) {
       c->params.reg_alpha = 1;
       c->params.max_delta_step = 0.2f;
     }},
    {"AlphaAndMaxDeltaStepOf34", kSparse,
     [](TreeCase* c) {
       c->params.reg_alpha = 1;
       c->params.max_delta_step = 0.2f;
       c->params.regularisation = Regularisation::kOf3_4;
     }},
    {"LightRootOf34", kMissingSome,
     [](TreeCase* c) {
       c->params.min_child_weight = 1e6f;
       c->params.regularisation = Regularisation::kOf3_4;
     }},
    {"MinChildWeight", kMissingSome, [](TreeCase* c) { c->params.min_child_weight = 40; }},
    {"NoMinChildWeight", kSparse, [](TreeCase* c) { c->params.min_child_weight = 0; }},
    {"LearningRate", kPlain, [](TreeCase* c) { c->params.learning_rate = 0.037f; }},
    {"Subsample", kMissingSome,
     [](TreeCase* c) {
       c->params.subsample = 0.4f;
       c->params.seed = 5;
       c->key = {3, 2};
     }},
    {"GradientBased", kMissingSome,
     [](TreeCase* c) {
       c->params.sampling_method = SamplingMethod::kGradientBased;
       c->params.subsample = 0.3f;
       c->key = {3, 2};
     }},
    {"GradientBasedManyZeros", kSparse,
     [](TreeCase* c) {
       c->params.sampling_method = SamplingMethod::kGradientBased;
       c->params.subsample = 0.2f;
       for (std::size_t r = 0; r < c->gradients.size(); ++r) {
         if (r % 8 != 0) c->gradients[r] = {0.0f, 0.0f};
       }
     }},
    {"GradientBasedNarrow", kNarrow,
     [](TreeCase* c) {
       c->params.sampling_method = SamplingMethod::kGradientBased;
       c->params.subsample = 0.95f;
       c->params.max_depth = 4;
     }},
    {"Goss", kMissingSome, [](TreeCase* c) { c->params.sampling_method = SamplingMethod::kGoss; }},
    {"GossLargeRates", kSparse,
     [](TreeCase* c) {
       c->params.sampling_method = SamplingMethod::kGoss;
       c->params.top_rate = 0.5f;
       c->params.other_rate = 0.5f;
     }},
    {"GossOfOneRow", {1, 3}, [](TreeCase* c) { c->params.sampling_method = SamplingMethod::kGoss; }},
    {"NobodySampled", {20, 3}, [](TreeCase* c) { c->params.subsample = 1e-9f; }},
    {"ColsampleByTree", kSparse, [](TreeCase* c) { c->params.colsample_bytree = 0.5f; }},
    {"ColsampleByLevel", kPlain, [](TreeCase* c) { c->params.colsample_bylevel = 0.5f; }},
    {"ColsampleByNode", kMissingSome, [](TreeCase* c) { c->params.colsample_bynode = 0.4f; }},
    {"ColsampleAll", kSparse,
     [](TreeCase* c) {
       c->params.colsample_bytree = 0.8f;
       c->params.colsample_bylevel = 0.8f;
       c->params.colsample_bynode = 0.6f;
       c->params.subsample = 0.7f;
       c->params.feature_weights.assign(25, 1.0f);
       c->params.feature_weights[4] = 20.0f;
     }},
    {"OneRow", {1, 3}, KeepDefaults},
    {"TwoRows", {2, 1}, [](TreeCase* c) { c->params.min_child_weight = 0; }},
    {"OneColumn", {800, 1, 0.1}, KeepDefaults},
    {"TwoBins", kPlain, [](TreeCase* c) { c->max_bin = 2; }},
    {"TwoByteBins", {1500, 3, 0.1}, [](TreeCase* c) { c->max_bin = 900; }},
    {"FewValues", {1500, 5, 0.1, 3}, KeepDefaults},
    {"NarrowFormat", kNarrow, [](TreeCase* c) { c->params.max_depth = 4; }},
    {"NegativeHessians", kMissingSome,
     [](TreeCase* c) {
       for (std::size_t r = 0; r < c->gradients.size(); r += 3) c->gradients[r].hess *= -1;
     }},
    {"ZeroGradients", kPlain,
     [](TreeCase* c) {
       c->gradients.assign(c->gradients.size(), {0.0f, 0.0f});
     }},
    {"ConstantAndEmptyColumns", kMissingSome,
     [](TreeCase* c) {
       for (std::size_t r = 0; r < c->values.rows; ++r) {
         c->values(r, 0) = 2.0f;
         c->values(r, 1) = reference::kMissing;
         if (r % 5 == 0) c->values(r, 2) = reference::kMissing;
       }
     }},
    {"NoValuesAtAll", {30, 2, 1.0}, KeepDefaults},
    {"QuantileWeights", {3000, 4}, [](TreeCase* c) {
       for (std::size_t r = 0; r < c->values.rows; ++r) {
         c->weights.push_back(static_cast<float>(r % 5) * 0.25f);
       }
     }}};

// The cases have so many rows that each of seven shards has some of every kind.
inline constexpr DataShape kShardsPlain{1501, 6};
inline constexpr DataShape kShardsMissing{1501, 6, 0.2, 30};
inline constexpr DataShape kShardsSparse{1501, 25, 0.9};
inline constexpr DataShape kShardsNarrow{(std::size_t{1} << 16) + 4321, 3, 0.1};

inline void Sample(TreeCase* c, SamplingMethod method, float subsample) {
  c->params.sampling_method = method;
  c->params.subsample = subsample;
}

inline constexpr NamedCase kShardCases[] = {
    {"Plain", kShardsPlain, [](TreeCase*) {}},
    {"Missing", kShardsMissing, [](TreeCase*) {}},
    {"Sparse", kShardsSparse, [](TreeCase*) {}},
    {"FewRows", {5, 3}, [](TreeCase* c) { c->params.min_child_weight = 0; }},
    {"Uniform", kShardsMissing, [](TreeCase* c) { Sample(c, SamplingMethod::kUniform, 0.4f); }},
    {"GradientBased", kShardsMissing, [](TreeCase* c) { Sample(c, SamplingMethod::kGradientBased, 0.3f); }},
    {"GradientBasedSparse", kShardsSparse, [](TreeCase* c) { Sample(c, SamplingMethod::kGradientBased, 0.6f); }},
    {"Goss", kShardsMissing, [](TreeCase* c) { Sample(c, SamplingMethod::kGoss, 1.0f); }},
    {"NarrowFormat", kShardsNarrow, [](TreeCase* c) { c->params.max_depth = 5; }},
    // The first shard alone would not have the narrow format.
    {"NarrowFormatUneven", kShardsNarrow,
     [](TreeCase* c) {
       for (std::size_t r = 0; r < c->gradients.size() / 2; ++r) c->gradients[r].grad *= 1e-4f;
     }},
    // The last shard alone has a row that asks for the wide format.
    {"VanishingHessian", kShardsNarrow,
     [](TreeCase* c) {
       c->gradients.back() = {1.0f, 1e-12f};
       c->params.min_child_weight = 0;
       c->params.max_depth = 5;
     }},
    {"NarrowUniform", kShardsNarrow, [](TreeCase* c) { Sample(c, SamplingMethod::kUniform, 0.97f); }},
    {"NarrowGradientBased", kShardsNarrow, [](TreeCase* c) { Sample(c, SamplingMethod::kGradientBased, 0.97f); }},
    {"NarrowGoss", kShardsNarrow,
     [](TreeCase* c) {
       Sample(c, SamplingMethod::kGoss, 1.0f);
       c->params.top_rate = 0.7f;
       c->params.other_rate = 0.29f;
     }},
    {"Columns", kShardsSparse,
     [](TreeCase* c) {
       c->params.colsample_bytree = 0.8f;
       c->params.colsample_bylevel = 0.8f;
       c->params.colsample_bynode = 0.6f;
     }},
    {"Monotone", kShardsMissing,
     [](TreeCase* c) {
       c->params.monotone_constraints = {1, -1, 0, 1};
     }},
    {"Interaction", kShardsMissing,
     [](TreeCase* c) {
       c->params.interaction_constraints = {{0, 1}, {1, 2, 3}, {4, 5}};
     }},
    {"Categories", kShardsMissing,
     [](TreeCase* c) {
       AddCategories(c, 0, 3);
       AddCategories(c, 2, 40);
       AddCategories(c, 3, 400);
       c->params.min_child_weight = 0.1f;
     }},
    {"MostBins", {70001, 2, 0.05}, [](TreeCase* c) { c->max_bin = kMaxBinLimit; }},
    {"TwoByteBins", {3001, 3, 0.1}, [](TreeCase* c) { c->max_bin = 900; }},
    {"HeavyTails", kShardsPlain,
     [](TreeCase* c) {
       c->gradients[700].grad = 3e6f;
       c->gradients[1500].hess = 2e4f;
       c->gradients[3].grad = -1e-7f;
     }},
    {"QuantileWeights", kShardsMissing,
     [](TreeCase* c) {
       for (std::size_t r = 0; r < c->values.rows; ++r) c->weights.push_back(static_cast<float>(r % 5) * 0.3f);
     }},
    {"MaxDepthAndLeaves", kShardsPlain,
     [](TreeCase* c) {
       c->params.max_depth = 5;
       c->params.max_leaves = 11;
     }},
    {"NegativeHessians", kShardsMissing,
     [](TreeCase* c) {
       for (std::size_t r = 0; r < c->gradients.size(); r += 3) c->gradients[r].hess *= -1;
     }},
    // Some shards alone would have other layouts and cells.
    {"DenseHereSparseThere",
     {1501, 8},
     [](TreeCase* c) {
       for (std::size_t r = 0; r < c->values.rows; ++r) {
         if (r == 20) c->values(r, 1) = reference::kMissing;
         for (std::size_t f = 3; f < 8 && r > 760; ++f) c->values(r, f) = reference::kMissing;
         if (r < 1490) c->values(r, 2) = reference::kMissing;
       }
     }},
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_TREE_CASES_H_
