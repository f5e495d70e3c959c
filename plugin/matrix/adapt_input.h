/// XGBoost's matrices as the engine reads them.
#ifndef XGBGPU_PLUGIN_MATRIX_ADAPT_INPUT_H_
#define XGBGPU_PLUGIN_MATRIX_ADAPT_INPUT_H_

#include <xgboost/base.h>
#include <xgboost/data.h>
#include <xgboost/learner.h>

#include <memory>
#include <vector>

#include "call/info_epoch.h"
#include "matrix/held_bins.h"
#include "matrix/matrix_rows.h"
#include "xgb/types.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/dataset_cache.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// The bins of a data set.
struct BinsOf {
  int max_bin;  ///< or kNoBins
  bool own;     ///< they were chosen when the matrix was made
};
/// Returns the bins that a process without a group trains on, where a training has this max_bin.
inline BinsOf BinsAlone(xgboost::DMatrix const& data, int max_bin) {
  return {max_bin == kNoBins ? kNoBins : BinsFor(data, max_bin), HasOwnBins(data)};
}

/// Calls use(request) with the request for the quantised data of `data` in `place`: bins, or sorted columns if max_bin
/// is kNoBins. A DMatrix, and a QuantileDMatrix that holds values, is binned by exact quantiles, or by the cuts of the
/// matrix that it shares bins with. Pages of external memory are read one by one, twice. A QuantileDMatrix of bins
/// alone keeps its bins, whatever max_bin and weights are. Making the data throws Unsupported for an
/// ExtMemQuantileDMatrix, and for sorted columns of a QuantileDMatrix or of external memory, as stock `exact` does.
template <typename F>
decltype(auto) WithRequest(std::shared_ptr<xgboost::DMatrix> const& data, BinsOf const& bins, int threads, Place place,
                           F&& use);

/// Returns [groups + 1] the first row of each ranking group, and the number of rows. Empty unless weights are of
/// groups.
Span<xgboost::bst_group_t const> WeightGroups(xgboost::MetaInfo const& info);

/// Returns one weight per row, or none for "all 1". A ranking matrix has one weight per group, which its rows share.
/// Throws InvalidArgument if groups do not cover the rows exactly.
std::vector<float> RowWeights(xgboost::MetaInfo const& info);

/// Returns labels, weights, bounds and ranking groups where they lie. The result has no groups if groups do not cover
/// the rows, or if there are weights, but not one for each group.
TargetView ViewTargets(xgboost::MetaInfo const& info);

/// Returns true if labels and weights fit: a label for every margin (for every row with kSoftmax, quantiles or
/// expectiles), or bounds for kAft; a weight for every row (or ranking group), or none. Otherwise stock code reports
/// the error, with two exceptions. Throws InvalidArgument if rows have one label and an objective without classes has
/// several outputs, and for kAft without bounds.
bool LabelsFit(ObjectiveParams const& objective, xgboost::MetaInfo const& info, std::uint32_t outputs);

/// Returns true if there is a label for each prediction of the metric, and a weight for each row or group over which it
/// is a mean, or none.
bool LabelsFit(MetricParams const& metric, xgboost::MetaInfo const& info, std::uint32_t outputs);

/// Returns the margins of rows before the first tree: the user's, or the model's base score.
BaseMargins BaseMarginsOf(xgboost::MetaInfo const& info, xgboost::LearnerModelParam const& model);

/// Returns true if the user gave no margins, or one for each row and output.
bool BaseMarginFits(xgboost::MetaInfo const& info, std::size_t outputs);

/// Returns one weight per column, or none. Throws InvalidArgument if there are more or fewer than columns.
std::vector<float> FeatureWeights(xgboost::MetaInfo const& info);

/// Makes the quantised data of a request of WithRequest.
std::shared_ptr<Dataset const> MakeDataset(xgboost::DMatrix* data, BinsOf const& bins, int threads, Place place);

/// Makes bins of `rows` by the cuts of `ref`, a QuantileDMatrix of ours.
std::shared_ptr<Dataset const> BuildWithBinsOf(std::shared_ptr<xgboost::DMatrix> const& ref, RowSource const& rows,
                                               int threads, Place const& place);

template <typename F>
decltype(auto) WithRequest(std::shared_ptr<xgboost::DMatrix> const& data, BinsOf const& bins, int threads, Place place,
                           F&& use) {
  xgboost::MetaInfo const& info = data->Info();
  auto const categorical = CategoricalFeatures(info);
  return use(DatasetRequest{DataKey{data}, KnownEpoch(), bins.max_bin, bins.own, info.weights_.ConstHostVector(),
                            WeightGroups(info), categorical, place,
                            [&] { return MakeDataset(data.get(), bins, threads, place); }});
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_ADAPT_INPUT_H_
