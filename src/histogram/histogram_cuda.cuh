/// Sums in shared memory without bank conflicts for any data.
///
/// A warp adds 32 rows at a time, lane = row. The columns of a tile are contiguous in shared memory, one 32-bit word
/// each. At step j lane l adds column (j xor l) of its own row. So 32 lanes always use different columns, hence
/// different banks, and every lane has its gradient in its own registers. A tile of 16 columns is as wide as two half
/// warps that visit the planes of a cell in opposite order.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_CUH_
#define XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_CUH_

#include <cstdint>

#include "core/fixed_point.h"
#include "cuda/grid.h"

namespace xgbgpu::cuda {

/// Two 32-bit sums per cell: exact for up to kMaxRows rows of the narrow format (core/fixed_point.h).
struct NarrowSums {
  static constexpr int kPlanes = 2;
  static constexpr std::uint32_t kMaxRows = kMostNarrowSumRows;
  struct Value {
    std::int32_t grad, hess;
  };

  /// `cell` is the cell's first word. Planes are kPlane words apart.
  template <int kPlane>
  static __device__ void Add(std::uint32_t* cell, Value v, bool swapped) {
    atomicAdd(cell + (swapped ? kPlane : 0), static_cast<std::uint32_t>(swapped ? v.hess : v.grad));
    atomicAdd(cell + (swapped ? 0 : kPlane), static_cast<std::uint32_t>(swapped ? v.grad : v.hess));
  }
  /// Returns and clears the sum of gradients (0) or hessians (1) of a cell.
  template <int kPlane>
  static __device__ std::int64_t Take(std::uint32_t* cell, std::uint32_t which) {
    std::uint32_t* const word = cell + which * kPlane;
    auto const sum = static_cast<std::int32_t>(*word);
    *word = 0;
    return sum;
  }
};

/// Adds to a 64-bit sum in two words. The addition to the low word determines the carry of the high word.
__device__ inline void AddInWords(std::uint32_t* low, std::uint32_t* high, std::int64_t v) {
  auto const low_part = static_cast<std::uint32_t>(v);
  std::uint32_t const before = atomicAdd(low, low_part);
  std::uint32_t const carry = before + low_part < low_part ? 1 : 0;
  std::uint32_t const high_part = static_cast<std::uint32_t>(static_cast<std::uint64_t>(v) >> 32) + carry;
  if (high_part != 0) atomicAdd(high, high_part);
}

/// Two 64-bit sums per cell, each in two words. Exact for any number of rows, with twice the atomics.
struct WideSums {
  static constexpr std::uint32_t kMaxRows = ~0U;
  static constexpr int kPlanes = 4;  ///< low words of gradient and hessian, high words of gradient and hessian
  using Value = GradientSum;

  template <int kPlane>
  static __device__ void Add(std::uint32_t* cell, Value v, bool swapped) {
    std::uint32_t *const first = cell + (swapped ? kPlane : 0), *const second = cell + (swapped ? 0 : kPlane);
    AddInWords(first, first + 2 * kPlane, swapped ? v.hess : v.grad);
    AddInWords(second, second + 2 * kPlane, swapped ? v.grad : v.hess);
  }
  template <int kPlane>
  static __device__ std::int64_t Take(std::uint32_t* cell, std::uint32_t which) {
    std::uint32_t *const low = cell + which * kPlane, *const high = low + 2 * kPlane;
    std::uint64_t const sum = std::uint64_t{*high} << 32 | *low;
    *low = *high = 0;
    return static_cast<std::int64_t>(sum);
  }
};

/// WideSums where the low words of hessians are 0: three of four additions remain. The half of a warp that visits planes
/// in the other order has a plane of its own for the high words of gradients.
struct HighHessianSums {
  static constexpr std::uint32_t kMaxRows = ~0U;
  static constexpr int kPlanes = 4;  ///< low words of gradients, high words of hessians, high words of gradients twice
  struct Value {
    std::int64_t grad;
    std::uint32_t hess;  ///< the high word
  };

