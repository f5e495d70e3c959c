#include "adapt_input.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "core/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

static_assert(sizeof(xgboost::Entry) == sizeof(Entry) && std::is_standard_layout_v<xgboost::Entry> &&
                  offsetof(xgboost::Entry, index) == offsetof(Entry, feature) &&
                  offsetof(xgboost::Entry, fvalue) == offsetof(Entry, value) &&
                  std::is_same_v<xgboost::bst_feature_t, FeatureIndex> &&
                  std::is_same_v<xgboost::bst_float, decltype(Entry::value)>,
              "pages of a DMatrix are read where they lie");
static_assert(sizeof(xgboost::bst_row_t) == sizeof(std::uint64_t));
static_assert(sizeof(xgboost::GradientPair) == sizeof(GradientPair) &&
                  std::is_standard_layout_v<xgboost::GradientPair> &&
                  std::is_same_v<xgboost::GradientPair::ValueT, decltype(GradientPair::grad)>,
              "gradients are read where they lie");

RowBatch ToBatch(xgboost::SparsePage const& page) {
  auto const& offsets = page.offset.ConstHostVector();
  auto const& entries = page.data.ConstHostVector();
  RowBatch batch;
  batch.first_row = page.base_rowid;
  batch.offsets = {reinterpret_cast<std::uint64_t const*>(offsets.data()), offsets.size()};
  batch.entries = {reinterpret_cast<Entry const*>(entries.data()), entries.size()};
  return batch;
}

/// The batch, or one in `entries` if a value is -inf. XGBoost puts the end of the first bin below the least value:
/// below about -1.7e38 it runs out of floats. No threshold is below the least float either.
RowBatch WithFiniteEnds(RowBatch batch, std::vector<Entry>* entries) {
  auto const ran_out = [](Entry const& e) { return e.value == -std::numeric_limits<float>::infinity(); };
  if (std::none_of(batch.entries.begin(), batch.entries.end(), ran_out)) return batch;
  entries->assign(batch.entries.begin(), batch.entries.end());
  for (Entry& e : *entries) {
    if (ran_out(e)) e.value = std::numeric_limits<float>::lowest();
  }
  batch.entries = *entries;
  return batch;
}

}  // namespace

std::vector<std::uint8_t> CategoricalFeatures(xgboost::MetaInfo const& info) {
  auto const& types = info.feature_types.ConstHostVector();
  auto const is_categorical = [](xgboost::FeatureType type) { return type == xgboost::FeatureType::kCategorical; };
  if (std::none_of(types.cbegin(), types.cend(), is_categorical)) return {};
  std::vector<std::uint8_t> categorical(info.num_col_);
  std::transform(types.cbegin(), types.cend(), categorical.begin(), is_categorical);
  return categorical;
}

void DMatrixRows::ForEachBatch(std::function<void(RowBatch const&)> const& visit) const {
  if (!IsBinned(*data_)) {
    for (auto const& page : data_->GetBatches<xgboost::SparsePage>()) visit(ToBatch(page));
    return;
  }
  if (lower_ends_ == nullptr) {
    std::shared_ptr<xgboost::SparsePage const> made;
    for (auto const& page : data_->GetBatches<xgboost::ExtSparsePage>()) made = page.page;  // one, or none
    if (made == nullptr) return;
    ends_ = WithFiniteEnds(ToBatch(*made), &finite_);
    lower_ends_ = std::move(made);
  }
  visit(ends_);
}

std::shared_ptr<xgboost::DMatrix> OwnerOf(xgboost::DMatrix* data, xgboost::PredictionCacheEntry const& cache) {
  auto owner = cache.ref.lock();
  if (owner.get() != data) owner.reset(data, [](xgboost::DMatrix*) {});
  return owner;
}

bool IsBinned(xgboost::DMatrix const& data) { return !data.PageExists<xgboost::SparsePage>(); }

/// Exact trees need every value, in memory.
static void CheckExactData(xgboost::DMatrix* data) {
  if (IsBinned(*data)) {
    throw Unsupported{
        "tree_method is 'gpu_exact' and the data a QuantileDMatrix, which holds bins and not the values between which "
        "exact trees choose; allowed with gpu_exact: DMatrix"};
  }
  if (!CategoricalFeatures(data->Info()).empty()) {
    throw Unsupported{
        "tree_method is 'gpu_exact' and feature_types has a 'c' (categorical), but exact trees split between values; "
        "allowed with gpu_exact: numerical features, and gpu_hist for both"};
  }
  if (!data->SingleColBlock()) {
    throw Unsupported{
        "tree_method is 'gpu_exact' and the data a DMatrix in external memory, whose columns cannot be sorted page by "
        "page; allowed with gpu_exact: a DMatrix in memory, and gpu_hist for both"};
  }
}

