#include "predict/level_forest.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/parallel.h"
#include "core/row_values.h"

namespace xgbgpu {

namespace {

constexpr std::size_t kRows = 128;          // of a block
constexpr std::size_t kTaskRows = 1 << 11;  // a multiple of kRows

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Goes on with the indices of the rows of a block, at which is a bit for each level so far. A comparison with NaN, a
/// missing value, is false.
void AddLevel(float const* values, float threshold, bool default_left, std::uint32_t* indices) {
  if (default_left) {
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

std::optional<LevelForest> LevelForest::Of(Forest const& forest) {
  LevelForest made;
  made.column_of_.assign(forest.features(), -1);
  made.outputs_ = forest.outputs();
  for (std::size_t t = 0; t < forest.trees(); ++t) {
    ForestTree const& tree = forest.tree(t);
    bool const is_symmetric =
        forest.first_set(t) == forest.first_set(t + 1) &&
        (tree.wide() ? made.AddTree<WideNodes>(forest.words(t), tree.output(), forest.weights()[t])
                     : made.AddTree<NarrowNodes>(forest.words(t), tree.output(), forest.weights()[t]));
    if (!is_symmetric) return std::nullopt;
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

/// Goes down the tree level by level. `nodes` has the node of each path; a leaf is that of all paths below it.
template <typename Nodes>
bool LevelForest::AddTree(ForestWord const* words, std::uint32_t output, float weight) {
  Tree tree{output, static_cast<std::uint32_t>(tests_.size()), 0, leaves_.size()};
  std::vector<ForestNode> nodes{Nodes::Load(words, 0)};
  auto const is_inner = [](ForestNode const& node) { return !node.leaf(); };
  for (int level = 0; std::any_of(nodes.begin(), nodes.end(), is_inner); ++level) {
    if (level == kMostLevels) return false;
    ForestNode const test = *std::find_if(nodes.begin(), nodes.end(), is_inner);
    std::vector<ForestNode> below;
    for (ForestNode const& node : nodes) {
      bool const is_other =
          node.feature != test.feature || node.value != test.value || node.default_left != test.default_left;
      if (is_inner(node) && is_other) return false;
      below.push_back(node.leaf() ? node : Nodes::Load(words, node.left));
      below.push_back(node.leaf() ? node : Nodes::Load(words, node.left + 1));
    }
    tests_.push_back({test.value, ColumnOf(test.feature), test.default_left});
    nodes = std::move(below);
  }
  tree.end_test = static_cast<std::uint32_t>(tests_.size());
  for (ForestNode const& leaf : nodes) {
    leaves_.push_back(weight == 1.0f ? leaf.value : WeightedLeaf(leaf.value, weight));
  }
  trees_.push_back(tree);
  return true;
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
    Tree const& tree = trees_[t];
    std::fill_n(indices, kRows, 0U);
    for (std::uint32_t i = tree.first_test; i < tree.end_test; ++i) {
      AddLevel(block.column(tests_[i].column), tests_[i].threshold, tests_[i].default_left, indices);
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
  std::vector<Block> blocks(static_cast<std::size_t>(threads), Block{features_.size()});
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
