// Computes gradients of the ranking objectives on a device.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "base/float_bits.h"
#include "base/message.h"
#include "cuda/grid.h"
#include "objective/position_bias.h"
#include "objective/rank_cuda.h"
#include "objective/rank_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr std::uint32_t kWarp = 32;
/// Groups of up to so many rows are sorted by counting: each row counts the rows of its group that come before it.
constexpr std::uint32_t kCountedRows = 256;
constexpr char const* kWhat = "computing gradients of ranking";

__device__ std::uint32_t FirstIndex() { return blockIdx.x * kThreads + threadIdx.x; }
__device__ std::uint32_t IndexStep() { return gridDim.x * kThreads; }  // below 2^31 rows no sum of both overflows

/// A view of all groups for kernels. Arrays, except those of groups and places, have a place for each row. The places
/// of a group are contiguous.
struct RankData {
  RankGroups groups;
  float const* labels;
  std::uint32_t const* group_of;
  std::uint32_t const* label_keys;
  std::uint32_t const* by_label;
  std::uint32_t const* places;
  std::int64_t const* ideal;
  std::uint32_t const* hits;
  std::uint64_t const* precision;
  std::uint64_t const* inverse;
  // LambdaRank's:
  std::uint32_t const* by_margin;  ///< rows of the group
  double const* discounts;         ///< of each place of the largest group
  double const* inverse_ideal;     ///< of each group
  bool has_exp_gain;

  __device__ MarginOrder ByMargin(std::uint32_t group, OutputView<float const> const& margins) const {
    std::uint32_t const first = groups.First(group);
    return {first, groups.Size(group), labels + first, by_margin + first, margins};
  }
  __device__ RankOrder Order(std::uint32_t group) const {
    std::uint32_t const first = groups.First(group);
    return {first, groups.Size(group), label_keys + first, by_label + first};
  }
  __device__ int ShiftOfGains(RankOrder const& order) const {
    return GainShift(labels[order.first + order.by_label[0]], order.rows);
  }
};

// Each type below computes the weights of a group's pairs.

struct MakeEqualPairs {
  __device__ static EqualPairs Of(RankData const&, std::uint32_t, RankOrder const&) { return {}; }
};
struct MakeNdcgPairs {
  __device__ static NdcgPairs Of(RankData const& data, std::uint32_t group, RankOrder const& order) {
    return {data.labels + order.first, data.places + order.first, data.ideal[group], data.ShiftOfGains(order)};
  }
};
struct MakeLambdaNdcgPairs {
  __device__ static NdcgPairs Of(RankData const& data, std::uint32_t group, RankOrder const& order) {
    return {data.labels + order.first, data.places + order.first, data.inverse_ideal[group], data.discounts,
            data.has_exp_gain};
  }
};
struct MakeMapPairs {
  __device__ static MapPairs Of(RankData const& data, std::uint32_t, RankOrder const& order) {
    std::uint32_t const first = order.first;
    std::uint32_t const hits_before = first == 0 ? 0 : data.hits[first - 1];
    std::uint64_t const precision_before = first == 0 ? 0 : data.precision[first - 1];
    return {data.labels + first,
            data.places + first,
            {data.hits + first, data.precision + first, data.inverse + first, hits_before, precision_before},
            order.rows};
  }
};

__global__ void __launch_bounds__(kThreads) FindGroupsKernel(RankGroups groups, std::uint32_t* group_of) {
  for (std::uint32_t row = FirstIndex(); row < groups.rows; row += IndexStep()) group_of[row] = groups.Of(row);
}

__global__ void __launch_bounds__(kThreads)
    MakeKeysKernel(std::uint32_t const* group_of, OutputView<float const> values, std::uint64_t* keys,
                   std::uint32_t* order) {
  for (std::uint32_t row = FirstIndex(); row < values.rows; row += IndexStep()) {
    keys[row] = (std::uint64_t{group_of[row]} << 32) | DescendingKey(values.at(row, 0));
    order[row] = row;
  }
}

