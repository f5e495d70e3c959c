// Hands gradients, evaluations and estimates of a stock objective to the booster of its learner.
#include "entry/decorated_objective.h"

#include <xgboost/json.h>

#include <algorithm>

#include "base/message.h"
#include "booster/booster.h"
#include "booster/current_round.h"
#include "errors/boundary.h"
#include "group/process_group.h"
#include "params/saved_params.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

namespace {

/// Throws for gpu_backend=cuda with gblinear: that booster is XGBoost's alone, but its objective is decorated.
void CheckIsNotLinear(xgboost::Args const& args) {
  auto const has = [&](char const* name, char const* value) {
    return std::find(args.cbegin(), args.cend(), xgboost::Args::value_type{name, value}) != args.cend();
  };
  if (!has("booster", "gblinear") || !has("gpu_backend", "cuda")) return;
  throw InvalidArgument{
      "Parameter gpu_backend is 'cuda' and booster is 'gblinear', which does not train there; allowed: "
      "booster=gbtree or dart with tree_method=gpu_hist or gpu_exact, or gpu_backend=auto or host"};
}

}  // namespace

void DecoratedObjective::CheckParams(xgboost::Args const& args) const {
  AtBoundary("reading parameters", [&] { CheckIsNotLinear(args); });
}

std::optional<ObjectiveParams> const& DecoratedObjective::params() const {
  if (!is_current_ && maker_ == Maker::kKnown) {
    xgboost::Json config{xgboost::Object{}};
    SaveConfig(&config);
    params_ = ObjectiveParamsOf(config);
  }
  is_current_ = true;
  return params_;
}

void DecoratedObjective::ComputeGradients(xgboost::HostDeviceVector<float> const& margins,
                                          xgboost::MetaInfo const& info, XgbGradientMatrix* out, StockCall const& by_stock) {
  HostSpan span{"objective"};
  bool const done = AtBoundary("computing gradients", [&] {
    Booster* const booster = Booster::WhichPredicted(margins, context());
    if (booster == nullptr) return false;
    if (params() && booster->ComputeGradients(*params(), info, out)) return true;
    booster->FillMargins();
    return false;
  });
  if (!done) by_stock();
}

void DecoratedObjective::TransformForMetrics(xgboost::HostDeviceVector<float>* predictions, StockCall const& by_stock) {
  bool const done = AtBoundary("evaluating", [&] {
    Booster* const booster = Booster::WhichPredictedLast(context());
    return booster != nullptr && booster->BeginEvaluation(params(), predictions);
  });
  if (!done) by_stock();
}

bool DecoratedObjective::LeavesAreDone() const {
  CurrentRound const* const current = CurrentRound::Get();
  return current != nullptr && current->round().leaves() != LeafRule::kCaller;
}

void DecoratedObjective::EstimateBaseScore(xgboost::MetaInfo const& info, StockEstimate const& by_stock) const {
  bool const done = AtBoundary("estimating the base score", [&] {
    ProcessGroup* const group = ProcessGroup::OfThisThread();
    if (group == nullptr || !Booster::TrainsFor(context()) || !SetsMedians()) return false;
    auto const& labels = info.labels.Data()->ConstHostVector();
    auto const& weights = info.weights_.ConstHostVector();
    Agree(*group, {{"step", "estimate of base_score"}}, [&] {
      if (info.labels.Shape(0) != info.num_row_ || (!weights.empty() && weights.size() != info.num_row_)) {
        Throw<InvalidArgument>("There are labels of ", info.labels.Shape(0), " rows and ", weights.size(),
                               " weights for ", info.num_row_, " rows; allowed: one for each, and weights or none");
      }
    });
    xgboost::MetaInfo all;
    all.num_row_ = static_cast<std::uint64_t>(group->SumOf(static_cast<std::int64_t>(info.num_row_)));
    if (all.num_row_ == 0) return false;
    auto const all_labels = GatherAll(*group, Span<float const>{labels});
    all.labels.Reshape(all.num_row_, all_labels.size() / all.num_row_);
    all.labels.Data()->HostVector() = all_labels;
    all.weights_.HostVector() = GatherAll(*group, Span<float const>{weights});
    if (all.weights_.Size() != 0 && all.weights_.Size() != all.num_row_) {
      throw InvalidArgument{"Some workers have weights and some have none; allowed: all or none"};
    }
    OutsideProcessGroup([&] { by_stock(all); });
    return true;
  });
  if (!done) by_stock(info);
}

}  // namespace xgbgpu::plugin
