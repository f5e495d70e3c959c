// Makes batches of rows from an array on the host.
#include "xgbgpu/array_source.h"

#include <algorithm>
#include <vector>

#include "base/parallel.h"

namespace xgbgpu {

void ArraySource::ForEachBatch(std::function<void(RowBatch const&)> const& visit) const {
  if (rows_ == 0 || features_ == 0) return;
  constexpr std::uint64_t kBatchValues = 1 << 21, kGrainValues = 1 << 14;
  std::uint64_t const columns = features_;
  std::uint64_t const most = std::clamp<std::uint64_t>(kBatchValues / columns, 1, rows_);
  std::vector<std::uint64_t> offsets(most + 1);
  for (std::uint64_t i = 0; i <= most; ++i) offsets[i] = i * columns;
  std::vector<Entry> entries(most * columns);
  for (std::uint64_t first = 0; first < rows_; first += most) {
    std::uint64_t const n = std::min(most, rows_ - first);
    VisitValues(values_, [&](auto const* values) {
      std::size_t const grain = std::max<std::uint64_t>(1, kGrainValues / columns);
      ParallelChunks(threads_, n, grain, [&](std::size_t begin, std::size_t end) {
        auto const* from = values + (first + begin) * columns;
        Entry* to = entries.data() + begin * columns;
        for (std::size_t i = begin; i < end; ++i) {
          for (FeatureIndex f = 0; f < features_; ++f) *to++ = {f, ValueOrNaN(*from++, values_.missing)};
        }
      });
    });
    visit({first, {offsets.data(), n + 1}, {entries.data(), n * columns}});
  }
}

}  // namespace xgbgpu
