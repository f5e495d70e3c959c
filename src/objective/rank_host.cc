// Computes gradients of the ranking objectives on the host, group by group.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "base/buffer.h"
#include "base/float_bits.h"
#include "base/parallel.h"
#include "objective/all_rows.h"
#include "objective/position_bias.h"
#include "objective/rank.h"
#include "objective/rank_ops.h"
#include "xgbgpu/error.h"

namespace xgbgpu::host {

namespace {

double SumOfWeights(float const* weights, std::uint32_t groups) {
  if (weights == nullptr) return groups;
  std::array<double, kWeightSums> sums{};
  for (std::uint32_t g = 0; g < groups; ++g) sums[g % kWeightSums] += static_cast<double>(weights[g]);
  double sum = 0.0;
  for (double const part : sums) sum += part;
  return sum;
}

/// Returns true if no shard has groups, so that all rows are one. Throws if some shards have groups and some have none.
bool AreOneGroup(TargetView const& targets, std::uint64_t rows, Collective& collective) {
  std::int64_t any[] = {targets.groups != 0 ? 1 : 0, targets.groups == 0 && rows != 0 ? 1 : 0};
  collective.Max({any, 2});
  if (any[0] != 0 && any[1] != 0) {
    throw InvalidArgument{
        "Some shards of the rows have ranking groups (qid) and some have none; allowed: groups of all rows, or none"};
  }
  return any[0] == 0;
}

/// Computes the gradients of one group at a time. Later groups reuse its memory.
class GroupRanker {
 public:
  explicit GroupRanker(BiasView const& biases) : biases_{biases}, losses_(kLossesOfPosition * biases.positions) {}

  /// Returns the losses of the positions of all groups so far.
  std::vector<std::int64_t> const& losses() const { return losses_; }

  void Run(ObjectiveParams const& params, RankGroups const& groups, std::uint32_t group, GroupTotals const& all,
           double weight, TargetView const& targets, OutputView<float const> const& margins,
           OutputView<GradientPair> const& gradients) {
    std::uint32_t const first = groups.First(group), rows = groups.Size(group);
    if (rows == 0) return;
    float const* const labels = targets.labels + first;
    Sort(rows, [&](std::uint32_t row) { return labels[row]; });
    Reserve(rows);
    for (std::uint32_t i = 0; i < rows; ++i) {
      label_keys_[i] = static_cast<std::uint32_t>(sorted_[i] >> 32);
      by_label_[i] = static_cast<std::uint32_t>(sorted_[i]);
    }
    RankOrder const order{first, rows, label_keys_.data(), by_label_.data()};
    std::fill_n(sums_.begin(), rows, RankSum{0, 0});
    double factor = 0.0;
    if (params.lambdarank.is_used) {
      SortByMargin(first, rows, margins);
      PairTotal const total = AddLambdas(params, order, labels, margins, all.first_row);
      factor = FactorOfLambdas(params.lambdarank, rows, biases_.bits(), total, all.groups, weight, all.weight);
      AddLosses(rows);
    } else {
      PairDraws const draws{params.seed, params.iteration, params.num_pairsample, all.first_row};
      PairTerms const terms{detail::PowerOfTwo(PairShift(rows, draws.samples))};
      if (params.kind != Objective::kRankPairwise) SortByMargin(first, rows, margins);
      if (params.kind == Objective::kRankPairwise) AddAll(order, margins, draws, EqualPairs{}, terms);
      if (params.kind == Objective::kRankNdcg) AddAll(order, margins, draws, Ndcg(order, labels), terms);
      if (params.kind == Objective::kRankMap) AddAll(order, margins, draws, Map(rows, labels), terms);
      factor = FactorOfGroup(params.num_pairsample, params.fix_list_weight, rows, all.groups, weight, all.weight);
    }
    for (std::uint32_t row = 0; row < rows; ++row) gradients.at(first + row, 0) = GradientOf(sums_[row], factor);
  }

 private:
  void Reserve(std::uint32_t rows) {
    if (sums_.size() >= rows) return;
    for (auto* array : {&label_keys_, &by_label_, &by_margin_, &places_, &hits_}) array->resize(rows);
    for (auto* array : {&precision_, &inverse_}) array->resize(rows);
    sums_.resize(rows);
  }

  /// Adds to the sums of rows.
  struct Adder {
    GroupRanker* ranker;

