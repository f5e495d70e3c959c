/// Categorical columns with targets, and their statistics made the slow way, for tests of both backends.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_ENCODE_CASE_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_ENCODE_CASE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/data.h"
#include "xgbgpu/encode.h"

namespace xgbgpu::testing {

/// All that OrderTargets writes.
struct Encoded {
  std::vector<float> statistics;  ///< [rows, targets + 1]: rows have room for one number more, which stays as it was
  std::vector<std::int64_t> total_values, total_weights;

  CategoryTotals totals() { return {total_values.data(), total_weights.data()}; }
  friend bool operator==(Encoded const& a, Encoded const& b) {
    auto const same_bits = [](float x, float y) { return std::memcmp(&x, &y, sizeof(float)) == 0; };
    return std::equal(a.statistics.begin(), a.statistics.end(), b.statistics.begin(), b.statistics.end(), same_bits) &&
           a.total_values == b.total_values && a.total_weights == b.total_weights;
  }
};

struct EncodeCase {
  std::string name;
  std::uint32_t categories;
  std::uint32_t targets;
  std::vector<std::uint32_t> codes;
  std::vector<std::int64_t> values;   ///< [targets, rows]
  std::vector<std::int64_t> weights;  ///< or empty

  std::size_t rows() const { return codes.size(); }
  CategoryTargets columns() const {
    return {codes.data(), rows(), categories, values.data(), targets, weights.empty() ? nullptr : weights.data()};
  }
  StatisticRule rule() const { return {0.25, weights.empty() ? 1 : 0.5, 1.5}; }
  std::vector<double> priors() const {
    std::vector<double> priors;
    for (std::uint32_t target = 0; target < targets; ++target) priors.push_back(0.3 + target);
    return priors;
  }

  Encoded Room() const {
    return {std::vector<float>(rows() * (targets + 1), -1.0f), std::vector<std::int64_t>(categories * targets, 77),
            std::vector<std::int64_t>(categories, 77)};
  }
  StatisticsView view(Encoded* to) const { return {to->statistics.data(), targets + std::uint64_t{1}}; }
  Encoded OnHost(RowOrder const& order, int threads) const {
    Encoded found = Room();
    host::OrderTargets(columns(), order, rule(), priors().data(), view(&found), found.totals(), threads);
    return found;
  }
  /// One row after the other, in the order.
  Encoded Slow(RowOrder const& order) const {
    Encoded slow = Room();
    slow.total_values.assign(slow.total_values.size(), 0);
    slow.total_weights.assign(slow.total_weights.size(), 0);
    for (std::size_t place = 0; place < rows(); ++place) {
      RowIndex const row = order.Row(place);
      std::uint32_t const code = codes[row];
      for (std::uint32_t target = 0; target < targets; ++target) {
        std::int64_t& sum = slow.total_values[target * categories + code];
        double const weight = static_cast<double>(slow.total_weights[code]) * rule().weight_unit;
        slow.statistics[row * (targets + 1) + target] =
            static_cast<float>((static_cast<double>(sum) * rule().value_unit + rule().prior_weight * priors()[target]) /
                               (weight + rule().prior_weight));
        sum += values[target * rows() + row];
      }
      slow.total_weights[code] += weights.empty() ? 1 : weights[row];
    }
    return slow;
  }
};

inline EncodeCase RandomEncodeCase(std::string name, std::size_t rows, std::uint32_t categories, std::uint32_t targets,
                                   bool is_weighted) {
  EncodeCase c{std::move(name), categories, targets, {}, {}, {}};
  Random random{rows + categories};
  for (std::size_t i = 0; i < rows; ++i) {  // half of the rows are of the first categories
    c.codes.push_back(
        static_cast<std::uint32_t>(random.Below(random.Below(2) == 0 ? (categories + 9) / 10 : categories)));
  }
  for (std::size_t i = 0; i < rows * targets; ++i) {
    c.values.push_back(static_cast<std::int64_t>(random.Below(1U << 30)) - (1 << 29));
  }
  for (std::size_t i = 0; is_weighted && i < rows; ++i) c.weights.push_back(static_cast<std::int64_t>(random.Below(5)));
  return c;
}

inline std::vector<EncodeCase> EncodeCases() {
  return {RandomEncodeCase("one row", 1, 1, 1, false),
          RandomEncodeCase("one category", 3000, 1, 2, true),
          RandomEncodeCase("few categories", 20000, 5, 3, true),
          RandomEncodeCase("many categories", 50000, 7000, 1, false),
          RandomEncodeCase("more categories than rows", 1000, 5000, 2, true),
          RandomEncodeCase("no rows", 0, 3, 1, false)};
}

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_ENCODE_CASE_H_
