// predict: symmetric trees are recognised, and predicted with the bits of a walk through each tree.
#include "predict/level_forest.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <limits>
#include <new>
#include <vector>

#include "base/host_memory.h"
#include "support/data.h"
#include "support/given_trees.h"
#include "xgbgpu/host_prediction.h"

namespace xgbgpu {
namespace {

using testing::Bits;
using testing::GivenTree;
using testing::MemorySource;
using testing::Random;

constexpr std::uint32_t kOutputs = 3;

std::vector<GivenTree> SymmetricTrees(FeatureIndex features, std::uint64_t seed, std::uint32_t categories = 0,
                                      int most_levels = LevelForest::kMostLevels) {
  Random random{seed};
  std::vector<GivenTree> trees;
  for (int levels = 0; levels <= most_levels; ++levels) {
    for (int i = 0; i < 3; ++i) {
      trees.push_back(testing::SymmetricTree({levels, features, kOutputs, categories}, &random));
    }
  }
  return trees;
}

struct LevelCase {
  testing::DataShape shape;
  std::uint32_t categories{0};
};

TEST(LevelForestTest, EqualsTheWalkByHand) {
  for (LevelCase const& c :
       {LevelCase{{3000, 7, 0.3}}, {{1, 7}}, {{129, 20, 0.9}}, {{4097, 3}}, {{2000, 7, 0.1}, 3}, {{500, 5}, 1300}}) {
    auto values = testing::RandomForestValues(c.shape, c.categories, 5);
    values(0, 0) = std::numeric_limits<float>::infinity();
    auto const trees = SymmetricTrees(7, c.shape.rows, c.categories);  // of features that the values may not have
    auto const forest = LevelForest::Of(testing::MakeForest(trees));
    ASSERT_TRUE(forest);
    ASSERT_EQ(forest->trees(), trees.size());
    for (auto const& [first, last] : {std::pair<std::size_t, std::size_t>{0, trees.size()}, {5, 20}, {3, 3}}) {
      auto expected = testing::RandomMargins(c.shape.rows * kOutputs, 6);
      auto const before = expected;
      testing::AddByHand(trees, first, last, values, kOutputs, &expected);
      for (int threads : {1, 3}) {
        for (std::size_t batch : {0U, 100U}) {
          auto margins = before;
          forest->PredictMargins(MemorySource{values, batch}, first, last,
                                 RowMajor(margins.data(), c.shape.rows, kOutputs), threads);
          EXPECT_EQ(Bits(margins), Bits(expected))
              << c.shape.rows << " rows, " << c.categories << " categories, batches of " << batch;
        }
      }
    }
  }
}

TEST(LevelForestTest, OtherTreesAreNone) {
  Random random{7};
  // Feature 0 is of categories.
  auto const with = [&](auto&& change, FeatureIndex features = 8, std::uint32_t categories = 0) {
    auto trees = SymmetricTrees(features, 8, categories, 4);
    for (GivenTree& tree : trees) {
      if (tree.size() > 16) change(&tree);
    }
    return LevelForest::Of(testing::MakeForest(trees)).has_value();
  };
  auto const last_inner = [](GivenTree const& tree) {
    std::size_t n = tree.size();
    while (tree.left[--n] == kNoNode) continue;
    return n;
  };
  EXPECT_TRUE(with([](GivenTree*) {}));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->value[last_inner(*tree)] += 0.5f; }));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->feature[last_inner(*tree)] += 1; }));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->default_left[last_inner(*tree)] ^= 1; }));
  EXPECT_FALSE(with([&](GivenTree* tree) {
    tree->categories.resize(tree->size());
    tree->categories[last_inner(*tree)] = {1, 3};
  }));
  EXPECT_FALSE(with([&](GivenTree* tree) {
    *tree = testing::SymmetricTree({LevelForest::kMostLevels + 1, 4}, &random);
  }));

  constexpr std::uint32_t kCategories = 70;
  EXPECT_TRUE(with([](GivenTree*) {}, 1, kCategories));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->categories[last_inner(*tree)] = {1, 3}; }, 1, kCategories));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->categories[last_inner(*tree)].pop_back(); }, 1, kCategories));
  EXPECT_FALSE(with([&](GivenTree* tree) { tree->categories[last_inner(*tree)].clear(); }, 1, kCategories));
}

// A chain has one inner node a level, so that each level asks one question, and its full tree has many leaves.
TEST(LevelForestTest, FullTreesMayBeTooLarge) {
  Random random{12};
  auto const chain = [&](std::size_t leaves) { return testing::RandomTree({leaves, 5, 0, true}, {0, 0}, &random); };
  Forest const forest = testing::MakeForest({chain(11), chain(3), chain(1), chain(17)});
  auto const made = LevelForest::Of(forest);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->leaves().size(), 1024U + 4 + 4 + 65536);
  EXPECT_TRUE(LevelForest::Of(forest, made->leaves().size()));
  EXPECT_FALSE(LevelForest::Of(forest, made->leaves().size() - 1));
  EXPECT_FALSE(LevelForest::Of(testing::MakeForest({chain(18)})));
}

