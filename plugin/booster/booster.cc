// Puts the parts of a booster together, and forwards XGBoost's calls to them.
#include "booster/booster.h"

#include <utility>

#include "booster/category_names.h"
#include "booster/dart_margins.h"
#include "booster/gbtree_margins.h"
#include "booster/last_prediction.h"
#include "booster/memory_board.h"
#include "errors/boundary.h"
#include "xgb/registry.h"

namespace xgbgpu::plugin {

namespace {

std::unique_ptr<Margins> MakeMargins(std::weak_ptr<Booster*> by, MarginParts const& parts) {
  if (parts.learner->drops_trees()) return std::make_unique<DartMargins>(std::move(by), parts);
  return std::make_unique<GBTreeMargins>(std::move(by), parts);
}

}  // namespace

Booster::Booster(Kind kind, xgboost::GradientBooster* stock, xgboost::LearnerModelParam const* model,
                 XgbContext const* ctx)
    : learner_{kind, stock, model, ctx},
      settings_{learner_},
      trainings_{WatchMemory()},
      trace_{learner_, &trainings_},
      source_{learner_, settings_.config()},
      prediction_{learner_, settings_.config(), &source_},
      self_{std::make_shared<Booster*>(this)},
      margins_{MakeMargins(self_, {&learner_, &settings_.config(), &trainings_, &source_, &prediction_, &trace_})},
      group_{learner_, &settings_, trace_},
      evaluation_{learner_, settings_.config(), &margins_, &time_orders_, trace_},
      rounds_{{&learner_, &settings_, &trainings_, &time_orders_, &margins_, &prediction_, &group_, &trace_}} {
  DecorateNewcomers();  // XGBoost makes this learner's metrics after this
}

bool Booster::TrainsFor(XgbContext const* ctx) {
  return Listing<Booster>::Any(
      [&](Booster const& booster) { return booster.learner_.context() == ctx && booster.settings_.config().Trains(); });
}

void Booster::VisitConfig(XgbContext const* ctx, std::function<void(BoosterConfig const&)> const& visit) {
  Listing<Booster>::ForEach([&](Booster const& booster) {
    if (booster.learner_.context() == ctx) visit(booster.settings_.config());
  });
}

Booster* Booster::WhichPredictedLast(XgbContext const* ctx) {
  auto const by = LastPrediction::OfThisThread().by.lock();
  return by != nullptr && (*by)->learner_.context() == ctx ? *by : nullptr;
}

Booster* Booster::WhichPredicted(xgboost::HostDeviceVector<float> const& margins, XgbContext const* ctx) {
  return LastPrediction::OfThisThread().margins == &margins ? WhichPredictedLast(ctx) : nullptr;
}

void Booster::Configure(xgboost::Args const& args) {
  AtBoundary("reading parameters", [&] {
    DecorateNewcomers();
    settings_.Configure(args, [&] { ForgetModel(); });
    if (settings_.config().DropsTrees()) SetDropsTrees(true);
  });
}

void Booster::LoadConfig(xgboost::Json const& in) {
  AtBoundary("loading a configuration", [&] {
    settings_.Load(in);
    if (settings_.config().DropsTrees()) SetDropsTrees(true);
  });
}

/// Keeps margins as a dart does, or as a gbtree does.
void Booster::SetDropsTrees(bool drops) {
  bool const dropped = learner_.drops_trees();
  learner_.SetDropsTrees(drops);
  if (learner_.drops_trees() == dropped) return;
  ForgetModel();  // margins of the other kind may lack trees
  margins_ = MakeMargins(self_, {&learner_, &settings_.config(), &trainings_, &source_, &prediction_, &trace_});
}

void Booster::SaveConfig(xgboost::Json* out) const {
  AtBoundary("saving the configuration", [&] { settings_.Save(out); });
}

void Booster::DoBoost(xgboost::DMatrix* data, XgbGradients* gradients, XgbCache* cache,
                      xgboost::ObjFunction const* objective) {
  learner_.SetVectorLeaves(learner_.has_vector_leaves());  // for when multi_strategy is another one
  rounds_.Boost(data, gradients, cache, objective);
}

void Booster::PredictBatch(xgboost::DMatrix* data, XgbCache* out, bool training, RoundRange rounds) {
  trainings_.DropExpired();
  time_orders_.DropExpired();
  source_.DropExpired();
  margins_->Predict(data, out, training, rounds);
}

bool Booster::InplacePredict(xgboost::DMatrix* data, float missing, XgbCache* out, RoundRange rounds) const {
  return prediction_.PredictInPlace(data, missing, out, rounds);
}

bool Booster::PredictLeaf(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds) {
  return prediction_.PredictLeaves(data, out, rounds);
}

bool Booster::PredictContribution(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds,
                                  bool approximate) {
  return prediction_.PredictContributions(data, out, rounds, approximate);
}

bool Booster::PredictInteractions(xgboost::DMatrix* data, std::vector<float>* out, RoundRange rounds,
                                  bool approximate) {
  return prediction_.PredictInteractions(data, out, rounds, approximate);
}

void Booster::PredictByStock(std::uint64_t rows, std::uint64_t values, std::function<void()> const& predict) const {
  prediction_.PredictByStock(rows, values, predict);
}

void Booster::ExplainByStock(xgboost::DMatrix* data, std::uint64_t values, StockCallOn const& explain) const {
  prediction_.ExplainByStock(data, values, explain);
}

void Booster::BeginLoad(xgboost::Json const* in) {
  if (in == nullptr) loaded_.Forget();
  if (in != nullptr) AtBoundary("loading a model", [&] { loaded_.CheckTrees(*in, learner_.threads()); });
  learner_.SetVectorLeaves(loaded_.has_vector_leaves());
  SetDropsTrees(loaded_.has_tree_weights() || settings_.config().DropsTrees());
  ForgetModel();
}

void Booster::BeginSlice(Booster* out) const {
  out->learner_.SetVectorLeaves(learner_.has_vector_leaves());
  out->SetDropsTrees(learner_.drops_trees());
  out->ForgetModel();
}

void Booster::EndSlice(xgboost::GradientBooster* out) const {
  if (!settings_.config().InCharge()) return;
  AtBoundary("slicing a booster", [&] { CategoryNames::Give(learner_, out); });
}

void Booster::ForgetModel() {
  margins_->ForgetModel();
  rounds_.ForgetModel();
}

void Booster::CheckModel() const {
  AtBoundary("using a model", [&] {
    loaded_.CheckFeatures(learner_.features());
    loaded_.CheckOutputs(learner_.outputs());
  });
}

void Booster::CheckSlice(std::int32_t begin, std::int32_t end, std::int32_t step) const {
  if (!settings_.config().InCharge()) return;
  AtBoundary("slicing a booster", [&] { xgbgpu::plugin::CheckSlice(learner_.rounds(), begin, end, step); });
}

bool Booster::ComputeGradients(ObjectiveParams const& objective, xgboost::MetaInfo const& info, XgbGradientMatrix* out,
                               PositionBiases* next_biases) {
  return rounds_.ComputeGradients(objective, info, out, next_biases);
}

void Booster::FillMargins() { margins_->FillLast(); }

bool Booster::BeginEvaluation(std::optional<ObjectiveParams> const& objective,
                              xgboost::HostDeviceVector<float>* predictions) {
  return evaluation_.Begin(objective, predictions);
}

std::optional<double> Booster::Evaluate(MetricParams const& metric, xgboost::HostDeviceVector<float> const& predictions,
                                        xgboost::MetaInfo const& info) {
  return evaluation_.Evaluate(metric, predictions, info);
}

void Booster::FillPredictions(xgboost::HostDeviceVector<float> const& predictions) {
  evaluation_.FillPredictions(predictions);
}

}  // namespace xgbgpu::plugin
