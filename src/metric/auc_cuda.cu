// Computes auc and aucpr of any rows on a device.
#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "cuda/grid.h"
#include "metric/auc.h"
#include "metric/auc_ops.h"
#include "metric/metric_cuda.h"
#include "metric/sum_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kThreadRows = 8;
constexpr int kBlockRows = kThreads * kThreadRows;  // equals kSumBlock: one array serves both kinds of sums
constexpr char const* kWhat = "evaluating an area under a curve";

using PointScan = cub::BlockScan<CurvePoint, kThreads>;

struct AddPoints {
  __device__ CurvePoint operator()(CurvePoint const& a, CurvePoint const& b) const { return a + b; }
};

/// Writes keys and numbers of rows. Writes the largest weight, and if one is negative, to *result, which must be 0
/// before.
__global__ void __launch_bounds__(kThreads)
    KeysKernel(CurveRows weights, OutputView<float const> predictions, std::uint32_t output, std::uint32_t* keys,
               std::uint32_t* row_of, ClassArea* result) {
  std::uint32_t largest = 0, negative = 0;
  std::uint64_t const stride = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < predictions.rows; row += stride) {
    keys[row] = PredictionKey(predictions.at(row, output));
    row_of[row] = static_cast<std::uint32_t>(row);
    RowWeights const w = weights(row);
    largest = max(largest, LargerMagnitude(w));
    negative |= AnyNegative(w);
  }
  for (int d = 16; d > 0; d /= 2) {
    largest = max(largest, __shfl_xor_sync(kAllLanes, largest, d));
    negative |= __shfl_xor_sync(kAllLanes, negative, d);
  }
  if (threadIdx.x % 32 != 0) return;
  // Most warps find an equal weight there already, which saves thousands of atomics on one word.
  if (largest > *static_cast<std::uint32_t volatile*>(&result->largest)) atomicMax(&result->largest, largest);
  if (negative != 0) atomicOr(&result->negative_weights, negative);
}

/// Fixed-point weights of sorted rows.
struct SortedWeights {
  CurveRows weights;
  std::uint32_t const* row_of;  ///< [rows]
  std::uint64_t rows;
  std::uint32_t largest;
  double scale;

  __device__ CurvePoint operator()(std::uint64_t i) const {
    return i < rows ? ToFixedPoint(weights(row_of[i]), largest, scale) : CurvePoint{0, 0};
  }
};

__device__ SortedWeights WeightsOf(CurveRows const& weights, std::uint32_t const* row_of, std::uint64_t rows,
                                   ClassArea const* result) {
  std::uint32_t const largest = result->largest;
  return {weights, row_of, rows, largest, ScaleByPowerOfTwo(1.0, CurveShift(largest, rows))};
}

/// Replaces before[b] by the sum of all rows before block b. The last block of threads adds the sums of all.
__global__ void __launch_bounds__(kThreads)
    BlockTotalsKernel(CurveRows weights, std::uint32_t const* row_of, std::uint64_t rows, CurvePoint* before,
                      std::uint32_t* finished, ClassArea* result) {
  __shared__ typename PointScan::TempStorage storage;
  SortedWeights const sorted = WeightsOf(weights, row_of, rows, result);
  std::uint64_t const blocks = (rows + kBlockRows - 1) / kBlockRows;
  CurvePoint sum, total;
  for (std::uint64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    CurvePoint mine{0, 0};
    for (int k = 0; k < kThreadRows; ++k) mine = mine + sorted(b * kBlockRows + k * kThreads + threadIdx.x);
    PointScan{storage}.ExclusiveScan(mine, sum, CurvePoint{0, 0}, AddPoints{}, total);
    if (threadIdx.x == 0) before[b] = total;
    __syncthreads();  // the next turn reuses `storage`
  }
  if (!IsLastBlock(finished, gridDim.x)) return;
  CurvePoint carry{0, 0};
  for (std::uint64_t base = 0; base < blocks; base += kThreads) {
    std::uint64_t const b = base + threadIdx.x;
    CurvePoint const mine = b < blocks ? LoadFresh(before + b) : CurvePoint{0, 0};
    PointScan{storage}.ExclusiveScan(mine, sum, CurvePoint{0, 0}, AddPoints{}, total);
    if (b < blocks) before[b] = carry + sum;
    carry = carry + total;
    __syncthreads();
  }
  if (threadIdx.x == 0) result->total = carry;
}

/// Replaces points[i] by the sum of sorted rows 0 … i.
__global__ void __launch_bounds__(kThreads)
    PointsKernel(CurveRows weights, std::uint32_t const* row_of, std::uint64_t rows, CurvePoint const* before,
                 ClassArea const* result, CurvePoint* points) {
  __shared__ typename PointScan::TempStorage storage;
  SortedWeights const sorted = WeightsOf(weights, row_of, rows, result);
  std::uint64_t const blocks = (rows + kBlockRows - 1) / kBlockRows;
  for (std::uint64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    std::uint64_t const first = b * kBlockRows + threadIdx.x * kThreadRows;
    CurvePoint own[kThreadRows];
    CurvePoint mine{0, 0};
    for (int k = 0; k < kThreadRows; ++k) {
      mine = mine + sorted(first + k);
      own[k] = mine;
    }
    CurvePoint start, total;
    PointScan{storage}.ExclusiveScan(mine, start, CurvePoint{0, 0}, AddPoints{}, total);
    start = start + before[b];
    for (int k = 0; k < kThreadRows; ++k) {
      if (first + k < rows) points[first + k] = start + own[k];
    }
    __syncthreads();  // the next turn reuses `storage`
  }
}

