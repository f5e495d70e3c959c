// Computes ranking metrics on a device.
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "core/search.h"
#include "cuda/grid.h"
#include "metric/auc_ops.h"
#include "metric/metric_cuda.h"
#include "metric/ranking.h"
#include "metric/ranking_ops.h"
#include "metric/sum_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr char const* kWhat = "evaluating a ranking metric";

using HitScan = cub::BlockScan<std::uint32_t, kSumLanes>;
using PointScan = cub::BlockScan<CurvePoint, kSumLanes>;

struct AddPoints {
  __device__ CurvePoint operator()(CurvePoint const& a, CurvePoint const& b) const { return a + b; }
};

/// Returns the group of a row: the last group that begins at or before it, which is not empty.
__device__ std::uint32_t GroupOfRow(TargetView const& targets, std::uint64_t row) {
  if (targets.group_ptr == nullptr) return 0;
  return RangeOf(targets.groups, row, [&](std::uint32_t g) { return targets.group_ptr[g]; });
}

/// Writes keys that sort rows by group, then by value, the largest first.
__global__ void __launch_bounds__(kThreads) GroupKeysKernel(TargetView targets, OutputView<float const> predictions,
                                                            bool by_label, std::uint64_t* keys, std::uint32_t* row_of) {
  std::uint64_t const stride = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < predictions.rows; row += stride) {
    float const value = by_label ? targets.labels[row] : predictions.at(row, 0);
    keys[row] = std::uint64_t{GroupOfRow(targets, row)} << 32 | PredictionKey(value);
    row_of[row] = static_cast<std::uint32_t>(row);
  }
}

/// Writes the inclusive prefix sums of a group's rows, for aucpr. A block of threads takes a group.
__global__ void __launch_bounds__(kSumLanes)
    GroupPointsKernel(RankingTerms terms, std::uint32_t groups, CurvePoint* points) {
  __shared__ typename PointScan::TempStorage storage;
  for (std::uint32_t g = blockIdx.x; g < groups; g += gridDim.x) {
    RankingGroup const group = GroupOf(terms.targets, terms.predictions.rows, g);
    CurvePoint before{0, 0};
    for (std::uint64_t base = 0; base < group.size; base += kSumLanes) {
      std::uint64_t const position = base + threadIdx.x;
      bool const there = position < group.size;
      CurvePoint const own = there ? terms.PointOf(group, position) : CurvePoint{0, 0};
      CurvePoint sum, all;
      PointScan{storage}.InclusiveScan(own, sum, AddPoints{}, all);
      __syncthreads();  // the next turn reuses `storage`
      if (there) points[group.begin + position] = before + sum;
      before = before + all;
    }
  }
}

/// Returns, in thread 0, the sum over positions begin … end - 1 of the group, in the order of metric_sum.h.
/// `hits_before` counts the hits before `begin`. All kSumLanes threads of the block call it.
__device__ GroupSum SumPositions(RankingTerms const& terms, RankingGroup const& group, std::uint64_t begin,
                                 std::uint64_t end, std::uint64_t hits_before, HitScan::TempStorage* storage) {
  bool const counts_hits = terms.params.kind == Metric::kMap;
  GroupSum lane{};
  for (std::uint64_t base = begin; base < end; base += kSumLanes) {
    std::uint64_t const position = base + threadIdx.x;
    bool const there = position < end;
    std::uint32_t hits = 0;
    if (counts_hits) {
      std::uint32_t all;
      HitScan{*storage}.InclusiveSum(there && terms.IsHit(group, position) ? 1U : 0U, hits, all);
      __syncthreads();  // the next turn reuses `storage`
      if (there) lane = Combine(lane, terms(group, position, hits_before + hits));
      hits_before += all;
    } else if (there) {
      lane = Combine(lane, terms(group, position, 0));
    }
  }
  return AddLanes(lane);
}

// A group of more than kSumBlock rows is long: a block of threads sums each of its blocks. FirstSum is the place of
// their first sum. A long group has at most 2 * floor(size / kSumBlock) blocks, so groups do not overlap, and 2 *
// floor(rows / kSumBlock) is room for all.
__device__ bool IsLong(RankingGroup const& group) { return group.size > kSumBlock; }
__device__ std::uint64_t FirstSum(RankingGroup const& group) { return group.begin / kSumBlock * 2; }

