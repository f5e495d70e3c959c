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
void ForEachArrayOf(AnyTree& tree, F&& visit) {
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
template <typename F>
void ForEachArray(Tree const& tree, F&& visit) {
  ForEachArrayOf(tree, visit);
}
template <typename F>
void ForEachArray(VectorTree const& tree, F&& visit) {
  visit(std::vector<std::uint32_t>{tree.outputs});
  visit(tree.weight);
  visit(tree.leaf_value);
  ForEachArrayOf(tree.shape, visit);
}

template <typename T>
std::uint32_t ToWord(T value) {
  static_assert(sizeof(T) <= sizeof(std::uint32_t) && std::is_trivially_copyable_v<T>);
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof(value));
  return word;
}

template <typename AnyTree>
std::vector<std::uint32_t> WordsOf(AnyTree const& tree) {
  std::vector<std::uint32_t> words;
  ForEachArray(tree, [&](auto const& array) {
    words.push_back(static_cast<std::uint32_t>(array.size()));
    for (auto const value : array) words.push_back(ToWord(value));
  });
  return words;
}

/// Reads arrays from the words that WordsOf wrote.
class WordReader {
 public:
  explicit WordReader(std::vector<std::uint32_t> const& words) : words_{words} {}

  template <typename T>
  void operator()(std::vector<T>& array) {
    std::size_t const n = *Take(1);
    std::uint32_t const* const first = Take(n);
    array.resize(n);
    for (std::size_t i = 0; i < n; ++i) std::memcpy(&array[i], first + i, sizeof(array[i]));
  }
  void End() const {
    if (at_ != words_.size()) Throw<Error>("A tree that came from another process has more than its end");
  }

 private:
  std::uint32_t const* Take(std::size_t n) {
    if (words_.size() - at_ < n) Throw<Error>("A tree that came from another process ends early");
    at_ += n;
    return words_.data() + (at_ - n);
  }

  std::vector<std::uint32_t> const& words_;
  std::size_t at_{0};
};

}  // namespace

std::vector<std::uint32_t> ToWords(Tree const& tree) { return WordsOf(tree); }
std::vector<std::uint32_t> ToWords(VectorTree const& tree) { return WordsOf(tree); }

void OfWords(std::vector<std::uint32_t> const& words, Tree* tree) {
  WordReader reader{words};
  ForEachArrayOf(*tree, reader);
  reader.End();
}

void OfWords(std::vector<std::uint32_t> const& words, VectorTree* tree) {
  WordReader reader{words};
  std::vector<std::uint32_t> outputs;
  reader(outputs);
  tree->outputs = outputs.empty() ? 0 : outputs[0];
  reader(tree->weight);
  reader(tree->leaf_value);
  ForEachArrayOf(tree->shape, reader);
  reader.End();
}

}  // namespace xgbgpu
