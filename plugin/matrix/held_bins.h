/// The QuantileDMatrix that stock users get from one array: a copy of their values, and XGBoost's bins only if stock
/// code asks for them. docs/adr/0019-the-users-array.md
#ifndef XGBGPU_PLUGIN_MATRIX_HELD_BINS_H_
#define XGBGPU_PLUGIN_MATRIX_HELD_BINS_H_

#include <xgboost/c_api.h>
#include <xgboost/data.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "data/held_rows.h"
#include "matrix/held_matrix.h"
#include "xgb/matrix.h"
#include "xgb/types.h"

namespace xgbgpu::plugin {

/// The parameters that a QuantileDMatrix is made with.
struct BinsConfig {
  float missing;
  int nthread;  ///< 0: XGBoost's default
  int max_bin;
  std::string text;  ///< JSON, as the caller wrote it
};

/// Nothing where XGBoost has something to say about the text.
std::optional<BinsConfig> ReadBinsConfig(char const* json);
/// Makes them for a caller who passes numbers.
BinsConfig MakeBinsConfig(float missing, int nthread, int max_bin);

/// A QuantileDMatrix of HeldRows, which trees of ours are trained on and evaluated with. It answers stock code as
/// XGBoost's does, whose bins are those of a stock QuantileDMatrix (the *twin*), made of the same values and weights
/// when the first page is asked for. The values stay: our methods go on with them, and stock code that reads rows or
/// columns, which XGBoost's has not, gets them.
class HeldBins final : public XgbMatrix {
 public:
  /// `info`: labels, weights and all else that is no value, with the number of rows and columns. ref: whose bins it
  /// shares; or null.
  HeldBins(std::shared_ptr<HeldRows const> rows, xgboost::MetaInfo info, BinsConfig config,
           std::shared_ptr<xgboost::DMatrix> ref);

  std::shared_ptr<HeldRows const> const& rows() const { return rows_; }
  /// The parameter with which the matrix was made.
  int max_bin() const { return config_.max_bin; }
  /// The QuantileDMatrix of ours whose bins this one shares, which shares none itself; or null.
  std::shared_ptr<xgboost::DMatrix> const& ref() const { return ref_; }
  /// The bins a column that trees have: max_bin, or that of the matrix whose bins it shares.
  int bins() const { return bins_; }

  xgboost::MetaInfo& Info() override { return info_; }
  xgboost::MetaInfo const& Info() const override { return info_; }
  xgboost::Context const* Ctx() const override { return &context_; }

 private:
  /// Returns the stock matrix. `who` says in the log what was asked for. Throws dmlc::Error.
  std::shared_ptr<xgboost::DMatrix> Twin(char const* who);
  /// Returns the values without labels, as a HeldMatrix, for stock code that wants columns and for slices. Throws
  /// dmlc::Error.
  std::shared_ptr<xgboost::DMatrix> Values();

  std::shared_ptr<xgboost::DMatrix> LenderOf(PageKind kind) override;
  bool Lends(PageKind kind) const override { return kind == PageKind::kBins; }
  xgboost::DMatrix* SliceRows(Span<std::int32_t const> rows) override;

  /// Stock's cuts depend on these beside the values, as they were when the matrix was made.
  struct CutsOf {
    std::vector<float> weights;
    std::vector<xgboost::bst_group_t> groups;
    std::vector<xgboost::FeatureType> types;
  };

  std::shared_ptr<HeldRows const> const rows_;
  xgboost::MetaInfo info_;
  XgbContext context_;
  BinsConfig const config_;
  int bins_;
  std::shared_ptr<xgboost::DMatrix> ref_;
  std::mutex mutex_;  ///< of the rest, and held while the twin is made
  CutsOf cuts_of_;    ///< empty once the twin is there
  std::shared_ptr<xgboost::DMatrix> twin_;
  std::shared_ptr<xgboost::DMatrix> values_;  ///< a HeldMatrix, once it was asked for
  std::atomic<bool> is_announced_{false};     ///< has a line said who asked for the bins?
};

/// `data` if it is a QuantileDMatrix of ours, or null.
HeldBins* AsHeldBins(xgboost::DMatrix* data);
HeldBins const* AsHeldBins(xgboost::DMatrix const* data);

/// True if all that is to be had of `data` are bins, which were chosen when it was made.
inline bool HasBinsOnly(xgboost::DMatrix const& data) { return IsBinned(data) && AsHeldBins(&data) == nullptr; }

/// True if bins of ours, too, were chosen when `data` were made.
inline bool HasOwnBins(xgboost::DMatrix const& data) {
  HeldBins const* const held = AsHeldBins(&data);
  return held == nullptr ? IsBinned(data) : held->rows()->bins() != nullptr;
}

/// Is there something in the way of a HeldBins? In a process group, where XGBoost's construction communicates, with
/// bins of a matrix that is not ours, and for a number of bins that our methods do not have, XGBoost makes the matrix.
bool MayHoldBins(BinsConfig const& config, std::shared_ptr<xgboost::DMatrix> const& ref);
/// False if XGBoost would refuse to make a QuantileDMatrix of them, or is left to see to it.
bool FitsHeldBins(RowSource const& rows, xgboost::MetaInfo const& info, xgboost::DMatrix const* ref, int threads);

/// The bins a column for trees of ours on `data`: max_bin of the training, if the matrix was not made with another one.
int BinsFor(xgboost::DMatrix const& data, int max_bin);
/// Says what XGBoost says to `hist` if `data` was binned with another max_bin, which then plays no part.
void ReportMaxBin(xgboost::DMatrix* data, int max_bin);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_HELD_BINS_H_
