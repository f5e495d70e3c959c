/// XGBoost's matrices as the engine reads them.
#ifndef XGBGPU_PLUGIN_MATRIX_ADAPT_INPUT_H_
#define XGBGPU_PLUGIN_MATRIX_ADAPT_INPUT_H_

#include <xgboost/base.h>
#include <xgboost/data.h>
#include <xgboost/learner.h>

#include <memory>
#include <vector>

#include "matrix/held_bins.h"
#include "matrix/matrix_rows.h"
#include "xgb/api_call.h"
#include "xgb/types.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/dataset_cache.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// Calls use(request) with what is asked of the quantised data of `data`: bins, or sorted columns if max_bin is
/// kNoBins. A DMatrix, and a QuantileDMatrix that holds values, is binned by exact quantiles (pages of external memory
/// are read one by one, twice) or by the cuts of the matrix whose bins it shares; one that has only bins by these, for
/// which max_bin and weights play no part. They will lie in `place`. Making them throws Unsupported for sorted columns
/// of a QuantileDMatrix or of external memory, as stock `exact` does.
template <typename F>
decltype(auto) WithRequest(std::shared_ptr<xgboost::DMatrix> const& data, int max_bin, int threads, Place place,
                           F&& use);

/// Where each group of rows that shares one weight begins, and the end of the last; empty if weights are the rows' own.
Span<xgboost::bst_group_t const> WeightGroups(xgboost::MetaInfo const& info);

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

/// True if what the metric compares predictions with is there, once for each, and the weights are those of the rows or
/// groups over which it is a mean.
bool LabelsFit(MetricParams const& metric, xgboost::MetaInfo const& info, std::uint32_t outputs);

/// The margins of rows before the first tree: those that the user gave, or the model's base score.
BaseMargins BaseMarginsOf(xgboost::MetaInfo const& info, xgboost::LearnerModelParam const& model);

/// True if the user gave no margins, or one for each row and output.
bool BaseMarginFits(xgboost::MetaInfo const& info, std::size_t outputs);

/// One weight per column, or empty. Throws InvalidArgument if there are more or fewer than columns.
std::vector<float> FeatureWeights(xgboost::MetaInfo const& info);

/// Makes what WithRequest asks for.
std::shared_ptr<Dataset const> MakeDataset(xgboost::DMatrix* data, int max_bin, int threads, Place place);

/// Makes bins of `rows` by the cuts of `ref`, a QuantileDMatrix of ours.
std::shared_ptr<Dataset const> BuildWithBinsOf(std::shared_ptr<xgboost::DMatrix> const& ref, RowSource const& rows,
                                               int threads, Place const& place);

template <typename F>
decltype(auto) WithRequest(std::shared_ptr<xgboost::DMatrix> const& data, int max_bin, int threads, Place place,
                           F&& use) {
  xgboost::MetaInfo const& info = data->Info();
  auto const categorical = CategoricalFeatures(info);
  return use(DatasetRequest{DataKey{data}, KnownEpoch(), max_bin, HasOwnBins(*data), info.weights_.ConstHostVector(),
                            WeightGroups(info), categorical, place,
                            [&] { return MakeDataset(data.get(), max_bin, threads, place); }});
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_ADAPT_INPUT_H_
