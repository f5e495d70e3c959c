// Measures rows, chooses the layout and finds the bin of every value on the host.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/hd.h"
#include "base/message.h"
#include "base/parallel.h"
#include "core/row_values.h"
#include "matrix/fill_matrix.h"
#include "matrix/matrix.h"
#include "matrix/matrix_ops.h"
#include "matrix/matrix_policy.h"
#include "matrix/row_sizes.h"
#include "quantile/feature_cuts.h"

namespace xgbgpu {

std::size_t QuantisedMatrix::symbol_bytes() const {
  switch (layout) {
    case MatrixLayout::kDense8:
      return 1;
    case MatrixLayout::kDense16:
    case MatrixLayout::kSparse16:
      return 2;
    default:
      return 4;
  }
}

std::size_t QuantisedMatrix::DataBytes(std::uint64_t rows_of_it, std::uint64_t stored_of_them) const {
  return symbol_bytes() * (dense() ? rows_of_it * row_stride : stored_of_them + SparseView<std::uint32_t>::kSpare);
}

std::size_t QuantisedMatrix::bytes() const {
  return data.bytes() + columns.bytes() + row_ptr.bytes() + sparse_columns.bytes() +
         cell_ptr.size() * sizeof(BinIndex) + cuts.values.size() * sizeof(float) + cuts.ptr.size() * sizeof(BinIndex) +
         cuts.min_values.size() * sizeof(float);
}

namespace host {

namespace {

constexpr std::size_t kHostTaskRows = 1 << 12;  // rows per task

/// Returns the number of values in a row, and counts each in `column`. Rows nearly always list their features in
/// ascending order.
std::uint64_t MeasureRow(std::uint64_t row, EntryRow const& values, Span<std::uint64_t> column) {
  std::uint64_t count = 0;
  bool ascending = true;
  std::uint64_t next = 0;  // smallest feature that keeps the order
  values.ForEach([&](FeatureIndex f, float) {
    ++count;
    ++column[f];
    ascending = ascending && f >= next;
    next = f + std::uint64_t{1};
  });
  if (!ascending) CheckEachFeatureOnce(row, values.entries());
  return count;
}

template <typename T>
std::uint64_t MeasureRow(std::uint64_t, ArrayRow<T> const& values, Span<std::uint64_t> column) {
  return CountValues(values, 0, column);
}

}  // namespace

void CheckShape(std::uint64_t rows, FeatureIndex features) {
  std::uint64_t const most = std::numeric_limits<RowIndex>::max() - std::uint64_t{1};
  if (rows > most) Throw<InvalidArgument>("The training data have ", rows, " rows; allowed: up to ", most);
  if (features == 0) Throw<InvalidArgument>("The training data have 0 features; allowed: 1 or more");
}

RowSizes MeasureRows(RowSource const& source, int threads) {
  RowSizes sizes{Buffer<std::uint64_t>{source.rows() + 1}, std::vector<std::uint64_t>(source.features()), 0};
  std::vector<std::vector<std::uint64_t>> columns(static_cast<std::size_t>(threads));
  for (auto& c : columns) c.resize(source.features());
  sizes.row_ptr[0] = 0;
  ForEachRow(source, threads, kHostTaskRows, [&](std::uint64_t row, auto const& values, int thread) {
    sizes.row_ptr[row + 1] = MeasureRow(row, values, columns[static_cast<std::size_t>(thread)]);
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

/// Returns the bytes from one dense row to the next, padded by MatrixPolicy.
std::size_t PaddedRow(std::size_t bytes) {
  constexpr MatrixPolicy kPolicy;
  std::size_t padded = 1;
  while (padded < bytes) padded *= 2;
  bool const worth = padded <= kPolicy.line_bytes &&
                     static_cast<double>(padded - bytes) <= kPolicy.most_padding * static_cast<double>(padded);
  return worth ? padded : bytes;
}

/// Chooses the layout and the cells of each feature from all shards' values.
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
    m->row_stride = PaddedRow(m->features() * m->symbol_bytes()) / m->symbol_bytes();
  } else {
    m->layout = m->cells() <= 65536 ? MatrixLayout::kSparse16 : MatrixLayout::kSparse32;
  }
}

/// Calls f(index of the first row in the whole matrix, rows of an array, their number) for all rows, in parallel. Rows
/// of batches are first copied to arrays of a few rows, which stay in the cache.
template <typename F>
void ForEachBlock(RowSource const& source, int threads, F&& f) {
  FeatureIndex const features = source.features();
  if (auto const array = HostArray(source)) {
    VisitRows(*array, features, [&](auto const& rows) {
      ParallelChunks(threads, source.rows(), kHostTaskRows,
                     [&](std::size_t begin, std::size_t end) { f(begin, rows.From(begin), end - begin); });
    });
    return;
  }
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  source.ForEachBatch([&](RowBatch const& batch) {
    ParallelChunks(threads, batch.rows(), kHostTaskRows, [&](std::size_t begin, std::size_t end) {
      std::size_t const most = std::min(ColumnTile::kRows, end - begin);
      std::vector<float> block(most * features);
      for (std::size_t row = begin; row < end; row += most) {
        std::size_t const n = std::min(most, end - row);
        std::fill(block.begin(), block.end(), kMissing);
        for (std::size_t r = 0; r < n; ++r) {
          EntryRow{batch.row(row + r)}.ForEach(
              [&](FeatureIndex feature, float value) { block[r * features + feature] = value; });
        }
        f(batch.first_row + row, ArrayRows<float>{block.data(), features, kMissing}, n);
      }
    });
  });
}

/// Sets bins[i] = LocalBin(ends, n, values[i]), and 0 for NaN. Makes each step of the bisection for all values before
/// the next step, so that no load waits for another.
XGBGPU_VECTOR void FindLocalBins(float const* ends, BinIndex n, float const* values, BinIndex* bins) {
  std::fill_n(bins, ColumnTile::kRows, BinIndex{0});
  for (BinIndex size = n - 1; size > 0;) {
    BinIndex const half = (size + 1) / 2;
    for (std::size_t i = 0; i < ColumnTile::kRows; ++i) {
      bins[i] = ends[bins[i] + half - 1] <= values[i] ? bins[i] + half : bins[i];
    }
    size -= half;
  }
}

template <typename Symbol>
void FillDense(RowSource const& source, std::uint64_t first_of_all, int threads, QuantisedMatrix* m) {
  auto* const symbols = reinterpret_cast<Symbol*>(m->data.data());
  auto* const columns = reinterpret_cast<Symbol*>(m->columns.data());
  ForEachBlock(source, threads, [&](std::uint64_t first_row, auto const& rows, std::size_t rows_of_block) {
    auto const write = [&](FeatureIndex f, std::size_t row, std::size_t n, float const* values) {
      BinIndex bins[ColumnTile::kRows];
      Symbol found[ColumnTile::kRows];
      BinIndex const missing = m->cuts.bins(f);
      FindLocalBins(m->cuts.values.data() + m->cuts.ptr[f], missing, values, bins);
      for (std::size_t r = 0; r < n; ++r) found[r] = static_cast<Symbol>(std::isnan(values[r]) ? missing : bins[r]);
      std::uint64_t const first = first_of_all + first_row + row;
      if (columns != nullptr) std::copy_n(found, n, columns + f * m->rows + first);
      for (std::size_t r = 0; r < n; ++r) symbols[(first + r) * m->row_stride + f] = found[r];
    };
    ForEachColumnPart(rows, 0, rows_of_block, 0, m->features(), write);
  });
}

template <typename Cell>
void FillSparse(RowSource const& source, std::uint64_t first_of_all, int threads, QuantisedMatrix* m) {
  auto* const cells = reinterpret_cast<Cell*>(m->data.data());
  std::fill_n(cells + m->stored, SparseView<Cell>::kSpare, Cell{0});
  ForEachRow(source, threads, kHostTaskRows, [&](std::uint64_t row, auto const& values, int) {
    Cell* const begin = cells + m->row_ptr[first_of_all + row];
    Cell* out = begin;
    values.ForEach([&](FeatureIndex f, float value) {
      BinIndex const local = LocalBin(m->cuts.values.data() + m->cuts.ptr[f], m->cuts.bins(f), value);
      *out++ = static_cast<Cell>(m->cell_ptr[f] + local);
    });
    if (!std::is_sorted(begin, out)) std::sort(begin, out);  // batches may list a row's features in any order
  });
}

/// Returns the feature of each cell.
std::vector<FeatureIndex> FeaturesOfCells(QuantisedMatrix const& m) {
  std::vector<FeatureIndex> features(m.cells());
  for (FeatureIndex f = 0; f < m.features(); ++f) {
    std::fill(features.begin() + m.cell_ptr[f], features.begin() + m.cell_ptr[f + 1], f);
  }
  return features;
}

template <typename Symbol>
SparseColumns MakeColumns(DenseView<Symbol> const&, QuantisedMatrix const&, int) {
  return {};
}

/// Lists the values of sparse rows by feature. Parts of consecutive rows count their values, then write them behind the
/// values of earlier parts.
template <typename Cell>
SparseColumns MakeColumns(SparseView<Cell> const& rows, QuantisedMatrix const& m, int threads) {
  std::size_t const features = m.features();
  std::size_t const parts = std::max<std::size_t>(
      1,
      std::min<std::size_t>(static_cast<std::size_t>(threads), m.stored / features));  // counts take less than values
  std::vector<FeatureIndex> const feature_of = FeaturesOfCells(m);
  SparseColumns columns{Buffer<std::uint64_t>{features + 1}, Buffer<RowIndex>{m.stored},
                        Buffer<std::uint16_t>{m.stored}};
  std::vector<std::uint64_t> places(parts * features);  // of a part's values of a feature: their number, then the next
  auto const for_values = [&](std::size_t part, auto&& f) {
    for (std::uint64_t row = m.rows * part / parts; row < m.rows * (part + 1) / parts; ++row) {
      for (std::uint64_t i = rows.row_ptr[row]; i < rows.row_ptr[row + 1]; ++i) {
        FeatureIndex const feature = feature_of[rows.cells[i]];
        f(places[part * features + feature], row, rows.cells[i] - rows.cell_ptr[feature]);
      }
    }
  };
  ParallelTasks(threads, parts, [&](std::size_t part, int) {
    for_values(part, [](std::uint64_t& place, std::uint64_t, BinIndex) { ++place; });
  });
  std::uint64_t at = 0;
  for (std::size_t f = 0; f < features; ++f) {
    columns.ptr[f] = at;
    for (std::size_t part = 0; part < parts; ++part) {
      at += std::exchange(places[part * features + f], at);
    }
  }
  columns.ptr[features] = at;
  ParallelTasks(threads, parts, [&](std::size_t part, int) {
    for_values(part, [&](std::uint64_t& place, std::uint64_t row, BinIndex bin) {
      columns.rows[place] = static_cast<RowIndex>(row);
      columns.bins[place++] = static_cast<std::uint16_t>(bin);
    });
  });
  return columns;
}

}  // namespace

MatrixPlan PlanMatrix(RowSource const& source, Cuts cuts, int threads, Collective& collective) {
  CheckShape(Shard::Place(&collective, source.rows()).all_rows, source.features());
  MatrixPlan plan{std::make_unique<QuantisedMatrix>(), {}};
  plan.matrix->cuts = std::move(cuts);
  plan.matrix->rows = source.rows();
  RowSizes sizes;
  AllOrNone(collective, [&] { sizes = MeasureRows(source, threads); });
  plan.matrix->stored = sizes.stored;
  Plan(AddUp(sizes, source.rows(), collective), plan.matrix.get());
  plan.row_ptr = std::move(sizes.row_ptr);
  return plan;
}

void FillRows(RowSource const& source, std::uint64_t first_row, int threads, QuantisedMatrix* matrix) {
  switch (matrix->layout) {
    case MatrixLayout::kDense8:
      FillDense<std::uint8_t>(source, first_row, threads, matrix);
      break;
    case MatrixLayout::kDense16:
      FillDense<std::uint16_t>(source, first_row, threads, matrix);
      break;
    case MatrixLayout::kSparse16:
      FillSparse<std::uint16_t>(source, first_row, threads, matrix);
      break;
    case MatrixLayout::kSparse32:
      FillSparse<std::uint32_t>(source, first_row, threads, matrix);
      break;
  }
}

std::unique_ptr<QuantisedMatrix> FillMatrix(RowSource const& source, MatrixPlan plan, int threads) {
  auto m = std::move(plan.matrix);
  m->data = Buffer<std::uint8_t>{m->DataBytes(m->rows, m->stored)};
  if (m->dense()) {
    m->columns = Buffer<std::uint8_t>{m->rows * m->features() * m->symbol_bytes()};
  } else {
    m->row_ptr = std::move(plan.row_ptr);
  }
  FillRows(source, 0, threads, m.get());
  m->sparse_columns = m->Visit([&](auto const& view) { return MakeColumns(view, *m, threads); });
  return m;
}

std::unique_ptr<QuantisedMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, int threads,
                                                Collective& collective) {
  return FillMatrix(source, PlanMatrix(source, std::move(cuts), threads, collective), threads);
}

}  // namespace host
}  // namespace xgbgpu
