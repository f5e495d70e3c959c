/// The matrix that stock users get: a copy of their values, and XGBoost's pages only if stock code asks for them.
/// docs/adr/0019-the-users-array.md
#ifndef XGBGPU_PLUGIN_MATRIX_HELD_MATRIX_H_
#define XGBGPU_PLUGIN_MATRIX_HELD_MATRIX_H_

#include <xgboost/c_api.h>
#include <xgboost/data.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "data/held_rows.h"
#include "xgb/matrix.h"

namespace xgbgpu::plugin {

/// A DMatrix of HeldRows. A stock matrix (the *lender*) has labels, weights and the like, and every page. It is made
/// without rows, and is filled when stock code asks for the first page. Then the copy is freed: rows are held once.
class HeldMatrix final : public XgbMatrix {
 public:
  /// `lender`: a stock matrix in memory, with the columns of `rows` and no row.
  HeldMatrix(std::shared_ptr<xgboost::DMatrix> lender, std::shared_ptr<HeldRows const> rows);

  /// Returns the values; null once stock code has asked for pages.
  std::shared_ptr<HeldRows const> rows() const;
  /// Returns the stock matrix with all of its rows. `who` says in the log which pages were asked for.
  std::shared_ptr<xgboost::DMatrix> Stock(char const* who);

  xgboost::MetaInfo& Info() override { return lender_->Info(); }
  xgboost::MetaInfo const& Info() const override { return std::as_const(*lender_).Info(); }
  xgboost::Context const* Ctx() const override { return lender_->Ctx(); }

 private:
  std::shared_ptr<xgboost::DMatrix> LenderOf(PageKind kind) override;
  bool Lends(PageKind kind) const override { return kind == PageKind::kRows || HasPages(*lender_, kind); }
  xgboost::DMatrix* SliceRows(Span<std::int32_t const> rows) override;

  std::shared_ptr<xgboost::DMatrix> const lender_;
  mutable std::mutex mutex_;  ///< of rows_, and held while the lender is filled
  std::shared_ptr<HeldRows const> rows_;
  std::atomic<bool> is_announced_{false};  ///< true: the log says who asked for the page
};

/// Returns `data` if it is a HeldMatrix, else null.
HeldMatrix* AsHeld(xgboost::DMatrix* data);

/// Returns the number of threads that XGBoost uses for a matrix made with this `nthread`.
int ThreadsOfMatrix(int nthread);
/// Returns `nthread`, but at most the number of processors or 1024, whichever is larger. If the system cannot start a
/// thread, OpenMP ends the process. XGBoost also touches memory for each thread.
int LimitThreads(int nthread);

/// The members that we read of the JSON config of XGBoost's functions that make a matrix. A null member counts as
/// missing. Throws dmlc::Error if there is no `missing`, a member has another type, or columns are split over workers
/// (data_split_mode).
struct MatrixConfig {
  float missing;
  int nthread;
};
MatrixConfig ReadMatrixConfig(char const* json);

/// Makes a HeldMatrix. Returns null if XGBoost refuses to make the lender; XGBGetLastError tells why.
DMatrixHandle MakeHeldMatrix(std::shared_ptr<HeldRows const> rows, int nthread);

/// Puts a HeldMatrix of `rows` into the handle of a stock matrix, which has their columns and no row. Returns false if
/// memory is short: then XGBGetLastError tells the size, and the handle is freed.
bool HoldIn(DMatrixHandle handle, std::shared_ptr<HeldRows const> rows);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_HELD_MATRIX_H_
