// Computes gradients of the ranking objectives on a device.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "base/float_bits.h"
#include "base/message.h"
#include "cuda/grid.h"
#include "objective/rank_cuda.h"
#include "objective/rank_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr char const* kWhat = "computing gradients of ranking";

__device__ std::uint32_t FirstIndex() { return blockIdx.x * kThreads + threadIdx.x; }
__device__ std::uint32_t IndexStep() { return gridDim.x * kThreads; }  // below 2^31 rows no sum of both overflows

/// A view of all groups for kernels. Arrays, except `ideal`, have a place for each row. The places of a group are
/// contiguous.
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

__global__ void __launch_bounds__(kThreads)
    LabelOrderKernel(RankGroups groups, std::uint64_t const* keys, std::uint32_t const* order,
                     std::uint32_t* label_keys, std::uint32_t* by_label) {
  for (std::uint32_t i = FirstIndex(); i < groups.rows; i += IndexStep()) {
    label_keys[i] = static_cast<std::uint32_t>(keys[i]);
    by_label[i] = order[i] - groups.First(static_cast<std::uint32_t>(keys[i] >> 32));
  }
}

__global__ void __launch_bounds__(kThreads)
    PlacesKernel(RankGroups groups, std::uint32_t const* group_of, std::uint32_t const* order, std::uint32_t* places) {
  for (std::uint32_t i = FirstIndex(); i < groups.rows; i += IndexStep())
    places[order[i]] = i - groups.First(group_of[i]);
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

template <typename MakeWeights>
__global__ void __launch_bounds__(kThreads)
    PairsKernel(RankData data, OutputView<float const> margins, PairDraws draws, std::int64_t* sums) {
  for (std::uint32_t i = FirstIndex(); i < data.groups.rows; i += IndexStep()) {
    std::uint32_t const group = data.group_of[i];
    RankOrder const order = data.Order(group);
    AddPairs(order, i - order.first, margins, draws, MakeWeights::Of(data, group, order),
             [&](std::uint32_t row, RankSum const& sum) {
               std::int64_t* const to = sums + 2 * (std::size_t{order.first} + row);
               AtomicAdd(to, sum.grad);
               AtomicAdd(to + 1, sum.hess);
             });
  }
}

__global__ void __launch_bounds__(kThreads)
    FinishKernel(ObjectiveParams params, RankData data, float const* weights, double const* weight_sum,
                 std::int64_t const* sums, OutputView<GradientPair> gradients) {
  for (std::uint32_t row = FirstIndex(); row < data.groups.rows; row += IndexStep()) {
    std::uint32_t const group = data.group_of[row];
    double const weight = weights == nullptr ? 1.0 : weights[group];
    double const sum = weights == nullptr ? data.groups.groups : *weight_sum;
    double const factor = FactorOfGroup(params, data.groups.Size(group), data.groups.groups, weight, sum);
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
        data_{groups, targets.labels, {}, {}, {}, {}, {}, {}, {}, {}} {
    std::size_t const rows = groups.rows;
    for (auto& keys : s_.keys) Reserve(&keys, s_.arena, "order of ranking", rows);
    for (auto& order : s_.order) Reserve(&order, s_.arena, "order of ranking", rows);
    for (auto* array : {&s_.group_of, &s_.label_keys, &s_.by_label}) Reserve(array, s_.arena, "order of ranking", rows);
    Reserve(&s_.sums, s_.arena, "sums of ranking", 2 * rows);
    data_.group_of = s_.group_of.data();
    data_.label_keys = s_.label_keys.data();
    data_.by_label = s_.by_label.data();
  }

  void SortByLabel() {
    FindGroupsKernel<<<blocks_, kThreads, 0, stream_>>>(data_.groups, s_.group_of.data());
    Sort(RowMajor(targets_.labels, data_.groups.rows, 1));
    LabelOrderKernel<<<blocks_, kThreads, 0, stream_>>>(data_.groups, keys_, order_, s_.label_keys.data(),
                                                        s_.by_label.data());
  }

  void SortByMargin(OutputView<float const> const& margins) {
    Reserve(&s_.places, s_.arena, "order of ranking", data_.groups.rows);
    data_.places = s_.places.data();
    Sort(margins);
    PlacesKernel<<<blocks_, kThreads, 0, stream_>>>(data_.groups, s_.group_of.data(), order_, s_.places.data());
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
    FillBytes(s_.sums.data(), 0, 2 * std::size_t{data_.groups.rows}, stream_, kWhat);
    PairsKernel<MakeWeights><<<blocks_, kThreads, 0, stream_>>>(data_, margins, draws, s_.sums.data());
  }

  void Finish(ObjectiveParams const& params, OutputView<GradientPair> const& gradients) {
    Reserve(&s_.weight_sum, s_.arena, "sums of ranking", 1);
    if (targets_.weights != nullptr) {
      WeightSumKernel<<<1, kWeightSums, 0, stream_>>>(targets_.weights, data_.groups.groups, s_.weight_sum.data());
    }
    FinishKernel<<<blocks_, kThreads, 0, stream_>>>(params, data_, targets_.weights, s_.weight_sum.data(),
                                                    s_.sums.data(), gradients);
    CheckLaunch(kWhat);
  }

 private:
  /// Sorts the rows of each group by descending value. The sort is stable.
  void Sort(OutputView<float const> const& values) {
    MakeKeysKernel<<<blocks_, kThreads, 0, stream_>>>(s_.group_of.data(), values, s_.keys[0].data(),
                                                      s_.order[0].data());
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
  RankData data_;
  std::uint64_t const* keys_{nullptr};   ///< of the last sort
  std::uint32_t const* order_{nullptr};  ///< rows in the sorted order
};

}  // namespace

void ComputeRankGradients(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                          OutputView<GradientPair> gradients, RankScratch* scratch, DeviceLimits const& limits,
                          cudaStream_t stream) {
  if (scratch == nullptr) Throw<InvalidArgument>("Gradients of ranking on a device need memory: RankScratch is null");
  if (margins.rows == 0) return;
  PairDraws const draws{params.seed, params.iteration, params.num_pairsample};
  Ranker ranker{RankGroups{targets, margins.rows}, targets, scratch, limits, stream};
  ranker.SortByLabel();
  if (params.kind == Objective::kRankPairwise) {
    ranker.AddAll<MakeEqualPairs>(margins, draws);
  } else if (params.kind == Objective::kRankNdcg) {
    ranker.SortByMargin(margins);
    ranker.SumIdealGains();
    ranker.AddAll<MakeNdcgPairs>(margins, draws);
  } else {
    ranker.SortByMargin(margins);
    ranker.SumPrecisions();
    ranker.AddAll<MakeMapPairs>(margins, draws);
  }
  ranker.Finish(params, gradients);
}

}  // namespace xgbgpu::cuda
