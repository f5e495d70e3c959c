// Finds and loads NCCL.
#include "collective/nccl_library_cuda.h"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "base/message.h"
#include "base/quoted.h"
#include "xgbgpu/error.h"

namespace xgbgpu::cuda {

namespace {

constexpr char kName[] = "libnccl.so.2";
constexpr int kOldest = 21800;
constexpr char kHowToGetIt[] =
    "GPUs of workers on several hosts need NCCL 2.18 or newer: NVIDIA's package libnccl2, or PyPI's nvidia-nccl-cu13 "
    "(drivers for CUDA 13) or nvidia-nccl-cu12, or XGBGPU_NCCL=FILE";

/// Returns the value of an environment variable, or an empty text if it is not set.
std::string FromEnvironment(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string TextOf(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

/// Opens a library. Appends the reason of a failure to *tried.
void* Open(std::string const& name, int flags, std::string* tried) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
  if (handle == nullptr && (flags & RTLD_NOLOAD) == 0) {
    char const* const reason = dlerror();
    *tried += (tried->empty() ? "" : "; ") + EscapedMessage(reason == nullptr ? name : reason);
  }
  return handle;
}

void* Find() {
  std::string tried;
  std::string const given = FromEnvironment("XGBGPU_NCCL"), wheel = FromEnvironment("XGBGPU_NCCL_WHEEL");
  void* handle = nullptr;
  if (!given.empty()) {
    handle = Open(given, 0, &tried);
  } else {
    handle = Open(kName, RTLD_NOLOAD, &tried);
    if (handle == nullptr) handle = Open(kName, 0, &tried);
    if (handle == nullptr && !wheel.empty()) handle = Open(wheel, 0, &tried);
  }
  if (handle == nullptr) {
    Throw<Unsupported>("NCCL cannot be loaded", given.empty() ? "" : " from the file that XGBGPU_NCCL names", ": ",
                       tried, ". ", kHowToGetIt);
  }
  // NVLink multicast is off unless the user sets it: some virtual machines hang in it.
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  return handle;
}

template <typename Function>
void Get(void* handle, char const* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  if (*function == nullptr) Throw<Unsupported>("The NCCL of this machine has no function ", name, ". ", kHowToGetIt);
}

std::unique_ptr<NcclLibrary> Load() {
  void* const handle = Find();
  auto library = std::make_unique<NcclLibrary>();
  NcclFunctions& f = library->functions;
  Get(handle, "ncclGetVersion", &f.GetVersion);
  Dl_info place{};
  if (dladdr(reinterpret_cast<void const*>(f.GetVersion), &place) != 0) library->path = place.dli_fname;
  f.GetVersion(&library->version);
  if (library->version < kOldest) {
    Throw<Unsupported>("The NCCL in ", QuotedName(library->path), " has version ", TextOf(library->version), ". ",
                       kHowToGetIt);
  }
  Get(handle, "ncclGetUniqueId", &f.GetUniqueId);
  Get(handle, "ncclCommInitRankConfig", &f.CommInitRankConfig);
  Get(handle, "ncclCommSplit", &f.CommSplit);
  Get(handle, "ncclAllReduce", &f.AllReduce);
  Get(handle, "ncclReduceScatter", &f.ReduceScatter);
  Get(handle, "ncclAllGather", &f.AllGather);
  Get(handle, "ncclCommGetAsyncError", &f.CommGetAsyncError);
  Get(handle, "ncclCommFinalize", &f.CommFinalize);
  Get(handle, "ncclCommDestroy", &f.CommDestroy);
  Get(handle, "ncclCommAbort", &f.CommAbort);
  Get(handle, "ncclGetErrorString", &f.GetErrorString);
  Get(handle, "ncclGetLastError", &f.GetLastError);
  return library;
}

}  // namespace

std::string NcclLibrary::VersionText() const { return TextOf(version); }

NcclLibrary const& LoadNccl() {
  static std::mutex mutex;
  static NcclLibrary const* loaded = nullptr;  // lives as long as the process, like the library
  std::lock_guard<std::mutex> const lock{mutex};
  if (loaded == nullptr) loaded = Load().release();
  return *loaded;
}

}  // namespace xgbgpu::cuda
