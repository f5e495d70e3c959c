// Finds cuts and bins one value at a time.
#include "reference/matrix.h"

#include <algorithm>
#include <utility>

namespace xgbgpu::reference {

namespace {

/// A distinct value of a column, the weight of all values below it, and that weight with its own.
struct Ranked {
  float value;
  __int128 below;
  __int128 upto;
};

std::vector<Ranked> RankColumn(Values const& values, std::vector<float> const& weights, std::size_t f,
                               std::size_t* present) {
  std::vector<std::pair<float, __int128>> weighted;  // of the rows that count
  *present = 0;
  for (std::size_t r = 0; r < values.rows; ++r) {
    float const v = values(r, f);
    if (std::isnan(v)) continue;
    ++*present;
    auto const w = static_cast<__int128>(weights.empty() ? 1 : static_cast<double>(weights[r]) * 65536.0);
    if (w != 0) weighted.emplace_back(v, w);
  }
  std::stable_sort(weighted.begin(), weighted.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
  std::vector<Ranked> ranked;
  __int128 sum = 0;
  for (auto const& [value, weight] : weighted) {
    if (ranked.empty() || value != ranked.back().value) ranked.push_back({value, sum, sum});  // -0 and +0 are one value
    ranked.back().upto = sum += weight;
  }
  return ranked;
}

/// Returns the value that stands for rank k of `parts`, as XGBoost's quantile summaries choose it. A value's interval
/// is [below, upto). Ranks run from the end of the smallest value's interval to the beginning of the largest one's. Let
/// `next` be the first value, from the third on, whose interval has its middle after the rank. If the rank is in that
/// interval, `next` stands for it, else the value before does. Behind all middles the largest value stands for it. All
/// numbers are multiplied by 2 · parts, so nothing is rounded.
std::size_t Representative(std::vector<Ranked> const& ranked, int k, int parts) {
  __int128 const begin = ranked.front().upto;
  __int128 const range = ranked.back().below - begin;
  __int128 const rank = 2 * (k * range + begin * parts);
  auto const next = std::partition_point(ranked.begin() + 2, ranked.end(),
                                         [&](Ranked const& v) { return rank >= (v.below + v.upto) * parts; });
  auto const i = static_cast<std::size_t>(next - ranked.begin());
  if (next == ranked.end()) return i - 1;
  return rank < 2 * next->below * parts ? i - 1 : i;
}

/// Returns the values at which one bin ends and the next begins.
std::vector<float> InnerCuts(std::vector<Ranked> const& ranked, std::size_t bins) {
  std::vector<float> cuts;
  if (ranked.size() <= bins + 1) {
    for (std::size_t i = 1; i < ranked.size(); ++i) cuts.push_back(ranked[i].value);
  } else {
    for (int k = 1; k < static_cast<int>(bins); ++k) {
      std::size_t const i = Representative(ranked, k, static_cast<int>(bins));
      if (i + 1 == ranked.size()) break;
      cuts.push_back(ranked[i].value);
    }
    cuts.push_back(ranked.back().value);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  }
  if (cuts.size() > bins - 1) cuts.resize(bins - 1);
  return cuts;
}

}  // namespace

Cuts MakeCuts(Values const& values, std::vector<float> const& weights, int max_bin,
              std::vector<std::uint8_t> const& categorical) {
  Cuts cuts;
  cuts.categorical = categorical;
  cuts.ptr.push_back(0);
  for (std::size_t f = 0; f < values.features; ++f) {
    std::size_t present = 0;
    auto const ranked = RankColumn(values, weights, f, &present);
    double smallest = 1e-5f, largest = 1e-5f;
    if (ranked.empty()) {  // XGBoost gives a column without values one bin
      cuts.min_values.push_back(1e-5f);
    } else {
      smallest = ranked.front().value;
      largest = ranked.back().value;
      cuts.min_values.push_back(static_cast<float>(smallest - std::fabs(smallest) - static_cast<double>(1e-5f)));
      auto const inner = InnerCuts(ranked, std::min(present, static_cast<std::size_t>(max_bin)));
      cuts.values.insert(cuts.values.end(), inner.begin(), inner.end());
    }
    if (cuts.IsCategorical(static_cast<FeatureIndex>(f))) {
      cuts.values.resize(cuts.ptr.back());
      float most = 0;
      for (std::size_t r = 0; r < values.rows; ++r) most = std::fmax(most, values(r, f));  // NaN is ignored
      for (int c = 0; c <= static_cast<int>(most); ++c) cuts.values.push_back(static_cast<float>(c + 1));
      cuts.ptr.push_back(static_cast<BinIndex>(cuts.values.size()));
      continue;
    }
    cuts.values.push_back(static_cast<float>(largest + (std::fabs(largest) + static_cast<double>(1e-5f))));
    cuts.ptr.push_back(static_cast<BinIndex>(cuts.values.size()));
    // The ends lie outside the values of all rows, also of rows that have no weight.
    float low = cuts.min_values[f], high = cuts.values.back();
    for (std::size_t r = 0; r < values.rows; ++r) {
      low = std::fmin(low, values(r, f));  // NaN is ignored
      high = std::fmax(high, values(r, f));
    }
    bool const is_below = low<cuts.min_values[f], is_above = high> cuts.values.back();
    if (is_below)
      cuts.min_values[f] = static_cast<float>(static_cast<double>(low) - std::fabs(low) - static_cast<double>(1e-5f));
    if (is_above)
      cuts.values.back() =
          static_cast<float>(high + (std::fabs(static_cast<double>(high)) + static_cast<double>(1e-5f)));
  }
  return cuts;
}

Bins MakeBins(Values const& values, Cuts const& cuts) {
  Bins bins{values.rows, values.features, {}};
  for (std::size_t r = 0; r < values.rows; ++r) {
    for (std::size_t f = 0; f < values.features; ++f) {
      int bin = kNoBin;
      if (!std::isnan(values(r, f))) {
        auto const* const first = cuts.values.data() + cuts.ptr[f];
        auto const* const last = cuts.values.data() + cuts.ptr[f + 1] - 1;
        bin = static_cast<int>(std::upper_bound(first, last, values(r, f)) - first);  // ends that are <= value
      }
      bins.at.push_back(bin);
    }
  }
  return bins;
}

}  // namespace xgbgpu::reference
