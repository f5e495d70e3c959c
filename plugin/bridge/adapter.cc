// Finds, loads and starts adapters.
#include "bridge/adapter.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/quoted.h"
#include "bridge/error.h"
#include "bridge/mapped_file.h"

namespace xgbgpu::bridge {
namespace {

/// Returns RTLD_DEEPBIND if a globally loaded library has another XGBoost than the image, else 0. The dynamic linker
/// would bind the adapter to that XGBoost, because it searches there before our table. Otherwise the flag would do
/// harm: the adapter would not see a preloaded allocator, and XGBoost frees what the adapter allocates.
int ScopeOf(XGBoostImage const& image) {
  void* const global = dlsym(RTLD_DEFAULT, "XGBoostVersion");
  bool const is_other = global != nullptr && reinterpret_cast<std::uintptr_t>(global) != image.version_function;
  return is_other ? RTLD_DEEPBIND : 0;
}

template <typename Function>
Function* FunctionOf(void* handle, char const* name) {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

}  // namespace

std::string AdapterIn(std::string const& folder, XGBoostImage const& image) {
  std::string path = folder + "/libxgboost_gpu-" + image.Series() + ".so";
  if (access(path.c_str(), R_OK) != 0) {
    throw BridgeError{image.Described() + " needs " + QuotedName(path) +
                      ", which cannot be read; allowed: a folder with the adapter of that series"};
  }
  return path;
}

Wanted NeedsOf(std::string const& adapter) {
  Wanted wanted;
  MappedFile const file{adapter};
  ElfFile const library{file.bytes(), adapter};
  AddWanted(library, &wanted);
  std::vector<std::string> const needed = library.Needed();
  if (std::find(needed.begin(), needed.end(), kTableName) == needed.end()) {
    throw BridgeError{QuotedName(adapter) + " does not need " + kTableName + "; allowed: an adapter for the bridge"};
  }
  std::string const folder = adapter.substr(0, adapter.rfind('/'));
  for (std::string const& name : needed) {
    for (std::string const& place : {folder + '/', folder + "/../"}) {
      if (name.rfind("libxgbgpu", 0) != 0 || access((place + name).c_str(), R_OK) != 0) continue;
      MappedFile const engine{place + name};
      AddWanted(ElfFile{engine.bytes(), place + name}, &wanted);
      break;
    }
  }
  return wanted;
}

void LoadAdapter(std::string const& path, XGBoostImage const& image) {
  DlHandle handle{dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | ScopeOf(image))};
  if (handle == nullptr) {
    throw BridgeError{"cannot load the adapter for " + image.Described() + ": " + EscapedMessage(dlerror())};
  }
  auto* const compare = FunctionOf<int()>(handle.get(), "XGBGPUSelfTest");
  auto* const start = FunctionOf<int()>(handle.get(), "XGBGPURegister");
  auto* const why = FunctionOf<char const*()>(handle.get(), "XGBGPUAdapterError");
  if (start == nullptr || why == nullptr) {
    throw BridgeError{QuotedName(path) +
                      " has no function XGBGPURegister or XGBGPUAdapterError; allowed: an adapter of " +
                      "this version of xgboost-gpu"};
  }
  if ((compare != nullptr && compare() != 0) || start() != 0) {
    throw BridgeError{"the adapter does not work in " + image.Described() + ": " + EscapedMessage(why())};
  }
  static_cast<void>(handle.release());  // XGBoost keeps pointers to it
}

}  // namespace xgbgpu::bridge
