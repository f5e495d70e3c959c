// Opens the output of a task, a file or standard output, and reports what the system refuses.
#include "output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "base/quoted.h"
#include "error.h"

namespace xgbgpu::cli {

std::string LocalPath(std::string const& path) {
  constexpr std::string_view kScheme = "file://";
  return path.rfind(kScheme, 0) == 0 ? path.substr(kScheme.size()) : path;
}

OutputFile::OutputFile(std::string path) : path_{std::move(path)}, stream_{&std::cout} {
  if (path_ != "stdout") {
    file_.open(LocalPath(path_), std::ios::binary);
    if (!file_) {
      throw Error("cannot open " + QuotedName(path_) + " for writing: " + std::strerror(errno));
    }
    stream_ = &file_;
  }
}

void OutputFile::Close() {
  stream_->flush();
  if (!*stream_) {
    throw Error("cannot write " + QuotedName(path_) + ": " + std::strerror(errno));
  }
}

void CheckFolder(std::string const& option, std::string const& path) {
  std::filesystem::path const file = LocalPath(path), folder = file.parent_path();
  if (file.empty()) {
    throw Error(option + " = " + QuotedName(path) + " names no file");
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw Error(option + " = " + QuotedName(path) + " is a folder; allowed: the name of a file to write");
  }
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    throw Error(option + ": the folder " + QuotedName(folder.string()) + " does not exist; create it first");
  }
}

}  // namespace xgbgpu::cli
