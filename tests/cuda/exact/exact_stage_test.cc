// The stages of a level of exact trees on a device, one at a time, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "exact/exact_cuda.h"
#include "exact/exact_level.h"
#include "support/grow.h"

namespace xgbgpu::testing {
namespace {

using namespace cuda;

class CudaExactStageTest : public ::testing::TestWithParam<ExactCaseName> {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    lists_ = MakeLists(c_.values, c_.nodes);
  }
  bool IsUsed(FeatureIndex f) const { return std::find(c_.used.begin(), c_.used.end(), f) != c_.used.end(); }
  bool IsDense(FeatureIndex f) const {
    for (std::size_t r = 0; r < c_.values.rows; ++r) {
      if (std::isnan(c_.values(r, f))) return false;
    }
    return true;
  }
  /// Returns the sum over the rows of a node that have the feature.
  GradientSum Present(FeatureIndex f, std::size_t node) const {
    return c_.SumOf(reference::SortByValue(c_.values, f, c_.nodes[node]));
  }
  std::uint64_t Begin(FeatureIndex f, std::size_t node) const { return lists_.Begin(f, node, nodes()); }
  std::size_t nodes() const { return c_.nodes.size(); }
  FeatureIndex features() const { return c_.features(); }

  ExactCase const c_{MakeExactCase(GetParam())};
  LevelLists lists_;
};
INSTANTIATE_TEST_SUITE_P(Cases, CudaExactStageTest, ::testing::ValuesIn(ExactCases()),
                         ::testing::PrintToStringParamName());

TEST_P(CudaExactStageTest, SpansTellTheNodesOfTiles) {
  DeviceLevel level{c_, true};
  auto const tiles = level.memory().Read(level.columns().tiles, level.columns().tile_count);
  auto const spans = level.memory().Read(level.spans());
  std::size_t expected_tiles = 0;
  for (FeatureIndex f = 0; f < features(); ++f) {
    std::vector<RowIndex> rows(c_.values.rows);
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = static_cast<RowIndex>(r);
    expected_tiles += (reference::SortByValue(c_.values, f, rows).size() + kTileEntries - 1) / kTileEntries;
  }
  ASSERT_EQ(tiles.size(), expected_tiles);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    FeatureIndex const f = tiles[t].feature;
    std::uint64_t const first = Begin(f, 0) + std::uint64_t{tiles[t].index} * kTileEntries, end = Begin(f, nodes());
    if (!IsUsed(f) || first >= end) {
      EXPECT_EQ(spans[t].count, 0) << "tile " << t;
      continue;
    }
    std::size_t node = 0;
    while (Begin(f, node + 1) <= first) ++node;
    std::uint64_t const last = std::min<std::uint64_t>(first + kTileEntries, end);
    EXPECT_EQ(spans[t].first, first) << "tile " << t;
    EXPECT_EQ(spans[t].count, static_cast<int>(last - first)) << "tile " << t;
    EXPECT_EQ(spans[t].node, static_cast<int>(node)) << "tile " << t;
    EXPECT_EQ(spans[t].begins_node, Begin(f, node) == first) << "tile " << t;
    EXPECT_EQ(spans[t].is_one_node, last <= Begin(f, node + 1)) << "tile " << t;
  }
}

/// What a search for the level's splits reads and writes.
struct Search {
  Search(ExactCase const& c, DeviceLevel* level, Constraints const& constraints, NodeLimits const& limits)
      : params{c.params, c.format()} {
    std::vector<SearchedNode> searched;
    std::vector<std::uint32_t> bits;
    std::size_t const nodes = c.nodes.size(), words = (c.features() + 31) / 32;
    for (std::size_t n = 0; n < nodes; ++n) {
      GradientSum const sum = c.SumOf(c.nodes[n]);
      WeightBounds const bounds = limits.bounds(c.first() + static_cast<NodeIndex>(n));
      searched.push_back(
          {sum, constraints.monotone() ? TermsOf<true>(params, sum, bounds) : TermsOf<false>(params, sum, bounds)});
      bits.resize((n + 1) * words);
      for (FeatureIndex const f : c.FeaturesOf(n)) bits[n * words + f / 32] |= 1U << (f % 32);
    }
    TestMemory& memory = level->memory();
    searched_nodes = memory.Put(searched);
    directions = memory.Put(constraints.directions());
    present = memory.Filled<GradientSum>(nodes * c.features(), 0);
    best = memory.Filled<unsigned long long>(nodes * c.features(), 0);
    known = memory.Filled<std::uint32_t>(nodes, 0);
    if (!c.allowed.empty()) allowed = memory.Put(bits);
    choices = memory.Filled<ExactChoice>(nodes, 0xAB);
    view = {level->lists(), searched_nodes.data(), directions.data(), present.data(),
            best.data(),    known.data(),          allowed.data()};
  }

