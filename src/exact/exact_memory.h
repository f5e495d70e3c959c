/// How much memory of a device exact trees take, for messages.
#ifndef XGBGPU_EXACT_EXACT_MEMORY_H_
#define XGBGPU_EXACT_EXACT_MEMORY_H_

#include <cstdint>
#include <string>

#include "exact/sorted_matrix.h"

namespace xgbgpu {

/// Bytes at the peak of a training: an entry of the columns and of two lists for every stored value; for every row its
/// gradient, as given and twice as integers, its number in two levels, its position and its side. Integers that need
/// more than 32 bits take 16 bytes a row more. Without the rows' margins and labels where rounds stay on the device,
/// and without what is added for a level: where lists begin, in two of them, and how many entries go left, 20 bytes for
/// each feature and node; and best splits and sums, 24 more, unless they have their place in a list that waits to be
/// written. In all less than 16 bytes a value where a row has 19 values or more and a node, on average, 10 of every
/// feature.
inline std::uint64_t ExactDeviceBytes(std::uint64_t rows, std::uint64_t stored) { return 12 * stored + 37 * rows; }

/// As in "10 rows, 30 values: about 730 bytes in all and 20 to 44 for each feature and node of a level".
inline std::string ExactDeviceNeeds(SortedMatrix const& matrix) {
  return std::to_string(matrix.rows) + " rows, " + std::to_string(matrix.stored()) + " values: about " +
         std::to_string(ExactDeviceBytes(matrix.rows, matrix.stored())) +
         " bytes in all and 20 to 44 for each feature and node of a level";
}

}  // namespace xgbgpu

#endif  // XGBGPU_EXACT_EXACT_MEMORY_H_
