// Computes auc and aucpr on a device for curves of whole rows: no weights, labels 0 and 1, and non-negative
// predictions, as of classifiers. Key and label fit into 32 bits, so nothing else is sorted, no row is looked up, and
// counts of rows replace sums of weights. The steps, their order and the bits are auc_ops.h's.
#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <vector>

#include "cuda/grid.h"
#include "metric/auc.h"
#include "metric/auc_ops.h"
#include "metric/metric_cuda.h"
#include "metric/sum_cuda.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kSumLanes;
constexpr int kResident = 8;
constexpr int kThreadRows = 8;
static_assert(kThreads * kThreadRows == kSumBlock);
constexpr char const* kWhat = "evaluating an area under a curve";
constexpr std::uint32_t kOneBits = 0x3F800000U;  // the bits of 1.0f, the largest weight
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

struct CountedCurve {
  double area;
  std::uint32_t positives;
  std::uint32_t other_rows;  ///< 1 if there are rows that this file does not serve; all other members are invalid then
};

/// Counts of a stretch of sorted rows.
struct Stretch {
  std::uint32_t positives;
  std::uint32_t before_run;  ///< positives before the last run of equal predictions that begins in the stretch
  std::uint64_t run;         ///< beginning of the run; kNowhere: none
};
__device__ Stretch NoRows() { return {0, 0, kNowhere}; }

/// Joins two consecutive stretches.
struct Append {
  __device__ Stretch operator()(Stretch const& a, Stretch const& b) const {
    bool const begins = b.run != kNowhere;
    return {a.positives + b.positives, begins ? a.positives + b.before_run : a.before_run, begins ? b.run : a.run};
  }
};
using StretchScan = cub::BlockScan<Stretch, kThreads>;

/// Packs keys that order predictions from the largest to the smallest, with the label in the lowest bit.
__global__ void __launch_bounds__(kThreads)
    PackKernel(CurveRows rows, OutputView<float const> predictions, std::uint32_t output, std::uint32_t* packed,
               CountedCurve* result) {
  bool all_fit = true;
  std::uint64_t const stride = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < predictions.rows; row += stride) {
    float const prediction = predictions.at(row, output), positive = rows(row).positive;
    all_fit = all_fit && prediction >= 0.0f && (positive == 0.0f || positive == 1.0f);
    std::uint32_t const bits = MagnitudeBits(prediction);
    packed[row] = (0x7FFFFFFFU - bits) << 1 | (positive == 1.0f ? 1U : 0U);
  }
  if (!__all_sync(kAllLanes, all_fit) && threadIdx.x % 32 == 0) atomicOr(&result->other_rows, 1U);
}

/// The rows of one thread and their neighbours.
struct ThreadRows {
  std::uint64_t first;
  int count;  ///< number of rows; the remaining rows do not exist
  std::uint32_t packed[kThreadRows];
  bool starts;  ///< the first row's prediction differs from the row before
  bool ends;    ///< the last row's prediction differs from the row after

  __device__ ThreadRows(std::uint32_t const* sorted, std::uint64_t rows, std::uint64_t block)
      : first{block * kSumBlock + threadIdx.x * kThreadRows},
        count{first >= rows ? 0 : static_cast<int>(min(rows - first, std::uint64_t{kThreadRows}))} {
    if (count == kThreadRows) {
      auto const* const from = reinterpret_cast<uint4 const*>(sorted + first);
      uint4 const a = from[0], b = from[1];
      packed[0] = a.x, packed[1] = a.y, packed[2] = a.z, packed[3] = a.w;
      packed[4] = b.x, packed[5] = b.y, packed[6] = b.z, packed[7] = b.w;
    } else {
      for (int k = 0; k < kThreadRows; ++k) packed[k] = k < count ? sorted[first + k] : 0;
    }
    std::uint64_t const end = first + count;
    starts = count != 0 && (first == 0 || sorted[first - 1] >> 1 != packed[0] >> 1);
    ends = count != 0 && (end == rows || sorted[end] >> 1 != sorted[end - 1] >> 1);
  }

  __device__ Stretch Row(int k) const {
    bool const begins = k == 0 ? starts : packed[k] >> 1 != packed[k - 1] >> 1;
    return {packed[k] & 1U, 0, begins ? first + k : kNowhere};
  }
  __device__ bool IsRunsLast(int k) const { return k == count - 1 ? ends : packed[k] >> 1 != packed[k + 1] >> 1; }
  __device__ Stretch All() const {
    Stretch all = NoRows();
    for (int k = 0; k < kThreadRows; ++k) {
      if (k < count) all = Append{}(all, Row(k));
    }
    return all;
  }
};

