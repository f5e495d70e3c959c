/// What all fuzz targets share. docs/testing.md, "Fuzzing".
#ifndef XGBGPU_TESTS_FUZZ_FUZZ_H_
#define XGBGPU_TESTS_FUZZ_FUZZ_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace xgbgpu::fuzz {

/// The input as text.
inline std::string Text(std::uint8_t const* data, std::size_t size) {
  return {reinterpret_cast<char const*>(data), size};
}

/// The input as lines, `n` of them: the last one has the rest, and those that are not there are empty.
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

/// A file in memory, for parsers that are given names.
class MemoryFile {
 public:
  MemoryFile() : number_{memfd_create("input", 0)}, name_{"/proc/self/fd/" + std::to_string(number_)} {
    if (number_ < 0) std::abort();
  }
  ~MemoryFile() { close(number_); }
  MemoryFile(MemoryFile const&) = delete;
  MemoryFile& operator=(MemoryFile const&) = delete;

  std::string const& name() const { return name_; }
  void Write(std::uint8_t const* data, std::size_t size) {
    if (ftruncate(number_, 0) != 0 || pwrite(number_, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  }

 private:
  int number_;
  std::string name_;
};

}  // namespace xgbgpu::fuzz

#endif  // XGBGPU_TESTS_FUZZ_FUZZ_H_
