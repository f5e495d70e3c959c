// Lists the series of XGBoost in which a name means what it means to the engine.
#include "params/meanings.h"

#include <algorithm>
#include <cstddef>

namespace xgbgpu::plugin {

namespace {

/// A name has a meaning of the engine from series `first` to `last`, both included. It may have others in later rows.
struct Meaning {
  char const* name;
  int first;
  int last;
};

// Compared: gradients and hessians of rows that are alone in a leaf, and values of metrics, of XGBoost 1.7.4, 2.1.4,
// 3.0.5, 3.1.3, 3.2.0, 3.3.0 and 3.4.1, with weights, ties, several classes and targets. 2.0 lies between two that
// agree. tests/python/booster/test_meanings.py compares the engine with the XGBoost that it runs in.
constexpr int kFirst = 107, kCompared = 304, kFirstSmooth = 304;

constexpr Meaning kObjectives[] = {
    {"reg:squarederror", kFirst, kCompared},
    {"reg:linear", kFirst, kCompared},
    // 3.0 and newer do not read scale_pos_weight, and leave it out of the saved configuration: it is 1 here, too. In
    // 3.0 and 3.1 XGBoost has one gradient a row in the place of one for each of several targets, by mistake.
    {"reg:squaredlogerror", kFirst, kCompared},
    {"reg:logistic", kFirst, kCompared},
    {"binary:logistic", kFirst, kCompared},
    {"binary:logitraw", kFirst, kCompared},
    {"binary:hinge", kFirst, kCompared},
    // 3.5 is to have another hessian, (e^F + y) / 2, without max_delta_step.
    {"count:poisson", kFirst, kCompared},
    {"reg:gamma", kFirst, kCompared},
    {"reg:tweedie", kFirst, kCompared},
    // From 2.1 to 3.1 XGBoost makes the same mistake here.
    {"reg:pseudohubererror", kFirst, kCompared},
    // From 2.0 to 3.3 a leaf is eta times the median, shared by the trees of a forest, of each of several targets.
    {"reg:absoluteerror", kFirst, 107},
    {"reg:quantileerror", 300, 303},
    // Smooth losses (InSeries).
    {"reg:absoluteerror", kFirstSmooth, kCompared},
    {"reg:quantileerror", kFirstSmooth, kCompared},
    {"reg:expectileerror", 303, kCompared},
    {"multi:softmax", kFirst, kCompared},
    {"multi:softprob", kFirst, kCompared},
    {"survival:aft", kFirst, kCompared},
    {"survival:cox", kFirst, kCompared},
    // LambdaRank since 2.0: other pairs, normalised lambdas, parameters lambdarank_… in place of num_pairsample. The
    // engine has both.
    {"rank:pairwise", kFirst, kCompared},
    {"rank:ndcg", kFirst, kCompared},
    {"rank:map", kFirst, kCompared},
};

constexpr Meaning kMetrics[] = {
    {"rmse", kFirst, kCompared},
    {"rmsle", kFirst, kCompared},
    {"mae", kFirst, kCompared},
    {"mape", kFirst, kCompared},
    {"mphe", kFirst, kCompared},
    {"logloss", kFirst, kCompared},
    {"error", kFirst, kCompared},
    {"poisson-nloglik", kFirst, kCompared},
    {"gamma-nloglik", kFirst, kCompared},
    {"gamma-deviance", kFirst, kCompared},
    {"tweedie-nloglik", kFirst, kCompared},
    {"merror", kFirst, kCompared},
    {"mlogloss", kFirst, kCompared},
    {"auc", kFirst, kCompared},
    {"aucpr", kFirst, kCompared},
    {"aft-nloglik", kFirst, kCompared},
    {"interval-regression-accuracy", kFirst, kCompared},
    {"cox-nloglik", kFirst, kCompared},
    // Since 2.0 these three count the first 32 rows of a group unless told otherwise, weigh groups, and refuse labels
    // that they have no gain for. pre@k divides by the size of a smaller group. map@k divides by hits of the first k.
    // ndcg has the parameter ndcg_exp_gain.
    {"pre", kFirst, 107},
    {"ndcg", kFirst, 107},
    {"map", kFirst, 107},
};

template <std::size_t n>
bool IsListed(Meaning const (&rows)[n], int series, std::string const& name) {
  return std::any_of(rows, rows + n,
                     [&](Meaning const& row) { return name == row.name && row.first <= series && series <= row.last; });
}

/// Returns the last series of the first row of a name.
template <std::size_t n>
int LastSeries(Meaning const (&rows)[n], std::string const& name) {
  return std::find_if(rows, rows + n, [&](Meaning const& row) { return name == row.name; })->last;
}

/// Returns the name of a metric without its '@', number and '-'.
std::string KindOf(std::string const& name) {
  std::string kind = name.substr(0, name.find('@'));
  if (!kind.empty() && kind.back() == '-') kind.pop_back();
  return kind;
}

}  // namespace

bool ObjectiveIsOurs(int series, std::string const& name) { return IsListed(kObjectives, series, name); }

int LastSeriesOfObjective(std::string const& name) { return LastSeries(kObjectives, name); }
int LastSeriesOfMetric(std::string const& name) { return LastSeries(kMetrics, KindOf(name)); }

Objective InSeries(int series, Objective kind) {
  if (series >= kFirstSmooth && kind == Objective::kAbsoluteError) return Objective::kSmoothAbsoluteError;
  if (series >= kFirstSmooth && kind == Objective::kQuantile) return Objective::kSmoothQuantile;
  return kind;
}

bool MetricIsOurs(int series, std::string const& name) { return IsListed(kMetrics, series, KindOf(name)); }

}  // namespace xgbgpu::plugin