  SplitParams params;
  DeviceBuffer<GradientSum> present;
  DeviceBuffer<SearchedNode> searched_nodes;
  DeviceBuffer<std::int8_t> directions;
  DeviceBuffer<unsigned long long> best;
  DeviceBuffer<std::uint32_t> known, allowed;
  DeviceBuffer<ExactChoice> choices;
  ExactLevel view;
};

TEST_P(CudaExactStageTest, SumsOfPresentRows) {
  Constraints const none;
  for (bool const compact : {true, false}) {
    DeviceLevel level{c_, compact};
    Search search{c_, &level, none, c_.Limits(none)};
    SumPresent(level.columns(), search.view, level.gradients(), level.memory().stream());
    auto const present = level.memory().Read(search.present);
    for (FeatureIndex f = 0; f < features(); ++f) {
      bool const is_summed = IsUsed(f) && !IsDense(f);
      for (std::size_t n = 0; n < nodes(); ++n) {
        ASSERT_EQ(present[f * nodes() + n], is_summed ? Present(f, n) : GradientSum{}) << f << " in node " << n;
      }
    }
  }
}

TEST_P(CudaExactStageTest, ChoicesAreTheBestOfAll) {
  Constraints const constraints{c_.params, features()};
  NodeLimits const limits = c_.Limits(constraints);
  std::vector<reference::ExactSplit> expected;
  for (std::size_t n = 0; n < nodes(); ++n) {
    expected.push_back(c_.BestSplit(n, limits.bounds(c_.first() + static_cast<NodeIndex>(n))));
  }
  for (bool const compact : {true, false}) {
    DeviceLevel level{c_, compact};
    Search search{c_, &level, constraints, limits};
    Stream const& stream = level.memory().stream();
    SumPresent(level.columns(), search.view, level.gradients(), stream);
    cuda::FindExactSplits(level.columns(), search.view, level.gradients(), search.params, level.NextStates(), stream);
    ChooseExactSplits(level.columns(), search.view, search.choices.data(), stream);
    auto const choices = level.memory().Read(search.choices);
    for (std::size_t n = 0; n < nodes(); ++n) {
      SCOPED_TRACE("node " + std::to_string(n));
      if (expected[n].gain <= kLeastGain) {  // any such candidate may be found: no node is split by it
        EXPECT_LE(choices[n].gain, kLeastGain);
        continue;
      }
      auto const f = static_cast<FeatureIndex>(expected[n].feature);
      ASSERT_EQ(choices[n].gain, expected[n].gain);
      ASSERT_EQ(choices[n].feature, f);
      EXPECT_EQ(choices[n].index, expected[n].below);
      EXPECT_EQ(choices[n].default_left, expected[n].default_left ? 1U : 0U);
      EXPECT_EQ(choices[n].begin, Begin(f, n));
      EXPECT_EQ(choices[n].entries, Begin(f, n + 1) - Begin(f, n));
      EXPECT_EQ(choices[n].present, Present(f, n));
    }
  }
}

/// Candidates are made up with few gains, so many features have the same gain.
TEST_P(CudaExactStageTest, OfEqualGainsTheSmallerFeatureIsChosen) {
  Constraints const none;
  DeviceLevel level{c_, true};
  Search search{c_, &level, none, c_.Limits(none)};
  Random random{nodes()};
  std::vector<float> gains;
  std::vector<std::uint32_t> indices;
  std::vector<bool> lefts;
  std::vector<unsigned long long> best;
  for (std::size_t i = 0; i < nodes() * features(); ++i) {
    gains.push_back(0.5f * static_cast<float>(random.Below(4)));
    indices.push_back(static_cast<std::uint32_t>(random.Below(1000)));
    lefts.push_back(random.Below(2) == 0);
    std::uint32_t bits;
    std::memcpy(&bits, &gains.back(), sizeof(bits));
    std::uint32_t const order = lefts.back() ? indices.back() : 0xFFFFFFFFU - indices.back();
    best.push_back(bits == 0 ? 0ULL : static_cast<unsigned long long>(bits) << 32 | order);
  }
  search.best = level.memory().Put(best);
  search.view.best = search.best.data();
  ChooseExactSplits(level.columns(), search.view, search.choices.data(), level.memory().stream());
  auto const choices = level.memory().Read(search.choices);
  for (std::size_t n = 0; n < nodes(); ++n) {
    float gain = 0;
    FeatureIndex chosen = 0;
    for (FeatureIndex const f : c_.FeaturesOf(n)) {
      if (gains[f * nodes() + n] <= gain) continue;
      gain = gains[f * nodes() + n];
      chosen = f;
    }
    ASSERT_EQ(choices[n].gain, gain) << "node " << n;
    if (gain == 0) continue;
    ASSERT_EQ(choices[n].feature, chosen) << "node " << n;
    EXPECT_EQ(choices[n].index, indices[chosen * nodes() + n]) << "node " << n;
    EXPECT_EQ(choices[n].default_left, lefts[chosen * nodes() + n] ? 1U : 0U) << "node " << n;
  }
}

