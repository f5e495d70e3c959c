/// Counter-based random numbers: a draw is a pure function of (seed, purpose, tree, index), never of an order.
///
/// From  Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11 (Philox-4x32-10)
#ifndef XGBGPU_CORE_RANDOM_H_
#define XGBGPU_CORE_RANDOM_H_

#if defined(__CUDACC__)
#define R123_CUDA_DEVICE __host__ __device__
#endif
#include <Random123/philox.h>

#include <cstdint>

#include "base/hd.h"

namespace xgbgpu {

/// The purpose of a draw. Streams of different purposes never meet.
enum class RandomPurpose : std::uint32_t {
  kRounding = 1,
  kRowSample,
  kFeaturesOfTree,
  kFeaturesOfLevel,
  kFeaturesOfNode,
  kRankPairs,
  kRowOrder  ///< number 7, the last: the counter has 3 bits for a purpose (RandomStream::Block)
};

/// Four independent uniform 32-bit words.
struct RandomBlock {
  std::uint32_t word[4];
};

/// Philox-4x32 with 10 rounds, by Random123.
XGBGPU_HD RandomBlock Philox(RandomBlock counter, std::uint32_t key0, std::uint32_t key1) {
  auto const& c = counter.word;
  philox4x32_ctr_t const block = philox4x32_R(10, {{c[0], c[1], c[2], c[3]}}, {{key0, key1}});
  return {{block.v[0], block.v[1], block.v[2], block.v[3]}};
}

/// All draws of one purpose for one tree and, where it applies, one level or node of the tree.
struct RandomStream {
  std::uint64_t seed;
  RandomPurpose purpose;
  std::uint32_t tree;   ///< from TreeNumber
  std::uint32_t place;  ///< level or node; 0 if the purpose has none

  /// Returns words 4·block … 4·block+3 of the stream. `purpose` and `place` share a counter word: 3 and 29 bits.
  XGBGPU_HD RandomBlock Block(std::uint32_t block) const {
    std::uint32_t const what = (static_cast<std::uint32_t>(purpose) << 29) | place;
    return Philox({{block, tree, what, 0}}, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  }
  /// Returns word `index` of the stream.
  XGBGPU_HD std::uint32_t Word(std::uint32_t index) const {
    RandomBlock const block = Block(index / 4);
    std::uint32_t const even = index % 4 < 2 ? block.word[0] : block.word[2];  // no look-up: words stay in registers
    std::uint32_t const odd = index % 4 < 2 ? block.word[1] : block.word[3];
    return index % 2 == 0 ? even : odd;
  }
  /// Returns words index … index + 3. Costs one block if `index` is a multiple of four, as in all shards of one
  /// process; otherwise two.
  XGBGPU_HD RandomBlock Four(std::uint32_t index) const {
    RandomBlock const block = Block(index / 4);
    std::uint32_t const shift = index % 4;
    if (shift == 0) return block;
    RandomBlock const next = Block(index / 4 + 1);
    std::uint32_t const* const a = block.word;
    std::uint32_t const* const b = next.word;
    if (shift == 1) return {{a[1], a[2], a[3], b[0]}};
    if (shift == 2) return {{a[2], a[3], b[0], b[1]}};
    return {{a[3], b[0], b[1], b[2]}};
  }
};

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_RANDOM_H_
