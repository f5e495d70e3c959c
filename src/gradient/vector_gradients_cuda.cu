// Kernels that bring the gradients of several outputs to fixed point.
#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "gradient/gradient_ops.h"
#include "gradient/vector_gradients_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kLaneRows = 4;

__global__ void __launch_bounds__(kThreads)
    ToOutputsKernel(GradientPair const* row_major, VectorGradients to, GradientPair* pairs) {
  std::uint64_t const n = to.rows * to.outputs;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * kThreads) {
    std::uint64_t const row = i / to.outputs;
    pairs[(i - row * to.outputs) * to.stride + row] = row_major[i];
  }
}

/// Calls f(row's gradient, the first output's) for rows of the tree, of one output. The loads of four rows are in
/// flight.
template <typename F>
__device__ void ForEachRow(VectorGradients const& gradients, RowsOfTree const& rows, std::uint32_t output, F&& f) {
  GradientPair const *const own = gradients.of(output), *const first = gradients.of(0);
  std::uint32_t const n = *rows.count, step = gridDim.x * kThreads;
  for (std::uint64_t base = blockIdx.x * kThreads + threadIdx.x; base < n; base += std::uint64_t{kLaneRows} * step) {
    GradientPair v[kLaneRows], of_first[kLaneRows];
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) {
      RowIndex const row =
          rows.row(static_cast<std::uint32_t>(min(base + std::uint64_t{step} * i, std::uint64_t{n - 1})));
      v[i] = own[row];
      of_first[i] = first[row];
    }
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) {
      if (base + std::uint64_t{step} * i < n) f(v[i], of_first[i]);
    }
  }
}

/// blockIdx.y: the output.
__global__ void __launch_bounds__(kThreads)
    LargestKernel(VectorGradients gradients, RowsOfTree rows, VectorFacts* facts, OutputFacts* outputs) {
  std::uint32_t grad = 0, hess = 0;
  bool differs = false;
  ForEachRow(gradients, rows, blockIdx.y, [&](GradientPair v, GradientPair of_first) {
    grad = max(grad, MagnitudeBits(v.grad));
    hess = max(hess, MagnitudeBits(v.hess));
    differs = differs || __float_as_uint(v.hess) != __float_as_uint(of_first.hess);
  });
  RaiseToBlockMax<kThreads>(grad, hess, &outputs[blockIdx.y].maxima.grad, &outputs[blockIdx.y].maxima.hess);
  if (__syncthreads_or(differs ? 1 : 0) != 0 && threadIdx.x == 0) facts->hessians_differ = 1;
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) facts->rows = *rows.count;
}

/// FormatSums of each output: see ChooseGradientFormat.
__global__ void __launch_bounds__(kThreads)
    FormatSumsKernel(VectorGradients gradients, RowsOfTree rows, OutputFacts* outputs) {
  OutputFacts* const facts = outputs + blockIdx.y;
  GradientMaxima const maxima = facts->maxima;
  if (!IsFinite(maxima)) return;  // the caller reports it
  FloatScale const grad_scale = CoarseScale(maxima.grad), hess_scale = CoarseScale(maxima.hess);
  NarrowScales const narrow = MakeNarrowScales(MakeGradientFormat(1, maxima.grad, maxima.hess, true));
  GradientSum coarse;
  bool vanishes = false;
  ForEachRow(gradients, rows, blockIdx.y, [&](GradientPair v, GradientPair) {
    coarse += {CoarseMagnitude(v.grad, grad_scale), CoarseMagnitude(v.hess, hess_scale)};
    vanishes = vanishes || HessianVanishes(v, narrow);
  });
  AddBlockSum<kThreads>(coarse, &facts->sums.coarse);
  CountBlockIfAny(vanishes, &facts->sums.vanishing);
}

/// The gradients of one output in its format.
struct OutputScales {
  NarrowScales narrow;
  double grad, hess;
  bool is_narrow;

  __device__ void Set(GradientFormat const& format) {
    is_narrow = format.narrow;
    if (is_narrow) {
      narrow = MakeNarrowScales(format);
    } else {
      grad = ScaleByPowerOfTwo(1.0, format.grad_shift);
      hess = ScaleByPowerOfTwo(1.0, format.hess_shift);
    }
  }
  __device__ GradientSum Of(GradientPair v, std::uint32_t random) const {
    if (!is_narrow) return QuantiseWide(v, grad, hess);
    NarrowGradient const q = QuantiseNarrow(v, narrow, random);
    return {q.grad, q.hess};
  }
};

__device__ std::uint32_t Word(std::int64_t low, std::int64_t high) {
  return (static_cast<std::uint32_t>(low) & 0xFFFFU) | static_cast<std::uint32_t>(high) << 16;
}

constexpr std::uint32_t kStaged = 8;  ///< outputs that a block brings to fixed point at a time

/// Returns the sum over the warp, in every lane.
__device__ std::int64_t SumOfWarp(std::int64_t value, bool is_narrow) {
#if __CUDA_ARCH__ >= 800
  if (is_narrow) return __reduce_add_sync(kAllLanes, static_cast<int>(value));  // 32 values of at most 2^14
#endif
  return WarpSum(value);
}

