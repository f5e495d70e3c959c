// Decorated objectives: the context of the stock one, which learners have one, and what sets leaves.
#include "xgb/objective.h"

#include <xgboost/json.h>
#include <xgboost/task.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace xgbgpu::plugin {

namespace {

/// ObjFunction::ctx_ is for derived classes.
struct Context : xgboost::ObjFunction {
  static auto Member() { return &Context::ctx_; }
};

/// The decorated objectives with the contexts of their learners. A learner has one objective at a time.
struct Objectives {
  std::mutex mutex;
  std::map<XgbObjective const*, XgbContext const*> all;

  static Objectives& Instance() {
    static auto* const kObjectives = new Objectives;  // never freed: objectives may be at exit
    return *kObjectives;
  }
};

}  // namespace

XgbObjective::XgbObjective(std::unique_ptr<xgboost::ObjFunction> stock) : stock_{std::move(stock)} {
  // XGBoost leaves both uninitialised.
  ctx_ = nullptr;
  stock_.get()->*Context::Member() = nullptr;
}

XgbObjective::~XgbObjective() {
  Objectives& objectives = Objectives::Instance();
  std::lock_guard<std::mutex> const lock{objectives.mutex};
  objectives.all.erase(this);
}

xgboost::ObjFunction* XgbObjective::stock() const {
  auto& context = stock_.get()->*Context::Member();
  if (context != ctx_) context = ctx_;
  return stock_.get();
}

void XgbObjective::Configure(xgboost::Args const& args) {
  CheckParams(args);
  {
    Objectives& objectives = Objectives::Instance();
    std::lock_guard<std::mutex> const lock{objectives.mutex};
    objectives.all[this] = ctx_;
  }
  stock()->Configure(args);
  ParamsChanged();
}

void XgbObjective::LoadConfig(xgboost::Json const& in) {
  stock()->LoadConfig(in);
  ParamsChanged();
}

xgboost::ObjInfo XgbObjective::Task() const {
  xgboost::ObjInfo task = stock()->Task();
  // With true XGBoost would set leaves, and refuse pages, since its own code cannot go by them.
  if (LeavesAreDone()) task.zero_hess = false;
  return task;
}

bool IsDecorated(XgbContext const* ctx) {
  Objectives& objectives = Objectives::Instance();
  std::lock_guard<std::mutex> const lock{objectives.mutex};
  return std::any_of(objectives.all.cbegin(), objectives.all.cend(),
                     [&](auto const& objective) { return objective.second == ctx; });
}

LeafRule LeafRuleOf(xgboost::ObjFunction const* objective) {
  if (objective == nullptr || !objective->Task().UpdateTreeLeaf()) return LeafRule::kSums;
  auto const* const decorated = dynamic_cast<XgbObjective const*>(objective);
  return decorated != nullptr && decorated->SetsMedians() ? LeafRule::kMedians : LeafRule::kHost;
}

}  // namespace xgbgpu::plugin
