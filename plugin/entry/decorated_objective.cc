// Hands gradients, evaluations and estimates of a stock objective to the booster of its learner.
#include "entry/decorated_objective.h"

#include <xgboost/json.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <parallel/algorithm>
#include <utility>
#include <vector>

#include "booster/booster.h"
#include "booster/current_round.h"
#include "booster/group_facts.h"
#include "call/info_epoch.h"
#include "entry/decorated_linear.h"
#include "errors/boundary.h"
#include "group/all_labels.h"
#include "matrix/adapt_input.h"
#include "params/device_words.h"
#include "params/position_biases.h"
#include "params/saved_params.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

namespace {

/// True for a ranking objective of an XGBoost that has no LambdaRank.
bool LacksLambdaRank(xgboost::Json const& config) {
  return kSeries < 200 && xgboost::get<xgboost::String const>(config["name"]).rfind("rank:", 0) == 0;
}

/// Returns the value of a parameter that was set since the last configuration; null: it was not set.
std::string const* FindValue(xgboost::Args const& args, char const* name) {
  auto const found = std::find_if(args.cbegin(), args.cend(), [&](auto const& arg) { return arg.first == name; });
  return found == args.cend() ? nullptr : &found->second;
}

/// Tells whether the learner with this context trains with a method of ours, once it has been told `args`.
bool WillTrain(xgboost::Args const& args, XgbContext const* ctx) {
  std::string const* const method = FindValue(args, "tree_method");
  return method == nullptr ? Booster::TrainsFor(ctx) : IsOurMethod(*method);
}

/// Throws for gpu_backend=cuda with gblinear: that booster is XGBoost's alone, but its objective is decorated.
void CheckIsNotLinear(xgboost::Args const& args, bool is_linear) {
  std::string const* const backend = FindValue(args, "gpu_backend");
  if (!is_linear || backend == nullptr || *backend != "cuda") return;
  throw InvalidArgument{
      "Parameter gpu_backend is 'cuda' and booster is 'gblinear', which does not train there; allowed: "
      "booster=gbtree or dart with tree_method=gpu_hist or gpu_exact, or gpu_backend=auto or host"};
}

/// Tells whether XGBoost estimates the base score by quantiles of the labels.
bool EstimatesQuantiles(ObjectiveParams const& objective) {
  return AdaptsLeaves(objective.kind) || objective.kind == Objective::kSmoothQuantile;
}

/// Returns `info`'s labels, each column sorted ascending. Returns null below 100,000 rows or with weights. XGBoost
/// sorts with one thread; sorted input is faster.
std::unique_ptr<xgboost::MetaInfo> SortedLabels(xgboost::MetaInfo const& info, int threads) {
  constexpr std::size_t kFew = 100000;
  std::vector<float> const& labels = info.labels.Data()->ConstHostVector();
  std::size_t const rows = info.num_row_, columns = info.labels.Shape(1);
  if (rows < kFew || labels.size() != rows * columns || info.weights_.Size() != 0) return nullptr;
  auto made = std::make_unique<xgboost::MetaInfo>();
  made->num_row_ = rows;
  made->labels.Reshape(rows, columns);
  std::vector<float>& sorted = made->labels.Data()->HostVector();
  std::vector<float> column(rows);
  for (std::size_t k = 0; k < columns; ++k) {
    for (std::size_t row = 0; row < rows; ++row) column[row] = labels[row * columns + k];
    __gnu_parallel::stable_sort(column.begin(), column.end(),
                                __gnu_parallel::multiway_mergesort_tag(static_cast<unsigned>(threads)));
    for (std::size_t row = 0; row < rows; ++row) sorted[row * columns + k] = column[row];
  }
  return made;
}

/// Returns the labels without groups of no rows, which change no estimate; null: there is no such group, or no group.
/// Stock's rank:map needs a row in each group.
std::unique_ptr<xgboost::MetaInfo> WithoutEmptyGroups(xgboost::MetaInfo const& info) {
  auto const& ends = info.group_ptr_;
  if (std::adjacent_find(ends.cbegin(), ends.cend()) == ends.cend()) return nullptr;
  auto made = std::make_unique<xgboost::MetaInfo>();
  made->Extend(info, true, false);
  std::vector<float> const& weights = info.weights_.ConstHostVector();
  std::vector<float> kept;
  made->group_ptr_ = {0};
  for (std::size_t g = 1; g < ends.size(); ++g) {
    if (ends[g] == ends[g - 1]) continue;
    made->group_ptr_.push_back(ends[g]);
    if (!weights.empty()) kept.push_back(weights.at(g - 1));
  }
  made->weights_.HostVector() = std::move(kept);
  return made;
}

/// Returns the threads that estimate a base score. XGBoost adds up a sum for each thread, so the number decides on the
/// last bits: it is one number for all machines. Sums over classes are short. Without rows it is 0, the learner's: in
/// another context stock's rank:map reads a row that is not there.
int ThreadsOfEstimate(std::uint64_t rows, std::optional<ObjectiveParams> const& objective) {
  constexpr std::uint64_t kManyRows = std::uint64_t{1} << 18;
  constexpr int kManyThreads = 16;
  if (rows == 0) return 0;
  bool const is_of_classes = objective && objective->kind == Objective::kSoftmax;
  return rows < kManyRows || is_of_classes ? 1 : kManyThreads;
}

}  // namespace

