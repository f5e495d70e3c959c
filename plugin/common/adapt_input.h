/// XGBoost's matrices as the engine reads them.
#ifndef XGBGPU_PLUGIN_ADAPT_INPUT_H_
#define XGBGPU_PLUGIN_ADAPT_INPUT_H_

#include <xgboost/base.h>
#include <xgboost/data.h>
#include <xgboost/host_device_vector.h>
#include <xgboost/predictor.h>

#include <functional>
#include <memory>
#include <vector>

#include "metric/metric.h"
#include "objective/objective.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trainer.h"
#include "xgbgpu/types.h"

namespace xgbgpu::plugin {

/// [columns] 1 for a categorical one; empty if there is none.
std::vector<std::uint8_t> CategoricalFeatures(xgboost::MetaInfo const& info);

/// The pages of a DMatrix, one after the other; of a QuantileDMatrix the lower ends of bins. To be read by one thread
/// at a time.
class DMatrixRows final : public RowSource {
 public:
  /// `data` must outlive it.
  explicit DMatrixRows(xgboost::DMatrix* data) : data_{data}, categorical_{CategoricalFeatures(data->Info())} {}
  DMatrixRows(DMatrixRows const&) = delete;
  DMatrixRows& operator=(DMatrixRows const&) = delete;

  std::uint64_t rows() const override { return data_->Info().num_row_; }
  FeatureIndex features() const override { return static_cast<FeatureIndex>(data_->Info().num_col_); }
  Span<std::uint8_t const> categorical() const override { return categorical_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override;

 private:
  xgboost::DMatrix* data_;
  std::vector<std::uint8_t> categorical_;
  // Of a QuantileDMatrix, for which XGBoost makes a page of all values, 8 bytes each, whenever it is asked: kept till
  // the end, which costs less than a second one.
  mutable std::shared_ptr<xgboost::SparsePage const> lower_ends_;
  mutable std::vector<Entry> finite_;
  mutable RowBatch ends_;
};

/// In place of max_bin: no bins, sorted columns for exact trees.
constexpr int kNoBins = 0;

/// Bins `data`, or sorts its columns if max_bin is kNoBins: a DMatrix by exact quantiles (pages of external memory are
/// read one by one, twice), a QuantileDMatrix by the bins that it was made with, for which max_bin and weights play no
/// part. They will lie in `place`. Throws Unsupported for sorted columns of a QuantileDMatrix or of external memory, as
/// stock `exact` does.
std::shared_ptr<Dataset const> MakeDataset(xgboost::DMatrix* data, int max_bin, int threads, Place place);

/// Who keeps `data` alive, which tells it from a later matrix at the same address. A caller that does not say (only
/// C++ code that drives boosters itself) pays for it: the matrix counts as a new one in every round.
std::shared_ptr<xgboost::DMatrix> OwnerOf(xgboost::DMatrix* data, xgboost::PredictionCacheEntry const& cache);

/// There are no margins.
inline void Clear(xgboost::PredictionCacheEntry* cache) {
  cache->predictions.HostVector().clear();
  cache->version = 0;
}

/// True if the bins of `data` were chosen when it was made (QuantileDMatrix).
bool IsBinned(xgboost::DMatrix const& data);

/// Makes XGBoost say what it says to `hist` if `data` was binned with another max_bin, which then plays no part.
void ReportMaxBin(xgboost::DMatrix* data, int max_bin);

/// Where each group of rows that shares one weight begins, and the end of the last; empty if weights are the rows' own.
std::vector<xgboost::bst_group_t> WeightGroups(xgboost::MetaInfo const& info);

/// One weight per row, or empty for "all 1". A ranking matrix has one weight per group: its rows share it.
/// Throws InvalidArgument if such groups do not cover the rows exactly.
std::vector<float> RowWeights(xgboost::MetaInfo const& info);

/// Labels, weights, bounds and ranking groups where they lie. Without groups if there are weights, but not one for each
/// of them, or if they do not cover the rows.
TargetView ViewTargets(xgboost::MetaInfo const& info);

/// True if there is a label for every margin (or row, for kSoftmax), or bounds for kAft, and a weight for every row (or
/// ranking group) or none. Else stock code has the words for what is wrong, but for this: throws InvalidArgument if
/// there is one label a row for several outputs of an objective without classes, or none of the bounds for kAft.
bool LabelsFit(ObjectiveParams const& objective, xgboost::MetaInfo const& info, std::uint32_t outputs);

/// The same for a metric: what it compares predictions with is there, once for each, and the weights are of the rows or
/// groups over which it is a mean.
bool LabelsFit(MetricParams const& metric, xgboost::MetaInfo const& info, std::uint32_t outputs);

/// The user gave no margins, or one for each row and output.
bool BaseMarginFits(xgboost::MetaInfo const& info, std::size_t outputs);

/// One weight per column, or empty. Throws InvalidArgument if there are more or fewer than columns.
std::vector<float> FeatureWeights(xgboost::MetaInfo const& info);

/// The same memory, seen as the engine's type.
Span<GradientPair const> View(xgboost::HostDeviceVector<xgboost::GradientPair> const& gradients);

/// Throws InvalidArgument, naming row, class and value, unless all gradients are finite. `classes` per row, > 0.
void CheckFinite(Span<GradientPair const> gradients, std::size_t classes);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ADAPT_INPUT_H_
