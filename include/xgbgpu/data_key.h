/// The identity of a data set. docs/adr/0003-dataset-identity.md
#ifndef XGBGPU_DATA_KEY_H_
#define XGBGPU_DATA_KEY_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace xgbgpu {

/// Identifies a data set of the caller. A key gives no access to the data and does not keep them alive. Two keys are
/// equal if and only if they are of one object: a key holds the control block of its object, so another object at the
/// same address has another key.
class DataKey {
 public:
  /// Makes a key of no data set.
  DataKey() = default;
  /// `owner`: the shared pointer that keeps the data set alive, of any type.
  explicit DataKey(std::weak_ptr<void const> owner) : owner_{std::move(owner)} {}

  /// True once the data set is gone.
  bool expired() const { return owner_.expired(); }

  friend bool operator==(DataKey const& a, DataKey const& b) {
    return !a.owner_.owner_before(b.owner_) && !b.owner_.owner_before(a.owner_);
  }
  friend bool operator!=(DataKey const& a, DataKey const& b) { return !(a == b); }

 private:
  std::weak_ptr<void const> owner_;
};

/// A number that changes whenever labels, weights, groups or margins of any data set may have been set. Empty: the
/// caller does not know, and the engine compares values.
using DataEpoch = std::optional<std::uint64_t>;

/// Erases the elements whose member `key` has expired.
template <typename Element>
void EraseExpired(std::vector<Element>* elements) {
  elements->erase(
      std::remove_if(elements->begin(), elements->end(), [](Element const& element) { return element.key.expired(); }),
      elements->end());
}

}  // namespace xgbgpu

#endif  // XGBGPU_DATA_KEY_H_
