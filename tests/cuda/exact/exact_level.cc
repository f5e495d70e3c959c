// Makes levels of exact trees by plain loops, and copies them to a device.
#include "exact/exact_level.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "exact/sorted_matrix.h"

namespace xgbgpu::testing {

LevelLists MakeLists(reference::Values const& values, std::vector<std::vector<RowIndex>> const& nodes) {
  std::vector<RowIndex> const origin = OriginsOf(nodes);
  std::vector<std::uint32_t> number(values.rows);
  for (std::size_t i = 0; i < origin.size(); ++i) number[origin[i]] = static_cast<std::uint32_t>(i);
  LevelLists lists;
  for (std::size_t f = 0; f < values.features; ++f) {
    std::size_t present = 0;
    for (std::size_t r = 0; r < values.rows; ++r) present += std::isnan(values(r, f)) ? 0 : 1;
    std::size_t const end = lists.entries.size() + present;
    for (auto const& rows : nodes) {
      lists.begin.push_back(lists.entries.size());
      auto const sorted = reference::SortByValue(values, f, rows);
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        bool const is_new = i == 0 || values(sorted[i], f) != values(sorted[i - 1], f);
        lists.entries.push_back(number[sorted[i]] | (is_new ? cuda::kNewValue : 0U));
      }
    }
    lists.begin.push_back(lists.entries.size());
    lists.entries.resize(end, kUntouched);
  }
  std::size_t row = 0;
  for (auto const& rows : nodes) {
    lists.begin.push_back(row);
    row += rows.size();
  }
  lists.begin.push_back(row);
  return lists;
}

std::vector<RowIndex> OriginsOf(std::vector<std::vector<RowIndex>> const& nodes) {
  std::vector<RowIndex> origin;
  for (auto const& rows : nodes) origin.insert(origin.end(), rows.cbegin(), rows.cend());
  return origin;
}

LevelSplits RandomSplits(ExactCase const& c, LevelLists const& lists, Random* random) {
  LevelSplits made;
  made.split_of.assign(c.nodes.size(), -1);
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    FeatureIndex const f = c.used[random->Below(c.used.size())];
    std::uint64_t const begin = lists.Begin(f, n, c.nodes.size()), end = lists.Begin(f, n + 1, c.nodes.size());
    if (begin == end || random->Below(5) == 0) continue;
    auto const entries = static_cast<std::uint32_t>(end - begin);
    auto const index = static_cast<std::uint32_t>(random->Below(entries + 1));
    made.split_of[n] = static_cast<std::int32_t>(made.splits.size());
    made.splits.push_back({begin, index, entries, static_cast<std::uint32_t>(random->Below(2)), made.pieces,
                           static_cast<std::uint32_t>(n)});
    made.pieces += (entries + cuda::kPieceEntries - 1) / cuda::kPieceEntries;
  }
  return made;
}

std::vector<std::vector<RowIndex>> ChildrenOf(std::vector<std::vector<RowIndex>> const& nodes,
                                              std::vector<cuda::ExactSplit> const& splits,
                                              std::vector<std::uint8_t> const& sides, bool left_only) {
  std::vector<std::vector<RowIndex>> children;
  std::size_t first = 0, n = 0;
  for (cuda::ExactSplit const& split : splits) {
    for (; n < split.node; ++n) first += nodes[n].size();
    std::vector<RowIndex> left, right;
    for (std::size_t i = 0; i < nodes[n].size(); ++i) (sides[first + i] != 0 ? left : right).push_back(nodes[n][i]);
    children.push_back(left);
    if (!left_only) children.push_back(right);
  }
  return children;
}

std::vector<cuda::RowWord> PackedSides(std::vector<std::uint8_t> const& sides, std::uint64_t rows) {
  std::vector<cuda::RowWord> words(cuda::RowWords(rows));
  std::uint32_t before = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    words[w] = {0, before};
    for (std::size_t bit = 0; bit < 32; ++bit) {
      if (sides[32 * w + bit] == 0) continue;
      words[w].left |= 1U << bit;
      ++before;
    }
  }
  return words;
}

namespace {

cuda::DeviceColumns MakeColumns(ExactCase const& c, TestMemory* memory) {
  cuda::DeviceColumns columns{*host::SortColumns(MemorySource{c.values}, 1), 1, memory->arena()};
  columns.Use(c.used, memory->stream());
  memory->stream().Wait("choosing features");
  return columns;
}

}  // namespace

DeviceLevel::DeviceLevel(ExactCase const& c, bool compact)
    : columns_{MakeColumns(c, &memory_)}, nodes_{static_cast<std::uint32_t>(c.nodes.size())}, is_compact_{compact} {
  LevelLists const lists = MakeLists(c.values, c.nodes);
  entries_ = memory_.Put(lists.entries);
  begin_ = memory_.Put(lists.begin);
  std::vector<RowIndex> const origin = OriginsOf(c.nodes);
  std::vector<RowIndex> in_order(c.values.rows);
  std::iota(in_order.begin(), in_order.end(), 0U);
  if (origin != in_order) origin_ = memory_.Put(origin);
  std::vector<int2> small;
  std::vector<GradientSum> wide;
  for (RowIndex const r : origin) {
    GradientSum const g = c.gradients.rows[r];
    small.push_back({static_cast<int>(g.grad), static_cast<int>(g.hess)});
    wide.push_back(g);
  }
  if (compact) {
    compact_ = memory_.Put(small);
  } else {
    wide_ = memory_.Put(wide);
  }
  std::size_t const tiles = std::max<std::size_t>(columns().tile_count, c.values.rows / cuda::kPackRows + 1);
  states_ = memory_.Filled<unsigned long long>(cuda::kStateWords * tiles, 0);
  spans_ = memory_.Filled<cuda::TileSpan>(columns().tile_count, 0);
  cuda::SpanTiles(columns(), this->lists(), spans_.data(), memory_.stream());
}

}  // namespace xgbgpu::testing
