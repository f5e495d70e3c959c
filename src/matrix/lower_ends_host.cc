// Reads a quantised matrix of the host back, with the lower end of its bin in place of each value.
#include <algorithm>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "matrix/bin_ends.h"
#include "matrix/matrix.h"

namespace xgbgpu::host {

namespace {

/// Calls use(entry) for the stored values of a row, in the order of features.
template <typename Symbol, typename Use>
void ForRow(QuantisedMatrix const& matrix, DenseView<Symbol> const& view, BinEnds const& ends, std::uint64_t row,
            Use&& use) {
  Symbol const* const symbols = view.row(static_cast<RowIndex>(row));
  for (FeatureIndex f = 0; f < matrix.features(); ++f) {
    if (symbols[f] != matrix.cuts.bins(f)) use(ends.At(f, symbols[f]));
  }
}

template <typename Cell, typename Use>
void ForRow(QuantisedMatrix const& /*matrix*/, SparseView<Cell> const& view, BinEnds const& ends, std::uint64_t row,
            Use&& use) {
  FeatureIndex feature = 0;
  for (std::uint64_t i = view.row_ptr[row]; i < view.row_ptr[row + 1]; ++i) {
    Entry const entry = ends.AtCell(view.cells[i], feature);
    feature = entry.feature;
    use(entry);
  }
}

}  // namespace

void VisitLowerEnds(QuantisedMatrix const& matrix, std::uint64_t first, std::uint64_t count, int threads,
                    std::function<void(RowBatch const&)> const& visit) {
  constexpr std::uint64_t kValues = 1 << 21;
  constexpr std::size_t kGrain = 1 << 9;  // rows
  BinEnds const ends{matrix.cuts};
  std::uint64_t const most = std::max<std::uint64_t>(1, kValues / matrix.features());
  matrix.Visit([&](auto const& view) {
    for (std::uint64_t done = 0; done < count; done += most) {
      std::uint64_t const n = std::min(most, count - done), begin = first + done;
      std::vector<std::uint64_t> offsets(n + 1);
      ParallelChunks(threads, n, kGrain, [&](std::size_t from, std::size_t to) {
        for (std::size_t r = from; r < to; ++r) {
          ForRow(matrix, view, ends, begin + r, [&](Entry const&) { ++offsets[r + 1]; });
        }
      });
      std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
      std::vector<Entry> entries(offsets.back());
      ParallelChunks(threads, n, kGrain, [&](std::size_t from, std::size_t to) {
        for (std::size_t r = from; r < to; ++r) {
          Entry* entry = entries.data() + offsets[r];
          ForRow(matrix, view, ends, begin + r, [&](Entry const& read) { *entry++ = read; });
        }
      });
      visit({done, {offsets.data(), offsets.size()}, {entries.data(), entries.size()}});
    }
  });
}

}  // namespace xgbgpu::host
