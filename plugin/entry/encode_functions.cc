/// The C functions that encode categories.
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/message.h"
#include "errors/fail.h"
#include "matrix/held_matrix.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/encode.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMostRows = 0xFFFFFFFE;

void CheckRows(char const* name, std::uint64_t rows) {
  if (rows > kMostRows) Throw<InvalidArgument>(name, " is ", rows, "; allowed: 0 to ", kMostRows);
}

void CheckPointer(char const* name, void const* pointer) {
  if (pointer == nullptr) Throw<InvalidArgument>(name, " is null; allowed: the address of an array");
}

/// Reads a JSON object key by key. What is missing or wrong is named.
class Config {
 public:
  explicit Config(char const* text) : json_(Json::parse(text, nullptr, false)) {  // braces would make a list of it
    if (!json_.is_object()) Throw<InvalidArgument>("config is ", Quoted(text), "; allowed: a JSON object");
  }

  std::uint64_t Count(char const* key, std::uint64_t least, std::uint64_t most) const {
    Json const value = Find(key);
    bool const fits =
        value.is_number_unsigned() && value.get<std::uint64_t>() >= least && value.get<std::uint64_t>() <= most;
    if (!fits) ThrowOf(key, value, std::to_string(least) + " to " + std::to_string(most));
    return value.get<std::uint64_t>();
  }
  int Threads() const {
    Json const value = Find("nthread");
    if (!value.is_number_integer()) ThrowOf("nthread", value, "a whole number");
    auto const asked = value.get<std::int64_t>();
    return ThreadsOfMatrix(static_cast<int>(asked < 0 || asked > (1 << 16) ? 0 : asked));
  }
  double Positive(char const* key) const {
    Json const value = Find(key);
    if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>())) {
      ThrowOf(key, value, "a finite number above 0");
    }
    return value.get<double>();
  }
  std::vector<double> Numbers(char const* key, std::size_t n) const {
    Json const value = Find(key);
    bool fits = value.is_array() && value.size() == n;
    for (Json const& number : fits ? value : Json::array()) fits = fits && number.is_number();
    if (!fits) ThrowOf(key, value, "a list of " + std::to_string(n) + " numbers");
    return value.get<std::vector<double>>();
  }
  /// Returns whether the value is the second of the two words.
  bool IsSecond(char const* key, char const* first, char const* second) const {
    Json const value = Find(key);
    if (value != first && value != second) ThrowOf(key, value, std::string{first} + ", " + second);
    return value == second;
  }

 private:
  Json Find(char const* key) const { return json_.contains(key) ? json_[key] : Json{}; }
  [[noreturn]] static void ThrowOf(char const* key, Json const& value, std::string const& allowed) {
    Throw<InvalidArgument>("config has ", Quoted(key), ": ",
                           Quoted(value.dump(-1, ' ', false, Json::error_handler_t::replace)), "; allowed: ", allowed);
  }

  Json json_;
};

void OrderTargets(Config const& config, CategoryTargets columns, float* statistics, CategoryTotals totals) {
  constexpr std::uint64_t kMostInt = 0x7FFFFFFF;
  columns.rows = config.Count("rows", 0, kMostRows);
  columns.categories = static_cast<std::uint32_t>(config.Count("categories", 1, kMostRows));
  columns.targets = static_cast<std::uint32_t>(config.Count("targets", 1, kMostInt));
  StatisticRule const rule{config.Positive("value_unit"), config.Positive("weight_unit"),
                           config.Positive("prior_weight")};
  std::vector<double> const priors = config.Numbers("priors", columns.targets);
  StatisticsView const view{statistics, config.Count("row_stride", columns.targets, kMostRows)};
  RowOrder order = GivenOrder(columns.rows);
  if (config.IsSecond("order", "given", "shuffled")) {
    std::uint64_t const seed = config.Count("seed", 0, ~std::uint64_t{0});
    order = ShuffledOrder(columns.rows, seed, static_cast<std::uint32_t>(config.Count("number", 0, kMostInt)));
  }
  if (config.IsSecond("gpu_backend", "host", "cuda")) {
    std::string why_not;
    if (!CudaAvailable(&why_not)) {
      throw Unsupported{"gpu_backend is 'cuda', which is not possible here: " + why_not + "; possible: host"};
    }
    auto const device = static_cast<int>(config.Count("gpu_id", 0, kMostInt));
    OrderTargetsOnDevice(columns, order, rule, priors.data(), view, totals, device);
  } else if (statistics == nullptr) {
    host::SumTargets(columns, totals, config.Threads());
  } else {
    host::OrderTargets(columns, order, rule, priors.data(), view, totals, config.Threads());
  }
}

}  // namespace

}  // namespace xgbgpu::plugin

using xgbgpu::plugin::CheckPointer;
using xgbgpu::plugin::CheckRows;
using xgbgpu::plugin::Run;
using xgbgpu::plugin::ThreadsOfMatrix;

int XGBGPUNumberKeys(std::uint64_t const* keys, std::uint64_t n, int nthread, std::uint32_t* codes,
                     std::uint64_t* distinct) {
  return Run("numbering keys", [&] {
    CheckRows("n", n);
    CheckPointer("keys", keys);
    CheckPointer("codes", codes);
    CheckPointer("distinct", distinct);
    *distinct = xgbgpu::host::NumberKeys({keys, n}, codes, ThreadsOfMatrix(nthread));
  });
}

int XGBGPUFindKeys(std::uint64_t const* keys, std::uint64_t n, std::uint64_t const* known, std::uint64_t known_n,
                   int nthread, std::uint32_t* codes) {
  return Run("finding keys", [&] {
    CheckRows("n", n);
    CheckRows("known_n", known_n);
    CheckPointer("keys", keys);
    CheckPointer("known", known);
    CheckPointer("codes", codes);
    xgbgpu::host::FindKeys({keys, n}, {known, known_n}, codes, ThreadsOfMatrix(nthread));
  });
}

int XGBGPUOrderTargets(char const* config, std::uint32_t const* codes, std::int64_t const* values,
                       std::int64_t const* weights, float* statistics, std::int64_t* total_values,
                       std::int64_t* total_weights) {
  return Run("encoding categories", [&] {
    CheckPointer("config", config);
    CheckPointer("codes", codes);
    CheckPointer("values", values);
    CheckPointer("total_values", total_values);
    CheckPointer("total_weights", total_weights);
    xgbgpu::plugin::OrderTargets(xgbgpu::plugin::Config{config}, {codes, 0, 0, values, 0, weights}, statistics,
                                 {total_values, total_weights});
  });
}