__global__ void __launch_bounds__(kSumLanes)
    AreaKernel(AreaTerms terms, double* block_sums, std::uint32_t* finished, ClassArea* result) {
  SumTerms(terms, terms.rows, block_sums, finished, [=](double sum) { result->area = sum; });
}

/// Memory for one class, used by all classes in turn.
struct Work {
  std::uint32_t *keys, *sorted_keys, *row_of, *sorted_rows;
  CurvePoint* points;
  CurvePoint* before;  ///< [blocks of rows]
  double* block_sums;  ///< shares the memory of `before`, which is not read any more
  std::uint32_t* finished;
  void* sort;
  std::size_t sort_bytes;
};

cudaError_t Sort(Work const& work, void* scratch, std::size_t* bytes, std::uint64_t rows, Stream const& stream) {
  return cub::DeviceRadixSort::SortPairs(scratch, *bytes, work.keys, work.sorted_keys, work.row_of, work.sorted_rows,
                                         rows, 0, 32, static_cast<cudaStream_t>(stream));
}

Work MakeWork(std::uint64_t rows, MetricScratch* scratch, Stream const& stream) {
  static_assert(kBlockRows == kSumBlock && sizeof(CurvePoint) >= sizeof(double));
  Work work{};
  work.keys = scratch->At<std::uint32_t>(MetricScratch::kKeys, rows);
  work.sorted_keys = scratch->At<std::uint32_t>(MetricScratch::kSortedKeys, rows);
  work.row_of = scratch->At<std::uint32_t>(MetricScratch::kRows, rows);
  work.sorted_rows = scratch->At<std::uint32_t>(MetricScratch::kSortedRows, rows);
  work.points = scratch->At<CurvePoint>(MetricScratch::kPoints, rows);
  work.before = scratch->At<CurvePoint>(MetricScratch::kBlockSums, SumBlocks(rows));
  work.block_sums = reinterpret_cast<double*>(work.before);
  work.finished = scratch->Finished(stream);
  CheckCuda(Sort(work, nullptr, &work.sort_bytes, rows, stream), kWhat);
  work.sort = scratch->At<std::uint8_t>(MetricScratch::kSort, work.sort_bytes);
  return work;
}

void EnqueueClass(Metric metric, CurveRows const& weights, OutputView<float const> const& predictions,
                  std::uint32_t output, Work const& work, ClassArea* result, DeviceLimits const& limits,
                  Stream const& stream) {
  std::uint64_t const rows = predictions.rows;
  unsigned const blocks = Blocks(rows, kBlockRows, limits, kResident);
  KeysKernel<<<Blocks(rows, 4 * kThreads, limits, kResident), kThreads, 0, stream>>>(weights, predictions, output,
                                                                                     work.keys, work.row_of, result);
  CheckLaunch(kWhat);
  std::size_t sort_bytes = work.sort_bytes;
  CheckCuda(Sort(work, work.sort, &sort_bytes, rows, stream), kWhat);
  BlockTotalsKernel<<<blocks, kThreads, 0, stream>>>(weights, work.sorted_rows, rows, work.before, work.finished,
                                                     result);
  CheckLaunch(kWhat);
  PointsKernel<<<blocks, kThreads, 0, stream>>>(weights, work.sorted_rows, rows, work.before, result, work.points);
  CheckLaunch(kWhat);
  AreaKernel<<<blocks, kSumLanes, 0, stream>>>(AreaTerms{metric, work.sorted_keys, work.points, rows}, work.block_sums,
                                               work.finished, result);
  CheckLaunch(kWhat);
}

}  // namespace

double EvaluateArea(Metric metric, TargetView const& targets, OutputView<float const> predictions,
                    MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream) {
  std::uint64_t const rows = predictions.rows;
  std::uint32_t const outputs = predictions.outputs;
  if (rows == 0) return FinishArea(metric, 0, nullptr, 0);
  if (targets.weights == nullptr && scratch->may_count) {
    if (auto const value = EvaluateCountedArea(metric, targets, predictions, scratch, limits, stream)) return *value;
    scratch->may_count = false;
  }
  auto* const results = scratch->At<ClassArea>(MetricScratch::kResult, outputs);
  FillBytes(results, 0, outputs, stream, kWhat);
  Work const work = MakeWork(rows, scratch, stream);
  for (std::uint32_t output = 0; output < outputs; ++output) {
    EnqueueClass(metric, CurveRows{targets, outputs > 1, output}, predictions, output, work, results + output, limits,
                 stream);
  }
  return FinishArea(metric, rows, scratch->Fetch(results, outputs, stream, kWhat), outputs);
}

}  // namespace xgbgpu::cuda
