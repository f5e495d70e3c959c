// Shapes at the limits, host = CUDA. Each backend makes cuts and bins of its own. Cases that would take a host too long
// are compared with sums of integers.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "exact/exact_memory.h"
#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::testing {
namespace {

class CudaExtremeTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  int const threads_{omp_get_max_threads()};
};

/// What a backend makes of `source`: cuts, and for each of `settings` a tree and the leaves of its rows.
struct Side {
  Cuts cuts;
  std::vector<Tree> trees;
  std::vector<std::vector<NodeIndex>> positions;

  Side(BackendKind kind, RowSource const& source, int max_bin, std::vector<TrainParams> const& settings,
       std::vector<GradientPair> const& gradients, int threads) {
    auto const data = Dataset::Build(source, {}, max_bin, threads, {kind, 0});
    cuts = data->cuts();
    Trainer trainer{data, kind, threads};
    for (TrainParams const& params : settings) {
      trees.push_back(trainer.Grow(params, gradients, {}));
      trainer.LeafPositions(positions.emplace_back(source.rows()), {});
    }
  }
};

void ExpectEqual(Side const& cuda, Side const& host) {
  EXPECT_EQ(cuda.cuts, host.cuts);
  EXPECT_EQ(cuda.trees, host.trees);
  EXPECT_TRUE(cuda.positions == host.positions);
}

TrainParams Settings(GrowPolicy policy, int max_depth, int max_leaves) {
  TrainParams params;
  params.grow_policy = policy;
  params.max_depth = max_depth;
  params.max_leaves = max_leaves;
  return params;
}

/// Parameters with which a tree splits as long as rows differ.
TrainParams Greedy(int max_depth, int max_leaves) {
  TrainParams params = Settings(GrowPolicy::kLossGuide, max_depth, max_leaves);
  params.min_child_weight = 0;
  params.reg_lambda = 0;
  return params;
}

