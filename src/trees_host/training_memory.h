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

/// The memory needs of a training, in bytes except `rows`.
struct TrainingNeeds {
  std::uint64_t rows;
  std::size_t bins;       ///< of all rows in core
  std::size_t shared;     ///< of cuts and cells; every page has them, too
  std::size_t histogram;  ///< of one node
  std::size_t scratch;    ///< of the tables that threads sum in
  std::size_t row_bins;   ///< of the largest row in a page
};
TrainingNeeds NeedsOf(host::MatrixPlan const& plan, int threads);

struct TrainingMemory {
  bool in_pages{false};
  std::size_t working_bytes{HostHistogramPolicy{}.cache_bytes};  ///< for histograms; in pages for samples, too
  std::size_t page_bytes{PagePolicy{}.page_bytes};
};

/// In core a training takes bins, cuts and cells, 47 bytes a row, two histograms and scratch. The rest of the limit is
/// for more histograms. If `limit` is less, the training is in pages: 34 bytes a row, two histograms, scratch, and
/// three times the bytes of a page, for two pages and the list of a page's rows. A quarter of the rest is for larger
/// pages, three quarters for histograms and samples.
///
/// All shards call this at the same time, each with its own needs and limit. If one shard is in pages, all are. All get
/// the same working_bytes.
///
/// In      limit  MemoryLimits::training_bytes; 0: none
/// Throws  InvalidArgument, in all shards, if a limit is less than the least memory of its shard
TrainingMemory ChooseTrainingMemory(TrainingNeeds const& needs, std::uint64_t limit, Collective& collective);

}  // namespace xgbgpu

#endif  // XGBGPU_TREES_HOST_TRAINING_MEMORY_H_
