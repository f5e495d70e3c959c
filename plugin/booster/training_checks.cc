// Refuses combinations of parameters, data and objective before a round begins.
#include "booster/training_checks.h"

#include <algorithm>
#include <cmath>

#include "base/message.h"
#include "base/quoted.h"
#include "errors/notice.h"
#include "matrix/matrix_rows.h"
#include "params/booster_config.h"
#include "xgb/adapt_tree.h"
#include "xgb/json_values.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

void CheckTrainsInGroup(DeviceParam const& param, bool exact, std::string const& sequence, int workers) {
  if (exact) {
    Throw<Unsupported>("Parameter tree_method is 'gpu_exact', and this process is one of ", workers,
                       " workers: an exact threshold may lie between rows of two workers, and none of them sees both; "
                       "supported: one worker, or tree_method=gpu_hist on all of them");
  }
  if (sequence != kUpdater) {
    Throw<Unsupported>("Parameter updater adds others to gpu_hist, and this process is one of ", workers,
                       " workers; supported: one worker, or tree_method=gpu_hist without updater");
  }
  if (param.n_gpus > 1) {
    Throw<Unsupported>("Parameter n_gpus is '", param.n_gpus, "', and this process is one of ", workers,
                       " workers; supported: one worker, or n_gpus=1 and a worker for each GPU");
  }
}

void CheckDevices(DeviceParam const& param, bool exact) {
  if (!exact) return;
  if (param.n_gpus > 1) {
    Throw<Unsupported>("Parameter n_gpus is '", param.n_gpus,
                       "', and tree_method is 'gpu_exact': an exact threshold may lie between rows of two GPUs, and "
                       "none of them sees both; supported: n_gpus=1, or tree_method=gpu_hist");
  }
  if (ToMemoryLimits(param).training_bytes != 0) {
    Throw<Unsupported>("Parameter gpu_memory_limit is ", Quoted(param.gpu_memory_limit),
                       ", and tree_method is 'gpu_exact', which needs all columns in memory; supported: "
                       "gpu_memory_limit=0, or tree_method=gpu_hist");
  }
}

namespace {

constexpr char kWhyMedians[] =
    " and objective is 'reg:absoluteerror', whose leaves in gpu_hist are whole medians of what the rows lack, as in "
    "hist: ";
constexpr char kOtherThanMedians[] = ", tree_method=gpu_exact, or another objective (reg:pseudohubererror)";

}  // namespace

void CheckVectorLeaves(LearnerView const& learner, bool exact) {
  auto const refuse = [](auto const&... why) {
    Throw<Unsupported>("Parameter multi_strategy is 'multi_output_tree', ", why...,
                       "multi_strategy=one_output_per_tree, or tree_method=hist");
  };
  if (kLeafVectors != LeafVectors::kOfLeaves) {
    refuse(
        "and in this series of XGBoost gpu_hist and gpu_exact grow trees of one output each; supported: XGBoost 3.2 or "
        "newer, ");
  }
  if (exact) refuse("which tree_method=gpu_exact does not have; supported: tree_method=gpu_hist, ");
  if (learner.outputs() > 1 && !learner.grows_vector_leaves()) {
    throw Unsupported{
        "The model has trees of vectors, and parameter multi_strategy is 'one_output_per_tree'; supported: "
        "multi_strategy=multi_output_tree, or tree_method=hist"};
  }
}

void CheckVectorRound(xgboost::MetaInfo const& info, bool changes_leaves) {
  constexpr char kInThisSeries[] = "Parameter multi_strategy is 'multi_output_tree', and in this series of XGBoost ";
  constexpr char kNewer[] = "; supported: XGBoost 3.4, multi_strategy=one_output_per_tree";
  if (changes_leaves) {
    Throw<Unsupported>(kInThisSeries, "the objective sets leaves after growth, which are numbers", kNewer,
                       ", or another objective");
  }
  auto const categorical = CategoricalFeatures(info);
  auto const first = std::find(categorical.cbegin(), categorical.cend(), 1);
  if (kSavesCategoriesOfVectors || first == categorical.cend()) return;
  Throw<Unsupported>(kInThisSeries, "such trees split by numbers, and feature ", first - categorical.cbegin(),
                     " is categorical", kNewer, ", or numeric features");
}

