/// Sets of categories in the splits of a forest and on the paths of its trees.
#ifndef XGBGPU_PREDICT_PACKED_SET_OPS_H_
#define XGBGPU_PREDICT_PACKED_SET_OPS_H_

#include <cstdint>

#include "base/hd.h"

namespace xgbgpu {

/// XGBoost's limit: numbers from here on, and negative numbers, are no categories. Other numbers are truncated.
constexpr std::uint32_t kMostCategories = 1U << 24;

/// Sets of a forest that splits by numbers only: the code for sets is left out.
struct NoSets {
  static constexpr bool kSome = false;
};

/// The head of a set, before its words.
struct PackedSetHead {
  static constexpr std::uint32_t kRest = 1U << 31;

  /// 1 bit: the set has all categories beyond the words, and values that are no category; 31 bits: number of words.
  std::uint32_t bits;

  XGBGPU_HD bool rest() const { return bits >> 31 != 0; }
  XGBGPU_HD std::uint32_t words() const { return bits & ~kRest; }
};

/// Sets in one array, each a head and its words. Bit c % 32 of word c / 32 is set if the set has category c. A set's
/// number is the place of its head.
struct PackedSets {
  static constexpr bool kSome = true;

  std::uint32_t const* at;

  /// Returns true if x is in the set. Without a branch. NaN is no category.
  XGBGPU_HD bool Has(std::uint64_t set, float x) const {
    PackedSetHead const head{at[set]};
    bool const is_category = static_cast<bool>((x >= 0.0f) & (x < static_cast<float>(kMostCategories)));
    // No set has a word for kMostCategories.
    std::uint32_t const category = is_category ? static_cast<std::uint32_t>(x) : kMostCategories;
    bool const has_word = category / 32 < head.words();
    std::uint32_t const word = at[set + (has_word ? 1 + category / 32 : 0)];
    return ((has_word ? word >> (category % 32) : head.bits >> 31) & 1U) != 0;
  }
};

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_PACKED_SET_OPS_H_
