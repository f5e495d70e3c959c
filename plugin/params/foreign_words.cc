// Holds the tables of foreign names and values, and makes sentences of them.
#include "params/foreign_words.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

#include "base/quoted.h"
#include "xgb/registry.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

namespace {

constexpr char kDevice[] = "device", kXgboost2[] = "XGBoost 2";
constexpr char kObjective[] = "objective", kMetric[] = "eval_metric", kBooster[] = "booster";
/// Objectives of newer series; null: this one has none.
constexpr char const* kQuantile = kSeries >= 200 ? "reg:quantileerror with quantile_alpha" : nullptr;
constexpr char const* kExpectile = kSeries >= 303 ? "reg:expectileerror with expectile_alpha" : nullptr;
constexpr char kGpuHist[] = "tree_method=\"gpu_hist\"";

/// A name that has no effect here.
struct ForeignName {
  char const* name;
  char const* owner;    ///< null: earlier versions of gpu_hist
  char const* instead;  ///< what to write, or the name of the parameter that has the value; null: nothing is like it
  int first{0};         ///< the series of XGBoost that has it first; 0: none
};

constexpr char kLightGbm[] = "LightGBM", kCatBoost[] = "CatBoost", kBoth[] = "LightGBM and CatBoost";
constexpr char kRounds[] =
    "num_boost_round as an argument of train() and cv(), n_estimators of an estimator, or num_round of xgboost-gpu";
constexpr char kStops[] = "early_stopping_rounds as an argument of train() and cv(), or as one of an estimator";
constexpr char kCategories[] =
    "enable_categorical=True with columns of the type category, or feature_types of the DMatrix";
constexpr char kTask[] = "tree_method=gpu_hist for a GPU, with gpu_backend=host for the CPU";
constexpr char kNone[] = "nothing: there is no limit of rows, and min_child_weight limits hessians";
constexpr char kLeafWise[] = "max_leaves with grow_policy=lossguide and max_depth=0";

// docs/migrating.md has every name of the table; tests/python/params/test_foreign_words.py compares.
constexpr ForeignName kForeignNames[] = {
    {kDevice, kXgboost2, nullptr, 200},  // its line depends on the value
    {"multi_strategy", kXgboost2, nullptr, 200},
    {"deterministic_histogram", nullptr, "the same data, parameters and seed always give the same model"},
    {"single_precision_histogram", nullptr, "gradients are summed exactly, as integers"},
    {"gpu_page_size", nullptr, "external memory is read page by page as it was stored"},
    {"gpu_batch_nrows", nullptr, "the size of batches is chosen by the library"},
    {"debug_synchronize", nullptr, "devices always agree, there is nothing to check"},
    // what functions of XGBoost's Python package take, and boosters do not
    {"n_estimators", "estimators", kRounds},
    {"num_boost_round", "train()", kRounds},
    {"early_stopping_rounds", "train() and of estimators", kStops},
    // LightGBM
    {"num_iterations", kLightGbm, kRounds},
    {"num_iteration", kLightGbm, kRounds},
    {"num_trees", kBoth, kRounds},
    {"num_leaves", kLightGbm, kLeafWise},
    {"min_data_in_leaf", kBoth, kNone},
    {"min_child_samples", kLightGbm, kNone},
    {"min_sum_hessian_in_leaf", kLightGbm, "min_child_weight"},
    {"lambda_l1", kLightGbm, "reg_alpha"},
    {"lambda_l2", kLightGbm, "reg_lambda"},
    {"min_gain_to_split", kLightGbm, "gamma"},
    {"min_split_gain", kLightGbm, "gamma"},
    {"bagging_fraction", kLightGbm, "subsample"},
    {"bagging_freq", kLightGbm, "subsample alone: every tree has a sample of its own"},
    {"subsample_freq", kLightGbm, "subsample alone: every tree has a sample of its own"},
    {"feature_fraction", kLightGbm, "colsample_bytree"},
    {"feature_fraction_bynode", kLightGbm, "colsample_bynode"},
    {"data_sample_strategy", kLightGbm, "sampling_method=goss for goss, or subsample"},
    {"boosting", kLightGbm, kBooster},
    {"drop_rate", kLightGbm, "rate_drop"},
    {"categorical_feature", kLightGbm, kCategories},
    {"cat_l2", kLightGbm, "reg_lambda, which holds for all splits"},
    {"cat_smooth", kLightGbm, nullptr},
    {"min_data_per_group", kLightGbm, nullptr},
    {"boost_from_average", kBoth, "base_score with the mean of the labels"},
    {"early_stopping_round", kLightGbm, kStops},
    {"is_unbalance", kLightGbm, "scale_pos_weight with rows of class 0 divided by rows of class 1"},
    {"device_type", kLightGbm, kTask},
    {"gpu_device_id", kLightGbm, "gpu_id"},
    {"num_gpu", kLightGbm, "n_gpus"},
    {"num_threads", kLightGbm, "nthread"},
    {"metric", kLightGbm, kMetric},
    {"deterministic", kLightGbm, "nothing: models are always the same"},
    {"force_row_wise", kLightGbm, "nothing: models are always the same"},
    {"force_col_wise", kLightGbm, "nothing: models are always the same"},
    {"lambdarank_truncation_level", kLightGbm, nullptr},
    {"extra_trees", kLightGbm, nullptr},
    {"linear_tree", kLightGbm, nullptr},
    {"path_smooth", kLightGbm, nullptr},
    {"pred_contrib", kLightGbm, "predict(…, pred_contribs=True)"},
    // CatBoost
    {"iterations", kCatBoost, kRounds},
    {"depth", kCatBoost, "max_depth"},
    {"l2_leaf_reg", kCatBoost, "reg_lambda"},
    {"border_count", kCatBoost, "max_bin, which is one more than borders"},
    {"bootstrap_type", kCatBoost, "subsample, and sampling_method=gradient_based for MVS"},
    {"rsm", kCatBoost, "colsample_bylevel"},
    {"one_hot_max_size", kCatBoost, "max_cat_to_onehot, which is one more"},
    {"cat_features", kCatBoost, kCategories},
    {"max_ctr_complexity", kCatBoost, "combinations of xgboost_gpu.OrderedTargetEncoder"},
    {"has_time", kCatBoost, "order=given of xgboost_gpu.OrderedTargetEncoder"},
    {"class_weights", kCatBoost, "weight of the rows, or scale_pos_weight"},
    {"auto_class_weights", kCatBoost, "weight of the rows, or scale_pos_weight"},
    {"loss_function", kCatBoost, kObjective},
    {"custom_metric", kCatBoost, kMetric},
    {"task_type", kCatBoost, kTask},
    {"devices", kCatBoost, "gpu_id for one GPU, n_gpus for several"},
    {"thread_count", kCatBoost, "nthread"},
    {"random_seed", kCatBoost, "seed"},
    {"od_type", kCatBoost, kStops},
    {"od_wait", kCatBoost, kStops},
    {"use_best_model", kCatBoost, "iteration_range=(0, best_iteration + 1) in Booster.predict; estimators do so"},
    {"nan_mode", kCatBoost, "nothing: the side of missing values is learned for each split"},
    {"boosting_type", kCatBoost, nullptr},
    {"random_strength", kCatBoost, nullptr},
    {"bagging_temperature", kCatBoost, nullptr},
    {"leaf_estimation_iterations", kCatBoost, nullptr},
    {"leaf_estimation_method", kCatBoost, nullptr},
    // XGBoost 2 and newer
    {"quantile_alpha", kXgboost2, nullptr, 200},
    {"expectile_alpha", "XGBoost 3", nullptr, 303},
    {"max_cached_hist_node", kXgboost2, nullptr, 200},
    {"extmem_single_page", "XGBoost 3", nullptr, 300}};

/// A value that some XGBoost does not have, in small letters.
struct ForeignValue {
  char const* parameter;
  char const* value;
  char const* instead;  ///< null: nothing is like it
};

constexpr char kSquares[] = "reg:squarederror", kAbsolute[] = "reg:absoluteerror", kHuber[] = "reg:pseudohubererror";
constexpr char kLogistic[] = "binary:logistic", kShares[] = "reg:logistic", kClasses[] = "multi:softprob";
constexpr char kRanks[] = "rank:ndcg", kPairs[] = "rank:pairwise";

// A name that differs from XGBoost's in case alone needs no row.
constexpr ForeignValue kValues[] = {
    {kObjective, "regression", kSquares},
    {kObjective, "regression_l2", kSquares},
    {kObjective, "l2", kSquares},
    {kObjective, "l2_root", kSquares},
    {kObjective, "mean_squared_error", kSquares},
    {kObjective, "squared_error", kSquares},
    {kObjective, "squarederror", kSquares},
    {kObjective, "mse", kSquares},
    {kObjective, "rmse", kSquares},
    {kObjective, "regression_l1", kAbsolute},
    {kObjective, "l1", kAbsolute},
    {kObjective, "mean_absolute_error", kAbsolute},
    {kObjective, "absolute_error", kAbsolute},
    {kObjective, "absoluteerror", kAbsolute},
    {kObjective, "mae", kAbsolute},
    {kObjective, "huber", kHuber},
    {kObjective, "poisson", "count:poisson"},
    {kObjective, "gamma", "reg:gamma"},
    {kObjective, "tweedie", "reg:tweedie"},
    {kObjective, "binary", kLogistic},
    {kObjective, "logloss", kLogistic},
    {kObjective, "log_loss", kLogistic},
    {kObjective, "logistic", kLogistic},
    {kObjective, "cross_entropy", kShares},
    {kObjective, "crossentropy", kShares},
    {kObjective, "xentropy", kShares},
    {kObjective, "multiclass", kClasses},
    {kObjective, "multi_class", kClasses},
    {kObjective, "softmax", kClasses},
    {kObjective, "softprob", kClasses},
    {kObjective, "lambdarank", kRanks},
    {kObjective, "rank_xendcg", kRanks},
    {kObjective, "yetirank", kRanks},
    {kObjective, "yetirankpairwise", kRanks},
    {kObjective, "lambdamart", kRanks},
    {kObjective, "queryrmse", kPairs},
    {kObjective, "pairlogit", kPairs},
    {kObjective, "pairlogitpairwise", kPairs},
    {kObjective, "cox", "survival:cox"},
    {kObjective, "survivalaft", "survival:aft"},
    {kObjective, "fair", nullptr},
    {kObjective, "mape", nullptr},
    {kObjective, "quantile", kQuantile},
    {kObjective, "expectile", kExpectile},
    {kObjective, "multiclassova", nullptr},
    {kObjective, "multiclassonevsall", nullptr},
    {kObjective, "reg:quantileerror", kQuantile},
    {kObjective, "reg:expectileerror", kExpectile},
    {kMetric, "l1", "mae"},
    {kMetric, "mean_absolute_error", "mae"},
    {kMetric, "l2", "rmse"},
    {kMetric, "l2_root", "rmse"},
    {kMetric, "mse", "rmse"},
    {kMetric, "mean_squared_error", "rmse"},
    {kMetric, "binary", "logloss"},
    {kMetric, "binary_logloss", "logloss"},
    {kMetric, "crossentropy", "logloss"},
    {kMetric, "cross_entropy", "logloss"},
    {kMetric, "xentropy", "logloss"},
    {kMetric, "log_loss", "logloss"},
    {kMetric, "binary_error", "error"},
    {kMetric, "accuracy", "error, which is 1 - accuracy, or merror for several classes"},
    {kMetric, "multi_logloss", "mlogloss"},
    {kMetric, "multiclass", "mlogloss"},
    {kMetric, "multi_error", "merror"},
    {kMetric, "average_precision", "aucpr"},
    {kMetric, "prauc", "aucpr"},
    {kMetric, "lambdarank", "ndcg"},
    {kMetric, "mean_average_precision", "map"},
    {kMetric, "poisson", "poisson-nloglik"},
    {kMetric, "gamma", "gamma-nloglik"},
    {kMetric, "quantile", nullptr},
    {kMetric, "expectile", nullptr},
    {kMetric, "r2", nullptr},
    {kBooster, "gbdt", "gbtree"},
    {kBooster, "traditional", "gbtree"},
    {kBooster, "plain", "gbtree"},
    {kBooster, "rf", "gbtree, with num_parallel_tree and one round"},
    {kBooster, "random_forest", "gbtree, with num_parallel_tree and one round"},
    {kBooster, "goss", "gbtree, with sampling_method=goss"},
    {"grow_policy", "symmetrictree", "symmetric"},
    {"grow_policy", "leafwise", "lossguide"},
    {"grow_policy", "leaf_wise", "lossguide"},
    {"grow_policy", "levelwise", "depthwise"},
    {"grow_policy", "level_wise", "depthwise"},
    {"sampling_method", "bernoulli", "uniform"},
    {"sampling_method", "mvs", "gradient_based"}};

/// The XGBoost that this library is made for, as "XGBoost 1.7".
std::string ThisXGBoost() {
  return "XGBoost " + std::to_string(kBuiltSeries[0]) + '.' + std::to_string(kBuiltSeries[1]);
}

/// Returns the row of a name that this XGBoost does not have, or null.
ForeignName const* Find(std::string const& name) {
  auto const* const found = std::find_if(std::begin(kForeignNames), std::end(kForeignNames),
                                         [&](ForeignName const& row) { return name == row.name; });
  bool const is_foreign = found != std::end(kForeignNames) && (found->first == 0 || kSeries < found->first);
  return is_foreign ? found : nullptr;
}

std::string InSmallLetters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Returns true if XGBoost knows this value of the parameter.
bool IsKnown(std::string const& parameter, std::string const& value) {
  static std::map<std::string, std::vector<std::string>> const kWords{
      {kBooster, {"gbtree", "dart", "gblinear"}},
      {"grow_policy", {"depthwise", "lossguide", "symmetric"}},
      {"sampling_method", {"uniform", "gradient_based", "goss"}}};
  if (parameter == kObjective) return IsObjective(value);
  if (parameter == kMetric) return IsMetric(value);
  auto const words = kWords.find(parameter);
  return words != kWords.end() && std::count(words->second.cbegin(), words->second.cend(), value) != 0;
}

/// Returns XGBoost's word for a foreign value; an empty text: XGBoost has none. Nothing if the value is not foreign.
std::optional<std::string> InsteadOf(std::string const& parameter, std::string const& value) {
  if (IsKnown(parameter, value)) return {};
  std::string small = InSmallLetters(value);
  if (IsKnown(parameter, small)) return small;
  // CatBoost has parameters of an objective behind a colon, as in Quantile:alpha=0.1.
  if (small.find('=') != std::string::npos) small = small.substr(0, small.find(':'));
  for (ForeignValue const& row : kValues) {
    if (parameter == row.parameter && small == row.value) return row.instead == nullptr ? "" : row.instead;
  }
  return {};
}

/// Returns the number in XGBoost 2's name of a GPU: "1" of cuda:1, empty of cuda or gpu. Nothing for other names.
std::optional<std::string> OrdinalOfGpu(std::string const& device) {
  auto const colon = device.find(':');
  std::string const kind = device.substr(0, colon);
  if (kind != "cuda" && kind != "gpu") return {};
  if (colon == std::string::npos) return std::string{};
  std::string ordinal = device.substr(colon + 1);
  bool const is_number = ordinal.find_first_not_of("0123456789") == std::string::npos;
  if (ordinal.empty() || ordinal.size() > 9 || !is_number) return {};
  return ordinal;
}

std::string LineAboutDevice(std::string const& value, bool in_charge) {
  auto const ordinal = OrdinalOfGpu(value);
  if (!ordinal || (in_charge && ordinal->empty())) return {};
  std::string instead = in_charge ? "" : kGpuHist;
  if (!ordinal->empty()) instead += (in_charge ? "gpu_id=" : ", gpu_id=") + *ordinal;
  return "parameter device=\"" + value + "\" is of XGBoost 2 and has no effect here. Write " + instead + ".";
}

}  // namespace

