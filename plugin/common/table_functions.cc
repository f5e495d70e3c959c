/// The C functions that read tables.
#include <omp.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "arrow_columns.h"
#include "core/message.h"
#include "last_error.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

using Json = nlohmann::ordered_json;

/// What a handle of the C interface points to.
struct Table {
  std::variant<RowTable<float>, RowTable<double>> rows;
  std::string description;
};

template <typename Value>
std::string Describe(RowTable<Value> const& table) {
  auto types = Json::array();
  for (ColumnType const type : table.types) types.push_back(NameOf(type));
  Json const description{{"rows", table.rows},
                         {"columns", table.names.size()},
                         {"names", table.names},
                         {"types", types},
                         {"values", reinterpret_cast<std::uintptr_t>(table.values.data())}};
  // A name that is no UTF-8 is shown as such a text is elsewhere; it must not be an error of this function.
  return description.dump(-1, ' ', false, Json::error_handler_t::replace);
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
  Json const json = Json::parse(config, nullptr, false);
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
                             Quoted(value.dump(-1, ' ', false, Json::error_handler_t::replace)),
                             "; allowed: values (\"features\" or \"info\"), categories (true or false), nthread (a "
                             "whole number)");
    }
  }
  return parsed;
}

std::unique_ptr<Table> Read(arrow::Stream* stream, ReadConfig const& config) {
  int const most = std::min(omp_get_max_threads(), omp_get_thread_limit());
  int const threads = config.threads <= 0 ? most : std::min(config.threads, std::max(most, omp_get_num_procs()));
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

/// A matrix of stock XGBoost's, which copies the values. An array of no values needs an address, too.
DMatrixHandle ToStockMatrix(RowTable<float> const& table, char const* config) {
  static float const kNothing = 0;
  float const* const values = table.values.size() == 0 ? &kNothing : table.values.data();
  Json const array{{"data", {reinterpret_cast<std::uintptr_t>(values), true}},
                   {"shape", {table.rows, table.names.size()}},
                   {"strides", nullptr},
                   {"typestr", "<f4"},
                   {"version", 3}};
  DMatrixHandle matrix = nullptr;
  if (XGDMatrixCreateFromDense(array.dump().c_str(), config, &matrix) != 0) throw dmlc::Error{XGBGetLastError()};
  return matrix;
}

}  // namespace

}  // namespace xgbgpu::plugin

using xgbgpu::plugin::CFunction;
using xgbgpu::plugin::RowTable;
using xgbgpu::plugin::Table;

int XGBGPUTableRead(void* stream, char const* config, void** table) {
  return CFunction("reading a table", [&] {
    if (table == nullptr) xgbgpu::Throw<xgbgpu::InvalidArgument>("table is null; allowed: where to write a handle");
    auto* const from = static_cast<xgbgpu::plugin::arrow::Stream*>(stream);
    *table = xgbgpu::plugin::Read(from, xgbgpu::plugin::ParseConfig(config)).release();
  });
}

char const* XGBGPUTableDescribe(void const* table) {
  return table == nullptr ? "" : static_cast<Table const*>(table)->description.c_str();
}

int XGBGPUTableToDMatrix(void* table, char const* config, void** matrix) {
  return CFunction("making a DMatrix of a table", [&] {
    auto* const from = static_cast<Table*>(table);
    auto* const rows = from == nullptr ? nullptr : std::get_if<RowTable<float>>(&from->rows);
    if (rows == nullptr || matrix == nullptr) {
      xgbgpu::Throw<xgbgpu::InvalidArgument>(
          "table or matrix is null, or the table is one of labels or weights; "
          "allowed: a table of features, and where to write a handle");
    }
    if (rows->values.size() != rows->rows * rows->names.size()) {
      xgbgpu::Throw<xgbgpu::InvalidArgument>("the table's values were taken before; allowed: one matrix of a table");
    }
    *matrix = xgbgpu::plugin::ToStockMatrix(*rows, config);
    rows->values = {};
    from->description = xgbgpu::plugin::Describe(*rows);
  });
}

void XGBGPUTableFree(void* table) { delete static_cast<Table*>(table); }
