#include "booster.h"

#include <xgboost/c_api.h>
#include <xgboost/generic_parameters.h>
#include <xgboost/objective.h>
#include <xgboost/predictor.h>
#include <xgboost/task.h>

#include <utility>

#include "adapt_input.h"
#include "boundary.h"
#include "notice.h"
#include "round.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Json is a handle: a copy that can be changed needs new values all the way down.
xgboost::Json DeepCopy(xgboost::Json const& json) {
  std::string text;
  xgboost::Json::Dump(json, &text);
  return xgboost::Json::Load(xgboost::StringView{text});
}

/// Empties cached predictions unless told that the round went well: half a round may be in them.
class CacheGuard {
 public:
  explicit CacheGuard(xgboost::PredictionCacheEntry* cache) : cache_{cache} {}
  ~CacheGuard() {
    if (cache_ == nullptr) return;
    cache_->predictions.HostVector().clear();
    cache_->version = 0;
  }
  CacheGuard(CacheGuard const&) = delete;
  CacheGuard& operator=(CacheGuard const&) = delete;
  void RoundIsComplete() { cache_ = nullptr; }

 private:
  xgboost::PredictionCacheEntry* cache_;
};

void CheckOneProcess() {
  if (XGCommunicatorIsDistributed() != 0) {
    throw Unsupported{"gpu_hist does not train distributed (this process is one of " +
                      std::to_string(XGCommunicatorGetWorldSize()) + " workers); supported: one process"};
  }
}

/// Who keeps `data` alive, which tells it from a later matrix at the same address. A caller that does not say (only
/// C++ code that drives boosters itself) pays for it: the matrix counts as a new one in every round.
std::shared_ptr<xgboost::DMatrix> OwnerOf(xgboost::DMatrix* data, xgboost::PredictionCacheEntry const& cache) {
  auto owner = cache.ref.lock();
  if (owner.get() != data) owner.reset(data, [](xgboost::DMatrix*) {});
  return owner;
}

}  // namespace

Booster::Booster(Kind kind, std::unique_ptr<xgboost::GradientBooster> inner, xgboost::GenericParameter const* ctx)
    : GradientBooster{ctx}, kind_{kind}, inner_{std::move(inner)} {}

void Booster::Configure(xgboost::Args const& args) {
  AtBoundary("reading parameters", [&] {
    BoosterConfig next = config_;
    auto const translated = next.Configure(args);
    QuietScope quiet{next.InCharge() && next.IsPlain()};
    // A stock booster whose Configure failed may have noted the updaters' names without making any. It makes them when
    // it sees other names, so show it others first: without updaters, training would crash.
    bool const failed_before = std::exchange(configure_failed_, true);
    if (failed_before && next.InCharge()) inner_->Configure({{"updater", "sync"}});
    inner_->Configure(translated);
    configure_failed_ = false;
    config_ = std::move(next);
  });
}

void Booster::LoadConfig(xgboost::Json const& in) {
  AtBoundary("loading a configuration", [&] {
    xgboost::Json translated = DeepCopy(in);
    BoosterConfig next;
    next.Load(&GBTreeSection(&translated));
    inner_->LoadConfig(translated);
    config_ = std::move(next);
  });
}

void Booster::SaveConfig(xgboost::Json* out) const {
  AtBoundary("saving the configuration", [&] {
    inner_->SaveConfig(out);
    config_.Save(&GBTreeSection(out));
  });
}

xgboost::Json& Booster::GBTreeSection(xgboost::Json* config) const {
  return kind_ == Kind::kDart ? (*config)["gbtree"] : *config;
}

void Booster::DoBoost(xgboost::DMatrix* data, xgboost::HostDeviceVector<xgboost::GradientPair>* gradients,
                      xgboost::PredictionCacheEntry* cache, xgboost::ObjFunction const* objective) {
  if (!config_.Trains()) {
    inner_->DoBoost(data, gradients, cache, objective);
    return;
  }
  AtBoundary("training", [&] {
    xgboost::MetaInfo const& info = data->Info();
    CheckOneProcess();
    CheckFeatureTypes(info);
    auto const rounds = static_cast<std::uint32_t>(inner_->BoostedRounds());
    Round round{};
    round.params = ToTrainParams(config_.tree(), static_cast<std::uint64_t>(ctx_->seed));
    round.params.feature_weights = FeatureWeights(info);
    round.iteration = rounds;
    round.wants_positions = objective != nullptr && objective->Task().UpdateTreeLeaf();
    // dart computes all predictions anew, so what it has cached never counts.
    round.cache_is_current = kind_ == Kind::kGBTree && cache->version == rounds;

    auto const owner = OwnerOf(data, *cache);
    Place const place = ToPlace(config_.device(), ctx_->fail_on_invalid_gpu_id);
    round.trainer = &trainers_.Get(owner, config_.tree().max_bin, place, ctx_->Threads());
    round.trainer->Trace(config_.device().gpu_trace);
    bool const many_classes = gradients->Size() > info.num_row_;
    if (many_classes) CheckFinite(View(*gradients), gradients->Size() / info.num_row_);

    RoundScope scope{&round};
    CacheGuard guard{cache};
    inner_->DoBoost(data, gradients, cache, objective);
    guard.RoundIsComplete();
    trainers_.NoteMemory();
  });
}

void Booster::PredictBatch(xgboost::DMatrix* data, xgboost::PredictionCacheEntry* out, bool training,
                           unsigned layer_begin, unsigned layer_end) {
  trainers_.DropExpired();
  inner_->PredictBatch(data, out, training, layer_begin, layer_end);
}

void Booster::Slice(std::int32_t layer_begin, std::int32_t layer_end, std::int32_t step, xgboost::GradientBooster* out,
                    bool* out_of_bound) const {
  auto* const decorated = dynamic_cast<Booster*>(out);
  inner_->Slice(layer_begin, layer_end, step, decorated == nullptr ? out : decorated->inner_.get(), out_of_bound);
}

}  // namespace xgbgpu::plugin
