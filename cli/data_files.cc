// Finds the files that XGBoost reads for a URI of data, as its input library does.
#include "data_files.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <regex>

#include "base/quoted.h"
#include "error.h"
#include "output_file.h"
#include "side_files.h"

namespace xgbgpu::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Split(std::string const& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t const end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool IsTextFile(fs::path const& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) != 0;
}

/// The files of a folder that are not empty, in the folder's order.
std::vector<std::string> FilesOf(std::string const& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::end(entry); entry.increment(error)) {
    if (IsTextFile(entry->path())) files.push_back(entry->path().string());
  }
  return files;
}

/// The files of one part of a name between semicolons.
std::vector<std::string> FilesOfPart(std::string const& what, std::string const& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return FilesOf(path);
  if (fs::exists(path, ignored)) return {path};
  std::size_t const slash = path.rfind('/');
  if (slash == std::string::npos || slash + 1 == path.size()) return {};
  std::vector<std::string> matching;
  try {
    std::regex const pattern(path);
    for (std::string const& file : FilesOf(path.substr(0, slash))) {
      if (std::regex_match(file, pattern)) matching.push_back(file);
    }
  } catch (std::regex_error const&) {
    throw Error(what + ": there is no file " + QuotedName(path) + ", and it is no regular expression of names");
  }
  return matching;
}

/// The files of a folder or of several names are rows, all of them.
void CheckNoneIsBeside(DataFiles const& data) {
  for (std::string const& file : data.files) {
    std::string const kind = SideFileKind(file);
    if (!kind.empty()) {
      throw Error(data.what + ": " + QuotedName(file) + " would be read as rows of data, and its name is that of " +
                  kind + "; allowed: files of rows alone");
    }
  }
}

bool IsDMatrixFile(std::string const& path) {
  constexpr std::uint32_t kMagic = 0xffffab01U;
  std::uint32_t first = 0;
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&first), sizeof(first));
  return file.gcount() == sizeof(first) && first == kMagic;
}

std::map<std::string, std::string> ReadArguments(std::string const& what, std::string const& text) {
  std::map<std::string, std::string> arguments;
  for (std::string const& argument : Split(text, '&')) {
    std::size_t const equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == argument.size()) {
      throw Error(what + ": " + Quoted(argument) + " behind the ? is not name=value");
    }
    arguments.emplace(argument.substr(0, equals), argument.substr(equals + 1));
  }
  return arguments;
}

/// True if the data are not on this machine's disks, or not read from a file.
bool IsElsewhere(std::string const& name) { return name == "stdin" || name.find("://") != std::string::npos; }

}  // namespace

DataFiles FindDataFiles(std::string const& option, std::string const& uri) {
  DataFiles data;
  data.what = option + " = " + QuotedName(uri);
  std::size_t const hash = uri.find('#');
  std::string const before = uri.substr(0, hash);
  data.cache = hash == std::string::npos ? "" : uri.substr(hash + 1);
  std::size_t const question = before.find('?');
  data.name = before.substr(0, question);
  std::string const path = LocalPath(data.name);
  if (path.empty()) throw Error(data.what + " names no file");
  if (path != data.name && path[0] != '/') {
    throw Error(data.what + ": " + QuotedName(path) +
                " is read as the name of a machine; allowed: file:///folder/file, or the name alone");
  }
  if (!data.cache.empty() && data.cache.find(':') == std::string::npos) CheckFolder(option + "'s cache", data.cache);
  if (question != std::string::npos) data.arguments = ReadArguments(data.what, before.substr(question + 1));
  if (IsElsewhere(path)) return data;
  for (std::string const& part : Split(path, ';')) {
    std::vector<std::string> const files = FilesOfPart(data.what, LocalPath(part));
    data.files.insert(data.files.end(), files.begin(), files.end());
  }
  data.is_binary = data.files.size() == 1 && IsDMatrixFile(data.files[0]);
  if (data.is_binary && question != std::string::npos) {
    throw Error(data.what + ": the file is a saved DMatrix, and with arguments it is read as text; allowed: " +
                EscapedName(data.name));
  }
  if (data.files.size() > 1) CheckNoneIsBeside(data);
  return data;
}

}  // namespace xgbgpu::cli
