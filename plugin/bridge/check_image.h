/// Compares an XGBoost in memory with the contract of its series.
#ifndef XGBGPU_PLUGIN_BRIDGE_CHECK_IMAGE_H_
#define XGBGPU_PLUGIN_BRIDGE_CHECK_IMAGE_H_

#include <set>
#include <string>

#include "bridge/contract.h"
#include "bridge/names.h"
#include "bridge/xgboost_image.h"

namespace xgbgpu::bridge {

/// Returns the names that the checks below look at.
std::set<std::string> NamesOfChecks(Contract const& contract);

/// Throws BridgeError if a word of a vtable is another function than the contract says. It only reads memory. A
/// stripped image, such as Debian's, has names of some tables and functions only. There a word without a name may be
/// any function.
void CheckSlots(Contract const& contract, XGBoostImage const& image, Addresses const& addresses, bool is_stripped);

/// Throws BridgeError if a constructor writes another number of bytes than the contract says. It calls constructors. In
/// a stripped image it checks only the constructors with names.
void CheckSizes(Contract const& contract, XGBoostImage const& image, Addresses const& addresses, bool is_stripped);

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_CHECK_IMAGE_H_
