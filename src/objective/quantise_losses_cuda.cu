// Computes gradients from losses and quantises them in one pass on a device.
#include <type_traits>

#include "cuda/grid.h"
#include "cuda/launch.h"
#include "gradient/choose_format.cuh"
#include "gradient/early_narrow.cuh"
#include "gradient/four_gradients.cuh"
#include "objective/quantise_losses_cuda.h"
#include "objective/row_gradients.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr int kLaneRows = 4;  // rows that a thread takes at a time: 16 bytes of their arrays

/// Finds the maxima, and writes early gradients with their sums if the narrow format is predicted, otherwise pairs.
/// Clears the paths.
template <typename Loss>
__global__ void __launch_bounds__(kThreads)
    QuantiseLossesKernel(LossRows rows_of_tree, RowGradients<Loss> losses, EarlyGradients early, GradientPair* pairs) {
  WaitForKernelBefore();
  std::uint64_t const rows = rows_of_tree.rows;
  TreeDraw const& draw = *rows_of_tree.draw;
  float const* const margins = draw.margins;
  RandomStream const rounding{draw.seed, RandomPurpose::kRounding, draw.tree, 0};
  std::uint8_t* const paths = rows_of_tree.paths;
  EarlyNarrow narrow{early};
  GradientMaxima largest{0, 0};
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads * kLaneRows;
  for (std::uint64_t first = (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x) * kLaneRows; first < rows;
       first += step) {
    // Paths and narrow gradients have room for whole fours.
    if (paths != nullptr) *reinterpret_cast<std::uint32_t*>(paths + first) = 0;
    GradientPair v[kLaneRows]{};
    if (first + kLaneRows <= rows) {
      losses.Four(first, margins, v);
    } else {
#pragma unroll
      for (int i = 0; i < kLaneRows; ++i) {
        if (first + i < rows) v[i] = losses.Of(first + i, margins);
      }
    }
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) {
      largest.grad = max(largest.grad, MagnitudeBits(v[i].grad));
      largest.hess = max(largest.hess, MagnitudeBits(v[i].hess));
    }
    if (!narrow.on()) {
      StoreFour(v, first, rows, pairs);
      continue;
    }
    NarrowGradient q[kLaneRows];
    narrow.Add(v, rounding.Four(draw.first_row + static_cast<std::uint32_t>(first)).word, q);
    uint4 packed;
    memcpy(&packed, q, sizeof(packed));
    *reinterpret_cast<uint4*>(early.narrow + first) = packed;
  }
  GradientState& state = *rows_of_tree.gradient;
  RaiseToBlockMax<kThreads>(largest.grad, largest.hess, &state.maxima.grad, &state.maxima.hess);
  narrow.HandOn<kThreads>(&state.early);
}

/// Chooses the format. If the narrow format was predicted and is uncertain, computes gradients again, to `pairs`.
template <typename Loss>
__global__ void __launch_bounds__(kThreads)
    LossFormatKernel(LossRows rows_of_tree, RowGradients<Loss> losses, EarlyGradients early, GradientPair* pairs) {
  WaitForKernelBefore();
  std::uint64_t const rows = rows_of_tree.rows;
  GradientState& state = *rows_of_tree.gradient;
  float const min_child_weight = rows_of_tree.draw->min_child_weight;
  if (WriteForeseen(rows_of_tree.all_rows, early, min_child_weight, &state)) return;
  float const* const margins = rows_of_tree.draw->margins;
  auto const for_rows = [&](auto&& f) {
    std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
    for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < rows; row += step) f(row);
  };
  // A thread reads pairs that it, or the kernel before, has written.
  if (early.ForeseeNarrow()) for_rows([&](std::uint64_t row) { pairs[row] = losses.Of(row, margins); });
  ChooseBySums<kThreads>(rows_of_tree.all_rows, state.maxima, rows_of_tree.alone, min_child_weight, &state,
                         [&](auto&& f) { for_rows([&](std::uint64_t row) { f(pairs[row]); }); });
}

}  // namespace

void QuantiseLosses(DeviceShard const& shard, TreeDraw const* draw, std::uint8_t* paths, RowLosses const& losses,
                    EarlyGradients const& early, GradientState* gradient, DeviceLimits const& limits,
                    cudaStream_t stream) {
  LossRows const rows_of_tree{shard.rows, shard.all_rows(), shard.alone(), draw, gradient, paths};
  VisitLoss(losses.objective, [&](auto loss) {
    using Loss = decltype(loss);
    if constexpr (!std::is_same_v<
                      Loss, AbsoluteErrorLoss>) {  // DeviceResidentRows never defers it: its leaves need residuals
      RowGradients<Loss> const rows{loss, losses.labels, losses.weights};
      unsigned const blocks = Blocks(rows_of_tree.rows, kThreads * kLaneRows, limits, kResident);
      LaunchNext("computing gradients", QuantiseLossesKernel<Loss>, blocks, kThreads, 0, limits, stream, rows_of_tree,
                 rows, early, losses.pairs);
      ShareMaxima(shard, &gradient->maxima, gradient, stream);
      LaunchNext("choosing the format of the gradients", LossFormatKernel<Loss>, blocks, kThreads, 0, limits, stream,
                 rows_of_tree, rows, early, losses.pairs);
      FinishFormat(shard, nullptr, draw, gradient, limits, stream);
    }
  });
}

}  // namespace xgbgpu::cuda
