/// Terms of one row of a ranking group, and one group's value.
#ifndef XGBGPU_METRIC_RANKING_OPS_H_
#define XGBGPU_METRIC_RANKING_OPS_H_

#include <cstdint>

#include "base/hd.h"
#include "core/portable_math.h"
#include "metric/auc_ops.h"
#include "metric/metric_sum.h"
#include "xgbgpu/metric.h"

namespace xgbgpu {

/// Sums over the rows of a group. {} is the empty sum.
struct GroupSum {
  double gain;          ///< pre: hits; map: precisions; ndcg: gains in the order of predictions; aucpr: the area
  double best_gain;     ///< ndcg: gains in the order of labels
  std::uint64_t count;  ///< map: hits; auc: pairs in order, twice, and pairs of equal predictions
  std::uint64_t bad;    ///< ndcg, aucpr: as in MetricSum
};
XGBGPU_HD GroupSum Combine(GroupSum const& a, GroupSum const& b) {
  return {a.gain + b.gain, a.best_gain + b.best_gain, a.count + b.count, a.bad > b.bad ? a.bad : b.bad};
}

constexpr std::uint32_t kMostRelevant = 30;  ///< 2^label - 1 is a 32-bit integer in stock

/// Rows begin … begin + size - 1 of the data.
struct RankingGroup {
  std::uint64_t begin;
  std::uint64_t size;
};
XGBGPU_HD RankingGroup GroupOf(TargetView const& targets, std::uint64_t rows, std::uint32_t group) {
  if (targets.group_ptr == nullptr) return {0, rows};
  return {targets.group_ptr[group], targets.group_ptr[group + 1] - targets.group_ptr[group]};
}

/// The terms of one group. Arrays belong to the data, not to the group.
struct RankingTerms {
  MetricParams params;
  TargetView targets;
  OutputView<float const> predictions;
  std::uint32_t const* by_prediction;  ///< rows, group by group, in the order of predictions; null for auc
  std::uint32_t const* by_label;       ///< rows, group by group, in the order of labels; for ndcg and auc
  CurvePoint const* points;            ///< for aucpr: inclusive prefix sums of the group's rows

  XGBGPU_HD float label(std::uint32_t row) const { return targets.labels[row]; }

  /// Returns true if the row at `position` (from 0) is a hit. NaN is a hit, as its integer part in stock.
  XGBGPU_HD bool IsHit(RankingGroup const& group, std::uint64_t position) const {
    float const y = label(by_prediction[group.begin + position]);
    return !(y > -1.0f && y < 1.0f);
  }

  /// Returns labels in fixed point, for aucpr. They are 0 to 1, or the metric is an error.
  XGBGPU_HD CurvePoint PointOf(RankingGroup const& group, std::uint64_t position) const {
    float const y = label(by_prediction[group.begin + position]);
    constexpr std::uint32_t kOne = 0x3F800000U;  // bits of 1.0f
    if (!(y >= 0.0f && y <= 1.0f)) return {0, 0};
    return ToFixedPoint({y, 1.0f - y}, kOne, ScaleByPowerOfTwo(1.0, CurveShift(kOne, group.size)));
  }

  /// Returns the term of a position. hits: up to and including the position; for map.
  XGBGPU_HD GroupSum operator()(RankingGroup const& group, std::uint64_t position, std::uint64_t hits) const {
    bool const counts = position < params.top;
    switch (params.kind) {
      case Metric::kPre:
        return {counts && IsHit(group, position) ? 1.0 : 0.0, 0.0, 0, 0};
      case Metric::kMap: {
        if (!IsHit(group, position)) return {0.0, 0.0, 0, 0};
        double const precision = static_cast<double>(hits) / static_cast<double>(position + 1);
        return {counts ? precision : 0.0, 0.0, 1, 0};
      }
      case Metric::kNdcg: {
        std::uint32_t const row = by_prediction[group.begin + position];
        float const y = label(row);
        // NaN fails, too.
        if (!(y > -1.0f && y < static_cast<float>(kMostRelevant + 1))) return {0.0, 0.0, 0, BadLabel(row, y)};
        if (!counts) return {0.0, 0.0, 0, 0};
        return {Gain(y, position), Gain(label(by_label[group.begin + position]), position), 0, 0};
      }
      case Metric::kAucpr:
        return AreaTo(group, position);
      default:
        return {0.0, 0.0, PairsFrom(group, position), 0};
    }
  }

