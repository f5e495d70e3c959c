// Labels, weights, groups and quantised data of an XGBoost matrix for the engine.
#include "matrix/adapt_input.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/message.h"
#include "matrix/held_bins.h"
#include "matrix/matrix_rows.h"
#include "xgb/pages.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Throws unless every value is in memory and a number, as exact trees need it.
void CheckExactData(xgboost::DMatrix* data) {
  if (IsBinned(*data)) {
    throw Unsupported{
        "tree_method is 'gpu_exact' and the data are a QuantileDMatrix, which is made for methods that train on bins; "
        "allowed with gpu_exact: DMatrix, as with exact. gpu_hist takes both kinds"};
  }
  if (!CategoricalFeatures(data->Info()).empty()) {
    throw Unsupported{
        "tree_method is 'gpu_exact' and feature_types has a 'c' (categorical), but exact trees split numbers only; "
        "allowed with gpu_exact: numerical features. gpu_hist takes both kinds"};
  }
  if (!IsInMemory(*data)) {
    throw Unsupported{
        "tree_method is 'gpu_exact' and the data are a DMatrix in external memory, but exact trees need whole columns; "
        "allowed with gpu_exact: a DMatrix in memory. gpu_hist takes both kinds"};
  }
}

}  // namespace

/// Makes the part of this worker of a data set of all workers.
static std::shared_ptr<Dataset const> MakeInGroup(xgboost::DMatrix* data, BinsOf const& bins, int threads,
                                                  Place const& place) {
  HeldBins* const held = AsHeldBins(data);
  if (bins.own) {
    auto const stock = held != nullptr ? held->StockBins() : nullptr;
    DMatrixRows rows{stock != nullptr ? stock.get() : data};
    rows.LowerFirstBins(*place.shards);
    return Dataset::FromBinEdges(rows, threads, place);
  }
  std::vector<float> weights;
  AllOrNone(*place.shards, [&] { weights = RowWeights(data->Info()); });
  return Dataset::Build(DMatrixRows{data}, weights, bins.max_bin, threads, place);
}

std::shared_ptr<Dataset const> MakeDataset(xgboost::DMatrix* data, BinsOf const& bins, int threads, Place place) {
  if (HasExternalBins(*data)) {
    throw Unsupported{
        "tree_method is 'gpu_hist' and the data are an ExtMemQuantileDMatrix, whose bins only XGBoost's own methods "
        "can read; allowed with gpu_hist: a QuantileDMatrix of the same iterator, or a DMatrix of an iterator with "
        "cache_prefix"};
  }
  if (place.shards != nullptr) return MakeInGroup(data, bins, threads, place);
  DMatrixRows rows{data};
  if (bins.max_bin == kNoBins) {
    CheckExactData(data);
    return Dataset::BuildSorted(rows, threads, place);
  }
  HeldBins const* const held = AsHeldBins(data);
  if (auto made = held == nullptr ? nullptr : held->rows()->bins()) {
    bool const are_there = place.backend == made->place().backend && place.device == made->place().device &&
                           place.devices == made->place().devices;
    return are_there ? held->rows()->BinsWithin(place.memory)
                     : Dataset::BuildWithCuts(rows, made->cuts(), threads, place);
  }
  if (held != nullptr && held->ref() != nullptr) return BuildWithBinsOf(held->ref(), rows, threads, place);
  if (HasBinsOnly(*data)) {
    rows.LowerFirstBins(NoOtherShards());
    return Dataset::FromBinEdges(rows, threads, place);
  }
  return Dataset::Build(rows, RowWeights(data->Info()), bins.max_bin, threads, place);
}

std::shared_ptr<Dataset const> BuildWithBinsOf(std::shared_ptr<xgboost::DMatrix> const& ref, RowSource const& rows,
                                               int threads, Place const& place) {
  HeldBins const* const held = AsHeldBins(ref.get());
  if (held->ref() != nullptr) return BuildWithBinsOf(held->ref(), rows, threads, place);
  auto const get = [](DatasetRequest const& request) { return DatasetCache::Instance().Get(request); };
  return Dataset::BuildWithCuts(rows, WithRequest(ref, BinsAlone(*ref, held->bins()), threads, place, get)->cuts(),
                                threads, place);
}

Span<xgboost::bst_group_t const> WeightGroups(xgboost::MetaInfo const& info) {
  std::size_t const weights = info.weights_.Size();
  bool const per_group = !info.group_ptr_.empty() && weights + 1 == info.group_ptr_.size() && weights != info.num_row_;
  if (!per_group) return {};
  return info.group_ptr_;
}

std::vector<float> RowWeights(xgboost::MetaInfo const& info) {
  auto const& weights = info.weights_.ConstHostVector();
  auto const groups = WeightGroups(info);
  if (groups.empty()) return weights;
  if (groups.back() != info.num_row_) {
    throw InvalidArgument{"The groups have " + std::to_string(groups.back()) + " rows together, but the matrix has " +
                          std::to_string(info.num_row_) + "; allowed: groups that have all rows of the matrix"};
  }
  std::vector<float> per_row(info.num_row_);
  for (std::size_t g = 0; g < weights.size(); ++g) {
    std::fill(per_row.begin() + groups[g], per_row.begin() + groups[g + 1], weights[g]);
  }
  return per_row;
}