void DecoratedObjective::CheckParams(xgboost::Args const& args) const {
  std::string const* const booster = FindValue(args, "booster");
  bool const is_linear = booster != nullptr ? *booster == "gblinear" : DecoratedLinear::IsOf(context());
  AtBoundary("reading parameters", [&] { CheckIsNotLinear(args, is_linear); });
}

void DecoratedObjective::ParamsChanged(xgboost::Args const& args) {
  is_current_ = false;
  if (kSeries >= 200 || !WillTrain(args, context())) return;
  AtBoundary("reading parameters", [&] {
    if (LacksLambdaRank(Config())) lambdarank_.Take(args);
  });
}

void DecoratedObjective::ConfigLoaded(xgboost::Json const& config) {
  is_current_ = false;
  AtBoundary("reading a configuration", [&] {
    if (LacksLambdaRank(config)) lambdarank_.Load(config);
    biases_ = LoadBiases(config);
  });
}

void DecoratedObjective::AddToConfig(xgboost::Json* config) const {
  lambdarank_.Save(config);
  if (!biases_.high.empty()) SaveBiases(biases_, config);
}

std::optional<ObjectiveParams> const& DecoratedObjective::params() const {
  if (!is_current_ && maker_ == Maker::kKnown) {
    params_ = ObjectiveParamsOf(Config());
  }
  is_current_ = true;
  return params_;
}

void DecoratedObjective::ComputeGradients(xgboost::HostDeviceVector<float> const& margins,
                                          xgboost::MetaInfo const& info, XgbGradientMatrix* out,
                                          StockGradients const& by_stock) {
  HostSpan span{"objective"};
  xgboost::MetaInfo const* labels = &info;
  bool const done = AtBoundary("computing gradients", [&] {
    if (info.num_row_ == 0 && NeedsFirstRow() && ProcessGroup::OfThisThread() == nullptr) {
      Resize(out, 0, 1);
      return true;
    }
    Booster* const booster = Booster::WhichPredicted(margins, context());
    if (booster == nullptr) return false;
    if (params() && ComputeByEngine(booster, info, out)) return true;
    booster->FillMargins();
    if (params() || !Booster::TrainsFor(context())) return false;
    ProcessGroup* const group = ProcessGroup::OfThisThread();
    if (group != nullptr) return ComputeOfAll(group, margins, info, out, by_stock);
    labels = &Moved(info);
    return false;
  });
  if (done) return;
  biases_ = {};  // XGBoost has biases of its own
  by_stock(margins, *labels, out);
}

bool DecoratedObjective::ComputeByEngine(Booster* booster, xgboost::MetaInfo const& info, XgbGradientMatrix* out) {
  LambdaRank const& lambdarank = params()->lambdarank;
  if (!lambdarank.is_used || !lambdarank.is_unbiased) return booster->ComputeGradients(*params(), info, out, nullptr);
  ObjectiveParams with_biases = *params();
  if (biases_.high.empty()) {  // XGBoost may have computed the rounds before
    biases_ = LoadBiases(Config());
  }
  with_biases.biases = biases_.high.empty() ? FirstBiases(lambdarank) : biases_;
  PositionBiases next;
  bool const done = booster->ComputeGradients(with_biases, info, out, &next);
  if (done) biases_ = std::move(next);
  return done;
}

xgboost::Json DecoratedObjective::Config() const {
  xgboost::Json config{xgboost::Object{}};
  SaveConfig(&config);
  return config;
}

std::string DecoratedObjective::Name() const {
  xgboost::Json const config = Config();
  return xgboost::get<xgboost::String const>(config["name"]);
}

bool DecoratedObjective::NeedsFirstRow() const { return Booster::TrainsFor(context()) && Name() == "rank:map"; }

xgboost::MetaInfo const& DecoratedObjective::Moved(xgboost::MetaInfo const& info) {
  if (kSeries < 200 || Name().rfind("rank:", 0) != 0) return info;
  auto const mark =
      TargetMark::Of(ViewTargets(info), info.num_row_, Objective::kRankNdcg, KnownEpoch(), context()->Threads());
  if (ranked_ != &info) {
    moved_.reset();
  } else if (ranked_mark_ != mark) {
    auto copy = std::make_unique<xgboost::MetaInfo>();
    copy->Extend(info, true, false);
    moved_ = std::move(copy);  // the one before goes only now, so that this one lies elsewhere
  }
  ranked_ = &info;
  ranked_mark_ = mark;
  return moved_ == nullptr ? info : *moved_;
}