  /// Returns the value of a group from its sums, with weight 1 if it has one.
  XGBGPU_HD MetricSum Finish(std::uint32_t index, RankingGroup const& group, GroupSum const& sum) const {
    double const nothing_to_find = params.without_hits_is_zero ? 0.0 : 1.0;
    switch (params.kind) {
      case Metric::kPre:
        return {sum.gain / static_cast<double>(params.top), 1.0, 0};
      case Metric::kMap:
        return {sum.count == 0 ? nothing_to_find : sum.gain / static_cast<double>(sum.count), 1.0, 0};
      case Metric::kNdcg:
        return {sum.best_gain == 0.0 ? nothing_to_find : sum.gain / sum.best_gain, 1.0, sum.bad};
      case Metric::kAucpr: {
        CurvePoint const total = group.size == 0 ? CurvePoint{0, 0} : points[group.begin + group.size - 1];
        bool const has_weight = targets.weights == nullptr || targets.weights[index] > 0.0f;
        if (!has_weight || total.positive <= 0 || total.negative <= 0) return {0.0, 0.0, sum.bad};
        return {sum.gain < 1.0 ? sum.gain : 1.0, 1.0, sum.bad};  // only rounding can exceed 1
      }
      default: {
        if (group.size < 3) return {0.0, 0.0, 0};
        if (targets.weights != nullptr && targets.weights[index] == 0.0f) return {0.0, 1.0, 0};
        double const pairs = static_cast<double>(group.size) * static_cast<double>(group.size - 1);
        return {static_cast<double>(sum.count) / pairs, 1.0, 0};
      }
    }
  }

 private:
  /// Returns the step of the curve that ends at the position; 0 if none ends there.
  XGBGPU_HD GroupSum AreaTo(RankingGroup const& group, std::uint64_t position) const {
    std::uint32_t const row = by_prediction[group.begin + position];
    float const y = label(row);
    if (!(y >= 0.0f && y <= 1.0f)) return {0.0, 0.0, 0, BadLabel(row, y)};
    auto const key = [&](std::uint64_t at) {
      return PredictionKey(predictions.at(by_prediction[group.begin + at], 0));
    };
    if (position + 1 < group.size && key(position + 1) == key(position)) return {0.0, 0.0, 0, 0};
    std::uint64_t const start = RunStart(key, position);
    CurvePoint const* const sums = points + group.begin;
    CurvePoint const from = start == 0 ? CurvePoint{0, 0} : sums[start - 1];
    return {PrecisionRecallStep(from, sums[position], sums[group.size - 1].positive), 0.0, 0, 0};
  }

  /// Returns the gain of a label. A label outside 0 … kMostRelevant makes the metric an error in any case.
  static XGBGPU_HD double Gain(float label, std::uint64_t position) {
    if (!(label >= 1.0f && label < static_cast<float>(kMostRelevant + 1))) return 0.0;
    constexpr double kInverseLn2 = 1.44269504088896338700e+00;
    double const log2 = PortableLog(static_cast<double>(position) + 2.0) * kInverseLn2;
    return static_cast<double>((1U << static_cast<std::uint32_t>(label)) - 1) / log2;
  }

  XGBGPU_HD std::uint64_t PairsFrom(RankingGroup const& group, std::uint64_t position) const {
    float const p = predictions.at(by_label[group.begin + position], 0);
    std::uint64_t count = 0;
    for (std::uint64_t other = position + 1; other < group.size; ++other) {
      float const q = predictions.at(by_label[group.begin + other], 0);
      count += p > q ? 2 : p == q ? 1 : 0;
    }
    return count;
  }
};

}  // namespace xgbgpu

#endif  // XGBGPU_METRIC_RANKING_OPS_H_