/// Calls each(group, block) for every block of every long group. A block of threads takes a row whose number is a
/// multiple of kSumBlock. A long group has one such row for each of its blocks, or one less. The thread block of the
/// last one takes the remaining blocks, too.
template <typename Each>
__device__ void ForLongBlocks(TargetView const& targets, std::uint64_t rows, Each&& each) {
  std::uint64_t const marks = SumBlocks(rows);
  for (std::uint64_t mark = blockIdx.x; mark < marks; mark += gridDim.x) {
    RankingGroup const group = GroupOf(targets, rows, GroupOfRow(targets, mark * kSumBlock));
    if (!IsLong(group)) continue;
    std::uint64_t const first = SumBlocks(group.begin);
    std::uint64_t const last = (group.begin + group.size - 1) / kSumBlock;
    std::uint64_t const end = mark == last ? SumBlocks(group.size) : mark - first + 1;
    for (std::uint64_t b = mark - first; b < end; ++b) each(group, b);
  }
}

/// Counts the hits in every block of every long group, for map.
__global__ void __launch_bounds__(kSumLanes) LongHitsKernel(RankingTerms terms, std::uint64_t* hits) {
  ForLongBlocks(terms.targets, terms.predictions.rows, [&](RankingGroup const& group, std::uint64_t b) {
    std::uint64_t const end = min(group.size, (b + 1) * kSumBlock);
    GroupSum lane{};
    for (std::uint64_t position = b * kSumBlock + threadIdx.x; position < end; position += kSumLanes) {
      lane.count += terms.IsHit(group, position) ? 1 : 0;
    }
    lane = AddLanes(lane);
    if (threadIdx.x == 0) hits[FirstSum(group) + b] = lane.count;
  });
}

/// Writes the sum of every block of every long group.
__global__ void __launch_bounds__(kSumLanes)
    LongBlocksKernel(RankingTerms terms, std::uint64_t const* hits, GroupSum* sums) {
  __shared__ typename HitScan::TempStorage storage;
  __shared__ std::uint64_t hits_before;
  ForLongBlocks(terms.targets, terms.predictions.rows, [&](RankingGroup const& group, std::uint64_t b) {
    std::uint64_t const first = FirstSum(group);
    if (hits != nullptr) {
      GroupSum lane{};
      for (std::uint64_t before = threadIdx.x; before < b; before += kSumLanes) lane.count += hits[first + before];
      lane = AddLanes(lane);
      if (threadIdx.x == 0) hits_before = lane.count;
      __syncthreads();
    }
    GroupSum const sum = SumPositions(terms, group, b * kSumBlock, min(group.size, (b + 1) * kSumBlock),
                                      hits != nullptr ? hits_before : 0, &storage);
    if (threadIdx.x == 0) sums[first + b] = sum;
  });
}

/// Writes the value of every group. A block of threads takes a group and sums its positions, or, if the group is long,
/// the sums of its blocks.
__global__ void __launch_bounds__(kSumLanes)
    GroupsKernel(RankingTerms terms, std::uint32_t groups, GroupSum const* long_sums, MetricSum* values) {
  __shared__ typename HitScan::TempStorage storage;
  for (std::uint32_t g = blockIdx.x; g < groups; g += gridDim.x) {
    RankingGroup const group = GroupOf(terms.targets, terms.predictions.rows, g);
    GroupSum sum{};
    if (IsLong(group)) {
      std::uint64_t const blocks = SumBlocks(group.size);
      for (std::uint64_t b = threadIdx.x; b < blocks; b += kSumLanes) {
        sum = Combine(sum, long_sums[FirstSum(group) + b]);
      }
      sum = AddLanes(sum);
    } else {
      sum = SumPositions(terms, group, 0, group.size, 0, &storage);
    }
    if (threadIdx.x == 0) values[g] = terms.Finish(g, group, sum);
  }
}

/// Returns the sums of long groups for GroupsKernel, in memory that sorting has used before, or null if no group can be
/// long.
GroupSum const* SumLongGroups(RankingTerms const& terms, MetricScratch* scratch, DeviceLimits const& limits,
                              cudaStream_t stream) {
  std::uint64_t const rows = terms.predictions.rows;
  if (rows <= kSumBlock) return nullptr;
  std::uint64_t const room = rows / kSumBlock * 2;
  unsigned const blocks = Blocks(SumBlocks(rows), 1, limits, kResident);
  std::uint64_t* hits = nullptr;
  if (terms.params.kind == Metric::kMap) {
    hits = scratch->At<std::uint64_t>(MetricScratch::kKeys, room);
    LongHitsKernel<<<blocks, kSumLanes, 0, stream>>>(terms, hits);
    CheckLaunch(kWhat);
  }
  auto* const sums = scratch->At<GroupSum>(MetricScratch::kSortedKeys, room);
  LongBlocksKernel<<<blocks, kSumLanes, 0, stream>>>(terms, hits, sums);
  CheckLaunch(kWhat);
  return sums;
}

