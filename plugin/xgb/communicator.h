/// Sums and maxima over the workers of a process group, by XGBoost's communicator.
#ifndef XGBGPU_PLUGIN_XGB_COMMUNICATOR_H_
#define XGBGPU_PLUGIN_XGB_COMMUNICATOR_H_

#include <xgboost/c_api.h>

#include <cstddef>
#include <cstdint>

#include "xgb/version.h"

namespace xgbgpu::plugin {

/// True if groups of this series are ours, too: their types and connections differ.
constexpr bool kServesGroups = kSeries < 300;

/// How numbers of workers become one. The values are XGBoost's, which no public header has.
enum class Reduction : int { kMax = 0, kSum = 2 };

/// The most numbers that XGBoost combines along a tree. More go round a ring, whose second half reads a closed
/// connection for ever: when a worker dies there, all others hang.
constexpr std::size_t kMostReduced = 1 << 15;

/// Combines each of `n` numbers with the same number of each other worker. Returns 0; or another number, and
/// XGBGetLastError says why.
inline int AllReduce(std::int64_t* values, std::size_t n, Reduction reduction) {
  constexpr int kInt64 = 4;  // no public header has XGBoost's numbers of types
  return XGCommunicatorAllreduce(values, n, kInt64, static_cast<int>(reduction));
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_COMMUNICATOR_H_
