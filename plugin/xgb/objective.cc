// Decorated objectives: the context of the stock one, which learners have one, and what sets leaves.
#include "xgb/objective.h"

#include <xgboost/json.h>
#include <xgboost/task.h>

#include <utility>

namespace xgbgpu::plugin {

namespace {

/// ObjFunction::ctx_ is for derived classes.
struct ObjectiveContext : xgboost::ObjFunction {
  static auto Member() { return &ObjectiveContext::ctx_; }
};

}  // namespace

XgbObjective::XgbObjective(std::unique_ptr<xgboost::ObjFunction> stock) : stock_{std::move(stock)} {
  // XGBoost leaves both uninitialised.
  ctx_ = nullptr;
  stock_.get()->*ObjectiveContext::Member() = nullptr;
}

xgboost::ObjFunction* XgbObjective::stock() const {
  auto& context = stock_.get()->*ObjectiveContext::Member();
  if (context != ctx_) context = ctx_;
  return stock_.get();
}

void XgbObjective::EstimateBy(int threads, xgboost::MetaInfo const& labels,
                              xgboost::linalg::Tensor<float, 1>* base_score) const {
  xgboost::ObjFunction* const estimates = stock();
  if (threads == 0) return estimates->InitEstimation(labels, base_score);
  XgbContext own;
  SetUpForCpu(&own, threads);
  estimates->*ObjectiveContext::Member() = &own;
  try {
    estimates->InitEstimation(labels, base_score);
  } catch (...) {
    stock();  // the learner's context again
    throw;
  }
  stock();
}

void XgbObjective::Configure(xgboost::Args const& args) {
  CheckParams(args);
  configured_context_ = ctx_;
  stock()->Configure(args);
  ParamsChanged(args);
}

void XgbObjective::LoadConfig(xgboost::Json const& in) {
  stock()->LoadConfig(in);
  ConfigLoaded(in);
}

void XgbObjective::SaveConfig(xgboost::Json* out) const {
  stock()->SaveConfig(out);
  AddToConfig(out);
}

xgboost::ObjInfo XgbObjective::Task() const {
  xgboost::ObjInfo task = stock()->Task();
  // With true XGBoost would set leaves, and refuse pages, since its own code cannot go by them.
  XGBGPU_BEFORE_304(if (LeavesAreDone()) task.zero_hess = false;)
  return task;
}

bool IsDecorated(XgbContext const* ctx) {
  return Listing<XgbObjective>::Any(
      [&](XgbObjective const& objective) { return objective.configured_context() == ctx; });
}

LeafRule LeafRuleOf(xgboost::ObjFunction const* objective) {
  XGBGPU_SINCE_304(return LeafRule::kSums;)
  if (objective == nullptr XGBGPU_BEFORE_304(|| !objective->Task().UpdateTreeLeaf())) return LeafRule::kSums;
  auto const* const decorated = dynamic_cast<XgbObjective const*>(objective);
  return decorated != nullptr ? decorated->leaf_rule() : LeafRule::kCaller;
}

std::vector<float> LeafAlphasOf(xgboost::ObjFunction const* objective) {
  auto const* const decorated = dynamic_cast<XgbObjective const*>(objective);
  return decorated != nullptr ? decorated->leaf_alphas() : std::vector<float>{};
}

}  // namespace xgbgpu::plugin
