// Converts symmetric trees to tests of levels, and predicts with them on the host.
#include "predict/level_forest.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/parallel.h"
#include "core/row_values.h"

namespace xgbgpu {

namespace {

constexpr std::size_t kRows = 128;          // of a block
constexpr std::size_t kTaskRows = 1 << 11;  // a multiple of kRows

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Returns true if two inner nodes have the same test.
bool AskTheSame(ForestNode const& a, ForestNode const& b, PackedSets const& sets) {
  if (a.feature != b.feature || a.default_left != b.default_left) return false;
  if (a.set == kNoSet || b.set == kNoSet) return a.set == b.set && a.value == b.value;
  std::uint32_t const* const words = sets.at + a.set;
  // The first word has the number of further words.
  return *words == sets.at[b.set] && std::equal(words, words + 1 + PackedSetHead{*words}.words(), sets.at + b.set);
}

/// Appends a bit for the level to the indices of a block's rows. A comparison with NaN, a missing value, is false.
void AddLevel(float const* values, LevelTest const& test, PackedSets const& sets, std::uint32_t* indices) {
  float const threshold = test.threshold;
  if (test.has_set()) {
    for (std::size_t r = 0; r < kRows; ++r) {
      indices[r] = 2 * indices[r] + static_cast<std::uint32_t>(test.GoesRight(values[r], sets));
    }
  } else if (test.default_left()) {
#pragma omp simd
    for (std::size_t r = 0; r < kRows; ++r) {
      indices[r] = 2 * indices[r] + static_cast<std::uint32_t>(values[r] >= threshold);
    }
  } else {
#pragma omp simd
    for (std::size_t r = 0; r < kRows; ++r) {
      indices[r] = 2 * indices[r] + 1 - static_cast<std::uint32_t>(values[r] < threshold);
    }
  }
}

}  // namespace

/// The values of kRows rows, column by column.
struct LevelForest::Block {
  explicit Block(std::size_t columns) : values(columns * kRows, kMissing) {}

  float const* column(std::uint32_t c) const { return values.data() + c * kRows; }

