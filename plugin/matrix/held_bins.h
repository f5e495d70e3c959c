/// The QuantileDMatrix that stock users get from one array: a copy of their values, and XGBoost's bins only if stock
/// code asks for them. docs/adr/0019-the-users-array.md In a process group the values may come in batches, and the bins
/// are there from the first. docs/adr/0020-process-groups.md
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

/// Reads the parameters. Returns nothing for a text that XGBoost is to refuse.
std::optional<BinsConfig> ReadBinsConfig(char const* json);
/// Makes the parameters, and their JSON text, of numbers.
BinsConfig MakeBinsConfig(float missing, int nthread, int max_bin);

/// A QuantileDMatrix of HeldRows. Our methods train on it and evaluate with it. Stock code gets the bins of a stock
/// QuantileDMatrix (the *twin*). The twin is made of the values and weights when stock code asks for the first page.
/// The values stay for our methods. They also serve stock code that reads rows or columns; a stock QuantileDMatrix has
/// none.
class HeldBins final : public XgbMatrix {
 public:
  /// `info`: labels, weights and all else but the values. ref: the matrix whose bins it shares, or null.
  HeldBins(std::shared_ptr<HeldRows const> rows, xgboost::MetaInfo info, BinsConfig config,
           std::shared_ptr<xgboost::DMatrix> ref);
  /// Makes a HeldBins with an existing stock matrix as twin, and takes its labels and weights. A process group makes
  /// the twins of all workers together.
  HeldBins(std::shared_ptr<HeldRows const> rows, std::shared_ptr<xgboost::DMatrix> twin, BinsConfig config,
           std::shared_ptr<xgboost::DMatrix> ref);

  std::shared_ptr<HeldRows const> const& rows() const { return rows_; }
  /// Returns the parameter with which the matrix was made.
  int max_bin() const { return config_.max_bin; }
  /// Returns our QuantileDMatrix that this one shares bins with; null: none. The result has bins of its own.
  std::shared_ptr<xgboost::DMatrix> const& ref() const { return ref_; }
  /// Returns the number of bins of a column in our trees: max_bin of ref(), or without ref() of this matrix.
  int bins() const { return bins_; }
  /// Returns the stock matrix with XGBoost's bins. Throws dmlc::Error.
  std::shared_ptr<xgboost::DMatrix> StockBins() { return Twin("bins"); }

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

  /// The inputs of stock's cuts beside the values, at the time when the matrix was made.
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
  std::atomic<bool> is_announced_{false};     ///< true: the log says who asked for the bins
};

/// Returns `data` if it is a QuantileDMatrix of ours, else null.
HeldBins* AsHeldBins(xgboost::DMatrix* data);
HeldBins const* AsHeldBins(xgboost::DMatrix const* data);

/// Returns true if `data` has bins alone, which were chosen when it was made.
inline bool HasBinsOnly(xgboost::DMatrix const& data) { return IsBinned(data) && AsHeldBins(&data) == nullptr; }

/// Returns true if the bins of our methods were chosen when `data` was made.
inline bool HasOwnBins(xgboost::DMatrix const& data) {
  HeldBins const* const held = AsHeldBins(&data);
  return held == nullptr ? IsBinned(data) : held->rows()->bins() != nullptr;
}

/// Returns true if a QuantileDMatrix may be a HeldBins: with `ref`, if `ref` is a HeldBins; without, if our methods can
/// have max_bin bins.
bool MayHoldBins(BinsConfig const& config, std::shared_ptr<xgboost::DMatrix> const& ref);
/// Returns false if XGBoost would refuse to make a QuantileDMatrix of the rows, or is left to check them.
bool FitsHeldBins(RowSource const& rows, xgboost::MetaInfo const& info, xgboost::DMatrix const* ref, int threads);

/// Returns the bins a column for trees of ours on `data`: the matrix's own number, or max_bin of the training.
int BinsFor(xgboost::DMatrix const& data, int max_bin);
/// Warns, as XGBoost does for `hist`, if `data` was binned with another max_bin than the training's. The training's is
/// ignored then.
void ReportMaxBin(xgboost::DMatrix* data, int max_bin);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_HELD_BINS_H_
