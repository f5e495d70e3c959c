#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/message.h"
#include "core/parallel.h"
#include "matrix/matrix.h"
#include "matrix/matrix_ops.h"
#include "matrix/matrix_policy.h"
#include "matrix/row_sizes.h"
#include "quantile/feature_cuts.h"

namespace xgbgpu {

std::size_t QuantisedMatrix::bytes() const {
  return data.bytes() + columns.bytes() + row_ptr.bytes() + cell_ptr.size() * sizeof(BinIndex) +
         cuts.values.size() * sizeof(float) + cuts.ptr.size() * sizeof(BinIndex) +
         cuts.min_values.size() * sizeof(float);
}

namespace host {

namespace {

constexpr std::size_t kGrain = 1 << 12;  // rows per task

/// Returns the number of values in a row, and counts each in `column`. Rows are nearly always listed in ascending order
/// of features.
std::uint64_t MeasureRow(std::uint64_t row, Span<Entry const> values, Span<std::uint64_t> column) {
  std::uint64_t count = 0;
  bool ascending = true;
  std::uint64_t next = 0;  // smallest feature that keeps the order
  for (Entry const& e : values) {
    if (std::isnan(e.value)) continue;
    ++count;
    ++column[e.feature];
    ascending = ascending && e.feature >= next;
    next = e.feature + std::uint64_t{1};
  }
  if (!ascending) CheckEachFeatureOnce(row, values);
  return count;
}

}  // namespace

void CheckShape(std::uint64_t rows, FeatureIndex features) {
  std::uint64_t const most = std::numeric_limits<RowIndex>::max() - std::uint64_t{1};
  if (rows == 0 || rows > most) {
    Throw<InvalidArgument>("The training data have ", rows, " rows; allowed: 1 to ", most);
  }
  if (features == 0) Throw<InvalidArgument>("The training data have 0 features; allowed: 1 or more");
}

RowSizes MeasureRows(RowSource const& source, int threads) {
  RowSizes sizes{Buffer<std::uint64_t>{source.rows() + 1}, std::vector<std::uint64_t>(source.features()), 0};
  std::vector<std::vector<std::uint64_t>> columns(static_cast<std::size_t>(threads));
  for (auto& c : columns) c.resize(source.features());
  sizes.row_ptr[0] = 0;
  source.ForEachBatch([&](RowBatch const& batch) {
    std::size_t const tasks = (batch.rows() + kGrain - 1) / kGrain;
    ParallelTasks(threads, tasks, [&](std::size_t task, int thread) {
      auto& own = columns[static_cast<std::size_t>(thread)];
      std::size_t const end = std::min<std::size_t>(batch.rows(), (task + 1) * kGrain);
      for (std::size_t i = task * kGrain; i < end; ++i) {
        std::uint64_t const row = batch.first_row + i;
        sizes.row_ptr[row + 1] = MeasureRow(row, batch.row(i), own);
      }
    });
  });
  for (auto const& own : columns) {
    std::transform(own.begin(), own.end(), sizes.column.begin(), sizes.column.begin(), std::plus<>{});
  }
  for (std::uint64_t r = 0; r < source.rows(); ++r) sizes.row_ptr[r + 1] += sizes.row_ptr[r];
  sizes.stored = sizes.row_ptr[source.rows()];
  return sizes;
}

namespace {

/// Rows and values of all shards.
struct AllValues {
  std::uint64_t rows;
  std::uint64_t stored;
  std::vector<std::uint64_t> column;  ///< [features]
};

AllValues AddUp(RowSizes const& own, std::uint64_t rows, Collective& collective) {
  std::vector<std::int64_t> sums(own.column.begin(), own.column.end());
  sums.push_back(static_cast<std::int64_t>(rows));
  sums.push_back(static_cast<std::int64_t>(own.stored));
  collective.Sum(Span<std::int64_t>{sums});
  AllValues all{};
  all.column.assign(sums.begin(), sums.end() - 2);
  all.rows = static_cast<std::uint64_t>(sums[sums.size() - 2]);
  all.stored = static_cast<std::uint64_t>(sums.back());
  return all;
}

/// Layout and cells of each feature, from all shards' values.
void Plan(AllValues const& all, QuantisedMatrix* m) {
  double const density =
      static_cast<double>(all.stored) / (static_cast<double>(all.rows) * static_cast<double>(m->features()));
  bool const dense = density >= MatrixPolicy{}.dense_from;
  m->cell_ptr.assign(1, 0);
  m->cell_ptr.reserve(m->features() + std::size_t{1});
  BinIndex widest = 0;
  for (FeatureIndex f = 0; f < m->features(); ++f) {
    BinIndex const cells = m->cuts.bins(f) + (dense && all.column[f] != all.rows ? 1 : 0);
    widest = std::max(widest, cells);
    m->cell_ptr.push_back(m->cell_ptr.back() + cells);
  }
  if (dense) {
    m->layout = widest <= 256 ? MatrixLayout::kDense8 : MatrixLayout::kDense16;
  } else {
    m->layout = m->cells() <= 65536 ? MatrixLayout::kSparse16 : MatrixLayout::kSparse32;
  }
}

/// Returns the bytes from one dense row to the next, padded as MatrixPolicy says.
std::size_t PaddedRow(std::size_t bytes) {
  constexpr MatrixPolicy kPolicy;
  std::size_t padded = 1;
  while (padded < bytes) padded *= 2;
  bool const worth = padded <= kPolicy.line_bytes &&
                     static_cast<double>(padded - bytes) <= kPolicy.most_padding * static_cast<double>(padded);
  return worth ? padded : bytes;
}

/// Calls f(row in the whole matrix, values of the row) for every row, in parallel.
template <typename F>
void ForEachRow(RowSource const& source, int threads, F&& f) {
  source.ForEachBatch([&](RowBatch const& batch) {
    ParallelChunks(threads, batch.rows(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) f(batch.first_row + i, batch.row(i));
    });
  });
}

template <typename Symbol>
void FillDense(RowSource const& source, int threads, QuantisedMatrix* m) {
  std::size_t const features = m->features();
  m->row_stride = PaddedRow(features * sizeof(Symbol)) / sizeof(Symbol);
  m->data = Buffer<std::uint8_t>{m->rows * m->row_stride * sizeof(Symbol)};
  m->columns = Buffer<std::uint8_t>{m->rows * features * sizeof(Symbol)};
  auto* const symbols = reinterpret_cast<Symbol*>(m->data.data());
  auto* const columns = reinterpret_cast<Symbol*>(m->columns.data());
  std::vector<Symbol> missing(features);  // a row without values
  for (std::size_t f = 0; f < features; ++f)
    missing[f] = static_cast<Symbol>(m->cuts.bins(static_cast<FeatureIndex>(f)));
  ForEachRow(source, threads, [&](std::uint64_t row, Span<Entry const> values) {
    Symbol* const out = symbols + row * m->row_stride;
    std::copy(missing.begin(), missing.end(), out);
    for (Entry const& e : values) {
      if (std::isnan(e.value)) continue;
      BinIndex const first = m->cuts.ptr[e.feature];
      out[e.feature] = static_cast<Symbol>(LocalBin(m->cuts.values.data() + first, m->cuts.bins(e.feature), e.value));
    }
  });
  constexpr std::size_t kTile = 64;  // rows whose symbols stay in the cache while they are written by column
  ParallelChunks(threads, m->rows, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t tile = begin; tile < end; tile += kTile) {
      for (std::size_t f = 0; f < features; ++f) {
        Symbol const* from = symbols + tile * m->row_stride + f;
        Symbol* const to = columns + f * m->rows;
        for (std::size_t row = tile; row < std::min(tile + kTile, end); ++row, from += m->row_stride) to[row] = *from;
      }
    }
  });
}

