// Evaluates metrics that are sums over rows on a device.
#include <algorithm>

#include "cuda/grid.h"
#include "metric/auc.h"
#include "metric/metric_cuda.h"
#include "metric/metric_ops.h"
#include "metric/ranking.h"
#include "metric/sum_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kResident = 8;

template <typename Terms>
__global__ void __launch_bounds__(kSumLanes)
    SumKernel(Terms terms, std::uint64_t n, MetricSum* block_sums, std::uint32_t* finished, MetricSum* result) {
  SumTerms(terms, n, block_sums, finished, [=](MetricSum const& sum) { *result = sum; });
}

/// Writes the sums of a shard's whole blocks, and the terms of its other items.
template <typename Terms>
__global__ void __launch_bounds__(kSumLanes) ShardKernel(Terms terms, ShardItems items, MetricSum* values) {
  for (std::uint64_t b = blockIdx.x; b < items.blocks; b += gridDim.x) {
    MetricSum lane{};
    std::uint64_t const begin = items.begin(b), end = min(items.size, begin + kSumBlock);
    for (std::uint64_t i = begin + threadIdx.x; i < end; i += kSumLanes) lane = Combine(lane, terms(i));
    lane = AddLanes(lane);
    if (threadIdx.x == 0) values[b] = lane;
  }
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kSumLanes + threadIdx.x; i < items.loose();
       i += std::uint64_t{gridDim.x} * kSumLanes) {
    values[items.blocks + i] = terms(items.loose_item(i));
  }
}

}  // namespace

void SumShardItems(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                   ShardItems const& items, MetricSum* values, MetricScratch* scratch, DeviceLimits const& limits,
                   Stream const& stream) {
  constexpr char const* kWhat = "evaluating a metric";
  std::uint64_t const n = items.blocks + items.loose();
  if (n == 0) return;
  auto* const on_device = scratch->At<MetricSum>(MetricScratch::kBlockSums, n);
  VisitTerms(params, targets, predictions, [&](auto const& terms) {
    ShardKernel<<<Blocks(items.size, kSumBlock, limits, kResident), kSumLanes, 0, stream>>>(terms, items, on_device);
    CheckLaunch(kWhat);
  });
  MetricSum const* const found = scratch->Fetch(on_device, n, stream, kWhat);
  std::copy(found, found + n, values);
}

std::uint32_t* MetricScratch::Finished(Stream const& stream) {
  if (Reserve(&finished_, arena_, "metrics", 1)) {
    FillBytes(finished_.data(), 0, 1, stream, "preparing evaluation");
  }
  return finished_.data();
}

double Evaluate(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream) {
  constexpr char const* kWhat = "evaluating a metric";
  CheckMetricInput(params, targets, predictions);
  if (IsRanking(params.kind, targets)) {
    return EvaluateRanking(params, targets, predictions, scratch, limits, stream);
  }
  if (IsArea(params.kind)) return EvaluateArea(params.kind, targets, predictions, scratch, limits, stream);
  if (params.kind == Metric::kCoxNloglik) return EvaluateCox(params, targets, predictions, scratch, limits, stream);
  auto* const result = scratch->At<MetricSum>(MetricScratch::kResult, 1);
  std::uint32_t* const finished = scratch->Finished(stream);
  VisitTerms(params, targets, predictions, [&](auto const& terms) {
    std::uint64_t const n = terms.size();
    auto* const block_sums = scratch->At<MetricSum>(MetricScratch::kBlockSums, SumBlocks(n));
    SumKernel<<<Blocks(n, kSumBlock, limits, kResident), kSumLanes, 0, stream>>>(terms, n, block_sums, finished,
                                                                                 result);
    CheckLaunch(kWhat);
  });
  return FinishSum(params, *scratch->Fetch(result, 1, stream, kWhat), predictions.outputs);
}

}  // namespace xgbgpu::cuda
