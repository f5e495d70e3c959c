// Finds addresses of names, and says why some are missing.
#include "bridge/names.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <unordered_map>

#include "base/quoted.h"
#include "bridge/error.h"

namespace xgbgpu::bridge {
namespace {

bool StartsWith(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string InSource(std::string const& name) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const text{abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free};
  return Quoted(status == 0 ? text.get() : name);
}

/// Throws if C functions of the file are not at the addresses that the dynamic linker knows: then the file was replaced
/// after it was loaded. `base`: the address of the file's value 0.
void CheckSameFile(ElfFile const& file, XGBoostImage const& image, std::uint64_t base) {
  file.ForEachDynamicName([&](ElfName const& name) {
    if (!name.is_defined || !StartsWith(name.name, "XG")) return;
    std::string const function{name.name};
    if (reinterpret_cast<std::uint64_t>(dlsym(image.handle.get(), function.c_str())) != base + name.value) {
      throw BridgeError{image.Described() + " was loaded from another file than the one that is there now: " +
                        Quoted(function) + " is not where that has it; allowed: to start the program anew"};
    }
  });
}

}  // namespace

bool IsOfXGBoost(std::string_view name) {
  bool const is_cpp = StartsWith(name, "_Z") && (Has(name, "7xgboost") || Has(name, "4dmlc"));
  bool const is_c = (StartsWith(name, "XG") && !StartsWith(name, "XGBGPU")) || StartsWith(name, "Rabit");
  return is_cpp || is_c;
}

bool IsOfDmlc(std::string_view name) { return StartsWith(name, "_Z") && Has(name, "4dmlc") && !Has(name, "7xgboost"); }

bool IsOfOpenMP(std::string_view name) { return StartsWith(name, "GOMP_") || StartsWith(name, "omp_"); }

void AddWanted(ElfFile const& library, Wanted* wanted) {
  library.ForEachDynamicName([wanted](ElfName const& name) {
    if (name.is_defined || !(IsOfXGBoost(name.name) || IsOfOpenMP(name.name))) return;
    (name.is_weak ? wanted->weak : wanted->strong).emplace(name.name);
  });
}

Addresses FindNames(ElfFile const& file, XGBoostImage const& image, std::set<std::string> const& names) {
  std::unordered_map<std::string_view, std::uint64_t> values;
  values.reserve(names.size() + 1);
  for (std::string const& name : names) values[name] = 0;
  constexpr std::string_view kAnchor = "XGBoostVersion";
  values[kAnchor] = 0;
  file.ForEachName([&](ElfName const& name) {
    if (!name.is_defined || name.value == 0) return;
    auto const at = values.find(name.name);
    if (at != values.end() && at->second == 0) at->second = name.value;
  });
  if (values[kAnchor] == 0) {
    throw BridgeError{image.Described() +
                      " has a file without the name XGBoostVersion; allowed: the file that was loaded"};
  }
  std::uint64_t const base = image.version_function - values[kAnchor];
  CheckSameFile(file, image, base);
  Addresses found;
  for (std::string const& name : names) {
    std::uint64_t const value = values[name];
    if (value != 0 && image.IsReadable(base + value, 1)) found[name] = base + value;
  }
  return found;
}

std::string FirstNames(std::set<std::string> const& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  std::size_t shown = 0;
  for (std::string const& name : names) {
    if (shown == kShown) return text + " and " + std::to_string(names.size() - kShown) + " more";
    text += (shown++ == 0 ? "" : ", ") + InSource(name);
  }
  return text;
}

void CheckString(ElfFile const& file, XGBoostImage const& image) {
  bool has_cpp = false;
  bool has_new_string = false;
  file.ForEachName([&](ElfName const& name) {
    if (has_new_string || !name.is_defined) return;
    if (!StartsWith(name.name, "_ZN7xgboost") && !StartsWith(name.name, "_ZNK7xgboost")) return;
    has_cpp = true;
    has_new_string = Has(name.name, "cxx11");  // GCC's mark
  });
  if (has_cpp && !has_new_string) {
    throw BridgeError{image.Described() +
                      " was compiled with the old std::string (_GLIBCXX_USE_CXX11_ABI=0); allowed: one " +
                      "with the new std::string, as PyPI's wheels from 3.0 on"};
  }
}

void CheckMissing(ElfFile const& file, XGBoostImage const& image, std::set<std::string> const& missing) {
  if (missing.empty()) return;
  std::string const what = FirstNames(missing);
  if (!file.has_symtab()) {
    throw BridgeError{image.Described() + " hides its C++ names and was stripped: it lacks " + what +
                      "; allowed: one that was not stripped, as PyPI's wheels, or that shows its names, as Debian's"};
  }
  throw BridgeError{image.Described() + " lacks " + std::to_string(missing.size()) +
                    " names that the adapter needs: " + what + "; allowed: an XGBoost that has them all"};
}

}  // namespace xgbgpu::bridge
