// The functions of the C interface: the steps from an XGBoost in the process to a registered adapter.
#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <string>

#include "base/quoted.h"
#include "bridge/absolute_symbols.h"
#include "bridge/adapter.h"
#include "bridge/cache_folder.h"
#include "bridge/check_image.h"
#include "bridge/contract.h"
#include "bridge/elf_file.h"
#include "bridge/error.h"
#include "bridge/load_bytes.h"
#include "bridge/mapped_file.h"
#include "bridge/names.h"
#include "bridge/trial.h"
#include "bridge/xgbgpu_bridge.h"
#include "bridge/xgboost_image.h"

namespace xgbgpu::bridge {
namespace {

/// The XGBoost that has an adapter.
struct Loaded {
  std::uintptr_t version_function;
  std::string xgboost;
  std::string adapter;
};

/// The contract of the image's series.
Contract ContractOf(XGBoostImage const& image) {
  std::string series = "1.7 (by libxgboost_gpu.so)";
  for (ContractText const* contract = kContracts; contract->series != nullptr; ++contract) {
    if (image.Series() == contract->series) return ParseContract(contract->text);
    series += std::string{contract[1].series == nullptr ? " and " : ", "} + contract->series;
  }
  throw BridgeError{image.Described() + ": xgboost-gpu works in " + series};
}

/// Returns the addresses that the adapter and the engine need; throws if XGBoost lacks any.
Addresses AddressesFor(Wanted const& wanted, ElfFile const& file, XGBoostImage const& image, Addresses const& found) {
  Addresses addresses;
  std::set<std::string> missing;
  for (auto const* names : {&wanted.strong, &wanted.weak}) {
    for (std::string const& name : *names) {
      auto const at = found.find(name);
      std::uint64_t address = at == found.end() ? 0 : at->second;
      // The OpenMP runtime is the one that XGBoost needs. Regions of two runtimes in turns cost 1.5 times the time.
      // Debian has dmlc-core in a library of its own.
      if (IsOfOpenMP(name) || (address == 0 && IsOfDmlc(name)))
        address = reinterpret_cast<std::uint64_t>(dlsym(image.handle.get(), name.c_str()));
      if (address != 0) {
        addresses[name] = address;
      } else if (names == &wanted.strong) {
        missing.insert(name);
      }
    }
  }
  CheckMissing(file, image, missing);
  return addresses;
}

/// Does everything, and returns what was loaded.
Loaded LoadInto(XGBoostImage* image, std::string const& folder, bool is_trial) {
  auto* const glibc = reinterpret_cast<char const* (*)()>(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
  CheckCLibrary(glibc == nullptr ? nullptr : glibc());
  if (DlHandle{dlopen(kTableName, RTLD_LAZY | RTLD_NOLOAD)} != nullptr) {
    throw BridgeError{std::string{kTableName} +
                      " is in the process already, from another copy of this library or from an " +
                      "adapter that said no; allowed: one adapter of a process, and one try"};
  }
  Contract const contract = ContractOf(*image);
  std::string const adapter = AdapterIn(folder, *image);
  Wanted const wanted = NeedsOf(adapter);
  std::set<std::string> names = NamesOfChecks(contract);
  names.insert(wanted.strong.begin(), wanted.strong.end());
  names.insert(wanted.weak.begin(), wanted.weak.end());

  MappedFile const mapped{image->path};
  ElfFile const file{mapped.bytes(), image->path};
  CheckString(file, *image);
  Addresses const found = FindNames(file, *image, names);
  Addresses const table = AddressesFor(wanted, file, *image, found);
  CheckSlots(contract, *image, found, !file.has_symtab());
  auto const& tested = contract.releases;
  if (!is_trial && std::find(tested.begin(), tested.end(), image->Release()) == tested.end()) {
    TryInChild(*image, folder, adapter);
  }
  CheckSizes(contract, *image, found, !file.has_symtab());

  DlHandle bridge = LoadBytes(AbsoluteSymbols(kTableName, table), kTableName, CacheFolder);
  LoadAdapter(adapter, *image);
  static_cast<void>(bridge.release());
  static_cast<void>(image->handle.release());  // the adapter has its addresses
  return {image->version_function, image->Described(), adapter};
}

/// Does what XGBGPUBridgeLoad does, and throws.
std::string const& Load(char const* xgboost, char const* folder, bool is_trial) {
  static std::mutex mutex;
  static Loaded loaded{};
  std::lock_guard<std::mutex> const lock{mutex};
  if (folder == nullptr) throw BridgeError{"folder is null; allowed: the folder of the adapters"};
  XGBoostImage image = FindXGBoost(xgboost);
  if (loaded.version_function == 0) {
    loaded = LoadInto(&image, folder, is_trial);
  } else if (loaded.version_function != image.version_function) {
    throw BridgeError{"xgboost-gpu works in " + loaded.xgboost + " of this process and was asked for " +
                      image.Described() + "; allowed: one XGBoost of a process"};
  }
  return loaded.adapter;
}

thread_local std::string error;

int Guarded(char const* xgboost, char const* folder, char const** adapter, bool is_trial) {
  try {
    error.clear();
    std::string const& path = Load(xgboost, folder, is_trial);
    if (adapter != nullptr) *adapter = path.c_str();
    return 0;
  } catch (BridgeError const& e) {
    error = e.what();
  } catch (std::exception const& e) {
    error = std::string{"internal error while an adapter is loaded: "} + e.what();
  }
  return -1;
}

}  // namespace
}  // namespace xgbgpu::bridge

extern "C" {

int XGBGPUBridgeLoad(char const* xgboost, char const* folder, char const** adapter) {
  return xgbgpu::bridge::Guarded(xgboost, folder, adapter, false);
}

int XGBGPUBridgeTry(char const* xgboost, char const* folder, char const** adapter) {
  return xgbgpu::bridge::Guarded(xgboost, folder, adapter, true);
}

char const* XGBGPUBridgeError(void) { return xgbgpu::bridge::error.c_str(); }

}  // extern "C"