/// Predictions of a model of ten rounds.
struct HostCase {
  static constexpr std::uint32_t kRounds = 10;
  static constexpr std::uint64_t kRows = 5000;

  bool IsWorthwhile(std::uint64_t n, RoundRange rounds, int threads = 1) {
    return prediction.IsWorthwhile(model, n, rounds, threads);
  }
  /// Margins that begin as 0.25, or those that are there.
  bool Predict(RowSource const& source, RoundRange rounds = {0, kRounds}, bool anew = true) {
    BaseMargins const base{{}, {0.25f}};
    return prediction.PredictMargins(model, 2, source, rounds, anew ? &base : nullptr, &margins);
  }
  std::vector<float> Expected() const {
    std::vector<float> expected(kRows * kOutputs, 0.25f);
    testing::AddByHand(trees, 0, trees.size(), values, kOutputs, &expected);
    return expected;
  }

  reference::Values const values = testing::RandomValues({kRows, 7, 0.1}, 9);
  MemorySource const rows{values};
  std::vector<GivenTree> trees = [] {
    auto all = SymmetricTrees(7, 10);
    all.resize(2 * kRounds);
    return all;
  }();
  int reads{0};
  std::function<void()> while_read = [] {};
  ModelView model{kRounds, kOutputs, 7, {0.5f}, [this](std::function<void(ModelTree const&)> const& visit) {
                    ++reads;
                    while_read();
                    std::vector<float> const covers(64, 1.0f);
                    for (std::uint32_t i = 0; i < 2 * model.rounds; ++i) trees[i].VisitBy(visit, covers);
                  }};
  HostPrediction prediction;
  std::vector<float> margins;
};

/// The rows of another source; visit(rows of the batch) comes before each batch.
class VisitedSource final : public RowSource {
 public:
  VisitedSource(RowSource const& rows, std::function<void(RowBatch const&)> visit)
      : rows_{rows}, visit_{std::move(visit)} {}

  std::uint64_t rows() const override { return rows_.rows(); }
  FeatureIndex features() const override { return rows_.features(); }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    rows_.ForEachBatch([&](RowBatch const& batch) {
      visit_(batch);
      visit(batch);
    });
  }

 private:
  RowSource const& rows_;
  std::function<void(RowBatch const&)> visit_;
};

TEST(HostPredictionTest, ReadsTheModelWhenThatIsWorthTheTime) {
  HostCase c;
  EXPECT_FALSE(c.IsWorthwhile(5000, {0, 10}, 3)) << "few for each thread";
  c.prediction.Forget();
  EXPECT_FALSE(c.IsWorthwhile(5000, {9, 10})) << "one round, for which ten are read";
  EXPECT_FALSE(c.IsWorthwhile(5000, {0, 11}));
  ASSERT_TRUE(c.IsWorthwhile(5000, {0, 10}));
  ASSERT_TRUE(c.Predict(c.rows));
  EXPECT_EQ(Bits(c.margins), Bits(c.Expected()));
  EXPECT_TRUE(c.IsWorthwhile(40, {9, 10})) << "the model is there";
  EXPECT_FALSE(c.IsWorthwhile(10, {0, 10}));
  ASSERT_TRUE(c.Predict(c.rows, {0, 7}));
  ASSERT_TRUE(c.Predict(c.rows, {7, 10}, false));
  EXPECT_EQ(Bits(c.margins), Bits(c.Expected()));
  EXPECT_EQ(c.reads, 1);
}

TEST(HostPredictionTest, ManySmallCallsHaveTheModelRead) {
  HostCase c;
  int calls = 1;
  for (; !c.IsWorthwhile(100, {0, 10}); ++calls) ASSERT_LT(calls, 200);
  EXPECT_EQ(calls, 41) << "4096 rows";
  c.prediction.Forget();
  for (int i = 0; i < 500; ++i) ASSERT_FALSE(c.IsWorthwhile(10, {0, 10})) << "those stay with stock code";
  for (calls = 1; !c.IsWorthwhile(100, {5, 10}, 2); ++calls) ASSERT_LT(calls, 200);
  EXPECT_EQ(calls, 164) << "half of the rounds, for twice the threads";

  c.prediction.Forget();
  for (std::uint32_t rounds = 1; rounds < 100; ++rounds) {
    c.model.rounds = rounds;
    EXPECT_EQ(c.IsWorthwhile(10000, {rounds - 1, rounds}), rounds < 3) << "work with other rounds does not count";
  }
}

TEST(HostPredictionTest, ATrainingIsFollowedOnceTreesAreKnownToBeSymmetric) {
  HostCase c;
  for (c.model.rounds = 1; c.model.rounds <= HostCase::kRounds; ++c.model.rounds) {
    std::uint32_t const rounds = c.model.rounds;
    bool const worthwhile = c.IsWorthwhile(5000, {rounds - 1, rounds});
    EXPECT_EQ(worthwhile, rounds < 5) << "1024 rows a round";
    EXPECT_EQ(worthwhile && c.Predict(c.rows, {rounds - 1, rounds}), worthwhile);
  }
  EXPECT_EQ(c.reads, 4);
  c.model.rounds = HostCase::kRounds;
  c.prediction.Forget();
  EXPECT_FALSE(c.IsWorthwhile(2000, {0, 10})) << "it may have other trees now";
}

