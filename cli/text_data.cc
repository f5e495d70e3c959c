#include "text_data.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "error.h"
#include "output_file.h"

namespace xgbgpu::cli {
namespace {

bool IsNumber(std::string const& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

/// Is it `first:second`, both numbers?
bool IsPair(std::string const& token) {
  std::size_t const colon = token.find(':');
  return colon != std::string::npos && IsNumber(token.substr(0, colon)) && IsNumber(token.substr(colon + 1));
}

bool IsLibsvmRow(std::string const& line) {
  std::istringstream tokens(line);
  std::string token;
  tokens >> token;
  if (!IsNumber(token) && !IsPair(token)) return false;  // label, or label:weight
  while (tokens >> token) {
    bool const is_group = token.rfind("qid:", 0) == 0;
    if (is_group ? !IsNumber(token.substr(4)) : !IsPair(token)) return false;
  }
  return true;
}

/// Some editors begin a file with U+FEFF; readers of text skip it.
void SkipByteOrderMark(std::istream& file) {
  std::string mark(3, '\0');
  if (file.read(mark.data(), 3) && mark == "\xEF\xBB\xBF") return;
  file.clear();
  file.seekg(0);
}

/// The first row that is not empty, without comments, at most so many characters of it.
std::string FirstRow(std::istream& file) {
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
  std::string const path = LocalPath(without_cache.substr(0, question));
  std::string const arguments = question == std::string::npos ? "" : "&" + without_cache.substr(question + 1);
  std::string const what = option + " = '" + uri + "'";
  if (path.empty()) throw Error(what + " names no file");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  std::ifstream file(path, std::ios::binary);
  if (!file || IsDMatrixFile(file)) return;
  if (file.peek() == std::ifstream::traits_type::eof()) throw Error(what + ": the file is empty");
  bool const is_libsvm = (arguments + '&').find("&format=libsvm&") != std::string::npos;
  if (!is_libsvm && arguments.find("&format=") != std::string::npos) return;
  SkipByteOrderMark(file);
  std::string const row = FirstRow(file);
  if (IsLibsvmRow(row)) return;
  constexpr std::size_t kShown = 60;
  throw Error(what + ": it is read as LIBSVM, and its first row is '" + row.substr(0, kShown) +
              (row.size() > kShown ? "…" : "") + "'; allowed: label column:value column:value …; of a CSV file: " +
              path + "?format=csv&label_column=0, as the column of the labels may be");
}

}  // namespace xgbgpu::cli
