// Calls XGBoost's C API, and turns its failures into exceptions.
#include "xgboost_c.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/quoted.h"
#include "error.h"
#include "output_file.h"

namespace xgbgpu::cli {
namespace {

/// Returns XGBoost's last message without time, source place ("[10:20:30] ./src/a.cc:12: ") and stack trace. Each line
/// can have them, since messages quote messages. User text of any length is escaped.
std::string LastMessage() {
  std::regex const place(R"(^\[\d\d:\d\d:\d\d\] \S+:\d+: )");
  std::istringstream lines(EscapedMessage(XGBGetLastError()));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    bool const trace = line.rfind("Stack trace:", 0) == 0 || line.rfind("  [bt] ", 0) == 0;
    if (!trace && !line.empty()) {
      result += (result.empty() ? "" : "\n") + std::regex_replace(line, place, "");
    }
  }
  return result;
}

bool HasExtension(std::string const& text, std::string const& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string SaveFormat(std::string const& path) {
  // "deprecated" is the C API's name of the binary format, which the command line program has always written.
  char const* const format = HasExtension(path, ".json") ? "json" : HasExtension(path, ".ubj") ? "ubj" : "deprecated";
  return nlohmann::json{{"format", format}}.dump();
}

/// Returns the bytes of a file in XGBoost's binary format; empty if it has another format or cannot be read.
std::string BinaryModel(std::string const& path) {
  constexpr char kStart[] = "binf";
  std::ifstream file(path, std::ios::binary);
  std::string bytes(sizeof(kStart) - 1, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || bytes != kStart) {
    return {};
  }
  bytes.append(std::istreambuf_iterator<char>(file), {});
  return bytes;
}

/// True for parameters of the communicator: their names begin as XGCommunicatorInit documents.
bool IsOfCommunicator(std::string const& name) {
  for (char const* start : {"rabit_", "DMLC_", "federated_", "xgboost_communicator"}) {
    if (name.rfind(start, 0) == 0) return true;
  }
  return false;
}

}  // namespace

void EscapeLog() {
  Check(XGBRegisterLogCallback([](char const* message) { std::cerr << EscapedMessage(message) << std::endl; }));
}

void SetVerbosity(int verbosity) { Check(XGBSetGlobalConfig(nlohmann::json{{"verbosity", verbosity}}.dump().c_str())); }

std::string PredictConfig(bool margins, int begin, int end) {
  nlohmann::json const config{{"type", margins ? 1 : 0},
                              {"training", false},
                              {"strict_shape", false},
                              {"iteration_begin", begin},
                              {"iteration_end", end}};
  return config.dump();
}

void Check(int status) {
  if (status != 0) {
    throw Error(LastMessage());
  }
}

DMatrix::DMatrix(std::string const& option, std::string const& uri) {
  if (XGDMatrixCreateFromFile(uri.c_str(), 0, &handle_) != 0) {
    throw Error("cannot load " + option + " = " + QuotedName(uri) + ":\n" + LastMessage());
  }
}

Booster::Booster(std::vector<DMatrixHandle> const& cached) {
  Check(XGBoosterCreate(cached.data(), cached.size(), &handle_));
}

void Booster::SetParameters(std::vector<std::pair<std::string, std::string>> const& parameters) {
  for (auto const& [name, value] : parameters) {
    Check(XGBoosterSetParam(handle_, name.c_str(), value.c_str()));
  }
}

void Booster::Load(std::string const& path) {
  // XGBoost's own command line program writes binary files of any name but .json.
  std::string const file = LocalPath(path), binary = BinaryModel(file);
  int const status = binary.empty() ? XGBoosterLoadModel(handle_, file.c_str())
                                    : XGBoosterLoadModelFromBuffer(handle_, binary.data(), binary.size());
  if (status != 0) {
    std::string const reason = LastMessage();  // XGBoost reads sizes from a file that is no model: memory runs out
    bool const is_other = reason == std::bad_alloc{}.what() || reason.rfind("basic_string::", 0) == 0;
    throw Error("cannot load model_in = " + QuotedName(path) + ":\n" +
                (is_other ? "it is not an XGBoost model" : reason));
  }
}

void Booster::Save(std::string const& path) {
  bst_ulong size = 0;
  char const* bytes = nullptr;
  Check(XGBoosterSaveModelToBuffer(handle_, SaveFormat(path).c_str(), &size, &bytes));
  OutputFile file(path);
  file.Stream().write(bytes, static_cast<std::streamsize>(size));
  file.Close();
}

Communicator::Communicator(std::vector<std::pair<std::string, std::string>> const& settings) {
  nlohmann::json config = nlohmann::json::object();
  for (auto const& [name, value] : settings) {
    if (IsOfCommunicator(name)) config[name] = value;  // the last one counts
  }
  Check(XGCommunicatorInit(config.dump().c_str()));
}

}  // namespace xgbgpu::cli