void CheckMediansAddUp(bool is_dart, std::int64_t trees_per_output) {
  if (is_dart) {
    Throw<Unsupported>("Parameter booster is 'dart'", kWhyMedians, "trees of other weights would miss the labels; ",
                       "allowed: booster=gbtree", kOtherThanMedians);
  }
  if (trees_per_output > 1) {
    Throw<Unsupported>("Parameter num_parallel_tree is ", trees_per_output, kWhyMedians,
                       "the trees of a forest would add up to a multiple of the labels; allowed: num_parallel_tree=1 ",
                       "(XGBRFRegressor sets it to n_estimators)", kOtherThanMedians);
  }
}

void WarnIfEtaIsIgnored(float eta) {
  if (eta == 1) return;
  WarnOnce(
      "eta of medians",
      Message("parameter eta (learning_rate) is ", eta, " and has no effect: with objective=reg:absoluteerror the ",
              "leaves of gpu_hist are whole medians, as in hist. Write eta=1, or tree_method=gpu_exact, which ",
              "applies it."));
}

void WarnIfConstraintsMayBreak(std::vector<int> const& monotone_constraints) {
  bool const has_any =
      std::any_of(monotone_constraints.begin(), monotone_constraints.end(), [](int c) { return c != 0; });
  if (!has_any) return;
  WarnOnce(
      "constraints of medians",
      "parameter monotone_constraints is given, and predictions may break the constraints: with this objective each "
      "leaf of gpu_hist becomes a median or quantile of its rows, whatever its neighbours are, as in hist. "
      "tree_method=gpu_exact keeps to the constraints, and so does gpu_hist in XGBoost 3.4.");
}

void CheckGrows(bool updates, char const* tree_method) {
  if (!updates) return;
  Throw<InvalidArgument>("Parameter process_type is 'update', and ", tree_method,
                         " grows new trees; allowed: default, or update with updater=refresh or prune");
}

void CheckStockSetsLeaves(xgboost::ObjFunction const& objective, xgboost::MetaInfo const& info, std::size_t margins) {
  std::size_t const rows = info.num_row_;
  auto const check = [rows](char const* what, std::size_t n, std::size_t wanted) {
    if (n == wanted) return;
    Throw<InvalidArgument>("There are ", n, " ", what, " for ", rows,
                           " rows; the objective, which sets leaves from them, takes ", wanted);
  };
  check("labels", info.labels.Shape(0), rows);
  if (info.weights_.Size() != 0) check("weights", info.weights_.Size(), rows);
  check("margins", margins, rows * objective.Targets(info));
}

void CheckBaseScore(Objective objective, xgboost::MetaInfo const& info, std::vector<float> const& margins,
                    std::string const& base_score) {
  auto const worst =
      std::find_if(margins.cbegin(), margins.cend(), [](float margin) { return !std::isfinite(margin); });
  if (info.base_margin_.Size() != 0 || worst == margins.cend()) return;
  // These two have gradients at the margin -inf. The model then predicts zeros, as in stock code.
  bool const may_be_zero = objective == Objective::kPoisson || objective == Objective::kAft;
  if (may_be_zero && std::isinf(*worst)) return;
  std::string const what = base_score.empty() ? "not set, and its estimate, or that of the loaded model, is 0 or less"
                                              : Escaped(base_score, 80);
  Throw<InvalidArgument>("Parameter base_score is ", what, "; allowed: ", may_be_zero ? "0 or larger" : "larger than 0",
                         ", since the objective takes its logarithm");
}

}  // namespace xgbgpu::plugin
