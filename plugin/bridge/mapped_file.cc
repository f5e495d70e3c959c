// Maps files for reading.
#include "bridge/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/quoted.h"
#include "bridge/error.h"

namespace xgbgpu::bridge {

MappedFile::MappedFile(std::string const& path) {
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  bool is_mapped = file >= 0 && fstat(file, &status) == 0;
  if (is_mapped && status.st_size > 0) {  // nothing else can be mapped
    void* const data = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    is_mapped = data != MAP_FAILED;
    if (is_mapped) {
      data_ = static_cast<char const*>(data);
      size_ = static_cast<std::size_t>(status.st_size);
    }
  }
  int const reason = errno;
  if (file >= 0) close(file);
  if (!is_mapped) throw BridgeError{"cannot read " + QuotedName(path) + ": " + std::strerror(reason)};
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

}  // namespace xgbgpu::bridge
