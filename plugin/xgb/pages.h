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

/// Returns true if `data` is an ExtMemQuantileDMatrix: pages of bins, whose lower ends XGBoost does not give away.
bool HasExternalBins(xgboost::DMatrix const& data);

/// Returns the lower ends of the bins of a QuantileDMatrix, which XGBoost makes anew at each call: the caller may change
/// them. Since 3.3 the first bin of a column, which begins at minus infinity, has the number below its upper end. Null if
/// there is no page, or if HasExternalBins says so. Cost: 8 bytes a value.
std::shared_ptr<xgboost::SparsePage> BinEndsOf(xgboost::DMatrix* data);

/// Asks a QuantileDMatrix for its bins as `hist` does that trains with `max_bin`. XGBoost warns where the matrix was
/// made with another one.
void AskForBins(xgboost::DMatrix* data, int max_bin);

/// Returns labels, weights and all else but the values of some rows of `data`, in the order of their numbers `rows`.
/// `present`: the number of values that the rows have.
xgboost::MetaInfo SliceInfo(xgboost::DMatrix const& data, Span<std::int32_t const> rows, std::uint64_t present);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_PAGES_H_
