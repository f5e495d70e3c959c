/// Sums in shared memory without bank conflicts, whatever the data.
///
/// A warp adds 32 rows at a time, lane = row. The columns of a tile lie side by side in shared memory, one 32-bit word
/// each: at step j lane l adds column (j xor l) of its own row, so that 32 lanes always hit different columns, hence
/// different banks, and every lane finds its gradient in its own registers. A tile of 16 columns is as wide as two half
/// warps that visit the planes of a cell in opposite order.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_CUH_
#define XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_CUH_

#include <cstdint>

#include "core/fixed_point.h"
#include "core/grid.h"

namespace xgbgpu::cuda {

/// Two 32-bit sums per cell: exact for up to kMaxRows rows of the narrow format (core/fixed_point.h).
struct NarrowSums {
  static constexpr int kPlanes = 2;
  static constexpr std::uint32_t kMaxRows = 1 << 16;
  struct Value {
    std::int32_t grad, hess;
  };

  /// `cell`: the cell's first word; planes are kPlane words apart.
  template <int kPlane>
  static __device__ void Add(std::uint32_t* cell, Value v, bool swapped) {
    atomicAdd(cell + (swapped ? kPlane : 0), static_cast<std::uint32_t>(swapped ? v.hess : v.grad));
    atomicAdd(cell + (swapped ? 0 : kPlane), static_cast<std::uint32_t>(swapped ? v.grad : v.hess));
  }
  /// The sum of gradients (0) or hessians (1) of a cell, which is cleared.
  template <int kPlane>
  static __device__ std::int64_t Take(std::uint32_t* cell, std::uint32_t which) {
    std::uint32_t* const word = cell + which * kPlane;
    auto const sum = static_cast<std::int32_t>(*word);
    *word = 0;
    return sum;
  }
};

/// Two 64-bit sums per cell, each in two words: the addition to the low one tells the carry of the high one. Exact for
/// any number of rows; twice the atomics.
struct WideSums {
  static constexpr std::uint32_t kMaxRows = ~0U;
  static constexpr int kPlanes = 4;  ///< low words of gradient and hessian, high words of gradient and hessian
  using Value = GradientSum;

  template <int kPlane>
  static __device__ void Add(std::uint32_t* cell, Value v, bool swapped) {
    AddWord<kPlane>(cell + (swapped ? kPlane : 0), swapped ? v.hess : v.grad);
    AddWord<kPlane>(cell + (swapped ? 0 : kPlane), swapped ? v.grad : v.hess);
  }
  template <int kPlane>
  static __device__ std::int64_t Take(std::uint32_t* cell, std::uint32_t which) {
    std::uint32_t *const low = cell + which * kPlane, *const high = low + 2 * kPlane;
    std::uint64_t const sum = std::uint64_t{*high} << 32 | *low;
    *low = *high = 0;
    return static_cast<std::int64_t>(sum);
  }

 private:
  template <int kPlane>
  static __device__ void AddWord(std::uint32_t* low, std::int64_t v) {
    auto const low_part = static_cast<std::uint32_t>(v);
    std::uint32_t const before = atomicAdd(low, low_part);
    std::uint32_t const carry = before + low_part < low_part ? 1 : 0;
    std::uint32_t const high_part = static_cast<std::uint32_t>(static_cast<std::uint64_t>(v) >> 32) + carry;
    if (high_part != 0) atomicAdd(low + 2 * kPlane, high_part);
  }
};

/// Which column of its row a lane adds at which step. kWords: 32-bit words of the record that the pass covers.
template <int kSymbolBytes, int kWords>
struct LaneColumns {
  static constexpr int kPerWord = 4 / kSymbolBytes;
  static constexpr int kColumns = kWords * kPerWord;

  std::uint32_t word;    ///< steps i visit word i xor this
  std::uint32_t symbol;  ///< steps k visit symbol k xor this
  bool swapped;          ///< another half of the warp visits the same columns: planes in the other order

  explicit __device__ LaneColumns(std::uint32_t lane)
      : word{lane / kPerWord % kWords}, symbol{lane % kPerWord}, swapped{lane / kColumns % 2 != 0} {}

  __device__ std::uint32_t Column(int i, int k) const {
    return (static_cast<std::uint32_t>(i) ^ word) * kPerWord + (static_cast<std::uint32_t>(k) ^ symbol);
  }
  __device__ std::uint32_t Symbol(std::uint32_t packed, int k) const {
    std::uint32_t const shift = (static_cast<std::uint32_t>(k) ^ symbol) * (8 * kSymbolBytes);
    return (packed >> shift) & (kSymbolBytes == 1 ? 0xFFU : 0xFFFFU);
  }
};

/// Sums of a tile in shared memory: [symbol][plane][column].
template <typename Sums, int kSymbolBytes, int kWords>
struct TileSums {
  using Columns = LaneColumns<kSymbolBytes, kWords>;
  static constexpr int kPlane = Columns::kColumns;
  static constexpr int kCell = Sums::kPlanes * kPlane;  ///< words from one symbol to the next

  /// Adds one row per lane; words[i] is word (i xor columns.word) of the lane's record.
  static __device__ void Add(std::uint32_t* sums, Columns const& columns, std::uint32_t const (&words)[kWords],
                             typename Sums::Value value) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
#pragma unroll
      for (int k = 0; k < Columns::kPerWord; ++k) {
        std::uint32_t* const cell = sums + columns.Symbol(words[i], k) * kCell + columns.Column(i, k);
        Sums::template Add<kPlane>(cell, value, columns.swapped);
      }
    }
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_CUH_
