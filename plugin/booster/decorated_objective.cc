#include "booster/decorated_objective.h"

#include <xgboost/json.h>
#include <xgboost/task.h>

#include <algorithm>
#include <map>
#include <mutex>

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

/// ObjFunction::ctx_ is for derived classes.
struct Context : xgboost::ObjFunction {
  static auto Member() { return &Context::ctx_; }
};

/// The objectives that are decorated, with the contexts of their learners. A learner has one objective at a time.
struct Objectives {
  std::mutex mutex;
  std::map<DecoratedObjective const*, XgbContext const*> all;

  static Objectives& Instance() {
    static auto* const kObjectives = new Objectives;  // never freed: objectives may be at exit
    return *kObjectives;
  }
  void Note(DecoratedObjective const* objective, XgbContext const* ctx) {
    std::lock_guard<std::mutex> const lock{mutex};
    all[objective] = ctx;
  }
};

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

DecoratedObjective::DecoratedObjective(std::unique_ptr<xgboost::ObjFunction> inner, Maker maker)
    : inner_{std::move(inner)}, maker_{maker} {
  // XGBoost leaves both uninitialised.
  ctx_ = nullptr;
  inner_.get()->*Context::Member() = nullptr;
}

DecoratedObjective::~DecoratedObjective() {
  Objectives& objectives = Objectives::Instance();
  std::lock_guard<std::mutex> const lock{objectives.mutex};
  objectives.all.erase(this);
}

xgboost::ObjFunction* DecoratedObjective::inner() const {
  auto& context = inner_.get()->*Context::Member();
  if (context != ctx_) context = ctx_;
  return inner_.get();
}

void DecoratedObjective::Configure(xgboost::Args const& args) {
  AtBoundary("reading parameters", [&] {
    CheckIsNotLinear(args);
    Objectives::Instance().Note(this, ctx_);
  });
  inner()->Configure(args);
  configured_ = false;
}

void DecoratedObjective::LoadConfig(xgboost::Json const& in) {
  inner()->LoadConfig(in);
  configured_ = false;
}

std::optional<ObjectiveParams> const& DecoratedObjective::params() const {
  if (!configured_ && maker_ == Maker::kKnown) {
    xgboost::Json config{xgboost::Object{}};
    inner()->SaveConfig(&config);
    params_ = ObjectiveParamsOf(config);
  }
  configured_ = true;
  return params_;
}

void DecoratedObjective::GetGradient(xgboost::HostDeviceVector<float> const& margins, xgboost::MetaInfo const& info,
                                     int iteration, XgbGradients* out) {
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
  CurrentRound const* const current = CurrentRound::Get();
  // Without this XGBoost would change leaves that are to stay as they are, and refuse pages since its own code cannot go by
  // them.
  if (current != nullptr && current->round().leaves() != LeafRule::kHost) task.zero_hess = false;
  return task;
}

void DecoratedObjective::InitEstimation(xgboost::MetaInfo const& info,
                                        xgboost::linalg::Tensor<float, 1>* base_score) const {
  bool const done = AtBoundary("estimating the base score", [&] {
    ProcessGroup* const group = ProcessGroup::OfThisThread();
    bool const is_median = params() && params()->kind == Objective::kAbsoluteError;
    if (group == nullptr || !is_median || !Booster::TrainsFor(ctx_)) return false;
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
    OutsideProcessGroup([&] { inner()->InitEstimation(all, base_score); });
    return true;
  });
  if (!done) inner()->InitEstimation(info, base_score);
}

bool IsDecorated(XgbContext const* ctx) {
  Objectives& objectives = Objectives::Instance();
  std::lock_guard<std::mutex> const lock{objectives.mutex};
  return std::any_of(objectives.all.cbegin(), objectives.all.cend(),
                     [&](auto const& objective) { return objective.second == ctx; });
}

LeafRule LeafRuleOf(xgboost::ObjFunction const* objective) {
  if (objective == nullptr || !objective->Task().UpdateTreeLeaf()) return LeafRule::kSums;
  auto const* const ours = dynamic_cast<DecoratedObjective const*>(objective);
  bool const is_ours = ours != nullptr && ours->params() && ours->params()->kind == Objective::kAbsoluteError;
  return is_ours ? LeafRule::kMedians : LeafRule::kHost;
}

void DecoratedObjective::EvalTransform(xgboost::HostDeviceVector<float>* predictions) {
  bool const done = AtBoundary("evaluating", [&] {
    Booster* const booster = Booster::WhichPredictedLast(ctx_);
    return booster != nullptr && booster->BeginEvaluation(params(), predictions);
  });
  if (!done) inner()->EvalTransform(predictions);
}

}  // namespace xgbgpu::plugin
