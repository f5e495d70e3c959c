/// Names that libraries need of XGBoost, and the addresses that they have in the process.
#ifndef XGBGPU_PLUGIN_BRIDGE_NAMES_H_
#define XGBGPU_PLUGIN_BRIDGE_NAMES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "bridge/elf_file.h"
#include "bridge/xgboost_image.h"

namespace xgbgpu::bridge {

/// Names and addresses in the process.
using Addresses = std::map<std::string, std::uint64_t>;

/// What a library leaves undefined and XGBoost has: `strong` names, without which it cannot be loaded, and `weak` ones.
struct Wanted {
  std::set<std::string> strong;
  std::set<std::string> weak;
};

/// True for C++ names of xgboost:: and dmlc::, and XGBoost's C functions. Names of std:: that mention neither are not
/// its: wheels have a private copy of parts of libstdc++.
bool IsOfXGBoost(std::string_view name);

/// True for functions of an OpenMP runtime.
bool IsOfOpenMP(std::string_view name);
/// Returns true for C++ names of dmlc-core without types of XGBoost.
bool IsOfDmlc(std::string_view name);

/// Adds the names of XGBoost and OpenMP that `library` leaves undefined.
void AddWanted(ElfFile const& library, Wanted* wanted);

/// Returns the addresses of the names that the image's file has.
Addresses FindNames(ElfFile const& file, XGBoostImage const& image, std::set<std::string> const& names);

/// Returns the names as in source code, at most three, and how many there are more.
std::string FirstNames(std::set<std::string> const& names);

/// Throws BridgeError if the image was compiled with another std::string than adapters.
void CheckString(ElfFile const& file, XGBoostImage const& image);

/// Throws BridgeError if `missing` has names. It says why the image lacks them.
void CheckMissing(ElfFile const& file, XGBoostImage const& image, std::set<std::string> const& missing);

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_NAMES_H_
