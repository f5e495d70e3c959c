#include "objective.h"

#include <xgboost/json.h>

#include <string>

#include "booster.h"
#include "boundary.h"
#include "host_span.h"
#include "round.h"
#include "saved_number.h"

namespace xgbgpu::plugin {

namespace {

/// ObjFunction::ctx_ is for derived classes.
struct Context : xgboost::ObjFunction {
  static auto Member() { return &Context::ctx_; }
};

std::optional<ObjectiveParams> ParamsOf(xgboost::ObjFunction const& objective) {
  xgboost::Json config{xgboost::Object{}};
  objective.SaveConfig(&config);
  auto const kind = ObjectiveByName(xgboost::get<xgboost::String const>(config["name"]));
  if (!kind) return {};
  ObjectiveParams params{*kind};
  params.scale_pos_weight = SavedNumber(config, "reg_loss_param", "scale_pos_weight", params.scale_pos_weight);
  params.max_delta_step = SavedNumber(config, "poisson_regression_param", "max_delta_step", params.max_delta_step);
  params.tweedie_variance_power =
      SavedNumber(config, "tweedie_regression_param", "tweedie_variance_power", params.tweedie_variance_power);
  params.huber_slope = SavedNumber(config, "pseudo_huber_param", "huber_slope", params.huber_slope);
  params.aft_distribution = SavedDistribution(config);
  params.aft_scale = SavedNumber(config, "aft_loss_param", "aft_loss_distribution_scale", params.aft_scale);
  params.fix_list_weight = SavedNumber(config, "lambda_rank_param", "fix_list_weight", params.fix_list_weight);
  std::string const pairs = SavedText(config, "lambda_rank_param", "num_pairsample");
  if (pairs.size() > 9) return {};  // XGBoost may try
  if (!pairs.empty()) params.num_pairsample = static_cast<std::uint32_t>(std::stoul(pairs));
  return params;
}

}  // namespace

DecoratedObjective::DecoratedObjective(std::unique_ptr<xgboost::ObjFunction> inner, Maker maker)
    : inner_{std::move(inner)}, maker_{maker} {
  // XGBoost leaves both uninitialised.
  ctx_ = nullptr;
  inner_.get()->*Context::Member() = nullptr;
}

xgboost::ObjFunction* DecoratedObjective::inner() const {
  auto& context = inner_.get()->*Context::Member();
  if (context != ctx_) context = ctx_;
  return inner_.get();
}

void DecoratedObjective::Configure(xgboost::Args const& args) {
  inner()->Configure(args);
  configured_ = false;
}

void DecoratedObjective::LoadConfig(xgboost::Json const& in) {
  inner()->LoadConfig(in);
  configured_ = false;
}

std::optional<ObjectiveParams> const& DecoratedObjective::params() const {
  if (!configured_ && maker_ == Maker::kKnown) params_ = ParamsOf(*inner());
  configured_ = true;
  return params_;
}

void DecoratedObjective::GetGradient(xgboost::HostDeviceVector<float> const& margins, xgboost::MetaInfo const& info,
                                     int iteration, xgboost::HostDeviceVector<xgboost::GradientPair>* out) {
  HostSpan span{"objective"};
  bool const done = AtBoundary("computing gradients", [&] {
    Booster* const booster = Booster::WhichPredicted(margins, ctx_);
    if (booster == nullptr) return false;
    if (params() && booster->ComputeGradients(*params(), info, out)) return true;
    booster->FillMargins();
    return false;
  });
  if (!done) inner()->GetGradient(margins, info, iteration, out);
}

xgboost::ObjInfo DecoratedObjective::Task() const {
  xgboost::ObjInfo task = inner()->Task();
  Round const* const round = Round::Current();
  // Else XGBoost would change leaves once more, and refuse pages since its own code cannot go by them.
  if (round != nullptr && round->adapts_leaves) task.zero_hess = false;
  return task;
}

bool IsAbsoluteError(xgboost::ObjFunction const& objective) {
  auto const* const ours = dynamic_cast<DecoratedObjective const*>(&objective);
  return ours != nullptr && ours->params() && ours->params()->kind == Objective::kAbsoluteError;
}

void DecoratedObjective::EvalTransform(xgboost::HostDeviceVector<float>* predictions) {
  bool const done = AtBoundary("evaluating", [&] {
    Booster* const booster = Booster::WhichPredictedLast(ctx_);
    return booster != nullptr && booster->BeginEvaluation(params(), predictions);
  });
  if (!done) inner()->EvalTransform(predictions);
}

}  // namespace xgbgpu::plugin
