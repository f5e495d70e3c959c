// Generates the cases of parameters and data shapes on which the backends must agree.
#include "trees_cuda/equality_case.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "quantile/quantile.h"
#include "support/data.h"
#include "support/grow.h"

namespace xgbgpu::testing {

namespace {

/// Returns the level of one dimension for every case. Each level is there equally often; `dimension` decides the order.
template <typename Level, std::size_t n>
std::vector<Level> Shuffled(Level const (&levels)[n], std::size_t cases, std::uint64_t dimension) {
  std::vector<Level> column;
  for (std::size_t i = 0; i < cases; ++i) column.push_back(levels[i % n]);
  Random random{dimension};
  for (std::size_t i = cases; i > 1; --i) std::swap(column[i - 1], column[random.Below(i)]);
  return column;
}

struct Growth {
  GrowPolicy policy;
  int max_depth, max_leaves;
};

struct Variant {
  char const* name;
  void (*set)(EqualityCase*);
};

constexpr auto kDepthWise = GrowPolicy::kDepthWise, kLossGuide = GrowPolicy::kLossGuide,
               kSymmetric = GrowPolicy::kSymmetric;
constexpr RowIndex kRows[] = {1, 2, 33, 1000, 5000, 70000, 1000, 5000, 70000};
constexpr FeatureIndex kColumns[] = {1, 3, 13, 28, 33, 100, 700};
constexpr double kDensities[] = {1, 0.9, 0.3, 0.02};
constexpr int kMaxBins[] = {2, 16, 64, 256, 1000};
constexpr Values kValues[] = {Values::kContinuous, Values::kFew, Values::kSkewed};
constexpr Loss kLosses[] = {Loss::kLogistic,  Loss::kOneHuge,          Loss::kHeavyTail, Loss::kConstant,
                            Loss::kManyZeros, Loss::kNegativeHessians, Loss::kAllZero,   Loss::kTiny,
                            Loss::kLogistic,  Loss::kLogistic,         Loss::kLogistic,  Loss::kHeavyTail,
                            Loss::kVanishing, Loss::kWeightedTail};
constexpr Growth kGrowths[] = {{kDepthWise, 1, 0},  {kDepthWise, 3, 0},   {kDepthWise, 6, 0},  {kDepthWise, 8, 0},
                               {kDepthWise, 12, 0}, {kDepthWise, 0, 0},   {kDepthWise, 6, 31}, {kDepthWise, 8, 255},
                               {kDepthWise, 0, 31}, {kLossGuide, 0, 5},   {kLossGuide, 0, 31}, {kLossGuide, 6, 0},
                               {kLossGuide, 8, 31}, {kLossGuide, 0, 255}, {kLossGuide, 12, 0}, {kSymmetric, 3, 0},
                               {kSymmetric, 8, 0},  {kSymmetric, 0, 64}};

void Nothing(EqualityCase*) {}
constexpr Variant kRowSamples[] = {
    {"", Nothing},
    {"", Nothing},
    {"_half", [](EqualityCase* c) { c->params.subsample = 0.5f; }},
    {"_tenth", [](EqualityCase* c) { c->params.subsample = 0.1f; }},
    {"_gradient",
     [](EqualityCase* c) {
       c->params.sampling_method = SamplingMethod::kGradientBased;
       c->params.subsample = 0.2f;
     }},
    {"_goss", [](EqualityCase* c) { c->params.sampling_method = SamplingMethod::kGoss; }}};
constexpr Variant kColumnSamples[] = {{"", Nothing},
                                      {"", Nothing},
                                      {"_bytree", [](EqualityCase* c) { c->params.colsample_bytree = 0.5f; }},
                                      {"_bylevel", [](EqualityCase* c) { c->params.colsample_bylevel = 0.5f; }},
                                      {"_bynode", [](EqualityCase* c) { c->params.colsample_bynode = 0.3f; }},
                                      {"_weighted",
                                       [](EqualityCase* c) {
                                         c->params.colsample_bytree = 0.6f;
                                         c->params.colsample_bynode = 0.8f;
                                         for (FeatureIndex f = 0; f < c->columns; ++f) {
                                           c->params.feature_weights.push_back(static_cast<float>(f % 4) + 0.5f);
                                         }
                                       }},
                                      {"_bythree", [](EqualityCase* c) {
                                         c->params.colsample_bytree = 0.8f;
                                         c->params.colsample_bylevel = 0.7f;
                                         c->params.colsample_bynode = 0.6f;
                                       }}};
constexpr Variant kRegularisations[] = {{"", Nothing},
                                        {"", Nothing},
                                        {"_lambda0", [](EqualityCase* c) { c->params.reg_lambda = 0; }},
                                        {"_alpha", [](EqualityCase* c) { c->params.reg_alpha = 0.5f; }},
                                        {"_step", [](EqualityCase* c) { c->params.max_delta_step = 0.3f; }},
                                        {"_weight0", [](EqualityCase* c) { c->params.min_child_weight = 0; }},
                                        {"_weight50", [](EqualityCase* c) { c->params.min_child_weight = 50; }},
                                        {"_gamma", [](EqualityCase* c) { c->params.min_split_loss = 0.5f; }},
                                        {"_loose",
                                         [](EqualityCase* c) {
                                           c->params.reg_lambda = 0;
                                           c->params.min_child_weight = 0;
                                         }},
                                        {"_tight", [](EqualityCase* c) {
                                           c->params.reg_lambda = 3;
                                           c->params.reg_alpha = 0.2f;
                                           c->params.max_delta_step = 0.7f;
                                           c->params.min_split_loss = 0.1f;
                                           c->params.min_child_weight = 5;
                                         }}};

constexpr Variant kConstraints[] = {{"", Nothing},
                                    {"", Nothing},
                                    {"", Nothing},
                                    {"_monotone", [](EqualityCase* c) { SetDirections(&c->params, c->columns); }},
                                    {"_sets", [](EqualityCase* c) { SetInteractions(&c->params, c->columns); }},
                                    {"_constrained", [](EqualityCase* c) {
                                       SetDirections(&c->params, c->columns);
                                       SetInteractions(&c->params, c->columns);
                                     }}};

/// Limits the host's work: fewer columns where there are many values, fewer leaves where there are many cells.
void Limit(EqualityCase* c) {
  constexpr double kMostValues = 4e6;
  for (auto columns = std::rbegin(kColumns); columns != std::rend(kColumns); ++columns) {
    if (static_cast<double>(c->rows) * c->density * c->columns > kMostValues)
      c->columns = std::min(c->columns, *columns);
  }
  constexpr std::uint64_t kManyCells = 1 << 16;
  std::uint64_t const bins = std::min<std::uint64_t>(static_cast<std::uint64_t>(c->max_bin), c->rows);
  bool const many_leaves = c->params.max_depth == 0 || c->params.max_depth > 6;
  if (c->columns * bins > kManyCells && many_leaves && (c->params.max_leaves == 0 || c->params.max_leaves > 31)) {
    c->params.max_leaves = c->params.grow_policy == kSymmetric ? 32 : 31;
  }
}

/// Removes limits under which a tree of this size and scale would be one leaf.
void LetItGrow(EqualityCase* c) {
  if (c->rows <= 33) c->params.min_child_weight = std::min(c->params.min_child_weight, 0.1f);
  if (c->loss == Loss::kTiny) {
    c->params.min_child_weight = 0;
    c->params.reg_lambda = 0;
    c->params.reg_alpha = 0;
    c->params.min_split_loss = 0;
  }
}

struct Corner {
  RowIndex rows;
  FeatureIndex columns;
  double density;
  int max_bin;
  Growth growth;
  char const* name;
};
constexpr Corner kCorners[] = {
    {70000, 2, 0.9, kMaxBinLimit, {kDepthWise, 6, 0}, "_mostbins"},
    {70000, 2, 1, kMaxBinLimit, {kLossGuide, 0, 31}, "_mostbins"},
    {5000, 300, 0.02, kMaxBinLimit, {kDepthWise, 6, 0}, "_mostbins"},
    // Rows have enough bins to be moved every four levels (least_moved_bytes): once, twice, and with several tiles.
    {300000, 28, 1, 256, {kDepthWise, 8, 0}, "_moved"},
    {300000, 28, 0.9, 100, {kDepthWise, 10, 0}, "_moved"},
    {100000, 100, 1, 64, {kDepthWise, 9, 0}, "_moved"},
    {300000, 28, 1, 256, {kDepthWise, 9, 0}, "_moved_sampled"},
    {300000, 28, 0.9, 100, {kDepthWise, 10, 0}, "_moved_sampled_wideformat"},
    {70001, 9, 0.9, 64, {kDepthWise, 6, 0}, "_sampled"},
    {70001, 9, 0.9, 64, {kDepthWise, 6, 0}, "_sampled_wideformat"},
    {1000, 5, 0.9, 64, {kDepthWise, 6, 1}, "_oneleaf"},
    {1000, 5, 0, 64, {kDepthWise, 6, 0}, "_novalues"},
    {65535, 4, 0.9, 64, {kDepthWise, 6, 0}, "_lastwide"},
    {65536, 4, 0.9, 64, {kDepthWise, 6, 0}, "_firstnarrow"},
    {200, 20000, 0.01, 64, {kDepthWise, 4, 0}, "_wide"},
    {300000, 28, 1, 256, {kDepthWise, 8, 0}, "_moved_constrained"},
    {300000, 28, 0.9, 100, {kDepthWise, 10, 0}, "_moved_sampled_wideformat_constrained"},
    {5000, 300, 0.02, 256, {kDepthWise, 10, 0}, "_constrained"},
    {70000, 13, 0.9, 64, {kDepthWise, 14, 0}, "_constrained"},
    {70000, 13, 0.9, 64, {kLossGuide, 0, 0}, "_constrained"},
    {200, 20000, 0.01, 64, {kLossGuide, 0, 31}, "_wide_constrained"},
    // These are device-driven with an order (growth/grow_order_ops.h), by paths and by lists.
    {70000, 13, 0.9, 64, {kLossGuide, 0, 1}, "_ordered"},
    {70000, 13, 0.9, 64, {kLossGuide, 0, 2}, "_ordered"},
    {70000, 13, 0.9, 64, {kLossGuide, 0, 3}, "_ordered"},
    {70000, 13, 0.9, 64, {kLossGuide, 8, 2}, "_ordered"},
    {70000, 13, 0.9, 64, {kLossGuide, 12, 255}, "_ordered_constrained"},
    {70000, 13, 0.9, 16, {kLossGuide, 0, 1024}, "_ordered_ties"},
    // One block keeps the order. It has as many threads as the order may have nodes.
    {70000, 13, 0.9, 64, {kLossGuide, 0, 257}, "_ordered_ties_constrained"},
    {70000, 13, 0.9, 64, {kLossGuide, 0, 512}, "_ordered_ties"},
    {70000, 13, 0.9, 64, {kLossGuide, 0, 513}, "_ordered_sampled"},
    {70000, 13, 0.9, 64, {kLossGuide, 0, 1024}, "_ordered_sampled_constrained"},
    {1000, 5, 0.9, 16, {kLossGuide, 0, 255}, "_ordered_ties"},
    {300000, 28, 1, 256, {kLossGuide, 0, 255}, "_ordered_moved"},
    {300000, 28, 1, 256, {kLossGuide, 0, 256}, "_ordered_moved_wideformat"},
    {300000, 28, 0.9, 100, {kLossGuide, 30, 64}, "_ordered_moved_sampled_wideformat"},
    {5000, 300, 0.02, 256, {kLossGuide, 0, 255}, "_ordered"},
    {5000, 300, 0.02, 64, {kLossGuide, 30, 64}, "_ordered_sampled_constrained"},
    {5000, 300, 0.02, 64, {kLossGuide, 8, 100}, "_ordered"},
    {70000, 13, 0.9, 64, {kSymmetric, 1, 0}, "_wideformat"},
    {70000, 13, 0.9, 16, {kSymmetric, 16, 0}, "_ties"},
    {70000, 13, 0.9, 64, {kSymmetric, 10, 0}, "_sampled_constrained"},
    {300000, 28, 1, 256, {kSymmetric, 8, 0}, ""},
    {300000, 28, 0.9, 100, {kSymmetric, 6, 0}, "_sampled_wideformat"},
    {70000, 2, 1, kMaxBinLimit, {kSymmetric, 5, 0}, "_mostbins"},
    {200, 20000, 0.01, 64, {kSymmetric, 5, 0}, "_wide_constrained"},
    {5000, 300, 0.02, 64, {kSymmetric, 8, 0}, "_sampled"},
    {20, 5, 0.9, 16, {kSymmetric, 16, 0}, ""},
    // Trees on copies of their columns (sample/column_copy_cuda.h), by paths and by lists, with and without a sample.
    {100000, 100, 1, 64, {kDepthWise, 9, 0}, "_columns_moved"},
    {100000, 100, 0.9, 64, {kDepthWise, 8, 0}, "_columns_moved_sampled_wideformat"},
    {5000, 100, 0.9, 256, {kDepthWise, 8, 0}, "_columns_constrained"},
    {5000, 700, 1, 64, {kDepthWise, 6, 0}, "_columns"},
    {5000, 700, 0.9, 64, {kLossGuide, 0, 31}, "_columns_sampled_constrained"},
    {70000, 100, 1, 64, {kLossGuide, 0, 255}, "_columns_ordered"},
    {70000, 100, 1, 64, {kLossGuide, 8, 100}, "_columns_sampled"},
    {5000, 700, 1, 64, {kSymmetric, 6, 0}, "_columns"},
    {5000, 700, 0.9, 64, {kSymmetric, 5, 0}, "_columns_sampled"},
    {5000, 3000, 1, 64, {kDepthWise, 6, 0}, "_columns"},
    {5000, 3000, 0.9, 64, {kLossGuide, 0, 31}, "_columns_sampled"},
    // Their levels sample features, and need fewer columns the deeper they are.
    {5000, 700, 1, 64, {kDepthWise, 8, 0}, "_levels_ties"},
    {70000, 400, 0.9, 64, {kDepthWise, 9, 0}, "_levels_moved_constrained"},
    {70000, 400, 1, 64, {kDepthWise, 8, 0}, "_levels_sampled_wideformat"},
    {70000, 100, 1, 64, {kDepthWise, 5, 0}, "_levels_ties"},
    {70000, 150, 0.2, 64, {kDepthWise, 5, 0}, "_fewcolumns_levels"},
    {5000, 5000, 1, 64, {kLossGuide, 6, 60}, "_levels_ties"},
    // Copies of sparse data: of tiles, with symbols of one and two bytes, and of CSR.
    {100000, 100, 0.2, 64, {kDepthWise, 9, 0}, "_fewcolumns_moved"},
    {70000, 700, 0.2, 256, {kDepthWise, 8, 0}, "_fewcolumns"},
    {70000, 100, 0.015, 64, {kDepthWise, 8, 0}, "_fewcolumns"},
    {5000, 700, 0.3, 64, {kDepthWise, 7, 0}, "_columns_constrained"},
    {5000, 700, 0.3, 64, {kLossGuide, 0, 31}, "_columns_constrained"},
    {70000, 100, 0.2, 64, {kDepthWise, 8, 0}, "_fewcolumns_wideformat"},
    // The wide format with hessians that differ, and symbols of two bytes.
    {300000, 28, 0.9, 100, {kDepthWise, 10, 0}, "_moved_sampled_weightedtail"},
    {300000, 28, 1, 256, {kLossGuide, 0, 256}, "_ordered_moved_weightedtail"},
    {70000, 400, 1, 64, {kDepthWise, 8, 0}, "_levels_sampled_weightedtail"},
    {70000, 20, 1, 1000, {kDepthWise, 6, 0}, "_wideformat"},
    {70000, 20, 1, 1000, {kDepthWise, 6, 0}, "_weightedtail"},
    {100000, 5, 1, 256, {kDepthWise, 6, 0}, "_wideformat"},
    {100000, 3, 1, 16, {kDepthWise, 6, 0}, "_wideformat"},
    {70000, 100, 0.2, 64, {kLossGuide, 0, 255}, "_fewcolumns_ordered"},
    {5000, 700, 0.3, 64, {kSymmetric, 6, 0}, "_columns"},
    {70000, 100, 0.015, 64, {kSymmetric, 6, 0}, "_fewcolumns"}};

void AddCorners(std::vector<EqualityCase>* cases) {
  for (Corner const& corner : kCorners) {
    EqualityCase& c = cases->emplace_back();
    c.number = static_cast<int>(cases->size()) - 1;
    c.rows = corner.rows;
    c.columns = corner.columns;
    c.density = corner.density;
    std::string const name = corner.name;
    c.values = name.find("_ties") == std::string::npos ? Values::kContinuous : Values::kFew;
    c.max_bin = corner.max_bin;
    c.loss = Loss::kLogistic;
    if (name.find("_wideformat") != std::string::npos) c.loss = Loss::kHeavyTail;
    if (name.find("_weightedtail") != std::string::npos) c.loss = Loss::kWeightedTail;
    if (name.find("_sampled") != std::string::npos) c.params.subsample = 0.7f;
    if (name.find("_levels") != std::string::npos) c.params.colsample_bylevel = 0.1f;
    if (name.find("_columns") != std::string::npos) c.params.colsample_bytree = 0.2f;
    if (name.find("_fewcolumns") != std::string::npos) c.params.colsample_bytree = 0.05f;
    if (name.find("_constrained") != std::string::npos) {
      SetDirections(&c.params, c.columns);
      SetInteractions(&c.params, c.columns);
    }
    c.stride = 1;
    c.variants = corner.name;
    c.params.grow_policy = corner.growth.policy;
    c.params.max_depth = corner.growth.max_depth;
    c.params.max_leaves = corner.growth.max_leaves;
  }
}

}  // namespace

void SetDirections(TrainParams* params, FeatureIndex columns) {
  constexpr int kDirections[] = {1, 0, -1, 1, -1};
  params->monotone_constraints.clear();
  for (FeatureIndex f = 0; f < columns; ++f) params->monotone_constraints.push_back(kDirections[f % 5]);
}

void SetInteractions(TrainParams* params, FeatureIndex columns) {
  params->interaction_constraints.assign(1, {});  // a set without features forbids nothing and allows nothing
  for (FeatureIndex f = 0; f + 2 < columns && f < 80; f += 2) {
    params->interaction_constraints.push_back({f, f + 1, f + 2});
  }
}

std::string NameOf(EqualityCase const& c) {
  auto const number = [](int n) { return std::to_string(n); };
  std::string const digits = number(c.number);
  static constexpr char const* kLossNames[] = {"logistic", "onehuge", "heavytail", "constant",  "zeros",
                                               "neghess",  "allzero", "tiny",      "vanishing", "weightedtail"};
  static constexpr char const* kValueNames[] = {"", "_few", "_skewed"};
  return "Case" + std::string(3 - digits.size(), '0') + digits + "_r" + std::to_string(c.rows) + "_c" +
         std::to_string(c.columns) + "_d" + number(static_cast<int>(std::lround(c.density * 100))) + "_b" +
         number(c.max_bin) + kValueNames[static_cast<int>(c.values)] + "_" + kLossNames[static_cast<int>(c.loss)] +
         "_" + NameOf(c.params.grow_policy) + "_depth" + number(c.params.max_depth) + "_leaves" +
         number(c.params.max_leaves) + c.variants;
}

void PrintTo(EqualityCase const& c, std::ostream* os) { *os << NameOf(c); }

std::vector<EqualityCase> EqualityCases() {
  constexpr std::size_t kCases = 400;
  auto const rows = Shuffled(kRows, kCases, 1);
  auto const columns = Shuffled(kColumns, kCases, 2);
  auto const densities = Shuffled(kDensities, kCases, 3);
  auto const max_bins = Shuffled(kMaxBins, kCases, 4);
  auto const values = Shuffled(kValues, kCases, 5);
  auto const losses = Shuffled(kLosses, kCases, 6);
  auto const growths = Shuffled(kGrowths, kCases, 7);
  auto const row_samples = Shuffled(kRowSamples, kCases, 8);
  auto const column_samples = Shuffled(kColumnSamples, kCases, 9);
  auto const regularisations = Shuffled(kRegularisations, kCases, 10);
  auto const constraints = Shuffled(kConstraints, kCases, 11);
  std::vector<EqualityCase> cases;
  for (std::size_t i = 0; i < kCases; ++i) {
    EqualityCase c{static_cast<int>(i), rows[i],   columns[i], densities[i], values[i],
                   max_bins[i],         losses[i], {},         1 + i % 3,    {}};
    c.params.grow_policy = growths[i].policy;
    c.params.max_depth = growths[i].max_depth;
    c.params.max_leaves = growths[i].max_leaves;
    c.params.seed = i;
    Limit(&c);
    for (Variant const& variant : {row_samples[i], column_samples[i], regularisations[i], constraints[i]}) {
      variant.set(&c);
      c.variants += variant.name;
    }
    LetItGrow(&c);
    cases.push_back(std::move(c));
  }
  AddCorners(&cases);
  return cases;
}

CaseRows::CaseRows(EqualityCase const& c) : columns_{c.columns} {
  Random random{c.seed()};
  auto const value = [&](FeatureIndex f) {
    if (f % 13 == 7) return 2.5f;  // constant columns
    switch (c.values) {
      case Values::kFew:
        return static_cast<float>(random.Below(5)) - 2.0f;
      case Values::kSkewed: {
        float const u = random.Uniform();
        return std::round(u * u * u * u * 1e4f) * 0.01f;
      }
      default:
        return random.Between(-4, 4);
    }
  };
  float const middle = c.values == Values::kSkewed ? 6.0f : 0.5f;
  for (RowIndex r = 0; r < c.rows; ++r) {
    float signal = 0;
    for (FeatureIndex f = 0; f < c.columns; ++f) {
      bool const missing = static_cast<double>(random.Uniform()) >= c.density || f % 13 == 11;
      float const v = value(f);
      if (!missing) entries_.push_back({f, v});
      if (f < 3) signal += missing ? 0.3f : (v > middle ? 1.0f : -0.6f) / static_cast<float>(f + 1);
    }
    offsets_.push_back(entries_.size());
    signal_.push_back(signal);
  }
}

void CaseRows::MakeCategories(std::vector<std::uint32_t> const& levels) {
  categorical_.assign(columns_, 0);
  for (FeatureIndex f = 0; f < std::min<FeatureIndex>(columns_, static_cast<FeatureIndex>(levels.size())); ++f) {
    categorical_[f] = levels[f] != 0 ? 1 : 0;
  }
  for (Entry& entry : entries_) {
    if (categorical_[entry.feature] == 0) continue;
    std::uint32_t const n = levels[entry.feature];
    auto const range = static_cast<std::uint32_t>((entry.value + 4.0f) / 8.0f * static_cast<float>(n));
    entry.value = static_cast<float>((std::min(range, n - 1) * 7 + 3) % n);  // neighbours are no neighbours any more
  }
}

std::unique_ptr<QuantisedMatrix> HostMatrix(RowSource const& rows, int max_bin, int threads) {
  return host::QuantiseMatrix(rows, host::ComputeCuts(rows, {}, max_bin, threads), threads);
}

CaseLoss::CaseLoss(EqualityCase const& c, CaseRows const& rows)
    : loss_{c.loss}, stride_{c.stride}, target_(rows.signal()) {
  Random random{c.seed() + 500000};
  for (float& t : target_) {
    float const noise = random.Uniform() + 0x1p-24f;
    if (loss_ == Loss::kHeavyTail || loss_ == Loss::kWeightedTail) {
      t = (t > 0 ? 1.0f : -1.0f) / (noise * noise * noise * 1e3f + 1e-8f);
    } else if (loss_ == Loss::kOneHuge) {
      t += noise;
    } else {
      t = t + 2 * noise - 1 > 0.2f ? 1.0f : 0.0f;
    }
  }
  if (loss_ == Loss::kOneHuge) target_[target_.size() / 2] = 1e6f;
}

std::vector<GradientPair> CaseLoss::Gradients(std::vector<float> const& margins) const {
  std::vector<GradientPair> gradients(target_.size());
  for (std::size_t r = 0; r < gradients.size(); ++r) {
    float const margin = margins[r * stride_];
    float const p = 1.0f / (1.0f + std::exp(-margin));
    GradientPair const logistic{p - target_[r], std::max(p * (1 - p), 1e-16f)};
    switch (loss_) {
      case Loss::kLogistic:
        gradients[r] = logistic;
        break;
      case Loss::kOneHuge:
      case Loss::kHeavyTail:
        gradients[r] = {margin - target_[r], 1.0f};
        break;
      case Loss::kWeightedTail: {
        float const weight = 0.7f + 0.3f * static_cast<float>(r % 7);
        gradients[r] = {weight * (margin - target_[r]), weight};
        break;
      }
      case Loss::kConstant:
        gradients[r] = {-0.5f, 1.0f};
        break;
      case Loss::kManyZeros:
        gradients[r] = r % 10 == 3 ? logistic : GradientPair{0, 0};
        break;
      case Loss::kNegativeHessians:
        gradients[r] = {logistic.grad, r % 3 == 0 ? -logistic.hess : 2 * logistic.hess};
        break;
      case Loss::kAllZero:
        gradients[r] = {0, 0};
        break;
      case Loss::kTiny:
        gradients[r] = {logistic.grad * 0x1p-40f, logistic.hess * 0x1p-40f};
        break;
      case Loss::kVanishing:
        gradients[r] = r % 50 == 7 ? GradientPair{logistic.grad, 1e-14f} : logistic;
        break;
    }
  }
  return gradients;
}

}  // namespace xgbgpu::testing
