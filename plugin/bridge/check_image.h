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

/// Throws BridgeError if a word of a vtable is another function than the contract says. It only reads memory. A stripped
/// image, Debian's for instance, has names of some tables and functions; a word without a name may be any function there.
void CheckSlots(Contract const& contract, XGBoostImage const& image, Addresses const& addresses, bool is_stripped);

/// Throws BridgeError if a constructor writes another number of bytes than the contract says. It calls constructors. A
/// stripped image has names of some.
void CheckSizes(Contract const& contract, XGBoostImage const& image, Addresses const& addresses, bool is_stripped);

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_CHECK_IMAGE_H_
