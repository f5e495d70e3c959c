/// Decides whether a training on the host is in core or in pages, and how much memory pages and other parts get.
/// docs/adr/0024-pages.md
#ifndef XGBGPU_TREES_HOST_TRAINING_MEMORY_H_
#define XGBGPU_TREES_HOST_TRAINING_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "histogram/histogram_policy.h"
#include "matrix/fill_matrix.h"
#include "matrix/matrix_policy.h"
#include "xgbgpu/collective.h"

namespace xgbgpu {

/// What a training takes, in bytes but for `rows`.
struct TrainingNeeds {
  std::uint64_t rows;
  std::size_t bins;       ///< of all rows in core
  std::size_t shared;     ///< of cuts and cells, which every page has, too
  std::size_t histogram;  ///< of one node
  std::size_t scratch;    ///< that threads sum in
  std::size_t row_bins;   ///< of the row that takes most in a page
};
TrainingNeeds NeedsOf(host::MatrixPlan const& plan, int threads);

struct TrainingMemory {
  bool in_pages{false};
  std::size_t working_bytes{HostHistogramPolicy{}.cache_bytes};  ///< for histograms; in pages for samples, too
  std::size_t page_bytes{PagePolicy{}.page_bytes};
};

/// In core a training takes its bins, 47 bytes a row and two histograms; what the limit leaves is for more histograms.
/// If that is more than `limit`, it is in pages: 34 bytes a row, two histograms, and three times what a page has, for
/// two pages and the list of a page's rows. A quarter of what is left is for larger pages, the rest for histograms and
/// samples.
///
/// All shards call this at the same time, each with its own needs and limit. If one of them is in pages, all are, and
/// all have the same working_bytes.
///
/// In      limit  MemoryLimits::training_bytes; 0: none
/// Throws  InvalidArgument, in all shards, if a limit is less than the least that its shard takes
TrainingMemory ChooseTrainingMemory(TrainingNeeds const& needs, std::uint64_t limit, Collective& collective);

}  // namespace xgbgpu

#endif  // XGBGPU_TREES_HOST_TRAINING_MEMORY_H_
