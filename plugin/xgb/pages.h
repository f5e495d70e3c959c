/// Pages of an XGBoost matrix: kinds, reading them, and labels of a slice.
#ifndef XGBGPU_PLUGIN_XGB_PAGES_H_
#define XGBGPU_PLUGIN_XGB_PAGES_H_

#include <xgboost/data.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu::plugin {

/// Kinds of pages, by their content.
enum class PageKind : std::uint8_t {
  kRows,           ///< values by rows
  kColumns,        ///< values by columns
  kSortedColumns,  ///< values by columns, ascending in each
  kBins,           ///< the bins that `hist` and `approx` train on
  kDeviceBins,     ///< bins on a device
  kBinEnds,        ///< values by rows, made of bins: the lower end of each
};

/// Returns true if `data` has pages of this kind: kRows, kBins, or kDeviceBins.
bool HasPages(xgboost::DMatrix const& data, PageKind kind);

/// Returns the page as the engine reads rows. Nothing is copied.
RowBatch ViewOf(xgboost::SparsePage const& page);

/// Calls `visit` for each page of rows.
void ForEachRowPage(xgboost::DMatrix* data, std::function<void(xgboost::SparsePage const&)> const& visit);

/// Returns true if `data` is an ExtMemQuantileDMatrix. It has pages of bins, and XGBoost does not expose their lower
/// ends.
bool HasExternalBins(xgboost::DMatrix const& data);

/// Returns the lower ends of the bins of a QuantileDMatrix. XGBoost makes them anew at each call, so the caller may
/// change them. Since 3.3 the first bin of a column begins at minus infinity, and is returned as the number below its
/// upper end. Null if there is no page, or HasExternalBins. Cost: 8 bytes a value.
std::shared_ptr<xgboost::SparsePage> BinEndsOf(xgboost::DMatrix* data);

/// Asks a QuantileDMatrix for its bins as `hist` with `max_bin` does. XGBoost warns if the matrix was made with another
/// max_bin.
void AskForBins(xgboost::DMatrix* data, int max_bin);

/// Returns the MetaInfo (labels, weights and the like) of some rows of `data`, in the order of their numbers `rows`.
/// `present`: the number of stored values in the rows.
xgboost::MetaInfo SliceInfo(xgboost::DMatrix const& data, Span<std::int32_t const> rows, std::uint64_t present);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_PAGES_H_
