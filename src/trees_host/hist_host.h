/// Trees by histograms on the host.
#ifndef XGBGPU_TREES_HOST_HIST_HOST_H_
#define XGBGPU_TREES_HOST_HIST_HOST_H_

#include <cstddef>
#include <memory>

#include "backend/tree_builder.h"
#include "histogram/histogram_policy.h"
#include "matrix/matrix.h"
#include "matrix/paged_matrix.h"
#include "xgbgpu/collective.h"

namespace xgbgpu {

/// `matrix` has the rows of `shard`, quantised together with those of the others. Every shard's builder grows the same
/// trees, if all get the same calls with the gradients of their own rows; positions and margins are those of its own
/// rows. What the arguments refer to must outlive it.
///
/// Memory  37 bytes a row at most, 8 more where rows are sampled; `histogram_bytes`, or two histograms; scratch
std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(QuantisedMatrix const& matrix, Shard const& shard, int threads,
                                                 std::size_t histogram_bytes = HostHistogramPolicy{}.cache_bytes);
/// Makes a builder for a matrix that has all rows.
std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(QuantisedMatrix const& matrix, int threads);

/// Does the same with a matrix in pages. Either no shard's matrix is in pages, or all are; working_bytes is the same in
/// all. A tree whose sample fits half of what it leaves beside two histograms, in all shards, grows on a copy of the
/// sample's rows, and visits the pages twice. Grow throws what PageStore throws, too, in all shards.
///
/// Memory  24 bytes a row at most, 8 more where rows are sampled; two pages, and 8 bytes for each row of one;
///         `working_bytes`, or two histograms; scratch
std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(PagedMatrix const& matrix, Shard const& shard, int threads,
                                                 std::size_t working_bytes = HostHistogramPolicy{}.cache_bytes);

}  // namespace xgbgpu

#endif  // XGBGPU_TREES_HOST_HIST_HOST_H_
