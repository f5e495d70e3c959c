#include "xgboost_c.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <regex>
#include <sstream>

#include "error.h"
#include "output_file.h"
#include "text_data.h"

namespace xgbgpu::cli {
namespace {

/// XGBoost's last message without what is of no use to the user: time and place in the source ("[10:20:30]
/// ./src/a.cc:12: ") and the stack trace. A message may quote another one, so every line can have any of them.
std::string LastMessage() {
  std::regex const place(R"(^\[\d\d:\d\d:\d\d\] \S+:\d+: )");
  std::istringstream lines(XGBGetLastError());
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    bool const trace = line.rfind("Stack trace:", 0) == 0 || line.rfind("  [bt] ", 0) == 0;
    if (!trace && !line.empty()) {
      result += (result.empty() ? "" : "\n") + std::regex_replace(line, place, "");
    }
  }
  return result;
}

std::string JsonString(std::string const& text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += static_cast<char>(c);
    } else if (c < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      result += escaped;
    } else {
      result += static_cast<char>(c);
    }
  }
  return result + '"';
}

bool EndsWith(std::string const& text, std::string const& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

char const* SaveFormat(std::string const& path) {
  if (EndsWith(path, ".json")) {
    return R"({"format": "json"})";
  }
  // "deprecated" is the C API's name of the binary format, which the command line program has always written.
  return EndsWith(path, ".ubj") ? R"({"format": "ubj"})" : R"({"format": "deprecated"})";
}

/// The bytes of a file in XGBoost's binary format; nothing if it has another one, or cannot be read.
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

}  // namespace

void Check(int status) {
  if (status != 0) {
    throw Error(LastMessage());
  }
}

DMatrix::DMatrix(std::string const& option, std::string const& uri) {
  CheckTextData(option, uri);
  if (XGDMatrixCreateFromFile(uri.c_str(), 0, &handle_) != 0) {
    throw Error("cannot load " + option + " = '" + uri + "':\n" + LastMessage());
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
    std::string const reason = LastMessage();  // of other files XGBoost asks for as many bytes as they seem to say
    bool const is_other = reason == std::bad_alloc{}.what() || reason.rfind("basic_string::", 0) == 0;
    throw Error("cannot load model_in = '" + path + "':\n" + (is_other ? "it is not an XGBoost model" : reason));
  }
}

void Booster::Save(std::string const& path) {
  bst_ulong size = 0;
  char const* bytes = nullptr;
  Check(XGBoosterSaveModelToBuffer(handle_, SaveFormat(path), &size, &bytes));
  OutputFile file(path);
  file.Stream().write(bytes, static_cast<std::streamsize>(size));
  file.Close();
}

Communicator::Communicator(std::vector<std::pair<std::string, std::string>> const& settings) {
  std::map<std::string, std::string> last;
  for (auto const& [key, value] : settings) {
    last[key] = value;
  }
  std::string json;
  for (auto const& [key, value] : last) {
    json += (json.empty() ? "{" : ", ") + JsonString(key) + ": " + JsonString(value);
  }
  Check(XGCommunicatorInit((json.empty() ? std::string{"{}"} : json + "}").c_str()));
}

}  // namespace xgbgpu::cli