  std::vector<float> values;
};

std::optional<LevelForest> LevelForest::Of(Forest const& forest, std::size_t most_leaves) {
  LevelForest made;
  made.column_of_.assign(forest.features(), -1);
  made.outputs_ = forest.outputs();
  for (std::size_t t = 0; t < forest.trees(); ++t) {
    bool const is_symmetric =
        forest.tree(t).wide() ? made.AddTree<WideNodes>(forest, t) : made.AddTree<NarrowNodes>(forest, t);
    // A tree has at most as many tests, or new columns, as leaves.
    if (!is_symmetric || made.leaves_.size() > most_leaves) return std::nullopt;
  }
  return made;
}

std::uint32_t LevelForest::ColumnOf(FeatureIndex feature) {
  if (column_of_[feature] < 0) {
    column_of_[feature] = static_cast<std::int32_t>(features_.size());
    features_.push_back(feature);
  }
  return static_cast<std::uint32_t>(column_of_[feature]);
}

/// Returns the test of a level from one of its nodes, and keeps its set.
LevelTest LevelForest::TestOf(ForestNode const& node, PackedSets const& sets) {
  LevelTest test{node.value, ColumnOf(node.feature) | (node.default_left ? LevelTest::kDefaultLeft : 0U)};
  if (node.set != kNoSet) {
    auto const number = static_cast<std::uint32_t>(set_words_.size());
    std::uint32_t const* const words = sets.at + node.set;
    set_words_.insert(set_words_.end(), words, words + 1 + PackedSetHead{*words}.words());
    std::memcpy(&test.threshold, &number, sizeof(number));
    test.link |= LevelTest::kHasSet;
  }
  return test;
}

/// Walks down the tree level by level, then repeats leaves for all paths of the last level below them.
template <typename Nodes>
bool LevelForest::AddTree(Forest const& forest, std::size_t t) {
  struct PathNode {
    ForestNode node;
    std::uint32_t path;  ///< a bit for each level so far
    std::uint32_t level;
  };
  ForestWord const* const words = forest.words(t);
  PackedSets const sets = forest.sets(t);
  LevelTree tree{static_cast<std::uint32_t>(tests_.size()), 0, static_cast<std::uint32_t>(leaves_.size()),
                 forest.tree(t).output()};
  std::vector<PathNode> leaves, nodes, inner{{Nodes::Load(words, 0), 0, 0}};
  for (;; ++tree.levels) {
    nodes.swap(inner);
    inner.clear();
    for (PathNode const& n : nodes) (n.node.leaf() ? leaves : inner).push_back(n);
    if (inner.empty()) break;
    if (tree.levels == kMostLevels) return false;
    ForestNode const first = inner.front().node;
    nodes.clear();
    for (auto const& [node, path, level] : inner) {
      if (!AskTheSame(node, first, sets)) return false;
      nodes.push_back({Nodes::Load(words, node.left), 2 * path, level + 1});
      nodes.push_back({Nodes::Load(words, node.left + 1), 2 * path + 1, level + 1});
    }
    tests_.push_back(TestOf(first, sets));
    inner.swap(nodes);
  }
  tests_.resize(tree.end_test());
  leaves_.resize(tree.end_leaf());
  float const weight = forest.weights()[t];
  for (auto const& [leaf, path, level] : leaves) {
    std::uint32_t const below = tree.levels - level;
    std::fill_n(leaves_.begin() + tree.first_leaf + (path << below), std::size_t{1} << below,
                weight == 1.0f ? leaf.value : WeightedLeaf(leaf.value, weight));
  }
  trees_.push_back(tree);
  return set_words_.size() <= std::numeric_limits<std::uint32_t>::max();
}

template <typename Row>
void LevelForest::LoadRow(Row const& row, std::size_t place, Block* block) const {
  float* const values = block->values.data() + place;
  if constexpr (std::is_same_v<Row, EntryRow>) {
    for (std::size_t c = 0; c < features_.size(); ++c) values[c * kRows] = kMissing;
    for (Entry const& e : row.entries()) {
      std::int32_t const c = e.feature < column_of_.size() ? column_of_[e.feature] : -1;
      if (c >= 0) values[static_cast<std::size_t>(c) * kRows] = e.value;
    }
  } else {
    for (std::size_t c = 0; c < features_.size(); ++c) {
      values[c * kRows] = features_[c] < row.features() ? row[features_[c]] : kMissing;
    }
  }
}

void LevelForest::AddTrees(Block const& block, std::size_t first, std::size_t last, std::uint64_t first_row,
                           std::size_t rows, OutputView<float> const& margins) const {
  std::uint32_t indices[kRows];
  for (std::size_t t = first; t < last; ++t) {
    LevelTree const& tree = trees_[t];
    std::fill_n(indices, kRows, 0U);
    for (std::uint32_t level = 0; level < tree.levels; ++level) {
      LevelTest const& test = tests_[tree.first_test + level];
      AddLevel(block.column(test.column()), test, {set_words_.data()}, indices);
    }
    float const* const leaves = leaves_.data() + tree.first_leaf;
    for (std::size_t r = 0; r < rows; ++r) {
      float& margin = margins.at(first_row + r, tree.output);
      margin = margin + leaves[indices[r]];
    }
  }
}

void LevelForest::PredictMargins(RowSource const& source, std::size_t first, std::size_t last,
                                 OutputView<float> margins, int threads) const {
  CheckTreeRange(first, last, trees());
  CheckMargins(margins, source.rows(), outputs_);
  // Few rows are one task, for this thread.
  std::vector<Block> blocks(source.rows() <= kTaskRows ? 1 : static_cast<std::size_t>(threads),
                            Block{features_.size()});
  auto const predict = [&](auto const& row_at, std::uint64_t first_row, std::size_t rows) {
    ParallelTasks(threads, (rows + kTaskRows - 1) / kTaskRows, [&](std::size_t task, int thread) {
      Block& block = blocks[static_cast<std::size_t>(thread)];
      std::size_t const end = std::min(rows, (task + 1) * kTaskRows);
      for (std::size_t begin = task * kTaskRows; begin < end; begin += kRows) {
        std::size_t const n = std::min(kRows, end - begin);
        for (std::size_t r = 0; r < n; ++r) LoadRow(row_at(begin + r), r, &block);
        AddTrees(block, first, last, first_row + begin, n, margins);
      }
    });
  };
  if (auto const array = HostArray(source)) {
    VisitRows(*array, source.features(), [&](auto const& rows) {
      predict([&](std::size_t i) { return rows[i]; }, 0, static_cast<std::size_t>(source.rows()));
    });
    return;
  }
  source.ForEachBatch([&](RowBatch const& batch) {
    predict([&](std::size_t i) { return EntryRow{batch.row(i)}; }, batch.first_row, batch.rows());
  });
}

}  // namespace xgbgpu