/// Replaces before[b] by the stretch of all rows before block b. The last block of threads joins the stretches of all.
__global__ void __launch_bounds__(kThreads)
    BlockStretchesKernel(std::uint32_t const* sorted, std::uint64_t rows, Stretch* before, std::uint32_t* finished,
                         CountedCurve* result) {
  __shared__ typename StretchScan::TempStorage storage;
  std::uint64_t const blocks = SumBlocks(rows);
  Stretch start, all;
  for (std::uint64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    StretchScan{storage}.ExclusiveScan(ThreadRows{sorted, rows, b}.All(), start, NoRows(), Append{}, all);
    if (threadIdx.x == 0) before[b] = all;
    __syncthreads();  // the next turn reuses `storage`
  }
  if (!IsLastBlock(finished, gridDim.x)) return;
  Stretch carry = NoRows();
  for (std::uint64_t base = 0; base < blocks; base += kThreads) {
    std::uint64_t const b = base + threadIdx.x;
    Stretch const mine = b < blocks ? LoadFresh(before + b) : NoRows();
    StretchScan{storage}.ExclusiveScan(mine, start, NoRows(), Append{}, all);
    if (b < blocks) before[b] = Append{}(carry, start);
    carry = Append{}(carry, all);
    __syncthreads();
  }
  if (threadIdx.x == 0) result->positives = carry.positives;
}

/// Returns the place of a block's row in shared memory: rows of neighbouring threads lie in different banks.
__device__ unsigned PlaceOf(unsigned row) { return row + row / kThreadRows; }

/// Adds the terms of AreaTerms in the order of SumTerms.
__global__ void __launch_bounds__(kThreads)
    CountedAreaKernel(Metric metric, std::uint32_t const* sorted, std::uint64_t rows, Stretch const* before,
                      double* block_sums, std::uint32_t* finished, CountedCurve* result) {
  __shared__ typename StretchScan::TempStorage storage;
  __shared__ double terms[kSumBlock + kSumBlock / kThreadRows];
  int const shift = CurveShift(kOneBits, rows);
  auto const point = [&](std::uint32_t positives, std::uint64_t all) {
    return CurvePoint{static_cast<std::int64_t>(positives) << shift, static_cast<std::int64_t>(all - positives)
                                                                         << shift};
  };
  std::int64_t const positives = static_cast<std::int64_t>(result->positives) << shift;
  std::uint64_t const blocks = SumBlocks(rows);
  for (std::uint64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    ThreadRows const own{sorted, rows, b};
    Stretch here, all;
    StretchScan{storage}.ExclusiveScan(own.All(), here, NoRows(), Append{}, all);
    here = Append{}(before[b], here);
    for (int k = 0; k < kThreadRows; ++k) {
      double term = 0.0;
      if (k < own.count) {
        here = Append{}(here, own.Row(k));
        if (own.IsRunsLast(k)) {
          CurvePoint const from = point(here.before_run, here.run), to = point(here.positives, own.first + k + 1);
          term = metric == Metric::kAuc ? RocStep(from, to) : PrecisionRecallStep(from, to, positives);
        }
      }
      terms[PlaceOf(threadIdx.x * kThreadRows + k)] = term;
    }
    __syncthreads();
    double lane = 0.0;
    for (unsigned k = 0; k < kThreadRows; ++k) {
      unsigned const row = k * kSumLanes + threadIdx.x;
      if (b * kSumBlock + row < rows) lane = Combine(lane, terms[PlaceOf(row)]);
    }
    lane = AddLanes(lane);  // ends with a __syncthreads: `storage` and `terms` may be reused
    if (threadIdx.x == 0) block_sums[b] = lane;
  }
  if (!IsLastBlock(finished, gridDim.x)) return;
  double lane = 0.0;
  for (std::uint64_t b = threadIdx.x; b < blocks; b += kSumLanes) lane = Combine(lane, LoadFresh(block_sums + b));
  lane = AddLanes(lane);
  if (threadIdx.x == 0) result->area = lane;
}

ClassArea ToClassArea(CountedCurve const& curve, std::uint64_t rows) {
  int const shift = CurveShift(kOneBits, rows);
  auto const positives = static_cast<std::int64_t>(curve.positives);
  CurvePoint const total{positives << shift, (static_cast<std::int64_t>(rows) - positives) << shift};
  return {curve.area, total, kOneBits, 0};
}

/// Memory for the curve of one class over `rows` rows.
struct CountedWork {
  std::uint32_t* packed;
  std::uint32_t* sorted;
  Stretch* before;
  double* block_sums;
  std::uint32_t* finished;
  std::uint8_t* sort_memory;
  std::size_t sort_bytes;
};

cudaError_t Sort(CountedWork const& work, void* memory, std::size_t& bytes, std::uint64_t rows, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortKeys(memory, bytes, work.packed, work.sorted, rows, 1, 32, stream);
}

CountedWork MakeWork(std::uint64_t rows, std::uint64_t words, MetricScratch* scratch, Stream const& stream) {
  CountedWork work{scratch->At<std::uint32_t>(MetricScratch::kKeys, words),
                   scratch->At<std::uint32_t>(MetricScratch::kSortedKeys, rows),
                   scratch->At<Stretch>(MetricScratch::kPoints, SumBlocks(rows)),
                   scratch->At<double>(MetricScratch::kBlockSums, SumBlocks(rows)),
                   scratch->Finished(stream),
                   nullptr,
                   0};
  CheckCuda(Sort(work, nullptr, work.sort_bytes, rows, stream), kWhat);
  work.sort_memory = scratch->At<std::uint8_t>(MetricScratch::kSort, work.sort_bytes);
  return work;
}

