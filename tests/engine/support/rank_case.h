/// Rows in groups for tests of the ranking objectives.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_RANK_CASE_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_RANK_CASE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "support/data.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::testing {

constexpr Objective kRankings[] = {Objective::kRankPairwise, Objective::kRankNdcg, Objective::kRankMap};

inline ObjectiveParams RankParams(Objective kind, std::uint32_t samples, float fix_list_weight = 0) {
  ObjectiveParams params{kind};
  params.num_pairsample = samples;
  params.fix_list_weight = fix_list_weight;
  params.iteration = 5;
  params.seed = 0x123456789ABCDEFU;
  return params;
}

struct RankRows {
  std::vector<std::uint32_t> group_ptr{0};
  std::vector<float> margins, labels, weights;

  /// Makes labels 0 … levels - 1, some of them 1/2 larger, and margins of both signs with ties.
  RankRows(std::vector<std::uint32_t> const& sizes, std::size_t levels, std::uint64_t seed) {
    Random random{seed};
    for (std::uint32_t const size : sizes) {
      for (std::uint32_t i = 0; i < size; ++i) {
        float const half = random.Below(4) == 0 ? 0.5f : 0.0f;
        labels.push_back(static_cast<float>(random.Below(levels)) + half);
        margins.push_back(random.Below(3) == 0 ? static_cast<float>(random.Below(5)) - 2 : random.Between(-20, 20));
        if (random.Below(16) == 0) margins.back() = -0.0f;
      }
      group_ptr.push_back(group_ptr.back() + size);
      weights.push_back(random.Between(0.1f, 4));
    }
  }

  std::uint64_t rows() const { return labels.size(); }
  TargetView Targets(bool weighted) const {
    TargetView view;
    view.labels = labels.data();
    view.weights = weighted ? weights.data() : nullptr;
    view.group_ptr = group_ptr.data();
    view.groups = static_cast<std::uint32_t>(group_ptr.size() - 1);
    return view;
  }
  std::vector<GradientPair> Gradients(ObjectiveParams const& params, TargetView const& targets, int threads,
                                      std::vector<std::int64_t>* losses = nullptr) const {
    std::vector<GradientPair> out(rows());
    host::ComputeGradients(params, targets, RowMajor<float const>(margins.data(), rows(), 1),
                           RowMajor(out.data(), rows(), 1), threads, NoOtherShards(), losses);
    return out;
  }
};

/// Makes biases of every size that LambdaRank treats in its own way.
inline PositionBiases SomeBiases(std::size_t positions) {
  constexpr float kSizes[] = {1.0f, 0.7f, 1.9f, 0.0f, 0.03f, 1e-5f, 1e-20f};
  PositionBiases biases;
  for (std::size_t i = 0; i < positions; ++i) {
    biases.high.push_back(kSizes[i % std::size(kSizes)]);
    biases.low.push_back(kSizes[(2 * i) % std::size(kSizes)]);
  }
  return biases;
}

/// The two gradients of a pair are opposite. Each row is rounded once.
inline void ExpectFiniteAndBalanced(std::vector<GradientPair> const& gradients) {
  double sum = 0, magnitude = 0;
  for (GradientPair const g : gradients) {
    ASSERT_TRUE(std::isfinite(g.grad));
    ASSERT_GE(g.hess, 0);
    sum += g.grad;
    magnitude += std::fabs(g.grad);
  }
  EXPECT_GT(magnitude, 0);
  EXPECT_LE(std::fabs(sum), 0x1p-24 * magnitude);
}

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_RANK_CASE_H_
