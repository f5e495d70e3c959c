/// Estimates the device memory of exact trees, for messages.
#ifndef XGBGPU_EXACT_EXACT_MEMORY_H_
#define XGBGPU_EXACT_EXACT_MEMORY_H_

#include <cstdint>
#include <string>

#include "exact/sorted_matrix.h"

namespace xgbgpu {

/// Returns the bytes at the peak of a training, apart from a level's arrays.
///
/// A stored value takes three entries of 4 bytes: one in the columns, two in lists. A row takes 37 bytes: its gradient
/// as given and twice as integers, its number in two levels, its position and its side. Integers of more than 32 bits
/// take 16 bytes a row more. Margins and labels of rounds that stay on the device are not counted.
///
/// A level adds 20 bytes for each feature and node: the offsets of two lists, and the number of entries that go left. A
/// search adds 24 bytes more, unless a spare list has room for its best splits and sums. A value takes less than 16
/// bytes in all if a row has at least 19 values and a node, on average, 10 values of every feature.
inline std::uint64_t ExactDeviceBytes(std::uint64_t rows, std::uint64_t stored) { return 12 * stored + 37 * rows; }

/// Returns a text as "10 rows, 30 values: about 730 bytes in all and 20 to 44 for each feature and node of a level".
inline std::string ExactDeviceNeeds(SortedMatrix const& matrix) {
  return std::to_string(matrix.rows) + " rows, " + std::to_string(matrix.stored()) + " values: about " +
         std::to_string(ExactDeviceBytes(matrix.rows, matrix.stored())) +
         " bytes in all and 20 to 44 for each feature and node of a level";
}

}  // namespace xgbgpu

#endif  // XGBGPU_EXACT_EXACT_MEMORY_H_