TargetView ViewTargets(xgboost::MetaInfo const& info) {
  std::size_t const rows = info.num_row_, weights = info.weights_.Size();
  auto const data = [](auto const& vector) { return vector.Size() == 0 ? nullptr : vector.ConstHostVector().data(); };
  TargetView view;
  view.labels = data(*info.labels.Data());
  view.label_columns = static_cast<std::uint32_t>(std::max<std::size_t>(1, info.labels.Shape(1)));
  view.weights = data(info.weights_);
  view.lower = info.labels_lower_bound_.Size() == rows ? data(info.labels_lower_bound_) : nullptr;
  view.upper = info.labels_upper_bound_.Size() == rows ? data(info.labels_upper_bound_) : nullptr;
  auto const& groups = info.group_ptr_;
  bool const grouped = groups.size() > 1 && groups.back() == rows && (weights == 0 || weights == groups.size() - 1);
  if (grouped) {
    view.group_ptr = groups.data();
    view.groups = static_cast<std::uint32_t>(groups.size() - 1);
  }
  return view;
}

/// Throws for mistakes for which stock code's words name neither parameter nor input.
static void CheckLabels(ObjectiveParams const& objective, xgboost::MetaInfo const& info, std::uint32_t outputs) {
  std::size_t const lower = info.labels_lower_bound_.Size(), upper = info.labels_upper_bound_.Size();
  if (objective.kind == Objective::kAft && (lower != info.num_row_ || upper != info.num_row_)) {
    Throw<InvalidArgument>("objective is 'survival:aft', and label_lower_bound has ", lower,
                           " values, label_upper_bound ", upper, "; allowed: one for each of ", info.num_row_, " rows");
  }
  auto const& weights = info.weights_.ConstHostVector();
  if (IsRanking(objective.kind) && !weights.empty() &&
      std::all_of(weights.cbegin(), weights.cend(), [](float w) { return w == 0.0f; })) {
    Throw<InvalidArgument>(
        "The objective ranks (rank:…), and all ", weights.size(),
        " weights of groups are 0; allowed: at least one above 0, because the gradients are divided by their sum");
  }
  bool const has_one_label = objective.kind == Objective::kSoftmax || HasAlphas(objective.kind);
  if (!has_one_label && outputs > 1 && info.labels.Shape(1) == 1) {
    Throw<InvalidArgument>(
        "The model makes ", outputs,
        " outputs for each row (num_class, or the label columns it was first trained with), but the labels have 1 "
        "column; allowed: ",
        outputs, " label columns, num_class 0 or 1, or objective multi:softmax or multi:softprob");
  }
}

bool LabelsFit(ObjectiveParams const& objective, xgboost::MetaInfo const& info, std::uint32_t outputs) {
  CheckLabels(objective, info, outputs);
  std::size_t const columns = objective.kind == Objective::kSoftmax || HasAlphas(objective.kind) ? 1 : outputs;
  std::size_t const weights = info.weights_.Size();
  TargetView const view = ViewTargets(info);
  if (objective.kind == Objective::kAft) {
    return view.lower != nullptr && view.upper != nullptr && outputs == 1 && (weights == 0 || weights == info.num_row_);
  }
  if (IsRanking(objective.kind)) {
    bool const groups_fit = view.group_ptr != nullptr || (info.group_ptr_.empty() && weights == 0);
    return info.labels.Size() == info.num_row_ && outputs == 1 && groups_fit;
  }
  bool const is_single = objective.kind == Objective::kCox || objective.kind == Objective::kAbsoluteError;
  if (is_single && outputs != 1) return false;
  return info.labels.Shape(0) == info.num_row_ && info.labels.Size() == info.num_row_ * columns &&
         (weights == 0 || weights == info.num_row_);
}

bool LabelsFit(MetricParams const& metric, xgboost::MetaInfo const& info, std::uint32_t outputs) {
  TargetView const view = ViewTargets(info);
  std::size_t const rows = info.num_row_, weights = info.weights_.Size();
  bool const of_groups = view.group_ptr != nullptr;
  bool const weights_fit = weights == 0 || weights == (of_groups ? view.groups : rows);
  if (rows == 0 || !weights_fit || (!of_groups && !info.group_ptr_.empty())) return false;
  switch (metric.kind) {
    case Metric::kAftNloglik:
    case Metric::kIntervalAccuracy:
      return view.lower != nullptr && view.upper != nullptr && outputs == 1 && !of_groups;
    case Metric::kPre:
    case Metric::kNdcg:
    case Metric::kMap:
      return info.labels.Size() == rows && outputs == 1;
    case Metric::kAuc:
    case Metric::kAucpr:
      return info.labels.Size() == rows && (outputs == 1 || !of_groups);
    case Metric::kCoxNloglik:
      return info.labels.Size() == rows && outputs == 1 && (weights == 0 || !of_groups);
    case Metric::kMerror:
    case Metric::kMlogloss:
      return info.labels.Size() == rows && (weights == 0 || !of_groups);
    default:
      return info.labels.Shape(0) == rows && info.labels.Size() == rows * outputs && (weights == 0 || !of_groups);
  }
}

BaseMargins BaseMarginsOf(xgboost::MetaInfo const& info, xgboost::LearnerModelParam const& model) {
  return {info.base_margin_.Data()->ConstHostVector(), BaseScores(model)};
}

bool BaseMarginFits(xgboost::MetaInfo const& info, std::size_t outputs) {
  auto const& margin = info.base_margin_;
  return margin.Size() == 0 || (margin.Shape(0) == info.num_row_ && margin.Shape(1) == outputs);
}

std::vector<float> FeatureWeights(xgboost::MetaInfo const& info) {
  auto const& weights = info.feature_weights.ConstHostVector();
  if (!weights.empty() && weights.size() != info.num_col_) {
    throw InvalidArgument{"feature_weights has " + std::to_string(weights.size()) +
                          " values; allowed: one for each of " + std::to_string(info.num_col_) + " columns"};
  }
  return weights;
}

}  // namespace xgbgpu::plugin
