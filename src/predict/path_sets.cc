// Intersects the sets of categories along the paths of a tree.
#include "predict/path_sets.h"

#include <algorithm>
#include <cstddef>

namespace xgbgpu {

namespace {

/// A set with words of its own, while tests narrow it.
struct OpenSet {
  std::vector<std::uint32_t> words;
  bool rest;

  std::uint32_t beyond() const { return rest ? ~0U : 0U; }
  std::uint32_t word(std::size_t i) const { return i < words.size() ? words[i] : beyond(); }
};

OpenSet Read(std::uint32_t const* at, std::uint64_t set) {
  PackedSetHead const head{at[set]};
  return {{at + set + 1, at + set + 1 + head.words()}, head.rest()};
}

/// Appends a set without words that equal `rest`, and returns its number.
std::uint64_t Write(OpenSet const& set, std::vector<std::uint32_t>* to) {
  std::size_t used = set.words.size();
  while (used != 0 && set.words[used - 1] == set.beyond()) --used;
  std::uint64_t const number = to->size();
  to->push_back(static_cast<std::uint32_t>(used) | (set.rest ? PackedSetHead::kRest : 0U));
  to->insert(to->end(), set.words.begin(), set.words.begin() + static_cast<std::ptrdiff_t>(used));
  return number;
}

void Complement(OpenSet* set) {
  for (std::uint32_t& word : set->words) word = ~word;
  set->rest = !set->rest;
}

void Intersect(OpenSet const& with, OpenSet* set) {
  std::size_t const size = std::max(set->words.size(), with.words.size());
  set->words.resize(size, set->beyond());
  for (std::size_t i = 0; i < size; ++i) set->words[i] &= with.word(i);
  set->rest = set->rest && with.rest;
}

}  // namespace

std::vector<std::uint64_t> AddPathSets(std::vector<ForestNode> const& nodes, std::vector<std::uint32_t> const& parents,
                                       PackedSets const& sets, std::vector<std::uint32_t>* words) {
  std::vector<std::uint64_t> set_of(nodes.size(), kNoElementSet);
  for (std::uint32_t parent = 0; parent < nodes.size(); ++parent) {
    ForestNode const& test = nodes[parent];
    if (test.leaf() || test.set == kNoSet) continue;
    // The nearest place above whose parent tests the same feature for categories.
    std::uint32_t above = parent;
    while (above != kRootPlace && (set_of[above] == kNoElementSet || nodes[parents[above]].feature != test.feature)) {
      above = parents[above];
    }
    OpenSet right = Read(sets.at, test.set);
    OpenSet left = right;
    Complement(&left);
    if (above != kRootPlace) {
      OpenSet const passed = Read(words->data(), set_of[above]);
      Intersect(passed, &left);
      Intersect(passed, &right);
    }
    set_of[test.left] = Write(left, words);
    set_of[test.left + 1] = Write(right, words);
  }
  return set_of;
}

}  // namespace xgbgpu