struct GroupValues {
  MetricSum const* values;
  __device__ MetricSum operator()(std::uint64_t g) const { return values[g]; }
};

__global__ void __launch_bounds__(kSumLanes)
    AddGroupsKernel(GroupValues values, std::uint32_t groups, MetricSum* block_sums, std::uint32_t* finished,
                    MetricSum* result) {
  SumTerms(values, groups, block_sums, finished, [=](MetricSum const& sum) { *result = sum; });
}

/// Returns the rows in the order of predictions or labels, group by group, in the scratch.
std::uint32_t const* SortRows(TargetView const& targets, OutputView<float const> const& predictions, bool by_label,
                              std::uint32_t groups, MetricScratch* scratch, DeviceLimits const& limits,
                              Stream const& stream) {
  std::uint64_t const rows = predictions.rows;
  if (rows == 0) return nullptr;
  auto* const keys = scratch->At<std::uint64_t>(MetricScratch::kKeys, rows);
  auto* const sorted_keys = scratch->At<std::uint64_t>(MetricScratch::kSortedKeys, rows);
  auto* const row_of = scratch->At<std::uint32_t>(MetricScratch::kRows, rows);
  auto* const sorted_rows =
      scratch->At<std::uint32_t>(by_label ? MetricScratch::kRowsByLabel : MetricScratch::kSortedRows, rows);
  GroupKeysKernel<<<Blocks(rows, 4 * kThreads, limits, kResident), kThreads, 0, stream>>>(targets, predictions,
                                                                                          by_label, keys, row_of);
  CheckLaunch(kWhat);
  int bits = 32;
  while (bits < 64 && (std::uint64_t{groups} - 1) >> (bits - 32) != 0) ++bits;
  auto const sort = [&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted_keys, row_of, sorted_rows, rows, 0, bits,
                                           static_cast<cudaStream_t>(stream));
  };
  std::size_t bytes = 0;
  CheckCuda(sort(nullptr, bytes), kWhat);
  CheckCuda(sort(scratch->At<std::uint8_t>(MetricScratch::kSort, bytes), bytes), kWhat);
  return sorted_rows;
}

}  // namespace

double EvaluateRanking(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                       MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream) {
  std::uint32_t const groups = targets.group_ptr == nullptr ? 1 : targets.groups;
  RankingTerms terms{params, targets, predictions, nullptr, nullptr, nullptr};
  if (params.kind != Metric::kAuc) {
    terms.by_prediction = SortRows(targets, predictions, false, groups, scratch, limits, stream);
  }
  if (params.kind == Metric::kAuc || params.kind == Metric::kNdcg) {
    terms.by_label = SortRows(targets, predictions, true, groups, scratch, limits, stream);
  }
  if (params.kind == Metric::kAucpr) {
    auto* const points = scratch->At<CurvePoint>(MetricScratch::kPoints, predictions.rows);
    GroupPointsKernel<<<Blocks(groups, 1, limits, kResident), kSumLanes, 0, stream>>>(terms, groups, points);
    CheckLaunch(kWhat);
    terms.points = points;
  }
  GroupSum const* const long_sums = SumLongGroups(terms, scratch, limits, stream);
  auto* const values = scratch->At<MetricSum>(MetricScratch::kGroupValues, groups);
  GroupsKernel<<<Blocks(groups, 1, limits, kResident), kSumLanes, 0, stream>>>(terms, groups, long_sums, values);
  CheckLaunch(kWhat);
  auto* const block_sums = scratch->At<MetricSum>(MetricScratch::kBlockSums, SumBlocks(groups));
  auto* const result = scratch->At<MetricSum>(MetricScratch::kResult, 1);
  AddGroupsKernel<<<Blocks(groups, kSumBlock, limits, kResident), kSumLanes, 0, stream>>>(
      GroupValues{values}, groups, block_sums, scratch->Finished(stream), result);
  CheckLaunch(kWhat);
  return FinishRanking(params, *scratch->Fetch(result, 1, stream, kWhat));
}

}  // namespace xgbgpu::cuda
