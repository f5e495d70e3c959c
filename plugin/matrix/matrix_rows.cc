// Rows of XGBoost's matrices for the engine, and XGBoost's pages of rows that are held.
#include "matrix/matrix_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/float_bits.h"
#include "base/parallel.h"
#include "matrix/held_bins.h"
#include "matrix/held_matrix.h"
#include "xgb/pages.h"
#include "xgb/types.h"
#include "xgb/version.h"
#include "xgbgpu/array_source.h"

namespace xgbgpu::plugin {

namespace {

/// The lower end of a bin that begins below all values: no threshold is below the least float.
constexpr float kBelowAll = std::numeric_limits<float>::lowest();

/// Fills `page` with the rows of an array in the host's memory. `is_complete`: no value is missing.
template <typename T>
void FillFromArray(T const* values, float missing, std::uint64_t rows, FeatureIndex columns, bool is_complete,
                   int threads, xgboost::SparsePage* page) {
  auto& offsets = page->offset.HostVector();
  auto& entries = page->data.HostVector();
  auto const is_there = [&](T raw) {
    auto const value = static_cast<float>(raw);
    return value == value && value != missing;
  };
  constexpr std::size_t kGrain = 1 << 10;  // rows
  offsets.assign(rows + 1, 0);
  ParallelChunks(threads, rows, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      T const* const row = values + i * columns;
      offsets[i + 1] = is_complete ? columns : static_cast<std::size_t>(std::count_if(row, row + columns, is_there));
    }
  });
  for (std::size_t i = 0; i < rows; ++i) offsets[i + 1] += offsets[i];
  entries.resize(offsets[rows]);
  ParallelChunks(threads, rows, kGrain, [&](std::size_t begin, std::size_t end) {
    xgboost::Entry* to = entries.data() + offsets[begin];
    for (std::size_t i = begin; i < end; ++i) {
      T const* const row = values + i * columns;
      for (FeatureIndex f = 0; f < columns; ++f) {
        if (is_complete || is_there(row[f])) *to++ = {f, static_cast<float>(row[f])};
      }
    }
  });
}

}  // namespace

std::vector<std::uint8_t> CategoricalFeatures(xgboost::MetaInfo const& info) {
  auto const& types = info.feature_types.ConstHostVector();
  auto const is_categorical = [](xgboost::FeatureType type) { return type == xgboost::FeatureType::kCategorical; };
  if (std::none_of(types.cbegin(), types.cend(), is_categorical)) return {};
  std::vector<std::uint8_t> categorical(info.num_col_);
  std::transform(types.cbegin(), types.cend(), categorical.begin(), is_categorical);
  return categorical;
}

void FillPage(HeldRows const& rows, std::pair<std::uint64_t, std::uint64_t> range, std::uint64_t present, int threads,
              xgboost::SparsePage* page) {
  std::uint64_t const count = range.second - range.first;
  auto const array = rows.dense();
  if (array && array->device == kHostMemory) {
    FeatureIndex const columns = rows.features();
    bool const is_complete = rows.present() == rows.rows() * columns;
    VisitValues(*array, [&](auto const* values) {
      FillFromArray(values + range.first * columns, array->missing, count, columns, is_complete, threads, page);
    });
    return;
  }
  auto& offsets = page->offset.HostVector();
  auto& entries = page->data.HostVector();
  offsets.assign(count + 1, 0);
  entries.clear();
  entries.reserve(present);
  std::uint64_t next = 0;
  rows.VisitSome(range.first, count, threads, [&](RowBatch const& batch) {
    constexpr std::size_t kGrain = 1 << 10;  // rows
    auto* const sizes = offsets.data() + batch.first_row + 1;
    ParallelChunks(threads, batch.rows(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        auto const row = batch.row(i);
        sizes[i] = static_cast<std::size_t>(
            std::count_if(row.begin(), row.end(), [](Entry const& e) { return !std::isnan(e.value); }));
      }
    });
    for (std::size_t i = 0; i < batch.rows(); ++i) next = sizes[i] += next;
    entries.resize(next);
    ParallelChunks(threads, batch.rows(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        xgboost::Entry* to = entries.data() + sizes[static_cast<std::ptrdiff_t>(i) - 1];
        for (Entry const& e : batch.row(i)) {
          if (!std::isnan(e.value)) *to++ = {e.feature, e.value};
        }
      }
    });
  });
  if (!page->IsIndicesSorted(threads)) page->SortIndices(threads);  // as stock code does with a matrix that it makes
}

