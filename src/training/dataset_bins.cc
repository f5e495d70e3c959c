// Reads the bins of a dataset back, through the backend that holds them.
#include "xgbgpu/dataset_bins.h"

#include <algorithm>

#include "backend/backend.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

bool HasPagedBins(Dataset const& data) {
  if (data.paged()) return true;
  auto const& shards = data.device_shards();
  return std::any_of(shards.cbegin(), shards.cend(), [](auto const& shard) { return FactsOf(*shard).in_pages; });
}

void VisitLowerEnds(Dataset const& data, std::uint64_t first, std::uint64_t count, int threads,
                    std::function<void(RowBatch const&)> const& visit) {
  auto const matrix = data.device_matrix();
  if (matrix == nullptr) throw Unsupported{"Bins are read back from a dataset on one device only"};
  VisitLowerEnds(*matrix, first, count, threads, visit);
}

}  // namespace xgbgpu