    void operator()(std::uint32_t row, RankSum const& sum) const { ranker->sums_[row] += sum; }
    void operator()(std::uint32_t row, UnbiasedSum const& sum) const {
      ranker->sums_[row] += sum.gradients;
      if (row >= ranker->biases_.positions) return;
      ranker->row_losses_[2 * row] += sum.as_high;
      ranker->row_losses_[2 * row + 1] += sum.as_low;
    }
  };

  /// Adds the losses of a group to the losses of all groups.
  void AddLosses(std::uint32_t rows) {
    std::uint32_t const positions = std::min(rows, biases_.positions);
    for (std::size_t i = 0; i < std::size_t{2} * positions; ++i) {
      auto const loss = PairTotal::Of(row_losses_[i]);
      losses_[2 * i] += loss.high;
      losses_[2 * i + 1] += loss.low;
    }
  }

  /// Sorts the rows by descending value, stably.
  template <typename ValueOf>
  void Sort(std::uint32_t rows, ValueOf const& value_of) {
    sorted_.resize(rows);
    for (std::uint32_t row = 0; row < rows; ++row)
      sorted_[row] = (std::uint64_t{DescendingKey(value_of(row))} << 32) | row;
    std::sort(sorted_.begin(), sorted_.end());
  }

  void SortByMargin(std::uint32_t first, std::uint32_t rows, OutputView<float const> const& margins) {
    Sort(rows, [&](std::uint32_t row) { return margins.at(first + row, 0); });
    for (std::uint32_t i = 0; i < rows; ++i) {
      by_margin_[i] = static_cast<std::uint32_t>(sorted_[i]);
      places_[by_margin_[i]] = i;
    }
  }

  double const* Discounts(std::uint32_t rows) {
    for (auto place = static_cast<std::uint32_t>(discounts_.size()); place < rows; ++place) {
      discounts_.push_back(DiscountOf(place));
    }
    return discounts_.data();
  }

  PairTotal AddLambdas(ObjectiveParams const& params, RankOrder const& order, float const* labels,
                       OutputView<float const> const& margins, std::uint32_t first_row_of_shard) {
    auto const add = [&](auto const& weight_of) {
      return AddLambdasOf(params, order, labels, margins, first_row_of_shard, weight_of);
    };
    if (params.kind == Objective::kRankPairwise) return add(EqualPairs{});
    if (params.kind == Objective::kRankMap) return add(Map(order.rows, labels));
    double const* const discounts = Discounts(order.rows);
    double ideal = 0.0;
    for (std::uint32_t part = 0; part < kIdealSums; ++part) {
      ideal += IdealSum(params.lambdarank, order, labels, discounts, part);
    }
    return add(NdcgPairs{labels, places_.data(), InverseOf(ideal), discounts, params.lambdarank.has_exp_gain});
  }

  template <typename WeightOf>
  PairTotal AddLambdasOf(ObjectiveParams const& params, RankOrder const& order, float const* labels,
                         OutputView<float const> const& margins, std::uint32_t first_row_of_shard,
                         WeightOf const& weight_of) {
    LambdaRank const& how = params.lambdarank;
    MarginOrder const by_margin{order.first, order.rows, labels, by_margin_.data(), margins};
    ByScore<WeightOf> const of_pair{weight_of, by_margin, how.normalizes_by_score};
    auto const add = [&](auto const& terms) {
      PairTotal total{0, 0};
      if (!how.has_top) {
        AddAll(order, margins, {params.seed, params.iteration, how.pairs, first_row_of_shard}, of_pair, terms);
        return total;
      }
      for (std::uint32_t place = 0; place < order.rows; ++place) {
        auto const sum = PairTotal::Of(AddTopPairs(by_margin, place, how.pairs, of_pair, terms, Adder{this}));
        total.high += sum.high;
        total.low += sum.low;
      }
      return total;
    };
    if (biases_.positions == 0) return add(PairTerms{detail::PowerOfTwo(LambdaShift(how, order.rows, 0))});
    row_losses_.assign(std::size_t{2} * std::min(order.rows, biases_.positions), 0);
    return add(TermsOf(how, order.rows, biases_));
  }

  NdcgPairs Ndcg(RankOrder const& order, float const* labels) {
    Discounts(order.rows);
    int const shift = GainShift(labels[order.by_label[0]], order.rows);
    std::int64_t ideal = 0;
    for (std::uint32_t i = 0; i < order.rows; ++i) {
      ideal += DiscountedGain(labels[order.by_label[i]], discounts_[i], shift);
    }
    return {labels, places_.data(), ideal, shift, discounts_.data()};
  }