TEST_P(CudaExactStageTest, RowsGoToTheirSides) {
  Random random{nodes()};
  LevelSplits const made = RandomSplits(c_, lists_, &random);
  std::vector<RowIndex> const origin = OriginsOf(c_.nodes);
  std::vector<std::uint8_t> expected(32 * RowWords(c_.values.rows), 0);
  std::vector<ExactOutcome> outcomes(made.splits.size());
  for (std::size_t s = 0; s < made.splits.size(); ++s) {
    ExactSplit const& split = made.splits[s];
    std::uint64_t const first = Begin(features(), split.node), end = Begin(features(), split.node + 1);
    for (std::uint64_t row = first; row < end; ++row) expected[row] = split.default_left != 0 ? 1 : 0;
    std::vector<RowIndex> below;
    for (std::uint32_t i = 0; i < split.entries; ++i) {
      std::uint32_t const row = lists_.entries[split.begin + i] & ~kNewValue;
      expected[row] = i < split.index ? 1 : 0;
      if (i < split.index) below.push_back(origin[row]);
      if (i + 1 == split.index) outcomes[s].lower = origin[row];
      if (i == split.index) outcomes[s].upper = origin[row];
    }
    outcomes[s].below = c_.SumOf(below);
  }
  for (bool const compact : {true, false}) {
    DeviceLevel level{c_, compact};
    TestMemory& memory = level.memory();
    auto const splits = memory.Put(made.splits);
    auto const split_of = memory.Put(made.split_of);
    auto const sides = memory.Filled<std::uint8_t>(expected.size(), 0xAB);
    auto const found = memory.Filled<ExactOutcome>(made.splits.size(), 0);
    ExactSplits const level_splits{splits.data(), static_cast<std::uint32_t>(made.splits.size()), made.pieces,
                                   split_of.data()};
    MarkSides({level.lists(), level.rows(), level_splits, level.gradients(), sides.data(), found.data()},
              memory.limits(), memory.stream());
    EXPECT_EQ(memory.Read(sides), expected);
    auto const outcome = memory.Read(found);
    for (std::size_t s = 0; s < made.splits.size(); ++s) {
      EXPECT_EQ(outcome[s].below, outcomes[s].below) << "split " << s;
      EXPECT_EQ(outcome[s].lower, outcomes[s].lower) << "split " << s;
      EXPECT_EQ(outcome[s].upper, outcomes[s].upper) << "split " << s;
    }
  }
}

/// A level that is divided. Random rows of the nodes that are split go left.
class Division {
 public:
  Division(ExactCase const& c, LevelLists const& lists, DeviceLevel* level, bool left_only)
      : c_{c}, level_{level}, left_only_{left_only}, random_{c.values.rows}, made_{RandomSplits(c, lists, &random_)} {
    sides_.assign(32 * RowWords(c.values.rows), 0);
    for (ExactSplit const& split : made_.splits) {
      std::uint32_t const n = split.node;
      for (std::uint64_t row = lists.Begin(c.features(), n, c.nodes.size());
           row < lists.Begin(c.features(), n + 1, c.nodes.size()); ++row) {
        sides_[row] = random_.Below(3) == 0 ? 1 : 0;
      }
    }
    children_ = ChildrenOf(c.nodes, made_.splits, sides_, left_only);
    TestMemory& memory = level->memory();
    std::size_t const features = c.features(), splits = made_.splits.size();
    split_of_ = memory.Put(made_.split_of);
    splits_ = memory.Put(made_.splits);
    words_ = memory.Put(PackedSides(sides_, c.values.rows));
    left_entries_ = memory.Filled<std::uint32_t>(features * c.nodes.size(), 0);
    begin_ = memory.Filled<std::uint64_t>((features + 1) * (children_.size() + 1), 0xAB);
    child_rows_ = memory.Filled<ChildRows>(splits, 0xAB);
    entries_ = memory.Filled<std::uint32_t>(lists.entries.size(), 0xAB);
    ExactPartition const partition{
        level->lists(),
        level->rows(),
        Splits(),
        left_only,
        words_.data(),
        left_entries_.data(),
        {begin_.data(), entries_.data(), child_rows_.data(), static_cast<std::uint32_t>(children_.size())}};
    PartitionLists(level->columns(), partition, level->NextStates(), memory.stream());
  }