  template <int kPlane>
  static __device__ void Add(std::uint32_t* cell, Value v, bool swapped) {
    auto const low = static_cast<std::uint32_t>(v.grad);
    std::uint32_t *const first = cell + (swapped ? kPlane : 0), *const second = cell + (swapped ? 0 : kPlane);
    std::uint32_t const before_first = atomicAdd(first, swapped ? v.hess : low);
    std::uint32_t const before_second = atomicAdd(second, swapped ? low : v.hess);
    std::uint32_t const carry = (swapped ? before_second : before_first) + low < low ? 1 : 0;
    std::uint32_t const high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(v.grad) >> 32) + carry;
    if (high != 0) atomicAdd(first + 2 * kPlane, high);
  }
  template <int kPlane>
  static __device__ std::int64_t Take(std::uint32_t* cell, std::uint32_t which) {
    std::uint32_t* const word = cell + which * kPlane;
    std::uint32_t low = *word, high = *word;
    *word = 0;
    if (which == 0) {
      high = cell[2 * kPlane] + cell[3 * kPlane];
      cell[2 * kPlane] = cell[3 * kPlane] = 0;
    } else {
      low = 0;
    }
    return static_cast<std::int64_t>(std::uint64_t{high} << 32 | low);
  }
};

/// Returns bytes of a and b, numbered 0 to 3 and 4 to 7, by the digits of `selector`. A digit plus 8 selects eight
/// copies of the byte's sign.
__device__ inline std::uint32_t ChooseBytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  std::uint32_t chosen;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(chosen) : "r"(a), "r"(b), "r"(selector));
  return chosen;
}

/// The column and address that a lane adds at each step. kWords: 32-bit words of a record in the pass. kCellBytes:
/// bytes from one symbol to the next.
///
/// Address computation is the cost of a sum beside its atomics. If a cell has 256 bytes, a one-byte symbol is the
/// second byte of its offset, and the column, of four bytes, is the first: one instruction.
template <int kSymbolBytes, int kWords, int kCellBytes>
class LaneColumns {
 public:
  static constexpr int kPerWord = 4 / kSymbolBytes;
  static constexpr int kColumns = kWords * kPerWord;

  explicit __device__ LaneColumns(std::uint32_t lane)
      : word_{lane / kPerWord % kWords}, swapped_{lane / kColumns % 2 != 0} {
    std::uint32_t const symbol = lane % kPerWord, column = 4 * (word_ * kPerWord + symbol);
    if (kByteCells) {
      columns_ = column * kEachByte ^ 0x0C080400U;  // of steps (0, 0) to (0, 3)
      selector_ = 0xCC04U | symbol << 4;
    } else {
      columns_ = column;
      selector_ = kSymbolBytes == 1 ? 0x4440U | symbol : 0x4410U | symbol * 0x22U;
    }
  }
  /// Returns the mask: step (i, k) visits word i xor mask.
  __device__ std::uint32_t word() const { return word_; }
  /// Returns true if this half of the warp visits planes in the other order, because both halves visit the same
  /// columns.
  __device__ bool swapped() const { return swapped_; }
  /// Returns the bytes to the cell of step (i, k) in the given word of the record.
  __device__ std::uint32_t CellOf(std::uint32_t record_word, std::uint32_t i, std::uint32_t k) const {
    if (kByteCells) {
      return ChooseBytes(record_word, columns_ ^ i * 4 * kPerWord * kEachByte, selector_ ^ k * 0x1111U);
    }
    std::uint32_t const symbol = ChooseBytes(record_word, 0, selector_ ^ k * (kSymbolBytes == 1 ? 1 : 0x22U));
    return symbol * kCellBytes + (columns_ ^ 4 * (i * kPerWord + k));
  }

 private:
  static constexpr bool kByteCells = kSymbolBytes == 1 && kCellBytes == 256;
  static_assert(4 * kColumns <= 128);  // offsets of columns have no sign
  static constexpr std::uint32_t kEachByte = 0x01010101U;

  std::uint32_t word_;
  bool swapped_;
  std::uint32_t columns_, selector_;
};

/// Sums of a tile in shared memory: [symbol][plane][column].
template <typename Sums, int kSymbolBytes, int kWords>
struct TileSums {
  static constexpr int kPlane = kWords * 4 / kSymbolBytes;  ///< columns
  static constexpr int kCell = Sums::kPlanes * kPlane;      ///< words from one symbol to the next
  using Columns = LaneColumns<kSymbolBytes, kWords, 4 * kCell>;

  /// Adds one row per lane; words[i] is word (i xor columns.word()) of the lane's record.
  static __device__ void Add(std::uint32_t* sums, Columns const& columns, std::uint32_t const (&words)[kWords],
                             typename Sums::Value value) {
    auto* const base = reinterpret_cast<std::uint8_t*>(sums);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
#pragma unroll
      for (int k = 0; k < Columns::kPerWord; ++k) {
        auto* const cell = reinterpret_cast<std::uint32_t*>(base + columns.CellOf(words[i], i, k));
        Sums::template Add<kPlane>(cell, value, columns.swapped());
      }
    }
  }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_CUDA_CUH_
