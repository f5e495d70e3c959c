/// What all fuzz targets share. docs/testing.md, "Fuzzing".
#ifndef XGBGPU_TESTS_FUZZ_FUZZ_H_
#define XGBGPU_TESTS_FUZZ_FUZZ_H_

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace xgbgpu::fuzz {

/// Returns the input as text.
inline std::string Text(std::uint8_t const* data, std::size_t size) {
  return {reinterpret_cast<char const*>(data), size};
}

/// Returns `n` lines of the input. The last one has the rest, and lines that are not there are empty.
inline std::vector<std::string> Lines(std::string_view text, std::size_t n) {
  std::vector<std::string> lines;
  while (lines.size() + 1 < n) {
    std::size_t const end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  lines.emplace_back(text);
  return lines;
}

/// The folder of the process in memory: dmlc looks at all files of a folder to read one of them, and fails where a file
/// of another process goes away meanwhile.
class MemoryFolder {
 public:
  MemoryFolder() : name_{"/dev/shm/xgbgpu-fuzz-" + std::to_string(getpid())} {
    std::filesystem::create_directory(name_);
  }
  ~MemoryFolder() { std::filesystem::remove_all(name_); }
  MemoryFolder(MemoryFolder const&) = delete;
  MemoryFolder& operator=(MemoryFolder const&) = delete;

  std::string const& name() const { return name_; }

 private:
  std::string name_;
};

/// A file in memory, for parsers that take names. It has a short name, because /proc/self/fd/N takes twice as long to
/// open.
class MemoryFile {
 public:
  /// `end`: what its name ends with.
  explicit MemoryFile(std::string const& end = {})
      : name_{Folder() + "/data" + end}, number_{open(name_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)} {
    if (number_ < 0) std::abort();
  }
  ~MemoryFile() {
    close(number_);
    unlink(name_.c_str());
  }
  MemoryFile(MemoryFile const&) = delete;
  MemoryFile& operator=(MemoryFile const&) = delete;

  std::string const& name() const { return name_; }
  void Write(std::uint8_t const* data, std::size_t size) {
    bool const is_written = pwrite(number_, data, size, 0) == static_cast<ssize_t>(size);
    if (!is_written || (size < size_ && ftruncate(number_, static_cast<off_t>(size)) != 0)) std::abort();
    size_ = size;
  }

 private:
  static std::string const& Folder() {
    static MemoryFolder const folder;
    return folder.name();
  }

  std::string name_;
  int number_;
  std::size_t size_{0};
};

}  // namespace xgbgpu::fuzz

#endif  // XGBGPU_TESTS_FUZZ_FUZZ_H_