  void ExpectLists() {
    LevelLists const expected = MakeLists(c_.values, children_);
    auto const begin = level_->memory().Read(begin_);
    auto const entries = level_->memory().Read(entries_);
    std::size_t const children = children_.size();
    auto const expect_begins = [&](std::size_t f) {
      for (std::size_t n = 0; n <= children; ++n) {
        ASSERT_EQ(begin[f * (children + 1) + n], expected.Begin(f, n, children)) << f << " in child " << n;
      }
    };
    expect_begins(c_.features());
    for (FeatureIndex const f : c_.used) expect_begins(f);
    for (FeatureIndex f = 0; f < c_.features(); ++f) {
      bool const is_used = std::find(c_.used.begin(), c_.used.end(), f) != c_.used.end();
      bool const is_last = f + 1 == c_.features();
      std::uint64_t const end = is_last ? entries.size() : expected.Begin(f + 1, 0, children);
      for (std::uint64_t i = expected.Begin(f, 0, children); i < end; ++i) {
        ASSERT_EQ(entries[i], is_used ? expected.entries[i] : kUntouched) << "feature " << f << ", entry " << i;
      }
    }
  }

  /// final: the children are leaves of the finished tree.
  void ExpectMoves(bool final) {
    constexpr NodeIndex kFirst = 31, kLeftChild = 1000;
    TestMemory& memory = level_->memory();
    std::size_t const rows = c_.values.rows;
    auto const sides = memory.Put(sides_);
    auto const compact = memory.Filled<int2>(rows, 0xAB);
    auto const wide = memory.Filled<GradientSum>(rows, 0xAB);
    auto const origin = memory.Filled<RowIndex>(rows, 0xAB);
    auto const positions = memory.Filled<NodeIndex>(rows, 0xAB);
    ExactGradients const from = level_->gradients();
    MutableExactGradients const to{compact.data(), wide.data()};
    MoveExactRows({level_->rows(), Splits(), sides.data(), words_.data(), final ? nullptr : child_rows_.data(),
                   left_only_, from, to, origin.data(), kFirst, kLeftChild, positions.data()},
                  memory.limits(), memory.stream());
    std::vector<RowIndex> moved = final ? std::vector<RowIndex>{} : OriginsOf(children_);
    auto const small = memory.Read(compact);
    auto const large = memory.Read(wide);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      GradientSum const g = c_.gradients.rows[moved[i]];
      GradientSum const found = from.compact != nullptr ? GradientSum{small[i].x, small[i].y} : large[i];
      ASSERT_EQ(found, g) << "row " << i;
    }
    moved.resize(rows, kUntouched);
    EXPECT_EQ(memory.Read(origin), moved);
    std::vector<NodeIndex> expected(rows, static_cast<NodeIndex>(kUntouched));
    std::size_t row = 0;
    for (std::size_t n = 0; n < c_.nodes.size(); ++n) {
      for (RowIndex const r : c_.nodes[n]) {
        bool const left = sides_[row++] != 0;
        std::int32_t const s = made_.split_of[n];
        if (s < 0) expected[r] = kFirst + static_cast<NodeIndex>(n);
        if (s >= 0 && final) expected[r] = kLeftChild + 2 * s + (left ? 0 : 1);
      }
    }
    EXPECT_EQ(memory.Read(positions), expected);
  }

 private:
  ExactSplits Splits() const {
    return {splits_.data(), static_cast<std::uint32_t>(made_.splits.size()), made_.pieces, split_of_.data()};
  }

  ExactCase const& c_;
  DeviceLevel* level_;
  bool left_only_;
  Random random_;
  LevelSplits made_;
  std::vector<std::uint8_t> sides_;
  std::vector<std::vector<RowIndex>> children_;
  DeviceBuffer<std::int32_t> split_of_;
  DeviceBuffer<ExactSplit> splits_;
  DeviceBuffer<std::uint32_t> left_entries_, entries_;
  DeviceBuffer<RowWord> words_;
  DeviceBuffer<std::uint64_t> begin_;
  DeviceBuffer<ChildRows> child_rows_;
};

TEST_P(CudaExactStageTest, ListsAreDividedInOrder) {
  for (bool const left_only : {false, true}) {
    DeviceLevel level{c_, true};
    Division{c_, lists_, &level, left_only}.ExpectLists();
  }
}

TEST_P(CudaExactStageTest, RowsMoveToTheirChildren) {
  for (bool const compact : {true, false}) {
    for (bool const left_only : {false, true}) {
      DeviceLevel level{c_, compact};
      Division division{c_, lists_, &level, left_only};
      division.ExpectMoves(false);
      if (!left_only) division.ExpectMoves(true);
    }
  }
}

}  // namespace
}  // namespace xgbgpu::testing
