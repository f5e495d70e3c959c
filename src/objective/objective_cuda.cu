// Computes gradients and predictions on a device.
#include <algorithm>
#include <type_traits>

#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "gradient/gradient_ops.h"
#include "objective/aft_ops.h"
#include "objective/objective_cuda.h"
#include "objective/objective_ops.h"
#include "objective/row_gradients.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;                // blocks per multiprocessor: all threads it holds
constexpr std::uint32_t kMaxGridY = 65535;  // CUDA's limit
constexpr int kRunRows = 4;                 // rows that a thread takes at once, as a float4, from arrays without gaps

__device__ std::uint64_t FirstIndex() { return std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; }
__device__ std::uint64_t IndexStep() { return std::uint64_t{gridDim.x} * kThreads; }

__device__ float WeightOf(TargetView const& targets, std::uint64_t row) {
  return targets.weights == nullptr ? 1.0f : targets.weights[row];
}

/// Computes gradients of one output between arrays without gaps, aligned to 16 bytes. Also finds the maxima, unless
/// `found` is nullptr.
template <typename Loss>
__global__ void __launch_bounds__(kThreads)
    GradientRunKernel(RowGradients<Loss> losses, float const* margins, std::uint64_t rows, GradientPair* gradients,
                      FoundMaxima* found) {
  WaitForKernelBefore();
  std::uint64_t const first = FirstIndex(), step = IndexStep();
  GradientMaxima largest{0, 0};
  auto const raise = [&](GradientPair v) {
    largest.grad = max(largest.grad, MagnitudeBits(v.grad));
    largest.hess = max(largest.hess, MagnitudeBits(v.hess));
  };
  for (std::uint64_t i = first; i < rows / kRunRows; i += step) {
    GradientPair v[kRunRows];
    losses.Four(i * kRunRows, margins, v);
    auto* const out = reinterpret_cast<float4*>(gradients) + 2 * i;
    out[0] = make_float4(v[0].grad, v[0].hess, v[1].grad, v[1].hess);
    out[1] = make_float4(v[2].grad, v[2].hess, v[3].grad, v[3].hess);
    for (GradientPair const& one : v) raise(one);
  }
  if (std::uint64_t const row = rows - rows % kRunRows + first; row < rows) {
    gradients[row] = losses.Of(row, margins);
    raise(gradients[row]);
  }
  if (found == nullptr) return;
  RaiseToBlockMax<kThreads>(largest.grad, largest.hess, &found->so_far.grad, &found->so_far.hess);
  if (IsLastBlock(&found->finished_blocks, gridDim.x) && threadIdx.x == 0) {
    found->of_all = LoadFresh(&found->so_far);
    found->so_far = {0, 0};
  }
}