std::shared_ptr<Dataset const> MakeDataset(xgboost::DMatrix* data, int max_bin, int threads, Place place) {
  DMatrixRows const rows{data};
  if (max_bin == kNoBins) {
    CheckExactData(data);
    return Dataset::BuildSorted(rows, threads, place);
  }
  if (!IsBinned(*data)) return Dataset::Build(rows, RowWeights(data->Info()), max_bin, threads, place);
  return Dataset::FromBinEdges(rows, threads, place);
}

void ReportMaxBin(xgboost::DMatrix* data, int max_bin) {
  if (!IsBinned(*data)) return;
  constexpr double kDefaultSparseThreshold = 0.2;
  data->GetBatches<xgboost::GHistIndexMatrix>({max_bin, kDefaultSparseThreshold});
}

std::vector<xgboost::bst_group_t> WeightGroups(xgboost::MetaInfo const& info) {
  std::size_t const weights = info.weights_.Size();
  bool const per_group = !info.group_ptr_.empty() && weights + 1 == info.group_ptr_.size() && weights != info.num_row_;
  return per_group ? info.group_ptr_ : std::vector<xgboost::bst_group_t>{};
}

std::vector<float> RowWeights(xgboost::MetaInfo const& info) {
  auto const& weights = info.weights_.ConstHostVector();
  auto const groups = WeightGroups(info);
  if (groups.empty()) return weights;
  if (groups.back() != info.num_row_) {
    throw InvalidArgument{"The groups have " + std::to_string(groups.back()) + " rows in all; allowed: the " +
                          std::to_string(info.num_row_) + " rows of the matrix"};
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

/// Mistakes for which stock code's words name neither parameter nor input.
static void CheckLabels(ObjectiveParams const& objective, xgboost::MetaInfo const& info, std::uint32_t outputs) {
  std::size_t const lower = info.labels_lower_bound_.Size(), upper = info.labels_upper_bound_.Size();
  if (objective.kind == Objective::kAft && (lower != info.num_row_ || upper != info.num_row_)) {
    Throw<InvalidArgument>("objective is 'survival:aft', and label_lower_bound has ", lower,
                           " values, label_upper_bound ", upper, "; allowed: one for each of ", info.num_row_, " rows");
  }
  auto const& weights = info.weights_.ConstHostVector();
  if (IsRanking(objective.kind) && !weights.empty() &&
      std::all_of(weights.cbegin(), weights.cend(), [](float w) { return w == 0.0f; })) {
    Throw<InvalidArgument>("objective is a ranking one (rank:…), and all ", weights.size(),
                           " weights of groups are 0; allowed: one or more above 0, since their sum divides");
  }
  if (objective.kind != Objective::kSoftmax && outputs > 1 && info.labels.Shape(1) == 1) {
    Throw<InvalidArgument>(
        "The model makes ", outputs,
        " outputs a row (num_class, or columns of the labels it began with), and the labels have 1 "
        "column; allowed: num_class 0 or 1, as many columns, or objective multi:softmax, multi:softprob");
  }
}

bool LabelsFit(ObjectiveParams const& objective, xgboost::MetaInfo const& info, std::uint32_t outputs) {
  CheckLabels(objective, info, outputs);
  std::size_t const columns = objective.kind == Objective::kSoftmax ? 1 : outputs;
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

Span<GradientPair const> View(xgboost::HostDeviceVector<xgboost::GradientPair> const& gradients) {
  auto const& host = gradients.ConstHostVector();
  return {reinterpret_cast<GradientPair const*>(host.data()), host.size()};
}

void CheckFinite(Span<GradientPair const> gradients, std::size_t classes) {
  // In blocks without an exit, which compilers turn into vector instructions.
  constexpr std::size_t kBlock = 1024;
  auto const is_bad = [&](std::size_t i) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    return !(std::fabs(gradients[i].grad) <= kLargest) | !(std::fabs(gradients[i].hess) <= kLargest);
  };
  for (std::size_t begin = 0; begin < gradients.size(); begin += kBlock) {
    std::size_t const end = std::min(begin + kBlock, gradients.size());
    unsigned bad = 0;
    for (std::size_t i = begin; i < end; ++i) bad |= static_cast<unsigned>(is_bad(i));
    if (bad == 0) continue;
    std::size_t i = begin;
    while (!is_bad(i)) ++i;
    throw InvalidArgument{"The gradient of row " + std::to_string(i / classes) + ", class " +
                          std::to_string(i % classes) + " is " + std::to_string(gradients[i].grad) +
                          " and its hessian " + std::to_string(gradients[i].hess) + "; allowed: finite numbers"};
  }
}

}  // namespace xgbgpu::plugin
