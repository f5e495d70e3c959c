// Keeps the names of categories of two kinds of matrices: matrices made with a reference, and matrices of unlike
// batches.
#include "matrix/coded_matrices.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "xgb/types.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// Texts that are noted of names of categories, as long as a matrix has them.
class Notes {
 public:
  void Add(xgboost::DMatrix const& data, std::string text) {
    auto const names = CategoriesOf(data);
    if (names == nullptr) return;
    std::lock_guard<std::mutex> const lock{mutex_};
    auto const is_gone = [](auto const& note) { return note.first.expired(); };
    notes_.erase(std::remove_if(notes_.begin(), notes_.end(), is_gone), notes_.end());
    notes_.emplace_back(names, std::move(text));
  }
  std::optional<std::string> Find(xgboost::DMatrix const& data) const {
    auto const names = CategoriesOf(data);
    if (names == nullptr) return {};
    std::lock_guard<std::mutex> const lock{mutex_};
    auto const found =
        std::find_if(notes_.cbegin(), notes_.cend(), [&](auto const& note) { return note.first.lock() == names; });
    if (found == notes_.cend()) return {};
    return found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::weak_ptr<void const>, std::string>> notes_;
};

// Matrices may be made while the process ends.

Notes& Coded() {
  static auto* const kNotes = new Notes;
  return *kNotes;
}

Notes& Mixed() {
  static auto* const kNotes = new Notes;
  return *kNotes;
}

}  // namespace

bool HaveReference(char const* columns) {
  std::string_view const text{columns};
  auto const first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

void NoteCoded(xgboost::DMatrix const& data) { Coded().Add(data, {}); }

bool IsCoded(xgboost::DMatrix const& data) { return Coded().Find(data).has_value(); }

void NoteMixed(xgboost::DMatrix const& data, std::string why) { Mixed().Add(data, std::move(why)); }

void CheckNotMixed(xgboost::DMatrix const& data) {
  if (auto const why = Mixed().Find(data)) throw InvalidArgument{*why};
}

}  // namespace xgbgpu::plugin
