// Finds the leaf columns that a sum lacks, by comparing weights.
#include <algorithm>

#include "base/message.h"
#include "rounds/column_sums.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

void CheckColumnWeights(std::size_t weights, std::size_t columns) {
  if (weights == columns) return;
  Throw<InvalidArgument>("There are ", weights, " weights of trees; allowed: one for each of the ", columns,
                         " columns");
}

std::size_t FirstColumnToAdd(Span<float const> weights, Span<float const> applied) {
  bool const goes_on = applied.size() <= weights.size() && std::equal(applied.begin(), applied.end(), weights.begin());
  return goes_on ? applied.size() : 0;
}

}  // namespace xgbgpu
