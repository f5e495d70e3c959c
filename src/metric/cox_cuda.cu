// Computes cox-nloglik on a device.
#include "base/message.h"
#include "cuda/grid.h"
#include "metric/cox.h"
#include "metric/metric_cuda.h"
#include "metric/sum_cuda.cuh"
#include "objective/from_end_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kResident = 8;
constexpr char const* kWhat = "evaluating cox-nloglik";

struct PredictionOf {
  OutputView<float const> predictions;
  __device__ double operator()(std::uint64_t, std::uint32_t row) const { return predictions.at(row, 0); }
};

__global__ void __launch_bounds__(kSumLanes) CoxSumKernel(CoxTerms terms, std::uint64_t rows, MetricSum* block_sums,
                                                          std::uint32_t* finished, MetricSum* result) {
  SumTerms(terms, rows, block_sums, finished, [=](MetricSum const& sum) { *result = sum; });
}

}  // namespace

double EvaluateCox(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                   MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream) {
  std::uint64_t const rows = predictions.rows;
  if (rows == 0) return FinishSum(params, MetricSum{}, 1);
  if (targets.by_time.rows == nullptr) {
    Throw<InvalidArgument>("Metric cox-nloglik on a device needs rows in order of time: by_time is null");
  }
  auto* const at_risk = scratch->At<double>(MetricScratch::kPoints, rows);
  auto* const before = scratch->At<double>(MetricScratch::kRows, ScanBlocks(rows));
  auto* const block_sums = scratch->At<MetricSum>(MetricScratch::kBlockSums, SumBlocks(rows));
  auto* const result = scratch->At<MetricSum>(MetricScratch::kResult, 1);
  std::uint32_t* const finished = scratch->Finished(stream);
  SumFromEnd(targets.by_time, rows, PredictionOf{predictions}, at_risk, before, finished, limits, stream, kWhat);
  CoxTerms const terms{targets.labels, predictions, targets.by_time, at_risk};
  CoxSumKernel<<<Blocks(rows, kSumBlock, limits, kResident), kSumLanes, 0, stream>>>(terms, rows, block_sums, finished,
                                                                                     result);
  CheckLaunch(kWhat);
  return FinishSum(params, *scratch->Fetch(result, 1, stream, kWhat), 1);
}

}  // namespace xgbgpu::cuda
