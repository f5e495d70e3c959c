// Loads bytes as a shared object: from a memory file, or from a file of the user's where the system refuses memory
// files.
#include "bridge/load_bytes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/quoted.h"
#include "bridge/error.h"

namespace xgbgpu::bridge {
namespace {

/// MFD_NOEXEC_SEAL. From Linux 6.3 on a system may refuse memory files that could be executed.
constexpr unsigned kNoExecSeal = 0x0008;

bool WriteAll(int file, std::string const& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    ssize_t const n = write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return true;
}

/// Loads what is in the open file by this path, and closes it. Adds the reason to `why` if that fails.
DlHandle LoadFile(int file, std::string const& path, std::string const& bytes, std::string* why) {
  if (file < 0) {
    *why += path + ": " + std::strerror(errno) + "; ";
    return nullptr;
  }
  DlHandle handle;
  if (WriteAll(file, bytes)) {
    handle.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (handle == nullptr) *why += std::string{dlerror()} + "; ";
  } else {
    *why += path + ": " + std::strerror(errno) + "; ";
  }
  close(file);
  return handle;
}

}  // namespace

DlHandle LoadBytes(std::string const& bytes, std::string const& name, std::function<std::string()> const& folder) {
  std::string why;
  int memory = memfd_create(name.c_str(), MFD_CLOEXEC | kNoExecSeal);
  if (memory < 0 && errno == EINVAL) memory = memfd_create(name.c_str(), MFD_CLOEXEC);  // before Linux 6.3
  DlHandle handle = LoadFile(memory, "/proc/self/fd/" + std::to_string(memory), bytes, &why);
  std::string const made = handle == nullptr ? folder() : std::string{};
  if (!made.empty()) {
    std::string path = made + '/' + name + ".XXXXXX";
    int const file = mkostemp(path.data(), O_CLOEXEC);
    handle = LoadFile(file, path, bytes, &why);
    if (file >= 0) unlink(path.c_str());
  }
  if (handle == nullptr) {
    throw BridgeError{
        "cannot load the table of XGBoost's names (" + EscapedMessage(why) +
        "that is all); allowed: memory files with /proc, or a folder $XDG_CACHE_HOME or ~/.cache that may be "
        "written by its owner alone"};
  }
  return handle;
}

}  // namespace xgbgpu::bridge
