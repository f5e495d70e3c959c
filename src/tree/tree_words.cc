// Writes a tree to a list of integers and reads it back.
#include "tree/tree_words.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

/// Calls visit(array) for every array of the tree, in one order.
template <typename AnyTree, typename F>
void ForEachArray(AnyTree& tree, F&& visit) {
  visit(tree.parent);
  visit(tree.left);
  visit(tree.feature);
  visit(tree.split_bin);
  visit(tree.threshold);
  visit(tree.default_left);
  visit(tree.gain);
  visit(tree.sum_hess);
  visit(tree.weight);
  visit(tree.leaf_value);
  visit(tree.category_ptr);
  visit(tree.category_bits);
}

template <typename T>
std::uint32_t ToWord(T value) {
  static_assert(sizeof(T) <= sizeof(std::uint32_t) && std::is_trivially_copyable_v<T>);
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof(value));
  return word;
}

}  // namespace

std::vector<std::uint32_t> ToWords(Tree const& tree) {
  std::vector<std::uint32_t> words;
  ForEachArray(tree, [&](auto const& array) {
    words.push_back(static_cast<std::uint32_t>(array.size()));
    for (auto const value : array) words.push_back(ToWord(value));
  });
  return words;
}

Tree TreeOfWords(std::vector<std::uint32_t> const& words) {
  Tree tree;
  std::size_t at = 0;
  auto const take = [&](std::size_t n) {
    if (words.size() - at < n) Throw<Error>("A tree that came from another process ends early");
    at += n;
    return words.data() + (at - n);
  };
  ForEachArray(tree, [&](auto& array) {
    std::size_t const n = *take(1);
    std::uint32_t const* const first = take(n);
    array.resize(n);
    for (std::size_t i = 0; i < n; ++i) std::memcpy(&array[i], first + i, sizeof(array[i]));
  });
  if (at != words.size()) Throw<Error>("A tree that came from another process has more than its end");
  return tree;
}

}  // namespace xgbgpu
