/// Tests one row of raw values at one level of a symmetric tree.
#ifndef XGBGPU_PREDICT_LEVEL_FOREST_OPS_H_
#define XGBGPU_PREDICT_LEVEL_FOREST_OPS_H_

#include <cstdint>
#include <cstring>

#include "base/hd.h"
#include "predict/packed_set_ops.h"

namespace xgbgpu {

/// The test of all nodes of a level.
struct alignas(8) LevelTest {
  static constexpr std::uint32_t kDefaultLeft = 1U << 31;
  static constexpr std::uint32_t kHasSet = 1U << 30;
  static constexpr std::uint32_t kMostColumns = kHasSet;

  float threshold;     ///< `value < threshold` goes left; with a set: the bits are the set's number
  std::uint32_t link;  ///< 1 bit default direction, 1 bit "has a set", 30 bits column

  XGBGPU_HD bool default_left() const { return (link & kDefaultLeft) != 0; }
  XGBGPU_HD bool has_set() const { return (link & kHasSet) != 0; }
  XGBGPU_HD std::uint32_t column() const { return link & (kMostColumns - 1); }
  /// Returns the number of the forest's set with the categories that go right. All other values go left.
  XGBGPU_HD std::uint32_t set() const {
    std::uint32_t number;
    std::memcpy(&number, &threshold, sizeof(number));
    return number;
  }
  /// Returns true if a row with x, NaN if it is missing, goes right. `sets`: of the forest, or NoSets, if it has none.
  template <typename Sets>
  XGBGPU_HD bool GoesRight(float x, Sets const& sets) const {
    if constexpr (Sets::kSome) {
      if (has_set()) return x == x ? sets.Has(set(), x) : !default_left();
    }
    return static_cast<bool>((x >= threshold) | ((x != x) & !default_left()));
  }
};

/// The place of a symmetric tree in the tests and leaves of its forest. Tests and leaves are aligned to 16 bytes, with
/// zeros as padding.
struct alignas(16) LevelTree {
  std::uint32_t first_test;  ///< from the root down
  std::uint32_t levels;
  std::uint32_t first_leaf;  ///< 2 to the power of `levels` leaves; the root's test is the highest bit of the index
  std::uint32_t output;

  XGBGPU_HD std::uint32_t end_test() const { return first_test + (levels + 1) / 2 * 2; }
  XGBGPU_HD std::uint32_t end_leaf() const { return first_leaf + (levels < 2 ? 4U : 1U << levels); }
};

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_LEVEL_FOREST_OPS_H_
