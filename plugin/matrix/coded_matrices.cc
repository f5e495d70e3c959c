// Keeps a list of the names of categories of matrices that were made with a reference.
#include "matrix/coded_matrices.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "xgb/types.h"

namespace xgbgpu::plugin {

namespace {

struct Names {
  std::mutex lock;
  std::vector<std::weak_ptr<void const>> all;
};

Names& Noted() {
  static auto* const kNames = new Names;  // matrices may be made while the process ends
  return *kNames;
}

}  // namespace

bool HaveReference(char const* columns) {
  std::string_view const text{columns};
  auto const first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

void NoteCoded(xgboost::DMatrix const& data) {
  auto const names = CategoriesOf(data);
  if (names == nullptr) return;
  std::lock_guard<std::mutex> const lock{Noted().lock};
  auto& all = Noted().all;
  all.erase(std::remove_if(all.begin(), all.end(), [](auto const& one) { return one.expired(); }), all.end());
  all.push_back(names);
}

bool IsCoded(xgboost::DMatrix const& data) {
  auto const names = CategoriesOf(data);
  if (names == nullptr) return false;
  std::lock_guard<std::mutex> const lock{Noted().lock};
  auto const& all = Noted().all;
  return std::any_of(all.cbegin(), all.cend(), [&](auto const& one) { return one.lock() == names; });
}

}  // namespace xgbgpu::plugin
