/// Sums and maxima over the workers of a process group, by XGBoost's communicator.
#ifndef XGBGPU_PLUGIN_XGB_COMMUNICATOR_H_
#define XGBGPU_PLUGIN_XGB_COMMUNICATOR_H_

#include <xgboost/c_api.h>

#include <cstddef>
#include <cstdint>

#include "xgb/version.h"

namespace xgbgpu::plugin {

/// True if Rabit connects the workers. It copies arguments into 256 bytes, and reads the rest of a message without a
/// time limit. Newer series have a communicator that does neither.
constexpr bool kHasRabit = kSeries < 201;

/// The communicator's parameter that limits, in seconds, how long a worker waits for others.
constexpr char const* kTimeLimit = kHasRabit ? "rabit_timeout_sec" : "dmlc_timeout";

/// How the workers' numbers are combined into one. The values are XGBoost's; no public header has them.
enum class Reduction : int { kMax = 0, kSum = 2 };

/// The most numbers in one message. Rabit combines up to this many along a tree, and more on a ring. The second half of
/// the ring reads a closed connection for ever: if a worker dies there, all others hang.
constexpr std::size_t kMostReduced = 1 << 15;

/// Combines each of `n` numbers with the same number of each other worker. Returns 0; or another number, and
/// XGBGetLastError says why.
inline int AllReduce(std::int64_t* values, std::size_t n, Reduction reduction) {
  constexpr int kInt64 = kSeries < 201 ? 4 : 7;  // no public header has XGBoost's numbers of types
  return XGCommunicatorAllreduce(values, n, kInt64, static_cast<int>(reduction));
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_COMMUNICATOR_H_
