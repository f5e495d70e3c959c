// Finds the cuts of a data set on the host, within the memory limit of the training.
#include "backend/host_cuts.h"

#include <algorithm>
#include <cstdint>

#include "base/host_memory.h"
#include "quantile/quantile.h"

namespace xgbgpu {

namespace {

/// Returns the bytes that the search may take; 0 for no limit. The data would be read thousands of times with less than
/// the floor, before the limit is found too small for the training.
std::size_t SearchBytes(MemoryLimits const& memory) {
  constexpr std::uint64_t kFloor = std::uint64_t{32} << 20;
  return memory.training_bytes == 0 ? 0 : std::max(memory.training_bytes, kFloor);
}

}  // namespace

Cuts FindCutsOnHost(RowSource const& source, CutRequest const& wanted, Place const& place, int threads) {
  std::size_t const bytes = SearchBytes(place.memory);
  return WithMemoryFor("quantiles of the data", [&] {
    return wanted.max_bin != 0
               ? host::ComputeCuts(source, wanted.weights, wanted.max_bin, threads, ShardsOf(place), bytes)
               : host::CutsFromBinEdges(source, threads, ShardsOf(place), bytes);
  });
}

}  // namespace xgbgpu
