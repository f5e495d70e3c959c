/// Does the work of TreeBuilder::LeafPositions, from positions as stages keep them.
#ifndef XGBGPU_BACKEND_COPY_POSITIONS_H_
#define XGBGPU_BACKEND_COPY_POSITIONS_H_

#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// position_of(row) returns the row's leaf, or the leaf's complement if the row is outside the sample.
template <typename PositionOf>
void CopyPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out, int threads, PositionOf&& position_of) {
  constexpr std::size_t kGrain = 1 << 14;  // rows a task
  ParallelChunks(threads, positions.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      NodeIndex const p = position_of(row);
      positions[row] = p < 0 ? ~p : p;
      if (!sampled_out.empty()) sampled_out[row] = p < 0;
    }
  });
}

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_COPY_POSITIONS_H_
