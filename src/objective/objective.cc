// Names objectives and checks their labels, bounds and groups.
#include "xgbgpu/objective.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <string>

#include "base/message.h"
#include "base/parallel.h"
#include "core/portable_float.h"

namespace xgbgpu {

namespace {

constexpr std::size_t kLabelsPerTask = 1 << 16;  // labels per task

struct NamedObjective {
  char const* name;
  Objective kind;
};
constexpr NamedObjective kNames[] = {
    {"reg:squarederror", Objective::kSquaredError},
    {"reg:linear", Objective::kSquaredError},  // an old name that XGBoost still accepts
    {"reg:squaredlogerror", Objective::kSquaredLogError},
    {"binary:logistic", Objective::kLogistic},
    {"reg:logistic", Objective::kLogistic},
    {"binary:logitraw", Objective::kLogitRaw},
    {"binary:hinge", Objective::kHinge},
    {"count:poisson", Objective::kPoisson},
    {"reg:gamma", Objective::kGamma},
    {"reg:tweedie", Objective::kTweedie},
    {"reg:pseudohubererror", Objective::kPseudoHuber},
    {"reg:absoluteerror", Objective::kAbsoluteError},
    {"reg:quantileerror", Objective::kQuantile},
    {"reg:expectileerror", Objective::kExpectile},
    // The name's meaning depends on the series of XGBoost: a caller that knows the series asks for them by kind.
    {"reg:absoluteerror", Objective::kSmoothAbsoluteError},
    {"reg:quantileerror", Objective::kSmoothQuantile},
    {"multi:softmax", Objective::kSoftmax},
    {"multi:softprob", Objective::kSoftmax},
    {"survival:aft", Objective::kAft},
    {"survival:cox", Objective::kCox},
    {"rank:pairwise", Objective::kRankPairwise},
    {"rank:ndcg", Objective::kRankNdcg},
    {"rank:map", Objective::kRankMap},
};

/// Returns true if an objective accepts a label. NaN is outside every range.
bool LabelAllowed(ObjectiveParams const& params, float label, std::uint32_t outputs) {
  if (params.lambdarank.is_used && params.kind == Objective::kRankMap) return label == 0.0f || label == 1.0f;
  if (params.lambdarank.is_used && params.kind == Objective::kRankNdcg) {
    if (!params.lambdarank.has_exp_gain) return label >= 0.0f && std::isfinite(label);
    return label >= 0.0f && label < 32.0f && label - std::floor(label) <= 1e-6f;
  }
  switch (params.kind) {
    case Objective::kSquaredLogError:
      return label > -1.0f;
    case Objective::kLogistic:
    case Objective::kLogitRaw:
      return label >= 0.0f && label <= 1.0f;
    case Objective::kPoisson:
    case Objective::kTweedie:
      return label >= 0.0f;
    case Objective::kGamma:
      return label > 0.0f;
    case Objective::kSoftmax:
      return label >= 0.0f && label < static_cast<float>(outputs) &&
             !(params.whole_classes && label != std::floor(label));
    case Objective::kRankNdcg:
      return label >= 0.0f && label < 31.0f;
    case Objective::kCox:
    case Objective::kRankPairwise:
    case Objective::kRankMap:
      return label == label;
    case Objective::kSquaredError:
    case Objective::kHinge:
    case Objective::kPseudoHuber:
    case Objective::kAbsoluteError:
    case Objective::kQuantile:
    case Objective::kExpectile:
    case Objective::kSmoothAbsoluteError:
    case Objective::kSmoothQuantile:
    case Objective::kAft:
      break;
  }
  return true;
}

/// Returns stock XGBoost's text, which users search for.
char const* WordsOfRange(ObjectiveParams const& params) {
  if (params.lambdarank.is_used && params.kind == Objective::kRankMap) {
    return "map can only be used with binary labels: 0 or 1.";
  }
  if (params.lambdarank.is_used && params.kind == Objective::kRankNdcg) {
    return params.lambdarank.has_exp_gain
               ? "When using relevance degree as target, label must be either 0 or positive integer, at most 31: the "
                 "gain of a row is 2^label - 1. With ndcg_exp_gain=0 it is the label."
               : "rank:ndcg with ndcg_exp_gain=0: label must be finite and nonnegative: it is the gain of a row.";
  }
  switch (params.kind) {
    case Objective::kSquaredLogError:
      return "label must be greater than -1 for rmsle so that log(label + 1) can be valid.";
    case Objective::kLogistic:
    case Objective::kLogitRaw:
      return "label must be in [0,1] for logistic regression";
    case Objective::kPoisson:
      return "PoissonRegression: label must be nonnegative";
    case Objective::kTweedie:
      return "TweedieRegression: label must be nonnegative";
    case Objective::kGamma:
      return "GammaRegression: label must be positive.";
    case Objective::kSoftmax:
      return params.whole_classes
                 ? "SoftmaxMultiClassObj: label must be discrete values in the range of [0, num_class)."
                 : "SoftmaxMultiClassObj: label must be in [0, num_class).";
    case Objective::kRankNdcg:
      return "rank:ndcg: label must be in [0, 31): the gain of a row is 2^label - 1.";
    case Objective::kCox:
      return "CoxRegression: label must be a number: its magnitude is a time, and it is negative if the row is "
             "censored.";
    case Objective::kRankPairwise:
    case Objective::kRankMap:
      return "Ranking: label must be a number.";
    case Objective::kSquaredError:
    case Objective::kHinge:
    case Objective::kPseudoHuber:
    case Objective::kAbsoluteError:
    case Objective::kQuantile:
    case Objective::kExpectile:
    case Objective::kSmoothAbsoluteError:
    case Objective::kSmoothQuantile:
    case Objective::kAft:
      break;
  }
  return "";
}

/// Returns stock's text for labels that do not match the margins. It differs by family.
char const* WordsOfShape(Objective kind) {
  switch (kind) {
    case Objective::kSoftmax:
      return "SoftmaxMultiClassObj: label size and pred size does not match";
    case Objective::kHinge:
    case Objective::kPoisson:
    case Objective::kGamma:
    case Objective::kTweedie:
    case Objective::kCox:
      return "labels are not correctly provided";
    case Objective::kRankPairwise:
    case Objective::kRankNdcg:
    case Objective::kRankMap:
      return "label size predict size not match";
    case Objective::kSquaredError:
    case Objective::kSquaredLogError:
    case Objective::kLogistic:
    case Objective::kLogitRaw:
    case Objective::kPseudoHuber:
    case Objective::kAbsoluteError:
    case Objective::kQuantile:
    case Objective::kExpectile:
    case Objective::kSmoothAbsoluteError:
    case Objective::kSmoothQuantile:
    case Objective::kAft:
      break;
  }
  return "Invalid shape of labels";
}

void CheckAlphas(ObjectiveParams const& params, std::uint32_t outputs) {
  char const* const name = params.kind == Objective::kExpectile ? "expectile_alpha" : "quantile_alpha";
  if (params.alphas.size() != outputs) {
    Throw<InvalidArgument>("Rows have ", outputs, " outputs, and ", name, " has ", params.alphas.size(),
                           " numbers; allowed: one for each output");
  }
  for (float const alpha : params.alphas) {
    if (!(alpha >= 0.0f && alpha <= 1.0f)) Throw<InvalidArgument>(name, " is ", alpha, "; allowed: 0 to 1");
  }
}

void CheckShape(Objective kind, TargetView const& targets, std::uint64_t rows, std::uint32_t outputs) {
  char const* const words = WordsOfShape(kind);
  if (outputs == 0) Throw<InvalidArgument>("Rows have 0 outputs (num_class or targets); allowed: 1 and more");
  if (kind == Objective::kAbsoluteError && outputs != 1)
    Throw<InvalidArgument>("Rows have ", outputs, " outputs (num_class or targets); reg:absoluteerror takes 1");
  if (rows != 0 && targets.labels == nullptr)
    Throw<InvalidArgument>("label set cannot be empty: ", rows, " rows have no labels. ", words);
  bool const has_one_label = kind == Objective::kSoftmax || HasAlphas(kind);
  std::uint32_t const wanted = has_one_label ? 1 : outputs;
  if (targets.label_columns != wanted) {
    Throw<InvalidArgument>(words, ". A row has ", targets.label_columns, " labels and ", outputs,
                           " outputs (num_class or targets); this objective takes ",
                           has_one_label ? "one label for each row" : "one label for each output");
  }
}

/// Returns the first i < count with !allowed(i), or `count`.
template <typename Allowed>
std::uint64_t FirstNotAllowed(std::uint64_t count, int threads, Allowed&& allowed) {
  std::atomic<std::uint64_t> first{count};
  ParallelChunks(threads, count, kLabelsPerTask, [&](std::size_t begin, std::size_t end) {
    std::size_t i = begin;
    while (i < end && allowed(i)) ++i;
    if (i == end) return;
    std::uint64_t seen = first.load(std::memory_order_relaxed);
    while (i < seen && !first.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
    }
  });
  return first;
}

void CheckBounds(TargetView const& targets, std::uint64_t rows, std::uint32_t outputs, int threads) {
  if (outputs != 1) Throw<InvalidArgument>("Rows have ", outputs, " outputs (targets); survival:aft takes 1");
  for (bool const lower : {true, false}) {
    if (rows == 0) continue;
    float const* const bounds = lower ? targets.lower : targets.upper;
    char const* const name = lower ? "label_lower_bound" : "label_upper_bound";
    if (bounds == nullptr) {
      Throw<InvalidArgument>("survival:aft needs ", name, ", and ", rows, " rows have none. Size of ", name,
                             " must equal to number of rows.");
    }
    std::uint64_t const bad =
        FirstNotAllowed(rows, threads, [bounds](std::uint64_t row) { return !std::isnan(bounds[row]); });
    if (bad == rows) continue;
    Throw<InvalidArgument>(name, " of row ", bad, " is ", bounds[bad], "; allowed: a number, or infinity");
  }
  float const *const lower = targets.lower, *const upper = targets.upper;
  std::uint64_t const bad = FirstNotAllowed(rows, threads, [&](std::uint64_t row) {
    return lower[row] <= upper[row] && upper[row] >= 0 && !(std::isinf(lower[row]) && lower[row] > 0);
  });
  if (bad == rows) return;
  Throw<InvalidArgument>("label_lower_bound of row ", bad, " is ", lower[bad], ", label_upper_bound ", upper[bad],
                         "; allowed: a lower bound that is not above the upper one and not +infinity, and an upper "
                         "bound of 0 or larger");
}

void CheckTimes(std::uint64_t rows, std::uint32_t outputs) {
  constexpr std::uint64_t kMostRows = 0xFFFFFFFF;
  if (outputs != 1) Throw<InvalidArgument>("Rows have ", outputs, " outputs (targets); survival:cox takes 1");
  if (rows > kMostRows) Throw<InvalidArgument>("survival:cox: there are ", rows, " rows; allowed: up to ", kMostRows);
}

void CheckGroups(ObjectiveParams const& params, TargetView const& targets, std::uint64_t rows, std::uint32_t outputs) {
  constexpr std::uint64_t kMostRows = 0x7FFFFFFF;
  constexpr char const* kWords = "group structure not consistent with #rows";
  if (params.num_pairsample == 0) Throw<InvalidArgument>("num_pairsample is 0; allowed: 1 and more");
  if (params.lambdarank.pairs == 0) {
    Throw<InvalidArgument>("lambdarank_num_pair_per_sample is 0; allowed: 1 and more");
  }
  if (outputs != 1) Throw<InvalidArgument>("Rows have ", outputs, " outputs (targets); ranking takes 1");
  if (rows > kMostRows) Throw<InvalidArgument>("There are ", rows, " rows to rank; allowed: up to ", kMostRows);
  if (targets.groups == 0) return;
  std::uint32_t const* const at = targets.group_ptr;
  if (at[0] != 0) Throw<InvalidArgument>(kWords, ": the first group begins at row ", at[0], ", not at row 0");
  for (std::uint32_t g = 0; g < targets.groups; ++g) {
    if (at[g + 1] < at[g])
      Throw<InvalidArgument>(kWords, ": group ", g, " begins at row ", at[g], " and ends before row ", at[g + 1]);
  }
  if (at[targets.groups] != rows) {
    Throw<InvalidArgument>(kWords, ": the ", targets.groups, " groups have ", at[targets.groups],
                           " rows together, and there are ", rows);
  }
}

}  // namespace

std::optional<Objective> ObjectiveByName(std::string const& name) {
  auto const* const found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](NamedObjective const& n) { return name == n.name; });
  if (found == std::end(kNames)) return std::nullopt;
  return found->kind;
}