/// A thread takes one row of the tree. Words are staged, so that a warp writes whole rows.
__global__ void __launch_bounds__(kThreads)
    QuantiseKernel(VectorGradients gradients, RowsOfTree rows, TreeDraw const* draw, VectorIntegers to) {
  __shared__ unsigned long long sums[kStaged][2];
  __shared__ OutputScales scales[kStaged];
  __shared__ std::uint32_t staged[2][kThreads][kStaged / 2 + 1];
  __shared__ RowIndex row_of[kThreads];
  std::uint32_t const n = *rows.count, first = blockIdx.x * kThreads;
  if (first >= n) return;
  bool const in = first + threadIdx.x < n;
  RowIndex const row = rows.row(min(first + threadIdx.x, n - 1));
  std::uint32_t const random =
      RandomStream{draw->seed, RandomPurpose::kRounding, draw->tree, 0}.Word(draw->first_row + row);
  row_of[threadIdx.x] = row;
  for (std::uint32_t base = 0; base < gradients.outputs; base += kStaged) {
    std::uint32_t const outputs = min(kStaged, gradients.outputs - base);
    if (threadIdx.x < 2 * kStaged) sums[threadIdx.x / 2][threadIdx.x % 2] = 0;
    if (threadIdx.x < outputs) scales[threadIdx.x].Set(to.formats[base + threadIdx.x]);
    GradientPair v[kStaged];
#pragma unroll
    for (std::uint32_t j = 0; j < kStaged; ++j) v[j] = j < outputs ? gradients.of(base + j)[row] : GradientPair{};
    __syncthreads();
#pragma unroll
    for (std::uint32_t j = 0; j < kStaged; j += 2) {
      if (j >= outputs) break;
      GradientSum q[2];
#pragma unroll
      for (std::uint32_t i = 0; i < 2; ++i) {
        if (j + i >= outputs) break;
        OutputScales const& own = scales[j + i];
        if (in) q[i] = own.Of(v[j + i], random);
        if (in && to.pairs != nullptr) {
          to.pairs[(base + j + i) * gradients.stride + row] = {static_cast<float>(q[i].grad),
                                                               static_cast<float>(q[i].hess)};
        }
        GradientSum const sum{SumOfWarp(q[i].grad, own.is_narrow), SumOfWarp(q[i].hess, own.is_narrow)};
        if (threadIdx.x % 32 == 0) {
          atomicAdd(&sums[j + i][0], static_cast<unsigned long long>(sum.grad));
          atomicAdd(&sums[j + i][1], static_cast<unsigned long long>(sum.hess));
        }
      }
      staged[0][threadIdx.x][j / 2] = Word(q[0].grad, q[1].grad);
      staged[1][threadIdx.x][j / 2] = Word(q[0].hess, to.one_hessian ? 0 : q[1].hess);
    }
    __syncthreads();
    if (to.rows.words != nullptr) {
      std::uint32_t const words = NarrowWords(outputs), counted = min(n - first, static_cast<std::uint32_t>(kThreads));
      auto const write = [&](std::uint32_t which, std::uint32_t used, std::uint32_t place) {
        for (std::uint32_t i = threadIdx.x; i < counted * used; i += kThreads) {
          std::uint32_t const r = i / used, w = i - r * used;
          to.rows.words[std::uint64_t{row_of[r]} * to.rows.row_words() + NarrowRows::PlaceOf(place + w)] =
              staged[which][r][w];
        }
      };
      write(0, words, base / 2);
      if (!to.one_hessian) {
        write(1, words, to.rows.grad_words + base / 2);
      } else if (base == 0) {
        write(1, 1, to.rows.grad_words);
      }
    }
    if (threadIdx.x < 2 * outputs) {
      GradientSum* const root = to.roots + base + threadIdx.x / 2;
      AtomicAdd(threadIdx.x % 2 == 0 ? &root->grad : &root->hess,
                static_cast<std::int64_t>(sums[threadIdx.x / 2][threadIdx.x % 2]));
    }
    __syncthreads();
  }
}

/// Returns the grid of a kernel with outputs in blockIdx.y.
dim3 GridOf(VectorGradients const& gradients, DeviceLimits const& limits) {
  unsigned const all = static_cast<unsigned>(limits.processors * kResident);
  unsigned const each = Blocks(gradients.rows, kThreads * 4, limits, kResident);
  return {std::min(each, std::max(1U, 4 * all / gradients.outputs)), gradients.outputs};
}

}  // namespace

void ToOutputs(GradientPair const* row_major, VectorGradients const& to, GradientPair* pairs,
               DeviceLimits const& limits, cudaStream_t stream) {
  ToOutputsKernel<<<Blocks(to.rows * to.outputs, kThreads, limits, kResident), kThreads, 0, stream>>>(row_major, to,
                                                                                                      pairs);
  CheckLaunch("copying gradients");
}

void FindLargestOfOutputs(VectorGradients const& gradients, RowsOfTree const& rows, VectorFacts* facts,
                          OutputFacts* outputs, DeviceLimits const& limits, cudaStream_t stream) {
  LargestKernel<<<GridOf(gradients, limits), kThreads, 0, stream>>>(gradients, rows, facts, outputs);
  CheckLaunch("looking for the largest gradient");
}

void SumForFormats(VectorGradients const& gradients, RowsOfTree const& rows, OutputFacts* outputs,
                   DeviceLimits const& limits, cudaStream_t stream) {
  FormatSumsKernel<<<GridOf(gradients, limits), kThreads, 0, stream>>>(gradients, rows, outputs);
  CheckLaunch("choosing the format of the gradients");
}

void QuantiseVectors(VectorGradients const& gradients, RowsOfTree const& rows, TreeDraw const* draw,
                     VectorIntegers const& to, cudaStream_t stream) {
  auto const blocks = static_cast<unsigned>((gradients.rows + kThreads - 1) / kThreads);
  QuantiseKernel<<<blocks, kThreads, 0, stream>>>(gradients, rows, draw, to);
  CheckLaunch("bringing gradients to fixed point");
}

}  // namespace xgbgpu::cuda