/// Enqueues the curve of packed rows.
void EnqueueCurve(Metric metric, CountedWork work, std::uint64_t rows, CountedCurve* result, DeviceLimits const& limits,
                  Stream const& stream) {
  unsigned const blocks = Blocks(rows, kSumBlock, limits, kResident);
  CheckCuda(Sort(work, work.sort_memory, work.sort_bytes, rows, stream), kWhat);
  BlockStretchesKernel<<<blocks, kThreads, 0, stream>>>(work.sorted, rows, work.before, work.finished, result);
  CheckLaunch(kWhat);
  CountedAreaKernel<<<blocks, kThreads, 0, stream>>>(metric, work.sorted, rows, work.before, work.block_sums,
                                                     work.finished, result);
  CheckLaunch(kWhat);
}

/// Enqueues the packing of this device's rows.
void EnqueuePacking(TargetView const& targets, OutputView<float const> const& predictions, std::uint32_t output,
                    std::uint32_t* packed, CountedCurve* result, DeviceLimits const& limits, Stream const& stream) {
  PackKernel<<<Blocks(predictions.rows, 4 * kThreads, limits, kResident), kThreads, 0, stream>>>(
      CurveRows{targets, predictions.outputs > 1, output}, predictions, output, packed, result);
  CheckLaunch(kWhat);
}

/// Returns the area of the curves of all classes over `rows` rows; nothing if there are other rows.
std::optional<double> FinishCurves(Metric metric, std::uint64_t rows, CountedCurve const* curves, std::uint32_t n) {
  std::vector<ClassArea> classes;
  for (std::uint32_t k = 0; k < n; ++k) {
    if (curves[k].other_rows != 0) return std::nullopt;
    classes.push_back(ToClassArea(curves[k], rows));
  }
  return FinishArea(metric, rows, classes.data(), n);
}

/// Puts a curve's word on other rows behind the packed rows, where devices combine it as well, and takes it back.
__global__ void TellOthersKernel(CountedCurve const* result, std::uint32_t* word) { *word = result->other_rows; }
__global__ void HearOthersKernel(std::uint32_t const* word, CountedCurve* result) { result->other_rows = *word; }

std::uint64_t WordsOfCountedArea(std::uint64_t all_rows) { return (all_rows + 1 + 3) / 4 * 4; }

}  // namespace

void ReserveCountedArea(std::uint64_t all_rows, std::uint32_t outputs, MetricScratch* scratch, Stream const& stream) {
  MakeWork(all_rows, WordsOfCountedArea(all_rows), scratch, stream);
  scratch->At<CountedCurve>(MetricScratch::kResult, outputs);
}

std::optional<double> EvaluateCountedArea(Metric metric, TargetView const& targets, OutputView<float const> predictions,
                                          MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream) {
  std::uint64_t const rows = predictions.rows;
  std::uint32_t const outputs = predictions.outputs;
  CountedWork const work = MakeWork(rows, rows, scratch, stream);
  auto* const results = scratch->At<CountedCurve>(MetricScratch::kResult, outputs);
  FillBytes(results, 0, outputs, stream, kWhat);
  for (std::uint32_t k = 0; k < outputs; ++k) {
    EnqueuePacking(targets, predictions, k, work.packed, results + k, limits, stream);
    EnqueueCurve(metric, work, rows, results + k, limits, stream);
  }
  return FinishCurves(metric, rows, scratch->Fetch(results, outputs, stream, kWhat), outputs);
}

std::optional<double> EvaluateCountedArea(Metric metric, TargetView const& targets, OutputView<float const> predictions,
                                          std::uint64_t first_row, std::uint64_t all_rows, GatherWords const& gather,
                                          MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream) {
  std::uint32_t const outputs = predictions.outputs;
  std::uint64_t const words = WordsOfCountedArea(all_rows);
  CountedWork const work = MakeWork(all_rows, words, scratch, stream);
  auto* const results = scratch->At<CountedCurve>(MetricScratch::kResult, outputs);
  FillBytes(results, 0, outputs, stream, kWhat);
  for (std::uint32_t k = 0; k < outputs; ++k) {
    FillBytes(work.packed, 0, words, stream, kWhat);
    EnqueuePacking(targets, predictions, k, work.packed + first_row, results + k, limits, stream);
    TellOthersKernel<<<1, 1, 0, stream>>>(results + k, work.packed + all_rows);
    gather(work.packed, words, stream);
    HearOthersKernel<<<1, 1, 0, stream>>>(work.packed + all_rows, results + k);
    CheckLaunch(kWhat);
    EnqueueCurve(metric, work, all_rows, results + k, limits, stream);
  }
  return FinishCurves(metric, all_rows, scratch->Fetch(results, outputs, stream, kWhat), outputs);
}

}  // namespace xgbgpu::cuda