DMatrixRows::DMatrixRows(xgboost::DMatrix* data, Recoding recoding)
    : data_{data}, categorical_{CategoricalFeatures(data->Info())}, recoding_{std::move(recoding)} {
  if (HeldMatrix const* const held = AsHeld(data)) held_ = held->rows();
  if (HeldBins const* const held = AsHeldBins(data)) held_ = held->rows();
  // In a process group a matrix may have columns that only the rows of others have.
  has_all_columns_ = held_ != nullptr && held_->features() == features();
}

std::optional<DenseValues> DMatrixRows::dense() const { return has_all_columns_ ? held_->dense() : std::nullopt; }

std::optional<DenseValues> DMatrixRows::arrays() const { return has_all_columns_ ? held_->arrays() : std::nullopt; }

void DMatrixRows::ForEachBatch(std::function<void(RowBatch const&)> const& visit) const {
  if (recoding_.empty()) {
    ForEachStored(visit);
    return;
  }
  std::vector<Entry> entries;
  ForEachStored([&](RowBatch batch) {
    entries.assign(batch.entries.begin(), batch.entries.end());
    for (Entry& e : entries) {
      auto const& codes = recoding_[e.feature];
      // A code is the integer part, as in stock code.
      if (!codes.empty() && e.value > -1 && e.value < static_cast<float>(codes.size())) {
        e.value = static_cast<float>(codes[static_cast<std::size_t>(e.value)]);
      }
    }
    batch.entries = entries;
    visit(batch);
  });
}

/// Does the same with codes as they are stored.
void DMatrixRows::ForEachStored(std::function<void(RowBatch const&)> const& visit) const {
  if (held_ != nullptr) {
    held_->ForEachBatch(visit);
    return;
  }
  if (!IsBinned(*data_)) {
    ForEachRowPage(data_, [&](xgboost::SparsePage const& page) { visit(ViewOf(page)); });
    return;
  }
  if (MakeEnds()) visit(ViewOf(*lower_ends_));
}

/// Returns false if there is no page of bins.
bool DMatrixRows::MakeEnds() const {
  if (lower_ends_ != nullptr) return true;
  lower_ends_ = BinEndsOf(data_);
  if (lower_ends_ == nullptr) return false;
  // XGBoost puts the end of the first bin below the least value: below about -1.7e38 it runs out of floats.
  for (xgboost::Entry& e : lower_ends_->data.HostVector()) e.fvalue = std::max(e.fvalue, kBelowAll);
  return true;
}

void DMatrixRows::LowerFirstBins(Collective& shards) {
  constexpr bool kShowsFirstBins = kSeries < 303;
  if (kShowsFirstBins || held_ != nullptr) return;
  // The bin that is the first one of all shards may have no row of this shard.
  std::vector<std::int64_t> of_shards;  // [columns] DescendingKey of the least end
  AllOrNone(shards, [&] {
    of_shards.assign(features(), 0);
    if (!MakeEnds()) return;
    for (xgboost::Entry const& e : lower_ends_->data.ConstHostVector()) {
      of_shards[e.index] = std::max(of_shards[e.index], std::int64_t{DescendingKey(e.fvalue)});
    }
  });
  std::int64_t columns[] = {std::int64_t{features()}, -std::int64_t{features()}};
  shards.Max({columns, 2});
  if (columns[0] != -columns[1]) return;  // the engine has words for it
  shards.Max({of_shards.data(), of_shards.size()});
  if (lower_ends_ == nullptr) return;
  for (xgboost::Entry& e : lower_ends_->data.HostVector()) {
    bool const is_numeric = categorical_.empty() || categorical_[e.index] == 0;
    if (is_numeric && DescendingKey(e.fvalue) == of_shards[e.index]) e.fvalue = kBelowAll;
  }
}

}  // namespace xgbgpu::plugin
