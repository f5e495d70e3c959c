// Compares vtables and sizes of an XGBoost with a contract.
#include "bridge/check_image.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bridge/error.h"

namespace xgbgpu::bridge {
namespace {

/// Returns how many bytes the constructor writes, up to the last one. What it writes may equal what was there, so it
/// runs on two patterns.
std::size_t BytesWritten(void (*construct)(void*)) {
  constexpr std::size_t kMost = 65536;
  std::size_t written = 0;
  for (unsigned char const pattern : {0xa5, 0x5a}) {
    // Never freed: the object may keep pointers to itself, and its destructor has no name.
    auto* const object = static_cast<unsigned char*>(::operator new(kMost));
    std::memset(object, pattern, kMost);
    construct(object);
    auto const* const last =
        std::find_if(std::make_reverse_iterator(object + kMost), std::make_reverse_iterator(object),
                     [pattern](unsigned char byte) { return byte != pattern; })
            .base();
    written = std::max(written, static_cast<std::size_t>(last - object));
  }
  return written;
}

/// Returns the address of a name; throws if the image has it not, or if it is not in memory that may be used so.
std::uint64_t AddressOf(std::string const& name, XGBoostImage const& image, Addresses const& addresses) {
  auto const at = addresses.find(name);
  if (at != addresses.end()) return at->second;
  throw BridgeError{image.Described() + " lacks " + FirstNames({name}) + ", which is compared before the adapter is " +
                    "loaded; allowed: an XGBoost of series " + image.Series() + " as it was published"};
}

}  // namespace

std::set<std::string> NamesOfChecks(Contract const& contract) {
  std::set<std::string> names;
  for (Slot const& slot : contract.slots) {
    names.insert(slot.table);
    names.insert(slot.functions.begin(), slot.functions.end());
  }
  for (Size const& size : contract.sizes) names.insert(size.constructor);
  return names;
}

void CheckSlots(Contract const& contract, XGBoostImage const& image, Addresses const& addresses, bool is_stripped) {
  std::size_t compared = 0;
  for (Slot const& slot : contract.slots) {
    if (is_stripped && addresses.count(slot.table) == 0) continue;
    std::uint64_t const word = AddressOf(slot.table, image, addresses) + slot.word * sizeof(std::uint64_t);
    std::uint64_t found = 0;
    if (image.IsReadable(word, sizeof(found))) std::memcpy(&found, reinterpret_cast<void const*>(word), sizeof(found));
    bool is_named = false;
    bool is_same = false;
    for (std::string const& function : slot.functions) {
      auto const at = addresses.find(function);
      if (at == addresses.end()) continue;
      is_named = true;
      is_same = is_same || at->second == found;
    }
    if (is_named || !is_stripped) ++compared;
    bool const has_no_name = !is_named && is_stripped && image.IsCode(found);
    if (!is_same && !has_no_name) {
      throw BridgeError{image.Described() + " has another function in word " + std::to_string(slot.word) + " of " +
                        FirstNames({slot.table}) + "; allowed: " + FirstNames({slot.functions[0]})};
    }
  }
  if (compared == 0 && !contract.slots.empty()) {
    throw BridgeError{image.Described() +
                      " was stripped and shows no function of its classes; allowed: one that was not " +
                      "stripped, or that shows its names"};
  }
}

void CheckSizes(Contract const& contract, XGBoostImage const& image, Addresses const& addresses, bool is_stripped) {
  for (Size const& size : contract.sizes) {
    if (is_stripped && addresses.count(size.constructor) == 0) continue;
    std::uint64_t const address = AddressOf(size.constructor, image, addresses);
    if (!image.IsCode(address)) {
      throw BridgeError{image.Described() + " has data at " + FirstNames({size.constructor}) + "; allowed: code"};
    }
    std::size_t const bytes = BytesWritten(reinterpret_cast<void (*)(void*)>(address));
    if (bytes != size.bytes) {
      throw BridgeError{image.Described() + " writes " + std::to_string(bytes) + " bytes in " +
                        FirstNames({size.constructor}) + "; allowed: " + std::to_string(size.bytes)};
    }
  }
}

}  // namespace xgbgpu::bridge
