// Computes the scales of smooth losses on a device.
#include <algorithm>

#include "base/message.h"
#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "objective/smooth_cuda.h"
#include "xgbgpu/error.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;                // blocks per multiprocessor: all threads it holds
constexpr std::uint32_t kMaxGridY = 65535;  // CUDA's limit
constexpr char const* kWhat = "computing the scale of a loss";

/// What terms are computed from.
struct TermSource {
  OutputView<float const> margins;
  float const *labels, *weights;
  std::uint32_t label_columns;  ///< 1 if all outputs have the same label

  /// Returns the term of a row and output, or, after the last output, of the row's weight.
  __device__ double At(std::uint64_t row, std::uint32_t k) const {
    float const weight = weights == nullptr ? 1.0f : weights[row];
    if (k == margins.outputs) return TermOf(weight);
    return TermOf(margins.at(row, k), labels[row * label_columns + (label_columns == 1 ? 0 : k)], weight);
  }
};

/// Calls use(term) for the rows of this thread.
template <typename Use>
__device__ void ForTerms(TermSource const& source, std::uint32_t k, Use&& use) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < source.margins.rows; row += step) {
    use(source.At(row, k));
  }
}

/// Blocks in y take an output each, and further ones if there are more.
__global__ void __launch_bounds__(kThreads) LargestTermKernel(TermSource source, std::uint32_t* largest) {
  for (std::uint32_t k = blockIdx.y; k <= source.margins.outputs; k += gridDim.y) {
    std::uint32_t own = 0;
    ForTerms(source, k, [&](double term) { own = max(own, ExponentOf(term)); });
    own = WarpMax(own);
    if (threadIdx.x % 32 == 0) atomicMax(largest + k, own);
  }
}

__global__ void __launch_bounds__(kThreads)
    SumTermsKernel(TermSource source, std::uint32_t const* largest, TermSum* sums) {
  for (std::uint32_t k = blockIdx.y; k <= source.margins.outputs; k += gridDim.y) {
    double const power = ScaleByPowerOfTwo(1.0, TermShift(largest[k]));
    TermSum own;
    ForTerms(source, k, [&](double term) { AddTerm(term, power, &own); });
    __syncthreads();  // the shared memory of the totals is that of the last output
    ForBlockTotals<kThreads>(
        own.high, own.low, [](std::int64_t a, std::int64_t b) { return a + b; },
        [&](unsigned which, std::int64_t total) { AtomicAdd(which == 0 ? &sums[k].high : &sums[k].low, total); });
  }
}

__global__ void __launch_bounds__(kThreads)
    ScalesKernel(std::uint32_t const* largest, TermSum const* sums, std::uint32_t outputs, float* scales) {
  std::uint32_t const k = blockIdx.x * kThreads + threadIdx.x;
  if (k >= outputs) return;
  auto const value = [&](std::uint32_t i) { return ValueOf(sums[i], TermShift(largest[i])); };
  scales[k] = ScaleOf(value(k), value(outputs));
}

/// Raises each of n numbers to the largest of all devices.
void RaiseToLargest(DeviceCollective* devices, std::uint32_t* numbers, std::size_t n, cudaStream_t stream) {
  for (std::size_t from = 0; from < n && !devices->alone(); from += DeviceNumbers::kMost) {
    DeviceNumbers own;
    own.largest = own.largest_of_all = numbers + from;
    own.largest_count = static_cast<std::uint32_t>(std::min<std::size_t>(DeviceNumbers::kMost, n - from));
    devices->Combine(own, nullptr, stream);
  }
}

}  // namespace

void SmoothScratch::ReserveFor(std::uint32_t outputs) {
  std::size_t const kinds = std::size_t{outputs} + 1;
  Reserve(&largest, arena, "sums of a loss", kinds);
  Reserve(&sums, arena, "sums of a loss", kinds);
  Reserve(&scales, arena, "sums of a loss", outputs);
}

float const* ScalesOfLoss(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                          SmoothScratch* scratch, DeviceLimits const& limits, cudaStream_t stream,
                          DeviceCollective* devices) {
  if (scratch == nullptr) {
    Throw<InvalidArgument>("Gradients of ", NameOf(params.kind), " on a device need memory: ObjectiveScratch is null");
  }
  SmoothScratch& s = *scratch;
  s.ReserveFor(margins.outputs);
  std::size_t const kinds = std::size_t{margins.outputs} + 1;
  FillBytes(s.largest.data(), 0, kinds, stream, kWhat);
  FillBytes(s.sums.data(), 0, kinds, stream, kWhat);
  TermSource const source{margins, targets.labels, targets.weights, HasAlphas(params.kind) ? 1 : targets.label_columns};
  dim3 const grid{Blocks(margins.rows, kThreads, limits, kResident),
                  static_cast<unsigned>(std::min<std::size_t>(kinds, kMaxGridY))};
  LargestTermKernel<<<grid, kThreads, 0, stream>>>(source, s.largest.data());
  CheckLaunch(kWhat);
  RaiseToLargest(devices, s.largest.data(), kinds, stream);
  SumTermsKernel<<<grid, kThreads, 0, stream>>>(source, s.largest.data(), s.sums.data());
  CheckLaunch(kWhat);
  static_assert(sizeof(TermSum) == 2 * sizeof(std::int64_t));
  devices->Sum(reinterpret_cast<std::int64_t*>(s.sums.data()), 2 * kinds, stream);
  ScalesKernel<<<(margins.outputs + kThreads - 1) / kThreads, kThreads, 0, stream>>>(s.largest.data(), s.sums.data(),
                                                                                     margins.outputs, s.scales.data());
  CheckLaunch(kWhat);
  return s.scales.data();
}

}  // namespace xgbgpu::cuda
