/// The pages of XGBoost's matrices as the engine reads rows.
#ifndef XGBGPU_PLUGIN_MATRIX_MATRIX_ROWS_H_
#define XGBGPU_PLUGIN_MATRIX_MATRIX_ROWS_H_

#include <xgboost/data.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "data/held_rows.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::plugin {

/// [columns] 1 for a categorical column, else 0; empty if no column is categorical.
std::vector<std::uint8_t> CategoricalFeatures(xgboost::MetaInfo const& info);

/// Fills `page` with the rows `range` (the first, and the one after the last), without values that are missing.
/// present: about the number of values that will be there.
void FillPage(HeldRows const& rows, std::pair<std::uint64_t, std::uint64_t> range, std::uint64_t present, int threads,
              xgboost::SparsePage* page);

/// The new code for each code of a category: [columns] of [codes of the column]. A column without categories has an
/// empty list. Empty: all codes stay.
using Recoding = std::vector<std::vector<std::int32_t>>;

/// The values that a matrix of ours holds, or the pages of another DMatrix in their order, or the lower ends of the
/// bins of a stock QuantileDMatrix. One thread may read it at a time.
class DMatrixRows final : public RowSource {
 public:
  /// `data` must outlive it. `recoding`: for a matrix of stock code with names of categories. Codes beyond it stay.
  explicit DMatrixRows(xgboost::DMatrix* data, Recoding recoding = {});
  /// For a QuantileDMatrix that holds bins alone, before it is read: the first bin of each numeric column gets the
  /// least float as its lower end where XGBoost does not show it (BinEndsOf). All shards call it at the same time, and
  /// throw if one of them does.
  void LowerFirstBins(Collective& shards);
  DMatrixRows(DMatrixRows const&) = delete;
  DMatrixRows& operator=(DMatrixRows const&) = delete;

  std::uint64_t rows() const override { return data_->Info().num_row_; }
  FeatureIndex features() const override { return static_cast<FeatureIndex>(data_->Info().num_col_); }
  Span<std::uint8_t const> categorical() const override { return categorical_; }
  std::optional<DenseValues> dense() const override;
  std::optional<DenseValues> arrays() const override;
  void ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const override { held_->ForEachArray(visit); }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override;

 private:
  void ForEachStored(std::function<void(RowBatch const&)> const& visit) const;
  bool MakeEnds() const;

  xgboost::DMatrix* data_;
  std::shared_ptr<HeldRows const> held_;  ///< the user's values, as long as stock code has not asked for them
  bool has_all_columns_{false};
  std::vector<std::uint8_t> categorical_;
  Recoding recoding_;
  // The page of all values of a QuantileDMatrix, 8 bytes each. XGBoost makes a new page at each call. It costs less to
  // keep one to the end than to make a second one.
  mutable std::shared_ptr<xgboost::SparsePage> lower_ends_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_MATRIX_ROWS_H_