bool DecoratedObjective::ComputeOfAll(ProcessGroup* group, xgboost::HostDeviceVector<float> const& margins,
                                      xgboost::MetaInfo const& info, XgbGradientMatrix* out,
                                      StockGradients const& by_stock) {
  AgreeOnObjective(group, "gradients");
  AllLabels all = LabelsOfAll(group, info);
  std::uint64_t const rows = all.info->num_row_;
  if (rows == 0) return false;
  xgboost::HostDeviceVector<float> all_margins;
  all_margins.HostVector() = GatherAll(*group, Span<float const>{margins.ConstHostVector()});
  XgbGradientMatrix of_all;
  OutsideProcessGroup([&] { by_stock(all_margins, *all.info, &of_all); });
  labels_of_all_ = std::move(all.info);
  Span<GradientPair const> const gradients = View(of_all);
  std::size_t const outputs = gradients.size() / rows;
  Span<GradientPair> const own = Resize(out, info.num_row_, static_cast<std::uint32_t>(outputs));
  std::copy_n(gradients.data() + all.first_row * outputs, own.size(), own.data());
  return true;
}

void DecoratedObjective::AgreeOnObjective(ProcessGroup* group, std::string const& step) const {
  std::vector<Fact> facts{{"step", step}};
  if (params()) {
    for (Fact& fact : FactsOf(*params())) facts.push_back(std::move(fact));
  } else {
    xgboost::Json const config = Config();
    std::string text;
    xgboost::Json::Dump(config, &text);
    facts.emplace_back("objective", xgboost::get<xgboost::String const>(config["name"]));
    facts.emplace_back("list of parameters of the objective", text);
  }
  Agree(*group, facts, [] {});
}

void DecoratedObjective::TransformForMetrics(xgboost::HostDeviceVector<float>* predictions, StockCall const& by_stock) {
  bool const done = AtBoundary("evaluating", [&] {
    Booster* const booster = Booster::WhichPredictedLast(context());
    return booster != nullptr && booster->BeginEvaluation(params(), predictions);
  });
  if (!done) by_stock();
}

void DecoratedObjective::SetLeaves(LeafRows const& rows, StockLeaves const& by_stock) const {
  bool const done = AtBoundary("setting leaves", [&] {
    ProcessGroup* const group = ProcessGroup::OfThisThread();
    if (group == nullptr || !Booster::TrainsFor(context())) return false;
    AllLabels const all = LabelsOfAll(group, rows.info);
    XgbPositions positions;
    positions.HostVector() = GatherAll(*group, Span<xgboost::bst_node_t const>{rows.positions.ConstHostVector()});
    xgboost::HostDeviceVector<float> margins;
    margins.HostVector() = GatherAll(*group, Span<float const>{rows.margins.ConstHostVector()});
    OutsideProcessGroup([&] { by_stock({positions, *all.info, margins}); });
    return true;
  });
  if (!done) by_stock(rows);
}

LeafRule DecoratedObjective::leaf_rule() const {
  if (!params() || !AdaptsLeaves(params()->kind)) return LeafRule::kCaller;
  return params()->kind == Objective::kQuantile ? LeafRule::kQuantiles : LeafRule::kMedians;
}

bool DecoratedObjective::LeavesAreDone() const {
  CurrentRound const* const current = CurrentRound::Get();
  return current != nullptr && current->round().leaves() != LeafRule::kCaller;
}

void DecoratedObjective::EstimateBaseScore(xgboost::MetaInfo const& info, StockEstimate const& by_stock) const {
  bool const done = AtBoundary("estimating the base score", [&] {
    if (!Booster::TrainsFor(context())) return false;
    ProcessGroup* const group = ProcessGroup::OfThisThread();
    AllLabels all{};
    if (group != nullptr) {
      if (!kEstimatesFromLabels && leaf_rule() != LeafRule::kMedians) return false;
      AgreeOnObjective(group, "estimate of base_score");
      all = LabelsOfAll(group, info);
      if (all.info->num_row_ == 0) return false;
    }
    xgboost::MetaInfo const& labels = group != nullptr ? *all.info : info;
    bool const sorts = params() && EstimatesQuantiles(*params());
    bool const is_map = params() && params()->kind == Objective::kRankMap;
    auto const changed = sorts    ? SortedLabels(labels, context()->Threads())
                         : is_map ? WithoutEmptyGroups(labels)
                                  : nullptr;
    int const threads = sorts ? 0 : ThreadsOfEstimate(labels.num_row_, params());  // no thread has a sum of its own
    auto const estimate = [&] { by_stock(changed != nullptr ? *changed : labels, threads); };
    if (group != nullptr) {
      OutsideProcessGroup(estimate);
    } else {
      estimate();
    }
    return true;
  });
  if (!done) by_stock(info, 0);
}

}  // namespace xgbgpu::plugin
