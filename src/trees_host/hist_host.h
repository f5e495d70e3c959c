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

/// `matrix` has the rows of `shard`, quantised together with the rows of all other shards. The builders of all shards
/// grow the same trees, if all get the same calls with the gradients of their own rows. Positions and margins are of a
/// builder's own rows. Everything that the arguments refer to must outlive the builder.
///
/// Memory  37 bytes a row at most, 8 more where rows are sampled; `histogram_bytes`, or two histograms; scratch
std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(QuantisedMatrix const& matrix, Shard const& shard, int threads,
                                                 std::size_t histogram_bytes = HostHistogramPolicy{}.cache_bytes);
/// Makes a builder for a matrix that has all rows.
std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(QuantisedMatrix const& matrix, int threads);

/// Makes a builder for a matrix in pages. The matrices of all shards are in pages, or none. All shards have the same
/// working_bytes. If the sample of a tree fits half of working_bytes less two histograms, in all shards, the tree grows
/// on a copy of the sample's rows, and visits the pages twice. Grow also throws the errors of PageStore, in all shards.
///
/// Memory  24 bytes a row at most, 8 more where rows are sampled; two pages, and 8 bytes for each row of one;
///         `working_bytes`, or two histograms; scratch
std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(PagedMatrix const& matrix, Shard const& shard, int threads,
                                                 std::size_t working_bytes = HostHistogramPolicy{}.cache_bytes);

}  // namespace xgbgpu

#endif  // XGBGPU_TREES_HOST_HIST_HOST_H_