TEST_F(CudaExtremeTest, AMillionColumns) {
  constexpr FeatureIndex kColumns = 1000000;
  constexpr std::size_t kRows = 2000;
  Random random{1};
  std::vector<std::vector<Entry>> rows(kRows);
  std::vector<GradientPair> gradients;
  for (auto& row : rows) {
    std::vector<FeatureIndex> columns;
    for (int i = 0; i < 60; ++i) columns.push_back(static_cast<FeatureIndex>(random.Below(kColumns)));
    for (FeatureIndex const f : {FeatureIndex{0}, kColumns / 2, kColumns - 1}) {
      if (random.Below(4) != 0) columns.push_back(f);
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    float sum = random.Between(-0.1f, 0.1f);
    for (FeatureIndex const f : columns) {
      row.push_back({f, random.Between(-1, 1)});
      if (f == kColumns - 1) sum += row.back().value > 0.25f ? 1.0f : -1.0f;
      if (f == kColumns / 2) sum += row.back().value > -0.5f ? 0.4f : -0.4f;
    }
    gradients.push_back({sum, 1.0f});
  }
  MemorySource const source{std::move(rows), kColumns};
  std::vector<TrainParams> settings{Settings(GrowPolicy::kDepthWise, 4, 0), Settings(GrowPolicy::kLossGuide, 0, 12)};
  settings.push_back(settings[0]);
  settings.back().colsample_bytree = 0.5f;
  Side const host{BackendKind::kHost, source, 64, settings, gradients, threads_};
  ExpectEqual({BackendKind::kCuda, source, 64, settings, gradients, threads_}, host);
  EXPECT_EQ(host.trees[0].feature[0], kColumns - 1);
  EXPECT_GT(host.trees[0].Leaves(), 4U);
}

TEST_F(CudaExtremeTest, SixtyFiveThousandLeaves) {
  constexpr int kLeaves = 65536;
  TreeCase const c = RandomCase({200000, 3}, 2);
  MemorySource const source{c.values};
  std::vector<TrainParams> const settings{Greedy(0, kLeaves)};
  Side const host{BackendKind::kHost, source, 256, settings, c.gradients, threads_};
  EXPECT_EQ(host.trees[0].Leaves(), std::size_t{kLeaves});
  ExpectEqual({BackendKind::kCuda, source, 256, settings, c.gradients, threads_}, host);
}

TEST_F(CudaExtremeTest, LossGuidedWithOneLevelAndWithoutAnyLimit) {
  TreeCase const c = RandomCase({20000, 3}, 3);
  MemorySource const source{c.values};
  std::vector<TrainParams> const settings{Greedy(1, 0), Greedy(0, 0)};
  Side const host{BackendKind::kHost, source, 64, settings, c.gradients, threads_};
  EXPECT_EQ(host.trees[0].Leaves(), 2U);
  EXPECT_GT(host.trees[1].Leaves(), 10000U);
  ExpectEqual({BackendKind::kCuda, source, 64, settings, c.gradients, threads_}, host);
}

// Every symbol of two bytes is in use: 65,535 bins and "missing".
TEST_F(CudaExtremeTest, AllSymbolsOfTwoBytes) {
  constexpr std::size_t kRows = 200000;
  std::vector<std::vector<Entry>> rows(kRows);
  std::vector<GradientPair> narrow, wide;
  Random random{4};
  for (std::size_t r = 0; r < kRows; ++r) {
    auto const value = static_cast<float>(r % kMaxBinLimit);
    rows[r].push_back({0, value});
    // Up to four rows have the same value, and their numbers have different remainders by 7. So one at most lacks this.
    if (r % 7 != 0) rows[r].push_back({1, static_cast<float>(kMaxBinLimit) - value});
    rows[r].push_back({2, random.Between(-1, 1)});
    float const at_the_end = value >= 65530.0f || r % 7 == 0 ? 1.0f : -0.2f;
    narrow.push_back({at_the_end + random.Between(-0.5f, 0.5f), 1.0f});
    wide.push_back(narrow.back());
  }
  wide[12345].grad = 1e6f;
  MemorySource const source{std::move(rows), 3};
  std::vector<TrainParams> const settings{Settings(GrowPolicy::kDepthWise, 6, 0),
                                          Settings(GrowPolicy::kLossGuide, 0, 31)};
  for (auto const& gradients : {narrow, wide}) {
    Side const host{BackendKind::kHost, source, kMaxBinLimit, settings, gradients, threads_};
    ExpectEqual({BackendKind::kCuda, source, kMaxBinLimit, settings, gradients, threads_}, host);
    EXPECT_EQ(host.cuts.bins(0), BinIndex{kMaxBinLimit});
    EXPECT_EQ(host.cuts.bins(1), BinIndex{kMaxBinLimit});
    EXPECT_GT(host.trees[0].Leaves(), 16U);
  }
}

/// The integers that make a row: values of 0 to 15 in 28 columns, and 16 bits of noise.
struct MadeRow {
  static constexpr FeatureIndex kColumns = 28;
  std::uint64_t words[2];

  static std::uint64_t Mix(std::uint64_t x) {  // From  Steele, Lea & Flood: the output function of SplitMix64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }
  explicit MadeRow(std::uint64_t row)
      : words{Mix((2 * row + 1) * 0x9E3779B97F4A7C15ULL), Mix((2 * row + 2) * 0x9E3779B97F4A7C15ULL)} {}

  int value(FeatureIndex f) const { return static_cast<int>(words[f / 16] >> (4 * (f % 16)) & 15); }
  /// Returns -3 to 3: an effect of the first column, one of the last that a middle one reverses, and noise.
  int grad() const {
    int const first = value(0) < 5 ? -2 : 1;
    int const last = value(kColumns - 1) < 9 ? -1 : 1;
    return first + (value(13) < 8 ? last : -last) + static_cast<int>(words[1] >> 48 & 1);
  }
  int hess() const { return 1 + static_cast<int>(words[1] >> 50 & 1); }
};

/// Rows that are made when they are read, because they would not fit memory as entries.
class MadeRows final : public RowSource {
 public:
  MadeRows(std::uint64_t rows, int threads) : rows_{rows}, threads_{threads} {}
  std::uint64_t rows() const override { return rows_; }
  FeatureIndex features() const override { return MadeRow::kColumns; }

  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    constexpr std::uint64_t kBatch = 1 << 19, kGrain = 1 << 12;
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t i = 0; i <= kBatch; ++i) offsets.push_back(i * features());
    std::vector<Entry> entries(kBatch * features());
    for (std::uint64_t first = 0; first < rows_; first += kBatch) {
      std::uint64_t const n = std::min(kBatch, rows_ - first);
      ParallelChunks(threads_, n, kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          MadeRow const row{first + i};
          for (FeatureIndex f = 0; f < features(); ++f) {
            entries[i * features() + f] = {f, static_cast<float>(row.value(f))};
          }
        }
      });
      visit({first, {offsets.data(), n + 1}, {entries.data(), n * features()}});
    }
  }

 private:
  std::uint64_t rows_;
  int threads_;
};

NodeIndex LeafOf(Tree const& tree, MadeRow const& row) {
  NodeIndex node = 0;
  while (!tree.IsLeaf(node)) {
    auto const n = static_cast<std::size_t>(node);
    node = tree.left[n] + (static_cast<float>(row.value(tree.feature[n])) < tree.threshold[n] ? 0 : 1);
  }
  return node;
}

struct NodeSum {
  std::int64_t rows{0}, grad{0}, hess{0};

