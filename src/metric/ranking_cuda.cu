#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "core/grid.h"
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

/// The group of a row: the last that begins at or before it and is not empty.
__device__ std::uint32_t GroupOfRow(TargetView const& targets, std::uint64_t row) {
  if (targets.group_ptr == nullptr) return 0;
  std::uint32_t low = 0, high = targets.groups;  // group_ptr[low] <= row < group_ptr[high]
  while (high - low > 1) {
    std::uint32_t const middle = low + (high - low) / 2;
    if (targets.group_ptr[middle] <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Keys that sort rows by group, then by value, the largest first.
__global__ void __launch_bounds__(kThreads) GroupKeysKernel(TargetView targets, OutputView<float const> predictions,
                                                            bool by_label, std::uint64_t* keys, std::uint32_t* row_of) {
  std::uint64_t const stride = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < predictions.rows; row += stride) {
    float const value = by_label ? targets.labels[row] : predictions.at(row, 0);
    keys[row] = std::uint64_t{GroupOfRow(targets, row)} << 32 | DescendingKey(value);
    row_of[row] = static_cast<std::uint32_t>(row);
  }
}

/// For aucpr: sums of each group's rows up to each position. A block of threads takes a group.
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
      __syncthreads();  // `storage` is used again
      if (there) points[group.begin + position] = before + sum;
      before = before + all;
    }
  }
}

/// A block of threads takes a group, and the positions of it in the order of metric_sum.h.
__global__ void __launch_bounds__(kSumLanes) GroupsKernel(RankingTerms terms, std::uint32_t groups, MetricSum* values) {
  __shared__ typename HitScan::TempStorage storage;
  bool const counts_hits = terms.params.kind == Metric::kMap;
  for (std::uint32_t g = blockIdx.x; g < groups; g += gridDim.x) {
    RankingGroup const group = GroupOf(terms.targets, terms.predictions.rows, g);
    GroupSum lane{};
    std::uint64_t hits_before = 0;
    for (std::uint64_t base = 0; base < group.size; base += kSumLanes) {
      std::uint64_t const position = base + threadIdx.x;
      bool const there = position < group.size;
      std::uint32_t hits = 0;
      if (counts_hits) {
        std::uint32_t all;
        HitScan{storage}.InclusiveSum(there && terms.IsHit(group, position) ? 1U : 0U, hits, all);
        __syncthreads();  // `storage` is used again
        if (there) lane = Combine(lane, terms(group, position, hits_before + hits));
        hits_before += all;
      } else if (there) {
        lane = Combine(lane, terms(group, position, 0));
      }
    }
    GroupSum const sum = AddLanes(lane);
    if (threadIdx.x == 0) values[g] = terms.Finish(g, group, sum);
  }
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

/// Rows in the order of predictions or labels, group by group, into `part` of the scratch.
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
  unsigned const blocks = Blocks(groups, 1, limits, kResident);
  if (params.kind == Metric::kAucpr) {
    auto* const points = scratch->At<CurvePoint>(MetricScratch::kPoints, predictions.rows);
    GroupPointsKernel<<<blocks, kSumLanes, 0, stream>>>(terms, groups, points);
    CheckLaunch(kWhat);
    terms.points = points;
  }
  auto* const values = scratch->At<MetricSum>(MetricScratch::kGroupValues, groups);
  GroupsKernel<<<blocks, kSumLanes, 0, stream>>>(terms, groups, values);
  CheckLaunch(kWhat);
  auto* const block_sums = scratch->At<MetricSum>(MetricScratch::kBlockSums, SumBlocks(groups));
  auto* const result = scratch->At<MetricSum>(MetricScratch::kResult, 1);
  AddGroupsKernel<<<Blocks(groups, kSumBlock, limits, kResident), kSumLanes, 0, stream>>>(
      GroupValues{values}, groups, block_sums, scratch->Finished(stream), result);
  CheckLaunch(kWhat);
  return FinishRanking(params, *scratch->Fetch(result, 1, stream, kWhat));
}

}  // namespace xgbgpu::cuda
