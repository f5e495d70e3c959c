#include "output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "error.h"

namespace xgbgpu::cli {

OutputFile::OutputFile(std::string path) : path_{std::move(path)}, stream_{&std::cout} {
  if (path_ != "stdout") {
    file_.open(path_, std::ios::binary);
    if (!file_) {
      throw Error("cannot open '" + path_ + "' for writing: " + std::strerror(errno));
    }
    stream_ = &file_;
  }
}

void OutputFile::Close() {
  stream_->flush();
  if (!*stream_) {
    throw Error("cannot write '" + path_ + "': " + std::strerror(errno));
  }
}

void CheckFolder(std::string const& option, std::string const& path) {
  std::filesystem::path const folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(option + " = '" + path + "' is a folder; allowed: the name of a file to write");
  }
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    throw Error(option + ": the folder '" + folder.string() + "' does not exist; create it first");
  }
}

}  // namespace xgbgpu::cli
