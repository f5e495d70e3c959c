// Reads and writes position biases in saved configurations.
#include "params/position_biases.h"

#include <utility>
#include <vector>

#include "base/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

constexpr char const* kHigh = "ti+";
constexpr char const* kLow = "tj-";

/// Reads a typed array of floats, or numbers one by one: a configuration may have either.
std::vector<float> NumbersOf(xgboost::Json const& array) {
  if (xgboost::IsA<xgboost::F32Array>(array)) return xgboost::get<xgboost::F32Array const>(array);
  std::vector<float> numbers;
  for (xgboost::Json const& number : xgboost::get<xgboost::Array const>(array)) {
    bool const is_integer = xgboost::IsA<xgboost::Integer>(number);
    numbers.push_back(is_integer ? static_cast<float>(xgboost::get<xgboost::Integer const>(number))
                                 : static_cast<float>(xgboost::get<xgboost::Number const>(number)));
  }
  return numbers;
}

std::vector<float> Load(xgboost::Json const& config, char const* name) {
  auto const& all = xgboost::get<xgboost::Object const>(config);
  auto const found = all.find(name);
  if (found == all.cend()) return {};
  return NumbersOf(found->second);
}

void Save(std::vector<float> const& biases, char const* name, xgboost::Json* config) {
  xgboost::F32Array array{biases.size()};
  array.GetArray() = biases;
  (*config)[name] = std::move(array);
}

}  // namespace

void SaveBiases(PositionBiases const& biases, xgboost::Json* config) {
  Save(biases.high, kHigh, config);
  Save(biases.low, kLow, config);
}

PositionBiases LoadBiases(xgboost::Json const& config) {
  PositionBiases biases{Load(config, kHigh), Load(config, kLow)};
  if (biases.high.size() != biases.low.size()) {
    Throw<InvalidArgument>("The model has ", biases.high.size(), " position biases ", kHigh, " and ", biases.low.size(),
                           ' ', kLow, "; allowed: as many of either");
  }
  return biases.high.size() > kMostPositions ? PositionBiases{} : biases;
}

}  // namespace xgbgpu::plugin