/// Sorts the rows of small groups as a stable sort by key does.
__global__ void __launch_bounds__(kThreads)
    CountPlacesKernel(RankGroups groups, std::uint32_t const* group_of, std::uint64_t const* keys,
                      std::uint64_t* sorted, std::uint32_t* order) {
  for (std::uint32_t row = FirstIndex(); row < groups.rows; row += IndexStep()) {
    std::uint32_t const group = group_of[row], first = groups.First(group), end = first + groups.Size(group);
    std::uint64_t const key = keys[row];
    std::uint32_t place = first;
    // The earlier row comes first where two keys are equal. A group's number is below 2^31, so key + 1 does not
    // overflow.
    for (std::uint32_t other = first; other < end; ++other) place += keys[other] < key + (other < row ? 1 : 0) ? 1 : 0;
    sorted[place] = key;
    order[place] = row;
  }
}

__global__ void __launch_bounds__(kThreads)
    LabelOrderKernel(RankGroups groups, std::uint64_t const* keys, std::uint32_t const* order,
                     std::uint32_t* label_keys, std::uint32_t* by_label) {
  for (std::uint32_t i = FirstIndex(); i < groups.rows; i += IndexStep()) {
    label_keys[i] = static_cast<std::uint32_t>(keys[i]);
    by_label[i] = order[i] - groups.First(static_cast<std::uint32_t>(keys[i] >> 32));
  }
}

__global__ void __launch_bounds__(kThreads)
    PlacesKernel(RankGroups groups, std::uint32_t const* group_of, std::uint32_t const* order, std::uint32_t* places,
                 std::uint32_t* by_margin) {
  for (std::uint32_t i = FirstIndex(); i < groups.rows; i += IndexStep()) {
    std::uint32_t const first = groups.First(group_of[i]);
    places[order[i]] = i - first;
    by_margin[i] = order[i] - first;
  }
}

