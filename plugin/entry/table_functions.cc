/// The C functions that read tables.
#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "base/message.h"
#include "base/parallel.h"
#include "data/array_view.h"
#include "data/arrow_columns.h"
#include "data/held_rows.h"
#include "errors/fail.h"
#include "matrix/held_matrix.h"
#include "xgb/version.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

using OrderedJson = nlohmann::ordered_json;

/// A table behind a handle of the C interface.
struct Table {
  std::variant<RowTable<float>, RowTable<double>> rows;
  std::string description;
};

template <typename Value>
std::string Describe(RowTable<Value> const& table) {
  auto types = OrderedJson::array();
  for (ColumnType const type : table.types) types.push_back(NameOf(type));
  OrderedJson const description{{"rows", table.rows},
                                {"columns", table.names.size()},
                                {"names", table.names},
                                {"types", types},
                                {"values", reinterpret_cast<std::uintptr_t>(table.values())}};
  // A name that is no UTF-8 is shown as such a text is elsewhere; it must not be an error of this function.
  return description.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

struct ReadConfig {
  bool are_features{true};
  bool have_categories{false};
  int threads{0};
};

/// `config`: JSON, or null for the defaults.
ReadConfig ParseConfig(char const* config) {
  ReadConfig parsed;
  if (config == nullptr) return parsed;
  OrderedJson const json = OrderedJson::parse(config, nullptr, false);
  if (!json.is_object()) Throw<InvalidArgument>("config is ", Quoted(config), "; allowed: a JSON object");
  for (auto const& [key, value] : json.items()) {
    if (key == "values" && value.is_string() && (value == "features" || value == "info")) {
      parsed.are_features = value == "features";
    } else if (key == "categories" && value.is_boolean()) {
      parsed.have_categories = value.get<bool>();
    } else if (key == "nthread" && value.is_number_integer()) {
      parsed.threads = static_cast<int>(std::clamp<std::int64_t>(value.get<std::int64_t>(), 0, 1 << 16));
    } else {
      Throw<InvalidArgument>("config has ", Quoted(key), ": ",
                             Quoted(value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace)),
                             "; allowed: values (\"features\" or \"info\"), categories (true or false), nthread (a "
                             "whole number)");
    }
  }
  return parsed;
}

std::unique_ptr<Table> Read(arrow::Stream* stream, ReadConfig const& config) {
  int const threads = ThreadsOfMatrix(config.threads);
  auto table = std::make_unique<Table>();
  if (config.are_features) {
    Categories const categories = config.have_categories ? Categories::kAllowed : Categories::kNotEnabled;
    table->rows = ReadArrowStream<float>(stream, categories, false, threads);
  } else {
    table->rows = ReadArrowStream<double>(stream, Categories::kNever, true, threads);
  }
  table->description = std::visit([](auto const& rows) { return Describe(rows); }, table->rows);
  return table;
}

/// Makes NaN of the values that mean "missing".
void MarkMissing(RowTable<float> const& table, float missing, int threads) {
  if (std::isnan(missing)) return;
  constexpr std::size_t kGrain = 1 << 16;
  float* const values = table.values();
  ParallelChunks(threads, table.bytes.size() / sizeof(float), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (values[i] == missing) values[i] = std::numeric_limits<float>::quiet_NaN();
    }
  });
}

/// A matrix as XGBoost's function makes it, which copies the values. What is wrong with them it says in its own words.
DMatrixHandle MakeByArray(float const* values, std::uint64_t rows, std::uint64_t columns, char const* config) {
  float const nothing = 0;  // an array of no values has an address, too
  DMatrixHandle matrix = nullptr;
  std::string const array = ArrayText(values == nullptr ? &nothing : values, {rows, columns});
  if (XGDMatrixCreateFromDense(array.c_str(), config, &matrix) != 0) throw dmlc::Error{XGBGetLastError()};
  return matrix;
}

/// A matrix that takes the values, or one that copies them where XGBoost's function has rules of its own.
DMatrixHandle MakeMatrix(RowTable<float>* table, char const* config) {
  MatrixConfig const read = ReadMatrixConfig(config);
  if (table->bytes.size() == 0 || std::isinf(read.missing)) {
    return MakeByArray(table->values(), table->rows, table->names.size(), config);
  }
  int const threads = ThreadsOfMatrix(read.nthread);
  MarkMissing(*table, read.missing, threads);
  auto rows = HoldRows(std::move(table->bytes), table->rows, static_cast<FeatureIndex>(table->names.size()), threads);
  if (rows == nullptr) {  // a value is infinite
    float const infinite = std::numeric_limits<float>::infinity();
    return MakeByArray(&infinite, 1, 1, config);
  }
  DMatrixHandle const matrix = MakeHeldMatrix(std::move(rows), read.nthread);
  if (matrix == nullptr) throw dmlc::Error{XGBGetLastError()};
  return matrix;
}

}  // namespace

}  // namespace xgbgpu::plugin

using xgbgpu::plugin::RowTable;
using xgbgpu::plugin::Run;
using xgbgpu::plugin::Table;

int XGBGPUTableRead(void* stream, char const* config, void** table) {
  return Run("reading a table", [&] {
    if (table == nullptr) xgbgpu::Throw<xgbgpu::InvalidArgument>("table is null; allowed: where to write a handle");
    auto* const from = static_cast<xgbgpu::plugin::arrow::Stream*>(stream);
    *table = xgbgpu::plugin::Read(from, xgbgpu::plugin::ParseConfig(config)).release();
  });
}

char const* XGBGPUTableDescribe(void const* table) {
  return table == nullptr ? "" : static_cast<Table const*>(table)->description.c_str();
}

int XGBGPUTableToDMatrix(void* table, char const* config, void** matrix) {
  return Run("making a DMatrix of a table", [&] {
    auto* const from = static_cast<Table*>(table);
    auto* const rows = from == nullptr ? nullptr : std::get_if<RowTable<float>>(&from->rows);
    if (rows == nullptr || config == nullptr || matrix == nullptr) {
      xgbgpu::Throw<xgbgpu::InvalidArgument>(
          "table, config or matrix is null, or the table is one of labels or weights; "
          "allowed: a table of features, and where to write a handle");
    }
    if (rows->bytes.size() != rows->rows * rows->names.size() * sizeof(float)) {
      xgbgpu::Throw<xgbgpu::InvalidArgument>("the table's values were taken before; allowed: one matrix of a table");
    }
    *matrix = xgbgpu::plugin::MakeMatrix(rows, config);
    rows->bytes = {};
    from->description = xgbgpu::plugin::Describe(*rows);
  });
}

void XGBGPUTableFree(void* table) { delete static_cast<Table*>(table); }