char const* NameOf(Objective kind) {
  return std::find_if(std::begin(kNames), std::end(kNames), [&](NamedObjective const& n) { return n.kind == kind; })
      ->name;
}

void CheckTargets(ObjectiveParams const& params, TargetView const& targets, std::uint64_t rows, std::uint32_t outputs,
                  int threads) {
  if (params.kind == Objective::kPseudoHuber && params.huber_slope == 0.0f)
    Throw<InvalidArgument>("huber_slope is 0; allowed: any other number. slope for pseudo huber cannot be 0.");
  if (params.kind == Objective::kPoisson && !std::isfinite(PortableExpf(params.max_delta_step))) {
    Throw<InvalidArgument>(
        "Parameter max_delta_step is ", params.max_delta_step,
        "; allowed with count:poisson: at most 88.72, since e^max_delta_step is a factor of hessians "
        "and must be finite");
  }
  if (params.kind == Objective::kAft) return CheckBounds(targets, rows, outputs, threads);
  CheckShape(params.kind, targets, rows, outputs);
  if (HasAlphas(params.kind)) CheckAlphas(params, outputs);
  if (params.kind == Objective::kCox) CheckTimes(rows, outputs);
  if (IsRanking(params.kind)) CheckGroups(params, targets, rows, outputs);
  std::uint64_t const count = rows * targets.label_columns;
  std::uint64_t const bad = FirstNotAllowed(
      count, threads, [&](std::uint64_t i) { return LabelAllowed(params, targets.labels[i], outputs); });
  if (bad == count) return;
  std::string const which =
      targets.label_columns == 1 ? "" : "target " + std::to_string(bad % targets.label_columns) + " of ";
  std::string const classes =
      params.kind == Objective::kSoftmax ? " num_class is " + std::to_string(outputs) + "." : "";
  Throw<InvalidArgument>("Label of ", which, "row ", bad / targets.label_columns, " is ", targets.labels[bad], ". ",
                         WordsOfRange(params), classes);
}

}  // namespace xgbgpu