template <typename Cell>
void FillSparse(RowSource const& source, int threads, QuantisedMatrix* m) {
  constexpr std::uint32_t kSpare = SparseView<Cell>::kSpare;
  m->data = Buffer<std::uint8_t>{(m->stored + kSpare) * sizeof(Cell)};
  auto* const cells = reinterpret_cast<Cell*>(m->data.data());
  std::fill_n(cells + m->stored, kSpare, Cell{0});
  ForEachRow(source, threads, [&](std::uint64_t row, Span<Entry const> values) {
    Cell* const begin = cells + m->row_ptr[row];
    Cell* out = begin;
    for (Entry const& e : values) {
      if (std::isnan(e.value)) continue;
      BinIndex const first = m->cuts.ptr[e.feature];
      BinIndex const local = LocalBin(m->cuts.values.data() + first, m->cuts.bins(e.feature), e.value);
      *out++ = static_cast<Cell>(m->cell_ptr[e.feature] + local);
    }
    if (!std::is_sorted(begin, out)) std::sort(begin, out);  // pages may list a row's features in any order
  });
}

}  // namespace

std::unique_ptr<QuantisedMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, int threads,
                                                Collective& collective) {
  CheckShape(Shard::Place(&collective, source.rows()).all_rows, source.features());
  auto m = std::make_unique<QuantisedMatrix>();
  m->cuts = std::move(cuts);
  m->rows = source.rows();
  RowSizes sizes;
  AllOrNone(collective, [&] { sizes = MeasureRows(source, threads); });
  m->stored = sizes.stored;
  Plan(AddUp(sizes, m->rows, collective), m.get());
  switch (m->layout) {
    case MatrixLayout::kDense8:
      FillDense<std::uint8_t>(source, threads, m.get());
      break;
    case MatrixLayout::kDense16:
      FillDense<std::uint16_t>(source, threads, m.get());
      break;
    case MatrixLayout::kSparse16:
      m->row_ptr = std::move(sizes.row_ptr);
      FillSparse<std::uint16_t>(source, threads, m.get());
      break;
    case MatrixLayout::kSparse32:
      m->row_ptr = std::move(sizes.row_ptr);
      FillSparse<std::uint32_t>(source, threads, m.get());
      break;
  }
  return m;
}

}  // namespace host
}  // namespace xgbgpu