bool HasNoEffect(std::string const& name) { return Find(name) != nullptr; }

std::string LineAbout(std::string const& name, std::string const& value, bool in_charge) {
  ForeignName const* const found = Find(name);
  if (found == nullptr) return {};
  if (name == kDevice) return LineAboutDevice(value, in_charge);
  if (name == "multi_strategy") {
    return "parameter multi_strategy is of XGBoost 2 and has no effect here: each output has trees of its own, as with "
           "one_output_per_tree. Leave it out.";
  }
  if (!in_charge) return {};
  if (found->owner == nullptr) return "parameter " + name + " has no effect: " + found->instead + '.';
  std::string const line = "parameter " + name + " is of " + found->owner + " and has no effect here. ";
  if (found->instead == nullptr) return line + "XGBoost has nothing like it: leave it out.";
  auto const translated = IsKnown(found->instead, value) ? value : InsteadOf(found->instead, value).value_or("");
  return line + "Write " + found->instead + (translated.empty() ? "" : "=" + translated) + '.';
}

std::string AdviceFor(std::string const& parameter, std::string const& value) {
  auto const instead = InsteadOf(parameter, value);
  if (!instead) return {};
  if (!instead->empty()) return "write " + *instead;
  return parameter == kMetric
             ? "nothing is like it but a metric of your own (custom_metric)"
             : "nothing is like it but an objective of your own (obj of train(), objective of an estimator)";
}

std::string InPlaceOf(std::string const& error) {
  struct Complaint {
    char const* parameter;
    char const* text;
    char end;
  };
  constexpr Complaint kComplaints[] = {{kObjective, "Unknown objective function: `", '`'},
                                       {kMetric, "Unknown metric function ", '\n'},
                                       {kBooster, "Unknown gbm type ", '\n'}};
  for (Complaint const& complaint : kComplaints) {
    std::size_t const at = error.find(complaint.text);
    if (at == std::string::npos) continue;
    std::size_t const begin = at + std::strlen(complaint.text);
    std::string const value = error.substr(begin, error.find(complaint.end, begin) - begin);
    std::string const advice = AdviceFor(complaint.parameter, value);
    if (advice.empty()) return {};
    return std::string{"Parameter "} + complaint.parameter + " is " + Quoted(value) + ", which " + ThisXGBoost() +
           " does not have; " + advice;
  }
  return {};
}

}  // namespace xgbgpu::plugin
