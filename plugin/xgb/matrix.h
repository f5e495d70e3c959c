/// The base of our matrices: DMatrix as each series of XGBoost declares it, in neutral words.
#ifndef XGBGPU_PLUGIN_XGB_MATRIX_H_
#define XGBGPU_PLUGIN_XGB_MATRIX_H_

#include <xgboost/data.h>

#include <cstdint>
#include <memory>

#include "xgb/pages.h"
#include "xgb/series.h"
#include "xgbgpu/span.h"

namespace xgbgpu::plugin {

/// Makes pages of rows, one at a time.
class RowPages {
 public:
  RowPages() = default;
  virtual ~RowPages() = default;
  RowPages(RowPages const&) = delete;
  RowPages& operator=(RowPages const&) = delete;

  /// Returns the next page; null after the last one. The page may be overwritten by the next call.
  virtual std::shared_ptr<xgboost::SparsePage const> Next() = 0;
};

/// A matrix in memory. Another matrix lends it pages, or it makes its own pages of rows.
class XgbMatrix : public xgboost::DMatrix {
 public:
  XGBGPU_BEFORE_300(bool SingleColBlock() const final { return true; })
  xgboost::DMatrix* Slice(xgboost::common::Span<std::int32_t const> rows) final {
    return SliceRows({rows.data(), rows.size()});
  }
  XGBGPU_SINCE_300(XGBGPU_BEFORE_304(xgboost::DMatrix* SliceCol(int slices, int slice)
                                         final { return LenderOf(PageKind::kRows)->SliceCol(slices, slice); }))

 protected:
  /// Returns the matrix that lends XGBoost pages of this kind. Throws dmlc::Error, or errors that AtBoundary converts.
  virtual std::shared_ptr<xgboost::DMatrix> LenderOf(PageKind kind) = 0;
  /// Returns true if XGBoost may ask for pages of this kind: kRows, kBins, or kDeviceBins.
  virtual bool Lends(PageKind kind) const = 0;
  /// Returns the pages of rows that this matrix makes itself. Null: the lender's.
  virtual std::shared_ptr<RowPages> MakeRowPages() { return nullptr; }
  /// Returns a new matrix of the rows with these numbers, in their order. The caller deletes it.
  virtual xgboost::DMatrix* SliceRows(Span<std::int32_t const> rows) = 0;

 private:
  xgboost::BatchSet<xgboost::SparsePage> GetRowBatches() final;
  xgboost::BatchSet<xgboost::CSCPage> GetColumnBatches(XGBGPU_SINCE_300(xgboost::Context const*)) final;
  xgboost::BatchSet<xgboost::SortedCSCPage> GetSortedColumnBatches(XGBGPU_SINCE_300(xgboost::Context const*)) final;
  xgboost::BatchSet<xgboost::EllpackPage> GetEllpackBatches(XGBGPU_SINCE_300(xgboost::Context const*, )
                                                                xgboost::BatchParam const& param) final;
  xgboost::BatchSet<xgboost::GHistIndexMatrix> GetGradientIndex(XGBGPU_SINCE_300(xgboost::Context const*, )
                                                                    xgboost::BatchParam const& param) final;
  xgboost::BatchSet<xgboost::ExtSparsePage> GetExtBatches(XGBGPU_SINCE_300(xgboost::Context const*, )
                                                              xgboost::BatchParam const& param) final;
  bool EllpackExists() const final { return Lends(PageKind::kDeviceBins); }
  bool GHistIndexExists() const final { return Lends(PageKind::kBins); }
  bool SparsePageExists() const final { return Lends(PageKind::kRows); }
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_MATRIX_H_