  MapPairs Map(std::uint32_t rows, float const* labels) {
    double const unit = detail::PowerOfTwo(MapShift(rows));
    std::uint32_t hits = 0;
    std::uint64_t precision = 0, inverse = 0;
    for (std::uint32_t i = 0; i < rows; ++i) {
      if (labels[static_cast<std::uint32_t>(sorted_[i])] > 0.0f) {
        ++hits;
        precision += PrecisionTerm(hits, i, unit);
        inverse += PrecisionTerm(1, i, unit);
      }
      hits_[i] = hits;
      precision_[i] = precision;
      inverse_[i] = inverse;
    }
    return {labels, places_.data(), {hits_.data(), precision_.data(), inverse_.data(), 0, 0}, rows};
  }

  template <typename WeightOf, typename Terms>
  void AddAll(RankOrder const& order, OutputView<float const> const& margins, PairDraws const& draws,
              WeightOf const& weight_of, Terms const& terms) {
    for (std::uint32_t place = 0; place < order.rows; ++place) {
      AddPairs(order, place, margins, draws, weight_of, terms, Adder{this});
    }
  }

  BiasView biases_;
  std::vector<std::int64_t> row_losses_;  ///< [rows with a bias × 2] UnbiasedSum's of the group
  std::vector<std::int64_t> losses_;      ///< [positions × kLossesOfPosition]

  std::vector<std::uint64_t> sorted_;  ///< key in the upper half, row in the lower
  std::vector<std::uint32_t> label_keys_, by_label_, by_margin_, places_, hits_;
  std::vector<std::uint64_t> precision_, inverse_;
  std::vector<double> discounts_;  ///< of the places of the largest group so far
  std::vector<RankSum> sums_;
};

}  // namespace

GroupTotals AddUpGroups(TargetView const& targets, std::uint64_t rows, Collective& collective) {
  RankGroups const own{targets, rows};
  float const* const weights = targets.weights;
  if (collective.shards() == 1) return {own.groups, SumOfWeights(weights, own.groups), 0};
  std::uint32_t const groups = rows == 0 ? 0 : own.groups;
  auto const all = static_cast<std::uint32_t>(collective.SumOf(groups));
  std::vector<float> const of_all = GatherAll(collective, Span<float const>{weights, weights == nullptr ? 0 : groups});
  if (!of_all.empty() && of_all.size() != all) {
    throw InvalidArgument{
        "Some shards of the rows have weights of ranking groups and some have none; allowed: all or none"};
  }
  return {all, SumOfWeights(of_all.empty() ? nullptr : of_all.data(), all),
          static_cast<std::uint32_t>(Shard::Place(&collective, rows).first_row)};
}

void ComputeRankGradients(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                          OutputView<GradientPair> gradients, int threads, Collective& collective,
                          std::vector<std::int64_t>* losses) {
  if (collective.shards() > 1 && AreOneGroup(targets, margins.rows, collective)) {
    AllRows const all{targets, margins, collective};
    Buffer<GradientPair> all_gradients{all.rows()};
    ComputeRankGradients(params, all.targets(), all.values(), RowMajor(all_gradients.data(), all.rows(), 1), threads,
                         NoOtherShards(), losses);
    for (std::uint64_t row = 0; row < margins.rows; ++row) {
      gradients.at(row, 0) = all_gradients[all.first_row() + row];
    }
    return;
  }
  RankGroups const groups{targets, margins.rows};
  GroupTotals const all = AddUpGroups(targets, margins.rows, collective);
  BiasView const biases = ViewBiases(params);
  std::vector<GroupRanker> rankers(static_cast<std::size_t>(std::max(threads, 1)), GroupRanker{biases});
  ParallelTasks(threads, margins.rows == 0 ? 0 : groups.groups, [&](std::size_t task, int thread) {
    auto const group = static_cast<std::uint32_t>(task);
    double const weight = targets.weights == nullptr ? 1.0 : targets.weights[group];
    rankers[static_cast<std::size_t>(thread)].Run(params, groups, group, all, weight, targets, margins, gradients);
  });
  if (losses == nullptr || biases.positions == 0) return;
  losses->assign(kLossesOfPosition * biases.positions, 0);
  for (GroupRanker const& ranker : rankers) {
    std::transform(losses->cbegin(), losses->cend(), ranker.losses().cbegin(), losses->begin(), std::plus<>{});
  }
  collective.Sum(Span<std::int64_t>{losses->data(), losses->size()});
}

}  // namespace xgbgpu::host