/// Sums the gains of each group's best order. A warp whose rows are all of one group adds once.
__global__ void __launch_bounds__(kThreads) IdealKernel(RankData data, std::int64_t* ideal) {
  std::uint32_t const rows = data.groups.rows;
  for (std::uint32_t base = FirstIndex() / 32 * 32; base < rows; base += IndexStep()) {
    std::uint32_t const i = base + threadIdx.x % 32;
    bool const here = i < rows;
    std::uint32_t const group = data.group_of[here ? i : base];
    RankOrder const order = data.Order(group);
    std::uint32_t const place = here ? i - order.first : 0;
    float const label = data.labels[order.first + order.by_label[place]];
    std::int64_t const gain = here ? DiscountedGain(label, DiscountOf(place), data.ShiftOfGains(order)) : 0;
    if (__all_sync(kAllLanes, group == __shfl_sync(kAllLanes, group, 0))) {
      std::int64_t const sum = WarpSum(gain);
      if (threadIdx.x % 32 == 0 && sum != 0) AtomicAdd(&ideal[group], sum);
    } else if (gain != 0) {
      AtomicAdd(&ideal[group], gain);
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    RelevanceKernel(float const* labels, std::uint32_t const* order, std::uint32_t rows, std::uint32_t* hits) {
  for (std::uint32_t i = FirstIndex(); i < rows; i += IndexStep()) hits[i] = labels[order[i]] > 0.0f ? 1 : 0;
}

__global__ void __launch_bounds__(kThreads)
    PrecisionKernel(RankData data, std::uint32_t const* order, std::uint64_t* precision, std::uint64_t* inverse) {
  for (std::uint32_t i = FirstIndex(); i < data.groups.rows; i += IndexStep()) {
    std::uint32_t const group = data.group_of[i], first = data.groups.First(group);
    bool const relevant = data.labels[order[i]] > 0.0f;
    std::uint32_t const hits = data.hits[i] - (first == 0 ? 0 : data.hits[first - 1]);
    double const unit = detail::PowerOfTwo(MapShift(data.groups.Size(group)));
    precision[i] = relevant ? PrecisionTerm(hits, i - first, unit) : 0;
    inverse[i] = relevant ? PrecisionTerm(1, i - first, unit) : 0;
  }
}

/// Sums weights in the host's order: a thread computes each of the sums, then one thread adds them.
__global__ void __launch_bounds__(kWeightSums)
    WeightSumKernel(float const* weights, std::uint32_t groups, double* weight_sum) {
  __shared__ double sums[kWeightSums];
  double own = 0.0;
  for (std::uint32_t g = threadIdx.x; g < groups; g += kWeightSums) own += static_cast<double>(weights[g]);
  sums[threadIdx.x] = own;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double sum = 0.0;
  for (double const part : sums) sum += part;
  *weight_sum = sum;
}

/// Sums of all rows: two integers a row.
struct RowSums {
  std::int64_t* gradients;
  std::int64_t* losses;  ///< with biases
};

/// Adds to the sums of a group's rows.
struct AddToSums {
  RowSums sums;
  std::uint32_t first;

  __device__ void operator()(std::uint32_t row, RankSum const& sum) const {
    std::int64_t* const to = sums.gradients + 2 * (std::size_t{first} + row);
    AtomicAdd(to, sum.grad);
    AtomicAdd(to + 1, sum.hess);
  }
  __device__ void operator()(std::uint32_t row, UnbiasedSum const& sum) const {
    (*this)(row, sum.gradients);
    std::int64_t* const to = sums.losses + 2 * (std::size_t{first} + row);
    if (sum.as_high != 0) AtomicAdd(to, sum.as_high);
    if (sum.as_low != 0) AtomicAdd(to + 1, sum.as_low);
  }
};

// Each type below makes the terms of a group's pairs.

struct MakePairTerms {
  using Terms = PairTerms;
  __device__ static PairTerms Of(LambdaRank const& params, std::uint32_t rows, BiasView const&) {
    return {detail::PowerOfTwo(LambdaShift(params, rows, 0))};
  }
};
struct MakeUnbiasedTerms {
  using Terms = UnbiasedTerms;
  __device__ static UnbiasedTerms Of(LambdaRank const& params, std::uint32_t rows, BiasView const& biases) {
    return TermsOf(params, rows, biases);
  }
};

template <typename MakeWeights>
__global__ void __launch_bounds__(kThreads)
    PairsKernel(RankData data, OutputView<float const> margins, PairDraws draws, RowSums sums) {
  for (std::uint32_t i = FirstIndex(); i < data.groups.rows; i += IndexStep()) {
    std::uint32_t const group = data.group_of[i];
    RankOrder const order = data.Order(group);
    AddPairs(order, i - order.first, margins, draws, MakeWeights::Of(data, group, order), AddToSums{sums, order.first});
  }
}

__global__ void __launch_bounds__(kThreads) DiscountsKernel(std::uint32_t places, double* discounts) {
  for (std::uint32_t i = FirstIndex(); i < places; i += IndexStep()) discounts[i] = DiscountOf(i);
}

/// A warp takes a group.
__global__ void __launch_bounds__(kThreads)
    InverseIdealKernel(RankData data, LambdaRank params, double* inverse_ideal) {
  static_assert(kIdealSums == kWarp);
  std::uint32_t const lane = threadIdx.x % kWarp;
  for (std::uint32_t group = FirstIndex() / kWarp; group < data.groups.groups; group += IndexStep() / kWarp) {
    RankOrder const order = data.Order(group);
    double const own = IdealSum(params, order, data.labels + order.first, data.discounts, lane);
    double ideal = 0.0;
    for (int part = 0; part < static_cast<int>(kWarp); ++part) ideal += __shfl_sync(kAllLanes, own, part);
    if (lane == 0) inverse_ideal[group] = InverseOf(ideal);
  }
}

template <typename MakeWeights, typename MakeTerms>
__global__ void __launch_bounds__(kThreads)
    DrawnLambdasKernel(RankData data, OutputView<float const> margins, LambdaRank params, BiasView biases,
                       PairDraws draws, RowSums sums) {
  for (std::uint32_t i = FirstIndex(); i < data.groups.rows; i += IndexStep()) {
    std::uint32_t const group = data.group_of[i];
    RankOrder const order = data.Order(group);
    ByScore const weight_of{MakeWeights::Of(data, group, order), data.ByMargin(group, margins),
                            params.normalizes_by_score};
    AddPairs(order, i - order.first, margins, draws, weight_of, MakeTerms::Of(params, order.rows, biases),
             AddToSums{sums, order.first});
  }
}

/// What a lane of a warp adds up for its own row, over its pairs with rows at smaller places.
template <typename Sum>
struct TopSums {
  Sum own{};
  std::int64_t total{0};  ///< of gradients, without signs
};

__device__ std::int64_t Shuffled(std::int64_t number, std::uint32_t from, std::uint32_t width) {
  return __shfl_sync(kAllLanes, number, static_cast<int>(from), static_cast<int>(width));
}
__device__ RankSum Shuffled(RankSum const& sum, std::uint32_t from, std::uint32_t width) {
  return {Shuffled(sum.grad, from, width), Shuffled(sum.hess, from, width)};
}
__device__ UnbiasedSum Shuffled(UnbiasedSum const& sum, std::uint32_t from, std::uint32_t width) {
  return {Shuffled(sum.gradients, from, width), Shuffled(sum.as_high, from, width), Shuffled(sum.as_low, from, width)};
}

/// Computes the pairs of a warp's rows with the `count` rows from the place `begin` on. `own` is the row of the lane,
/// if it is of this group. The other rows go round the warp with their sums: at each turn every lane has another one,
/// and no two lanes of a round add to the same sum. The rounds are as narrow as a power of 2 allows. All lanes call it.
template <typename WeightOf, typename Terms>
__device__ void AddTile(MarginOrder const& order, bool is_here, RankRow const& own, std::uint32_t begin,
                        std::uint32_t count, WeightOf const& weight_of, Terms const& terms, AddToSums const& add,
                        TopSums<typename Terms::Sum>* sums) {
  std::uint32_t const width = 1U << CeilLog2(count), home = threadIdx.x % width, next = (home + 1) % width;
  std::uint32_t const home_place = begin + (home < count ? home : count - 1);
  RankRow other = order.At(home_place);
  std::uint32_t const home_row = other.row;
  typename Terms::Sum others{};
  for (std::uint32_t turn = 0; turn < width; ++turn) {
    std::uint32_t const at = (home + turn) % width;
    other.place = begin + at;
    if (is_here && at < count && other.place < own.place && own.label != other.label) {
      VisitPair(own, other, weight_of, terms, [&](auto const& of_own, auto const& of_other) {
        sums->own += of_own;
        sums->total += Magnitude(GradientsOf(of_own).grad);
        others += of_other;
      });
    }
    if constexpr (Terms::kReadsRows) {
      other.row = __shfl_sync(kAllLanes, other.row, static_cast<int>(next), static_cast<int>(width));
    }
    other.label = __shfl_sync(kAllLanes, other.label, static_cast<int>(next), static_cast<int>(width));
    other.margin = __shfl_sync(kAllLanes, other.margin, static_cast<int>(next), static_cast<int>(width));
    others = Shuffled(others, next, width);
  }
  if (GradientsOf(others).hess != 0) add(home_row, others);  // hessians of pairs are above 0
}

/// Computes the pairs of topk. A warp takes 32 places, and the rows of one group among them at a time.
template <typename MakeWeights, typename MakeTerms>
__global__ void __launch_bounds__(kThreads)
    TopLambdasKernel(RankData data, OutputView<float const> margins, LambdaRank params, BiasView biases, RowSums sums,
                     std::int64_t* totals) {
  std::uint32_t const rows = data.groups.rows, lane = threadIdx.x % kWarp;
  for (std::uint32_t base = FirstIndex() - lane; base < rows; base += IndexStep()) {
    std::uint32_t const i = base + lane;
    std::uint32_t const group_here = data.group_of[i < rows ? i : rows - 1];
    for (unsigned left = __ballot_sync(kAllLanes, i < rows); left != 0;) {
      std::uint32_t const group = __shfl_sync(kAllLanes, group_here, __ffs(static_cast<int>(left)) - 1);
      bool const is_here = i < rows && group_here == group;
      unsigned const lanes = __ballot_sync(kAllLanes, is_here);
      left &= ~lanes;
      MarginOrder const order = data.ByMargin(group, margins);
      ByScore const weight_of{MakeWeights::Of(data, group, data.Order(group)), order, params.normalizes_by_score};
      auto const terms = MakeTerms::Of(params, order.rows, biases);
      AddToSums const add{sums, order.first};
      std::uint32_t const last = base + 31U - static_cast<std::uint32_t>(__clz(static_cast<int>(lanes))) - order.first;
      std::uint32_t const end = last < params.pairs ? last : params.pairs;
      RankRow const own = order.At(is_here ? i - order.first : last);
      TopSums<typename MakeTerms::Terms::Sum> of_lane;
      for (std::uint32_t begin = 0; begin < end; begin += kWarp) {
        AddTile(order, is_here, own, begin, min(kWarp, end - begin), weight_of, terms, add, &of_lane);
      }
      if (GradientsOf(of_lane.own).hess != 0) add(own.row, of_lane.own);
      PairTotal const total = PairTotal::Of(of_lane.total);
      std::int64_t const high = WarpSum(total.high), low = WarpSum(total.low);
      if (lane != 0) continue;
      if (high != 0) AtomicAdd(totals + 2 * std::size_t{group}, high);
      if (low != 0) AtomicAdd(totals + 2 * std::size_t{group} + 1, low);
    }
  }
}

/// Adds up the losses of rows at the same position. A block takes a position and a part of the groups.
__global__ void __launch_bounds__(kThreads)
    LossesKernel(RankGroups groups, std::uint32_t positions, std::int64_t const* of_rows, std::int64_t* losses) {
  std::uint32_t const step = gridDim.y * kThreads;
  for (std::uint32_t position = blockIdx.x; position < positions; position += gridDim.x) {
    std::int64_t sums[kLossesOfPosition]{};
    for (std::uint32_t group = blockIdx.y * kThreads + threadIdx.x; group < groups.groups; group += step) {
      if (position >= groups.Size(group)) continue;
      std::int64_t const* const of_row = of_rows + 2 * (std::size_t{groups.First(group)} + position);
      PairTotal const as_high = PairTotal::Of(of_row[0]), as_low = PairTotal::Of(of_row[1]);
      sums[0] += as_high.high;
      sums[1] += as_high.low;
      sums[2] += as_low.high;
      sums[3] += as_low.low;
    }
    for (std::size_t i = 0; i < kLossesOfPosition; ++i) {
      std::int64_t const sum = WarpSum(sums[i]);
      if (threadIdx.x % kWarp == 0 && sum != 0) AtomicAdd(losses + kLossesOfPosition * position + i, sum);
    }
  }
}

/// What the factor of a group depends on.
struct FactorParams {
  LambdaRank lambdarank;
  int bias_bits;
  std::uint32_t num_pairsample;
  float fix_list_weight;
};

__global__ void __launch_bounds__(kThreads)
    FinishKernel(FactorParams params, RankData data, GroupTotals all, float const* weights, double const* weight_sum,
                 std::int64_t const* sums, std::int64_t const* totals, OutputView<GradientPair> gradients) {
  for (std::uint32_t row = FirstIndex(); row < data.groups.rows; row += IndexStep()) {
    std::uint32_t const group = data.group_of[row];
    double const weight = weights == nullptr ? 1.0 : weights[group];
    bool const alone = all.groups == 0;
    double const sum = !alone ? all.weight : weights == nullptr ? data.groups.groups : *weight_sum;
    std::uint32_t const rows = data.groups.Size(group), groups = alone ? data.groups.groups : all.groups;
    double factor = 0.0;
    if (params.lambdarank.is_used) {
      PairTotal total{0, 0};
      if (params.lambdarank.has_top) total = {totals[2 * std::size_t{group}], totals[2 * std::size_t{group} + 1]};
      factor = FactorOfLambdas(params.lambdarank, rows, params.bias_bits, total, groups, weight, sum);
    } else {
      factor = FactorOfGroup(params.num_pairsample, params.fix_list_weight, rows, groups, weight, sum);
    }
    RankSum const of_row{sums[2 * std::size_t{row}], sums[2 * std::size_t{row} + 1]};
    gradients.at(row, 0) = GradientOf(of_row, factor);
  }
}

/// Runs the steps of one call.
class Ranker {
 public:
  Ranker(RankGroups const& groups, TargetView const& targets, RankScratch* scratch, DeviceLimits const& limits,
         cudaStream_t stream)
      : s_{*scratch},
        targets_{targets},
        blocks_{Blocks(groups.rows, kThreads, limits, kResident)},
        stream_{stream},
        largest_{scratch->largest_group == 0 ? groups.rows : scratch->largest_group},
        data_{groups, targets.labels, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}} {
    std::size_t const rows = groups.rows;
    for (auto& keys : s_.keys) Reserve(&keys, s_.arena, "order of ranking", rows);
    for (auto& order : s_.order) Reserve(&order, s_.arena, "order of ranking", rows);
    for (auto* array : {&s_.group_of, &s_.label_keys, &s_.by_label}) Reserve(array, s_.arena, "order of ranking", rows);
    Reserve(&s_.sums, s_.arena, "sums of ranking", 2 * rows);
    data_.group_of = s_.group_of.data();
    data_.label_keys = s_.label_keys.data();
    data_.by_label = s_.by_label.data();
    FindGroupsKernel<<<blocks_, kThreads, 0, stream_>>>(data_.groups, s_.group_of.data());
  }

  void SortByLabel() {
    Sort(RowMajor(targets_.labels, data_.groups.rows, 1));
    LabelOrderKernel<<<blocks_, kThreads, 0, stream_>>>(data_.groups, keys_, order_, s_.label_keys.data(),
                                                        s_.by_label.data());
  }

  void SortByMargin(OutputView<float const> const& margins) {
    for (auto* array : {&s_.places, &s_.by_margin}) Reserve(array, s_.arena, "order of ranking", data_.groups.rows);
    data_.places = s_.places.data();
    data_.by_margin = s_.by_margin.data();
    Sort(margins);
    PlacesKernel<<<blocks_, kThreads, 0, stream_>>>(data_.groups, s_.group_of.data(), order_, s_.places.data(),
                                                    s_.by_margin.data());
  }

  void SumIdealGains() {
    Reserve(&s_.ideal, s_.arena, "sums of ranking", data_.groups.groups);
    data_.ideal = s_.ideal.data();
    FillBytes(s_.ideal.data(), 0, data_.groups.groups, stream_, kWhat);
    IdealKernel<<<blocks_, kThreads, 0, stream_>>>(data_, s_.ideal.data());
  }

  /// Computes the sums for rank:map, in the memory of the sort's keys, which is free by then.
  void SumPrecisions() {
    Reserve(&s_.hits, s_.arena, "sums of ranking", data_.groups.rows);
    data_.hits = s_.hits.data();
    data_.precision = s_.keys[0].data();
    data_.inverse = s_.keys[1].data();
    RelevanceKernel<<<blocks_, kThreads, 0, stream_>>>(targets_.labels, order_, data_.groups.rows, s_.hits.data());
    Accumulate(s_.hits.data());
    PrecisionKernel<<<blocks_, kThreads, 0, stream_>>>(data_, order_, s_.keys[0].data(), s_.keys[1].data());
    for (auto& keys : s_.keys) Accumulate(keys.data());
  }

  template <typename MakeWeights>
  void AddAll(OutputView<float const> const& margins, PairDraws const& draws) {
    ClearSums();
    PairsKernel<MakeWeights><<<blocks_, kThreads, 0, stream_>>>(data_, margins, draws, Sums());
  }

  /// Finds the best orders' discounted gains, for rank:ndcg of LambdaRank.
  void SumLambdaGains(LambdaRank const& params) {
    std::uint32_t const groups = data_.groups.groups;
    Reserve(&s_.discounts, s_.arena, "discounts of ranking", largest_);
    Reserve(&s_.inverse_ideal, s_.arena, "sums of ranking", groups);
    data_.discounts = s_.discounts.data();
    data_.inverse_ideal = s_.inverse_ideal.data();
    data_.has_exp_gain = params.has_exp_gain;
    DiscountsKernel<<<blocks_, kThreads, 0, stream_>>>(largest_, s_.discounts.data());
    InverseIdealKernel<<<blocks_, kThreads, 0, stream_>>>(data_, params, s_.inverse_ideal.data());
  }

  template <typename MakeWeights>
  void AddLambdas(OutputView<float const> const& margins, LambdaRank const& params, PairDraws const& draws) {
    ClearSums();
    if (biases_.positions == 0) return AddTerms<MakeWeights, MakePairTerms>(margins, params, draws);
    std::size_t const losses = 2 * std::size_t{data_.groups.rows};
    Reserve(&s_.row_losses, s_.arena, "losses of ranking", losses);
    FillBytes(s_.row_losses.data(), 0, losses, stream_, kWhat);
    AddTerms<MakeWeights, MakeUnbiasedTerms>(margins, params, draws);
    AddUpLosses();
  }

  /// Copies biases to the device.
  void TakeBiases(ObjectiveParams const& params) {
    biases_ = ViewBiases(params);
    if (biases_.positions == 0) return;
    Reserve(&s_.biases, s_.arena, "biases of ranking", 2 * std::size_t{biases_.positions});
    float* const high = s_.biases.data();
    float* const low = high + biases_.positions;
    CopyToDevice(high, biases_.high, biases_.positions, stream_, kWhat);
    CopyToDevice(low, biases_.low, biases_.positions, stream_, kWhat);
    biases_.high = high;
    biases_.low = low;
  }

  void Finish(ObjectiveParams const& params, OutputView<GradientPair> const& gradients) {
    Reserve(&s_.weight_sum, s_.arena, "sums of ranking", 1);
    if (targets_.weights != nullptr) {
      WeightSumKernel<<<1, kWeightSums, 0, stream_>>>(targets_.weights, data_.groups.groups, s_.weight_sum.data());
    }
    FactorParams const of_group{params.lambdarank, biases_.bits(), params.num_pairsample, params.fix_list_weight};
    FinishKernel<<<blocks_, kThreads, 0, stream_>>>(of_group, data_, targets_.all_groups, targets_.weights,
                                                    s_.weight_sum.data(), s_.sums.data(), s_.totals.data(), gradients);
    CheckLaunch(kWhat);
  }

 private:
  /// Sorts the rows of each group by descending value. The sort is stable.
  void Sort(OutputView<float const> const& values) {
    MakeKeysKernel<<<blocks_, kThreads, 0, stream_>>>(s_.group_of.data(), values, s_.keys[0].data(),
                                                      s_.order[0].data());
    if (largest_ <= kCountedRows) {
      CountPlacesKernel<<<blocks_, kThreads, 0, stream_>>>(data_.groups, s_.group_of.data(), s_.keys[0].data(),
                                                           s_.keys[1].data(), s_.order[1].data());
      keys_ = s_.keys[1].data();
      order_ = s_.order[1].data();
      return;
    }
    cub::DoubleBuffer<std::uint64_t> keys{s_.keys[0].data(), s_.keys[1].data()};
    cub::DoubleBuffer<std::uint32_t> order{s_.order[0].data(), s_.order[1].data()};
    int const bits = 32 + CeilLog2(data_.groups.groups);
    auto const n = static_cast<int>(values.rows);
    std::size_t bytes = 0;
    CheckCuda(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, order, n, 0, bits, stream_), kWhat);
    Reserve(&s_.sort, s_.arena, "scratch of sorting", bytes);
    CheckCuda(cub::DeviceRadixSort::SortPairs(s_.sort.data(), bytes, keys, order, n, 0, bits, stream_), kWhat);
    keys_ = keys.Current();
    order_ = order.Current();
  }

  RowSums Sums() { return {s_.sums.data(), s_.row_losses.data()}; }

  template <typename MakeWeights, typename MakeTerms>
  void AddTerms(OutputView<float const> const& margins, LambdaRank const& params, PairDraws const& draws) {
    if (!params.has_top) {
      DrawnLambdasKernel<MakeWeights, MakeTerms>
          <<<blocks_, kThreads, 0, stream_>>>(data_, margins, params, biases_, draws, Sums());
      return;
    }
    Reserve(&s_.totals, s_.arena, "sums of ranking", 2 * std::size_t{data_.groups.groups});
    FillBytes(s_.totals.data(), 0, 2 * std::size_t{data_.groups.groups}, stream_, kWhat);
    TopLambdasKernel<MakeWeights, MakeTerms>
        <<<blocks_, kThreads, 0, stream_>>>(data_, margins, params, biases_, Sums(), s_.totals.data());
  }

  void AddUpLosses() {
    constexpr std::uint32_t kMostBlocks = 1024, kParts = 16;
    std::size_t const losses = kLossesOfPosition * biases_.positions;
    Reserve(&s_.losses, s_.arena, "losses of ranking", losses);
    FillBytes(s_.losses.data(), 0, losses, stream_, kWhat);
    dim3 const grid{min(biases_.positions, kMostBlocks), kParts};
    LossesKernel<<<grid, kThreads, 0, stream_>>>(data_.groups, biases_.positions, s_.row_losses.data(),
                                                 s_.losses.data());
  }

  void ClearSums() { FillBytes(s_.sums.data(), 0, 2 * std::size_t{data_.groups.rows}, stream_, kWhat); }

  template <typename T>
  void Accumulate(T* values) {
    auto const n = static_cast<int>(data_.groups.rows);
    std::size_t bytes = 0;
    CheckCuda(cub::DeviceScan::InclusiveSum(nullptr, bytes, values, values, n, stream_), kWhat);
    Reserve(&s_.sort, s_.arena, "scratch of sorting", bytes);
    CheckCuda(cub::DeviceScan::InclusiveSum(s_.sort.data(), bytes, values, values, n, stream_), kWhat);
  }

  RankScratch& s_;
  TargetView targets_;
  unsigned blocks_;
  cudaStream_t stream_;
  std::uint32_t largest_;  ///< rows of the largest group, or a bound
  RankData data_;
  BiasView biases_{};                    ///< on the device
  std::uint64_t const* keys_{nullptr};   ///< of the last sort
  std::uint32_t const* order_{nullptr};  ///< rows in the sorted order
};

/// Computes the sums of the objectives of 1.7.
void RankByDraws(ObjectiveParams const& params, OutputView<float const> const& margins, std::uint32_t first_row,
                 Ranker* ranker) {
  PairDraws const draws{params.seed, params.iteration, params.num_pairsample, first_row};
  ranker->SortByLabel();
  if (params.kind == Objective::kRankPairwise) return ranker->AddAll<MakeEqualPairs>(margins, draws);
  ranker->SortByMargin(margins);
  if (params.kind == Objective::kRankNdcg) {
    ranker->SumIdealGains();
    ranker->AddAll<MakeNdcgPairs>(margins, draws);
  } else {
    ranker->SumPrecisions();
    ranker->AddAll<MakeMapPairs>(margins, draws);
  }
}

/// Computes the sums of LambdaRank.
void RankByLambdas(ObjectiveParams const& params, OutputView<float const> const& margins, std::uint32_t first_row,
                   Ranker* ranker) {
  LambdaRank const& how = params.lambdarank;
  PairDraws const draws{params.seed, params.iteration, how.pairs, first_row};
  ranker->TakeBiases(params);
  if (!how.has_top || params.kind == Objective::kRankNdcg) ranker->SortByLabel();
  ranker->SortByMargin(margins);
  if (params.kind == Objective::kRankPairwise) {
    ranker->AddLambdas<MakeEqualPairs>(margins, how, draws);
  } else if (params.kind == Objective::kRankNdcg) {
    ranker->SumLambdaGains(how);
    ranker->AddLambdas<MakeLambdaNdcgPairs>(margins, how, draws);
  } else {
    ranker->SumPrecisions();
    ranker->AddLambdas<MakeMapPairs>(margins, how, draws);
  }
}

}  // namespace

void ComputeRankGradients(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                          OutputView<GradientPair> gradients, RankScratch* scratch, DeviceLimits const& limits,
                          cudaStream_t stream) {
  if (scratch == nullptr) Throw<InvalidArgument>("Gradients of ranking on a device need memory: RankScratch is null");
  if (margins.rows == 0) return;
  Ranker ranker{RankGroups{targets, margins.rows}, targets, scratch, limits, stream};
  if (params.lambdarank.is_used) {
    RankByLambdas(params, margins, targets.all_groups.first_row, &ranker);
  } else {
    RankByDraws(params, margins, targets.all_groups.first_row, &ranker);
  }
  ranker.Finish(params, gradients);
}

}  // namespace xgbgpu::cuda