/// Computes gradients of any number of outputs: blocks in y take one each, and further ones if there are more.
template <typename Loss>
__global__ void __launch_bounds__(kThreads)
    GradientKernel(Loss loss, TargetView targets, OutputView<float const> margins, OutputView<GradientPair> gradients) {
  std::uint64_t const first = FirstIndex(), step = IndexStep();
  for (std::uint32_t k = blockIdx.y; k < margins.outputs; k += gridDim.y) {
    for (std::uint64_t row = first; row < margins.rows; row += step) {
      gradients.at(row, k) =
          loss(margins.at(row, k), targets.labels[row * margins.outputs + k], WeightOf(targets, row));
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    SoftmaxGradientKernel(TargetView targets, OutputView<float const> margins, OutputView<GradientPair> gradients) {
  std::uint64_t const step = IndexStep();
  for (std::uint64_t row = FirstIndex(); row < margins.rows; row += step)
    SoftmaxGradients(margins, row, targets.labels[row], WeightOf(targets, row), gradients);
}

/// Computes the terms of one of several expectiles, which the sums of all follow.
__global__ void __launch_bounds__(kThreads)
    ExpectileTermKernel(float alpha, std::uint32_t output, TargetView targets, OutputView<float const> margins,
                        OutputView<GradientPair> gradients) {
  std::uint64_t const step = IndexStep();
  for (std::uint64_t row = FirstIndex(); row < margins.rows; row += step) {
    ExpectileTerm(alpha, margins, row, output, targets.labels[row], WeightOf(targets, row), gradients);
  }
}

__global__ void __launch_bounds__(kThreads)
    ExpectileSumKernel(OutputView<float const> margins, OutputView<GradientPair> gradients) {
  std::uint64_t const step = IndexStep();
  for (std::uint64_t row = FirstIndex(); row < margins.rows; row += step) SumExpectileTerms(margins, row, gradients);
}

template <typename Loss>
__global__ void __launch_bounds__(kThreads)
    AftGradientKernel(Loss loss, TargetView targets, OutputView<float const> margins,
                      OutputView<GradientPair> gradients) {
  std::uint64_t const step = IndexStep();
  for (std::uint64_t row = FirstIndex(); row < margins.rows; row += step) {
    gradients.at(row, 0) = loss(margins.at(row, 0), targets.lower[row], targets.upper[row], WeightOf(targets, row));
  }
}

/// Losses whose scale is on the device.
struct AbsoluteErrorOfScale {
  float const* scale;

  __device__ GradientPair operator()(float margin, float label, float weight) const {
    return SmoothAbsoluteErrorLoss{*scale}(margin, label, weight);
  }
};
struct QuantileOfScale {
  float alpha;
  float const* scale;

  __device__ GradientPair operator()(float margin, float label, float weight) const {
    return SmoothQuantileLoss{alpha, *scale}(margin, label, weight);
  }
};

/// Computes gradients of several outputs, each with a label and a scale of its own. Blocks as in GradientKernel.
__global__ void __launch_bounds__(kThreads)
    AbsoluteErrorsKernel(float const* scales, TargetView targets, OutputView<float const> margins,
                         OutputView<GradientPair> gradients) {
  std::uint64_t const first = FirstIndex(), step = IndexStep();
  for (std::uint32_t k = blockIdx.y; k < margins.outputs; k += gridDim.y) {
    SmoothAbsoluteErrorLoss const loss{scales[k]};
    for (std::uint64_t row = first; row < margins.rows; row += step) {
      gradients.at(row, k) =
          loss(margins.at(row, k), targets.labels[row * margins.outputs + k], WeightOf(targets, row));
    }
  }
}

__global__ void __launch_bounds__(kThreads) SortRowsKernel(OutputView<float const> margins, OutputView<float> out) {
  std::uint64_t const step = IndexStep();
  for (std::uint64_t row = FirstIndex(); row < margins.rows; row += step) SortRow(margins, row, out);
}

__global__ void __launch_bounds__(kThreads)
    ExpectileTransformKernel(OutputView<float const> margins, OutputView<float> out) {
  std::uint64_t const step = IndexStep();
  for (std::uint64_t row = FirstIndex(); row < margins.rows; row += step) ExpectilePredictions(margins, row, out);
}

template <typename F>
__global__ void __launch_bounds__(kThreads)
    TransformKernel(F transform, OutputView<float const> margins, OutputView<float> out) {
  std::uint64_t const first = FirstIndex(), step = IndexStep();
  for (std::uint32_t k = blockIdx.y; k < margins.outputs; k += gridDim.y)
    for (std::uint64_t row = first; row < margins.rows; row += step) out.at(row, k) = transform(margins.at(row, k));
}

__global__ void __launch_bounds__(kThreads)
    SoftmaxTransformKernel(OutputView<float const> margins, OutputView<float> out) {
  std::uint64_t const step = IndexStep();
  for (std::uint64_t row = FirstIndex(); row < margins.rows; row += step) SoftmaxProbabilities(margins, row, out);
}

/// Returns true if `data` is aligned to 16 bytes, or null.
bool IsAligned(void const* data) { return reinterpret_cast<std::uintptr_t>(data) % sizeof(float4) == 0; }

template <typename T>
bool IsRun(OutputView<T> const& view) {
  return view.outputs == 1 && view.row_stride == 1 && IsAligned(view.data);
}

/// Returns the blocks for all rows of all outputs: rows in x, outputs in y.
template <typename T>
dim3 GridOf(OutputView<T> const& view, DeviceLimits const& limits) {
  return {Blocks(view.rows, kThreads, limits, kResident), std::min(view.outputs, kMaxGridY)};
}

FoundMaxima* RoomForMaxima(ObjectiveScratch* scratch, cudaStream_t stream) {
  if (scratch->maxima.size() == 0) {
    scratch->maxima = {scratch->arena, "gradients", 1};
    FillBytes(scratch->maxima.data(), 0, 1, stream, "clearing maxima");
  }
  return scratch->maxima.data();
}

/// Enqueues the gradients of one loss. Returns where their maxima will be, or nullptr without scratch, or if arrays
/// have gaps.
template <typename Loss>
GradientMaxima const* EnqueueLoss(Loss loss, TargetView const& targets, OutputView<float const> const& margins,
                                  OutputView<GradientPair> const& gradients, DeviceLimits const& limits,
                                  cudaStream_t stream, ObjectiveScratch* scratch) {
  if (!(IsRun(margins) && IsRun(gradients) && IsAligned(targets.labels) && IsAligned(targets.weights))) {
    GradientKernel<<<GridOf(margins, limits), kThreads, 0, stream>>>(loss, targets, margins, gradients);
    return nullptr;
  }
  unsigned const blocks = Blocks(margins.rows, kThreads * kRunRows, limits, kResident);
  FoundMaxima* const found = scratch == nullptr ? nullptr : RoomForMaxima(scratch, stream);
  LaunchNext("computing gradients", GradientRunKernel<Loss>, blocks, kThreads, 0, limits, stream,
             RowGradients<Loss>{loss, targets.labels, targets.weights}, margins.data, margins.rows, gradients.data,
             found);
  return found == nullptr ? nullptr : &found->of_all;
}

/// Enqueues the gradients of an objective with a scale. Returns as ComputeGradients.
GradientMaxima const* EnqueueScaled(ObjectiveParams const& params, TargetView const& targets,
                                    OutputView<float const> const& margins, OutputView<GradientPair> const& gradients,
                                    DeviceLimits const& limits, cudaStream_t stream, ObjectiveScratch* scratch,
                                    DeviceCollective* devices) {
  float const* const scales =
      ScalesOfLoss(params, targets, margins, scratch == nullptr ? nullptr : &scratch->smooth, limits, stream, devices);
  bool const is_single = margins.outputs == 1;  // a maximum is of one output
  if (HasAlphas(params.kind)) {
    GradientMaxima const* maxima = nullptr;
    for (std::uint32_t k = 0; k < margins.outputs; ++k) {
      maxima = EnqueueLoss(QuantileOfScale{params.alphas[k], scales + k}, targets, ColumnOf(margins, k),
                           ColumnOf(gradients, k), limits, stream, is_single ? scratch : nullptr);
    }
    return maxima;
  }
  if (is_single) return EnqueueLoss(AbsoluteErrorOfScale{scales}, targets, margins, gradients, limits, stream, scratch);
  AbsoluteErrorsKernel<<<GridOf(margins, limits), kThreads, 0, stream>>>(scales, targets, margins, gradients);
  return nullptr;
}

/// Enqueues the gradients of several expectiles: a kernel for each, which gets its alpha by value, and one for the
/// sums.
void EnqueueExpectiles(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> const& margins,
                       OutputView<GradientPair> const& gradients, DeviceLimits const& limits, cudaStream_t stream) {
  unsigned const blocks = Blocks(margins.rows, kThreads, limits, kResident);
  for (std::uint32_t k = 0; k < margins.outputs; ++k) {
    ExpectileTermKernel<<<blocks, kThreads, 0, stream>>>(params.alphas[k], k, targets, margins, gradients);
  }
  ExpectileSumKernel<<<blocks, kThreads, 0, stream>>>(margins, gradients);
  CheckLaunch("computing gradients");
}

}  // namespace

GradientMaxima const* ComputeGradients(ObjectiveParams const& params, TargetView const& targets,
                                       OutputView<float const> margins, OutputView<GradientPair> gradients,
                                       DeviceLimits const& limits, cudaStream_t stream, ObjectiveScratch* scratch,
                                       DeviceCollective* devices) {
  if (params.kind == Objective::kExpectile && margins.outputs > 1) {
    EnqueueExpectiles(params, targets, margins, gradients, limits, stream);
    return nullptr;  // a maximum is of one output
  }
  if (HasAlphas(params.kind) && !HasScale(params.kind) && margins.outputs > 1) {
    for (std::uint32_t k = 0; k < margins.outputs; ++k) {
      ComputeGradients(OfOutput(params, k), targets, ColumnOf(margins, k), ColumnOf(gradients, k), limits, stream);
    }
    return nullptr;  // a maximum is of one output
  }
  GradientMaxima const* maxima = nullptr;
  if (IsRanking(params.kind)) {
    ComputeRankGradients(params, targets, margins, gradients, scratch == nullptr ? nullptr : &scratch->ranking, limits,
                         stream);
  } else if (params.kind == Objective::kCox) {
    ComputeCoxGradients(targets, margins, gradients, scratch == nullptr ? nullptr : &scratch->cox, limits, stream);
  } else if (params.kind == Objective::kSoftmax) {
    unsigned const blocks = Blocks(margins.rows, kThreads, limits, kResident);
    SoftmaxGradientKernel<<<blocks, kThreads, 0, stream>>>(targets, margins, gradients);
  } else if (params.kind == Objective::kAft) {
    unsigned const blocks = Blocks(margins.rows, kThreads, limits, kResident);
    VisitAft(params,
             [&](auto loss) { AftGradientKernel<<<blocks, kThreads, 0, stream>>>(loss, targets, margins, gradients); });
  } else if (HasScale(params.kind)) {
    maxima = EnqueueScaled(params, targets, margins, gradients, limits, stream, scratch, devices);
  } else {
    VisitLoss(params,
              [&](auto loss) { maxima = EnqueueLoss(loss, targets, margins, gradients, limits, stream, scratch); });
  }
  CheckLaunch("computing gradients");
  return maxima;
}

void Transform(ObjectiveParams const& params, OutputView<float const> margins, OutputView<float> out,
               DeviceLimits const& limits, cudaStream_t stream) {
  if (params.kind == Objective::kSoftmax) {
    unsigned const blocks = Blocks(margins.rows, kThreads, limits, kResident);
    SoftmaxTransformKernel<<<blocks, kThreads, 0, stream>>>(margins, out);
  } else if (params.kind == Objective::kSmoothQuantile) {
    if (margins.outputs == 1 && margins.data == out.data) return;
    SortRowsKernel<<<Blocks(margins.rows, kThreads, limits, kResident), kThreads, 0, stream>>>(margins, out);
  } else if (params.kind == Objective::kExpectile && margins.outputs > 1) {
    ExpectileTransformKernel<<<Blocks(margins.rows, kThreads, limits, kResident), kThreads, 0, stream>>>(margins, out);
  } else {
    VisitTransform(params.kind, [&](auto transform) {
      if (std::is_same_v<decltype(transform), SameAsMargin> && margins.data == out.data) return;
      TransformKernel<<<GridOf(margins, limits), kThreads, 0, stream>>>(transform, margins, out);
    });
  }
  CheckLaunch("computing predictions");
}

}  // namespace xgbgpu::cuda
