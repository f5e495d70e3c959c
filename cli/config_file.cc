// Reads configuration files: settings as `key = value`, in the grammar of XGBoost's program.
#include "config_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/quoted.h"
#include "error.h"
#include "text_data.h"

namespace xgbgpu::cli {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view Trim(std::string_view text) {
  auto const first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

/// Reads one line from left to right.
class LineReader {
 public:
  LineReader(std::string_view line, std::string where) : rest_{Trim(line)}, where_{std::move(where)} {}

  /// The setting of the line, or nothing if the line is blank or a comment.
  std::optional<Setting> Read() {
    if (rest_.empty() || rest_.front() == '#') {
      return std::nullopt;
    }
    std::string key = TakeWord("key", "#\"'= \t", "\"'=");
    rest_ = Trim(rest_);
    if (rest_.empty() || rest_.front() != '=') {
      Fail("expected '=' after the key " + Quoted(key) + "; a line is key = value, and a key with blanks needs quotes");
    }
    rest_ = Trim(rest_.substr(1));
    std::string value = TakeWord("value of " + Quoted(key), "#\"' \t", "\"'");
    rest_ = Trim(rest_);
    if (!rest_.empty() && rest_.front() != '#') {
      Fail("unexpected " + Quoted(rest_) + " after the value of " + Quoted(key) +
           "; a value with blanks or '#' needs quotes");
    }
    return Setting{std::move(key), std::move(value), where_};
  }

 private:
  /// Takes a bare word, which ends before any of `bare_end`, or a quoted one, which may not contain any of
  /// `quoted_not`.
  std::string TakeWord(std::string const& what, char const* bare_end, char const* quoted_not) {
    bool const quoted = !rest_.empty() && (rest_.front() == '"' || rest_.front() == '\'');
    if (!quoted) {
      std::string word{rest_.substr(0, rest_.find_first_of(bare_end))};
      if (word.empty()) {
        Fail("the " + what + " is missing");
      }
      rest_.remove_prefix(word.size());
      return word;
    }
    char const quote = rest_.front();
    auto const close = rest_.find(quote, 1);
    if (close == std::string_view::npos) {
      Fail("the " + what + " has no closing " + quote);
    }
    std::string word{rest_.substr(1, close - 1)};
    if (word.empty()) {
      Fail("the " + what + " is empty");
    }
    if (word.find_first_of(quoted_not) != std::string::npos) {
      Fail("the " + what + " contains one of " + quoted_not + ", which quotes cannot protect");
    }
    rest_.remove_prefix(close + 1);
    return word;
  }

  [[noreturn]] void Fail(std::string const& message) const { throw Error(where_ + ": " + message); }

  std::string_view rest_;
  std::string where_;
};

std::string ReadWholeFile(std::string const& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error("cannot read the configuration file " + QuotedName(path) + ": it is a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error("cannot open the configuration file " + QuotedName(path) + ": " + std::strerror(errno));
  }
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) {
    throw Error("cannot read the configuration file " + QuotedName(path) + ": " + std::strerror(errno));
  }
  return content;
}

}  // namespace

std::vector<Setting> ReadConfigFile(std::string const& path) {
  std::string const content = ReadWholeFile(path);
  std::vector<Setting> settings;
  std::string_view rest = content;
  if (rest.rfind(kByteOrderMark, 0) == 0) {
    rest.remove_prefix(std::strlen(kByteOrderMark));
  }
  for (int line_number = 1; !rest.empty(); ++line_number) {
    auto const end = rest.find_first_of("\r\n");
    std::string_view const line = rest.substr(0, end);
    if (auto setting = LineReader(line, EscapedName(path) + ":" + std::to_string(line_number)).Read()) {
      settings.push_back(std::move(*setting));
    }
    if (end == std::string_view::npos) {
      break;
    }
    bool const two = rest.substr(end, 2) == "\r\n";
    rest.remove_prefix(end + (two ? 2 : 1));
  }
  return settings;
}

Setting ParseArgument(std::string const& argument) {
  auto const equals = argument.find('=');
  std::string const key{Trim(std::string_view{argument}.substr(0, equals))};
  if (equals == std::string::npos || key.empty()) {
    throw Error("command line: " + Quoted(argument) + " is not key=value");
  }
  std::string const value{Trim(std::string_view{argument}.substr(equals + 1))};
  if (value.empty()) {
    throw Error("command line: " + Quoted(argument) + " has no value after '='");
  }
  return {key, value, "command line"};
}

}  // namespace xgbgpu::cli
