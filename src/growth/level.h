/// The next work of each stage for a growing tree.
#ifndef XGBGPU_GROWTH_LEVEL_H_
#define XGBGPU_GROWTH_LEVEL_H_

#include <cstdint>
#include <vector>

#include "histogram/histogram.h"
#include "partition/node_rows.h"
#include "split/node_splits.h"
#include "xgbgpu/span.h"

namespace xgbgpu::host {

/// One pass over the rows: nodes to divide, children to sum, and families to search afterwards.
struct Level {
  int depth{0};                          ///< depth of the children
  std::vector<Division> divisions;       ///< nodes that have been split
  std::vector<NodeHistogram> jobs;       ///< children to sum
  std::vector<Span<std::int64_t>> sums;  ///< place of each job's sums
  std::vector<SplitFamily> families;     ///< children to search for their best splits

  bool empty() const { return divisions.empty() && jobs.empty(); }
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_GROWTH_LEVEL_H_