  NodeSum& operator+=(NodeSum const& other) {
    rows += other.rows;
    grad += other.grad;
    hess += other.hess;
    return *this;
  }
};

/// Sums over the rows of every node of a tree, and the number of rows that are not in the leaf that their values lead
/// to.
struct Count {
  std::vector<NodeSum> nodes;
  std::uint64_t misplaced{0};

  Count(Tree const& tree, std::vector<NodeIndex> const& positions, int threads) : nodes(tree.size()) {
    std::mutex mutex;
    ParallelChunks(threads, positions.size(), 1 << 18, [&](std::size_t begin, std::size_t end) {
      std::vector<NodeSum> sums(nodes.size());
      std::uint64_t wrong = 0;
      for (std::size_t r = begin; r < end; ++r) {
        MadeRow const row{r};
        NodeIndex const leaf = LeafOf(tree, row);
        wrong += positions[r] != leaf ? 1 : 0;
        sums[static_cast<std::size_t>(leaf)] += {1, row.grad(), row.hess()};
      }
      std::lock_guard<std::mutex> lock{mutex};
      misplaced += wrong;
      for (std::size_t n = 0; n < nodes.size(); ++n) nodes[n] += sums[n];
    });
    for (std::size_t n = nodes.size() - 1; n > 0; --n) nodes[static_cast<std::size_t>(tree.parent[n])] += nodes[n];
  }
};

/// Grows a tree on these rows twice, and compares it with sums over them. Gradients are small integers, which are exact
/// in either fixed-point format (core/fixed_point.h), so every sum is exact.
void ExpectSumsOfRows(std::shared_ptr<Dataset const> const& data, int threads) {
  std::uint64_t const rows = data->rows();
  std::vector<GradientPair> gradients(rows);
  ParallelChunks(threads, rows, 1 << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      MadeRow const row{r};
      gradients[r] = {static_cast<float>(row.grad()), static_cast<float>(row.hess())};
    }
  });
  TrainParams params = Settings(GrowPolicy::kDepthWise, 4, 0);
  params.reg_lambda = 0;
  Trainer trainer{data, BackendKind::kCuda, threads};
  Tree const tree = trainer.Grow(params, gradients, {});
  std::vector<NodeIndex> positions(rows);
  trainer.LeafPositions(positions, {});
  Count const count{tree, positions, threads};
  EXPECT_EQ(count.misplaced, 0U);
  EXPECT_EQ(count.nodes[0].rows, static_cast<std::int64_t>(rows));
  EXPECT_GE(tree.Leaves(), 8U);
  for (std::size_t n = 0; n < tree.size(); ++n) {
    auto const grad = static_cast<double>(count.nodes[n].grad), hess = static_cast<double>(count.nodes[n].hess);
    EXPECT_EQ(tree.sum_hess[n], static_cast<float>(hess)) << "node " << n;
    EXPECT_EQ(tree.weight[n], static_cast<float>(-grad / hess)) << "node " << n;
  }
  EXPECT_EQ(trainer.Grow(params, gradients, {}), tree);
  std::vector<NodeIndex> again(rows);
  trainer.LeafPositions(again, {});
  EXPECT_TRUE(again == positions);
}

constexpr std::uint64_t kManyRows = 78000000;
static_assert(kManyRows * MadeRow::kColumns > std::uint64_t{1} << 31);

/// Returns an empty text if the first device has so much memory, else the reason to skip a test.
std::string WhyTooLarge(std::uint64_t needed) {
  std::uint64_t const memory = CudaDevices()[0].memory;
  if (memory >= needed) return {};
  return "the device has " + std::to_string(memory) + " bytes of memory; needed: " + std::to_string(needed);
}

TEST_F(CudaExtremeTest, MoreThanTwoToThe31Values) {
  if (std::string const why_not = WhyTooLarge(std::uint64_t{16} << 30); !why_not.empty()) GTEST_SKIP() << why_not;
  auto const data = Dataset::Build(MadeRows{kManyRows, threads_}, {}, 16, threads_, {BackendKind::kCuda, 0});
  EXPECT_EQ(data->cuts().bins(), 16 * MadeRow::kColumns);
  ExpectSumsOfRows(data, threads_);
}

// The host needs 8 bytes a value, and 4 more while they are copied.
TEST_F(CudaExtremeTest, MoreThanTwoToThe31ValuesInExactTrees) {
  std::uint64_t const device = ExactDeviceBytes(kManyRows, kManyRows * MadeRow::kColumns);
  if (std::string const why_not = WhyTooLarge(device + device / 4); !why_not.empty()) GTEST_SKIP() << why_not;
  ExpectSumsOfRows(Dataset::BuildSorted(MadeRows{kManyRows, threads_}, threads_, {BackendKind::kCuda, 0}), threads_);
}

}  // namespace
}  // namespace xgbgpu::testing
