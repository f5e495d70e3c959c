// Computes gradients of survival:cox and sorts rows by time on a device.
#include <cub/device/device_radix_sort.cuh>

#include "base/float_bits.h"
#include "base/message.h"
#include "cuda/grid.h"
#include "cuda/ordered_scan_cuda.cuh"
#include "objective/cox_cuda.h"
#include "objective/from_end_cuda.cuh"
#include "objective/rank_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr char const* kWhat = "computing gradients of survival:cox";
constexpr char const* kSorting = "sorting survival times";

__device__ std::uint64_t FirstIndex() { return std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; }
__device__ std::uint64_t IndexStep() { return std::uint64_t{gridDim.x} * kThreads; }

__global__ void __launch_bounds__(kThreads)
    TimeKeysKernel(float const* labels, std::uint64_t rows, std::uint32_t* keys, std::uint32_t* row_of) {
  for (std::uint64_t row = FirstIndex(); row < rows; row += IndexStep()) {
    keys[row] = TimeKey(labels[row]);
    row_of[row] = static_cast<std::uint32_t>(row);
  }
}

__global__ void __launch_bounds__(kThreads)
    TiesKernel(std::uint32_t const* keys, std::uint32_t rows, std::uint32_t* first) {
  for (std::uint64_t i = FirstIndex(); i < rows; i += IndexStep()) first[i] = KeysBelow(keys, rows, keys[i], false);
}

/// Writes the smallest DescendingKey of a margin, the largest margin's, to *key, whose bits must all be set before.
/// Ignores NaN.
__global__ void __launch_bounds__(kThreads) LargestMarginKernel(OutputView<float const> margins, std::uint32_t* key) {
  std::uint32_t best = 0xFFFFFFFFU;
  for (std::uint64_t row = FirstIndex(); row < margins.rows; row += IndexStep()) {
    float const margin = margins.at(row, 0);
    if (margin == margin) best = min(best, DescendingKey(margin));
  }
  for (int d = 16; d > 0; d /= 2) best = min(best, __shfl_xor_sync(kAllLanes, best, d));
  if (threadIdx.x % 32 == 0 && best < *static_cast<std::uint32_t volatile*>(key)) atomicMin(key, best);
}

/// Writes the powers of the margins, in the order of times.
__global__ void __launch_bounds__(kThreads)
    PowersKernel(OutputView<float const> margins, TimeOrder order, std::uint32_t const* key, double* powers) {
  float const largest = ValueOfKey(~*key);
  for (std::uint64_t i = FirstIndex(); i < margins.rows; i += IndexStep())
    powers[i] = CoxPower(margins.at(order.rows[i], 0), largest);
}

struct PowerAt {
  double const* powers;
  __device__ double operator()(std::uint64_t place, std::uint32_t) const { return powers[place]; }
};

struct TermAt {
  float const* labels;
  TimeOrder order;
  double const* at_risk;
  __device__ CoxSums operator()(std::uint64_t place) const {
    return CoxTerm(labels[order.rows[place]], at_risk[order.first[place]]);
  }
};

struct PutGradient {
  TargetView targets;
  double const* powers;
  OutputView<GradientPair> gradients;
  __device__ void operator()(std::uint64_t place, CoxSums const& sums) const {
    std::uint32_t const row = targets.by_time.rows[place];
    float const weight = targets.weights == nullptr ? 1.0f : targets.weights[row];
    gradients.at(row, 0) = CoxGradient(powers[place], sums, targets.labels[row], weight);
  }
};

}  // namespace

SortedTimes SortTimes(float const* labels, std::uint64_t rows, DeviceArena* arena, DeviceLimits const& limits,
                      Stream const& stream) {
  SortedTimes times{{arena, "order of times", rows}, {arena, "order of times", rows}};
  if (rows == 0) return times;
  DeviceBuffer<std::uint32_t> const keys{arena, "order of times", rows}, row_of{arena, "order of times", rows},
      sorted{arena, "order of times", rows};
  unsigned const blocks = Blocks(rows, kThreads, limits, kResident);
  TimeKeysKernel<<<blocks, kThreads, 0, stream>>>(labels, rows, keys.data(), row_of.data());
  CheckLaunch(kSorting);
  constexpr int kBits = 31;
  auto const sort = [&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys.data(), sorted.data(), row_of.data(), times.rows.data(),
                                           rows, 0, kBits, static_cast<cudaStream_t>(stream));
  };
  std::size_t bytes = 0;
  CheckCuda(sort(nullptr, bytes), kSorting);
  DeviceBuffer<std::uint8_t> const memory{arena, "scratch of sorting", bytes};
  CheckCuda(sort(memory.data(), bytes), kSorting);
  TiesKernel<<<blocks, kThreads, 0, stream>>>(sorted.data(), static_cast<std::uint32_t>(rows), times.first.data());
  CheckLaunch(kSorting);
  stream.Wait(kSorting);
  return times;
}

void ComputeCoxGradients(TargetView const& targets, OutputView<float const> margins, OutputView<GradientPair> gradients,
                         CoxScratch* scratch, DeviceLimits const& limits, cudaStream_t stream) {
  std::uint64_t const rows = margins.rows;
  if (rows == 0) return;
  if (targets.by_time.rows == nullptr || scratch == nullptr) {
    Throw<InvalidArgument>(
        "Gradients of survival:cox on a device need rows in order of time and memory: by_time or "
        "ObjectiveScratch is null");
  }
  CoxScratch& s = *scratch;
  Reserve(&s.powers, s.arena, "sums of survival:cox", rows);
  Reserve(&s.at_risk, s.arena, "sums of survival:cox", rows);
  Reserve(&s.before, s.arena, "sums of survival:cox", ScanBlocks(rows));
  Reserve(&s.largest, s.arena, "sums of survival:cox", 1);
  if (Reserve(&s.finished, s.arena, "sums of survival:cox", 1)) FillBytes(s.finished.data(), 0, 1, stream, kWhat);
  FillBytes(s.largest.data(), 0xFF, 1, stream, kWhat);
  unsigned const blocks = Blocks(rows, kThreads, limits, kResident);
  LargestMarginKernel<<<blocks, kThreads, 0, stream>>>(margins, s.largest.data());
  CheckLaunch(kWhat);
  PowersKernel<<<blocks, kThreads, 0, stream>>>(margins, targets.by_time, s.largest.data(), s.powers.data());
  CheckLaunch(kWhat);
  SumFromEnd(targets.by_time, rows, PowerAt{s.powers.data()}, s.at_risk.data(),
             reinterpret_cast<double*>(s.before.data()), s.finished.data(), limits, stream, kWhat);
  OrderedScan<CoxSums>(rows, TermAt{targets.labels, targets.by_time, s.at_risk.data()},
                       PutGradient{targets, s.powers.data(), gradients}, s.before.data(), s.finished.data(), limits,
                       stream, kWhat);
}

}  // namespace xgbgpu::cuda