TEST(HostPredictionTest, OtherTreesAreReadOnce) {
  HostCase c;
  Random random{11};
  c.trees[3] = testing::RandomTree({9, 7}, c.values, &random);
  c.margins = {1, 2, 3};
  auto const before = c.margins;
  EXPECT_TRUE(c.IsWorthwhile(5000, {0, 10}));
  EXPECT_FALSE(c.Predict(c.rows));
  EXPECT_EQ(c.margins, before) << "margins that are left as they were";
  EXPECT_FALSE(c.IsWorthwhile(1000000, {0, 10})) << "it has other trees";
  c.model.rounds = 11;
  EXPECT_FALSE(c.IsWorthwhile(1000000, {0, 11})) << "and more do not change that";
  c.model.rounds = 5;
  EXPECT_TRUE(c.IsWorthwhile(1000000, {0, 5})) << "fewer do";
  c.model.rounds = 10;
  EXPECT_FALSE(c.Predict(c.rows));
  EXPECT_FALSE(c.IsWorthwhile(1000000, {0, 10}));
  c.prediction.Forget();
  EXPECT_TRUE(c.IsWorthwhile(1000000, {0, 10}));
  EXPECT_EQ(c.reads, 2);
}

TEST(HostPredictionTest, ThreadsPredictAtTheSameTime) {
  HostCase c;
  ASSERT_TRUE(c.Predict(c.rows));
  std::future<bool> other;
  VisitedSource const rows{c.rows, [&](RowBatch const&) {
                             other = std::async(std::launch::async, [&] {
                               BaseMargins const base{{}, {0.25f}};
                               std::vector<float> margins;
                               return c.IsWorthwhile(1, {0, 10}) == false && c.IsWorthwhile(40, {0, 10}) &&
                                      c.prediction.PredictMargins(c.model, 1, c.rows, {0, 10}, &base, &margins) &&
                                      Bits(margins) == Bits(c.Expected());
                             });
                             EXPECT_EQ(other.wait_for(std::chrono::seconds{20}), std::future_status::ready);
                           }};
  ASSERT_TRUE(c.Predict(rows));
  EXPECT_TRUE(other.get());
  EXPECT_EQ(Bits(c.margins), Bits(c.Expected()));
  EXPECT_EQ(c.reads, 1);
}

TEST(HostPredictionTest, NobodyWaitsForWhoReadsTheModel) {
  HostCase c;
  std::future<bool> other;
  c.while_read = [&] {
    other = std::async(std::launch::async, [&] {
      BaseMargins const base{{}, {0.25f}};
      std::vector<float> margins;
      return c.IsWorthwhile(5000, {0, 10}) && c.prediction.PredictMargins(c.model, 1, c.rows, {0, 10}, &base, &margins);
    });
    EXPECT_EQ(other.wait_for(std::chrono::seconds{20}), std::future_status::ready);
  };
  ASSERT_TRUE(c.Predict(c.rows));
  EXPECT_FALSE(other.get()) << "stock code predicts it";
  EXPECT_EQ(Bits(c.margins), Bits(c.Expected()));
  EXPECT_EQ(c.reads, 1);
}

TEST(HostPredictionTest, StockCodePredictsWhereMemoryIsShort) {
  HostCase c;
  c.margins = {1, 2, 3};
  auto const before = c.margins;
  c.while_read = [] { throw OutOfHostMemory{1000}; };
  ASSERT_FALSE(c.IsWorthwhile(4080, {0, 10}));
  ASSERT_TRUE(c.IsWorthwhile(50, {0, 10}));
  EXPECT_FALSE(c.Predict(c.rows));
  EXPECT_EQ(c.margins, before);
  EXPECT_FALSE(c.IsWorthwhile(40, {0, 10})) << "it does not look again at once";
  EXPECT_TRUE(c.IsWorthwhile(5000, {0, 10})) << "but later";
  c.while_read = [] {};
  ASSERT_TRUE(c.Predict(c.rows));
  EXPECT_EQ(Bits(c.margins), Bits(c.Expected()));

  MemorySource const batches{c.values, 1000};
  VisitedSource const rows{batches, [](RowBatch const& batch) {
                             if (batch.first_row == 2000) throw std::bad_alloc{};
                           }};
  EXPECT_FALSE(c.Predict(rows, {0, 10}, false));
  EXPECT_TRUE(c.margins.empty()) << "some trees were added";
  ASSERT_TRUE(c.Predict(c.rows));
  EXPECT_EQ(Bits(c.margins), Bits(c.Expected()));
}

}  // namespace
}  // namespace xgbgpu
