#include "text_data.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/quoted.h"
#include "error.h"
#include "output_file.h"

namespace xgbgpu::cli {
namespace {

bool IsNumber(std::string const& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

/// True if the token is `first:second` and both are numbers.
bool IsPair(std::string const& token) {
  std::size_t const colon = token.find(':');
  return colon != std::string::npos && IsNumber(token.substr(0, colon)) && IsNumber(token.substr(colon + 1));
}

/// True if the line is a row in LIBSVM format; *has_values: whether it has more than a label and a group.
bool IsLibsvmRow(std::string const& line, bool* has_values) {
  std::istringstream tokens(line);
  std::string token;
  tokens >> token;
  if (!IsNumber(token) && !IsPair(token)) return false;  // label, or label:weight
  *has_values = false;
  while (tokens >> token) {
    bool const is_group = token.rfind("qid:", 0) == 0;
    if (is_group ? !IsNumber(token.substr(4)) : !IsPair(token)) return false;
    *has_values = *has_values || !is_group;
  }
  return true;
}

/// The next row that is not empty, without comments, at most so many characters of it; empty at the end.
std::string NextRow(std::istream& file) {
  constexpr std::size_t kMost = 1 << 16;
  std::string row;
  bool comment = false;
  for (char c = 0; row.size() < kMost && file.get(c);) {
    if (c == '\n' || c == '\r') {
      if (row.find_first_not_of(" \t") != std::string::npos) return row;
      row.clear();
      comment = false;
    } else {
      comment = comment || c == '#';
      if (!comment) row += c;
    }
  }
  if (row.find_first_not_of(" \t") == std::string::npos) return {};
  return row.size() < kMost ? row : row.substr(0, row.find_last_of(" \t"));  // the last token may be cut
}

bool IsDMatrixFile(std::istream& file) {
  constexpr std::uint32_t kMagic = 0xffffab01U;
  std::uint32_t first = 0;
  file.read(reinterpret_cast<char*>(&first), sizeof(first));
  bool const is = file.gcount() == sizeof(first) && first == kMagic;
  file.clear();
  file.seekg(0);
  return is;
}

}  // namespace

void CheckTextData(std::string const& option, std::string const& uri) {
  std::string const without_cache = uri.substr(0, uri.find('#'));
  std::size_t const question = without_cache.find('?');
  std::string const name = without_cache.substr(0, question), path = LocalPath(name);
  std::string const arguments = question == std::string::npos ? "" : "&" + without_cache.substr(question + 1);
  std::string const what = option + " = " + QuotedName(uri);
  if (path.empty()) throw Error(what + " names no file");
  if (path != name && path[0] != '/') {
    throw Error(what + ": " + QuotedName(path) +
                " is read as the name of a machine; allowed: file:///folder/file, or the name alone");
  }
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  std::ifstream file(path, std::ios::binary);
  if (!file || IsDMatrixFile(file)) return;
  if (file.peek() == std::ifstream::traits_type::eof()) throw Error(what + ": the file is empty");
  bool const is_libsvm = (arguments + '&').find("&format=libsvm&") != std::string::npos;
  if (!is_libsvm && arguments.find("&format=") != std::string::npos) return;
  std::string row = NextRow(file);
  if (row.rfind(kByteOrderMark, 0) == 0) row.erase(0, std::strlen(kByteOrderMark));
  for (bool has_values = false; IsLibsvmRow(row, &has_values);) {
    if (has_values) return;
    row = NextRow(file);
    if (row.empty()) return;  // labels are all there is
  }
  throw Error(what + ": it is read as LIBSVM, but a row of it is " + Quoted(row) +
              "; allowed: rows of label column:value column:value …. For a CSV file write " + EscapedName(path) +
              "?format=csv&label_column=0, with the number of the column that has the labels");
}

}  // namespace xgbgpu::cli
