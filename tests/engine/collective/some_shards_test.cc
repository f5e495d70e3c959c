// some_shards: shards without rows stand by, get the trees of those that have rows, and never wait in vain.
#include "xgbgpu/some_shards.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "collective/in_process.h"
#include "shards/some_shards_builder.h"
#include "support/data.h"
#include "support/dataset_forms.h"
#include "support/grow.h"
#include "support/shards.h"
#include "support/tree_cases.h"
#include "tree/tree_words.h"
#include "trees_host/hist_host.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::MemorySource;
using testing::TreeCase;
using testing::WhatIsWrong;

constexpr int kThreads = 2;

/// Calls f(all, some) in every shard, of which `members` have rows. Returns the text of the error in each.
std::vector<std::string> Complaints(int shards, std::vector<int> const& members,
                                    std::function<void(Collective&, SomeShards&)> const& f) {
  std::vector<std::string> said(static_cast<std::size_t>(shards));
  RunShards(shards, [&](Collective& all) {
    SomeShards some{&all, members};
    try {
      f(all, some);
    } catch (Error const& e) {
      said[static_cast<std::size_t>(all.shard())] = e.what();
    }
  });
  return said;
}

TEST(SomeShardsTest, MembersMeetAndTheOthersNeedNotKnowHowOften) {
  std::vector<int> const members{1, 2, 4};
  auto const said = Complaints(6, members, [&](Collective& all, SomeShards& some) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      bool ran = false;
      some.Together([&] {
        ran = true;
        EXPECT_EQ(some.shards(), 3);
        EXPECT_EQ(members[static_cast<std::size_t>(some.shard())], all.shard());
        for (int call = 0; call < 3 * repeat; ++call) {
          std::vector<std::int64_t> a{some.shard(), 1}, none, b(100, all.shard());
          std::vector<Span<std::int64_t>> const parts{a, none, b};
          some.Sum(parts);
          EXPECT_EQ(a, (std::vector<std::int64_t>{0 + 1 + 2, 3}));
          EXPECT_EQ(b, std::vector<std::int64_t>(100, 1 + 2 + 4));
          EXPECT_EQ(some.MaxOf(-5 - all.shard()), -6) << "a shard that stands by has a number";
          std::vector<std::uint32_t> const own(static_cast<std::size_t>(all.shard()), 7);
          auto const lists = some.Gather(Span<std::uint32_t const>{own});
          ASSERT_EQ(lists.size(), 3U);
          for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(lists[i].size(), static_cast<std::size_t>(members[i]));
        }
      });
      EXPECT_NE(ran, some.stands_by());
      EXPECT_EQ(all.SumOf(1), 6) << "the shards have lost each other";
    }
  });
  EXPECT_EQ(said, std::vector<std::string>(6));
}

/// Shard 2 fails after so many of four calls, the others after none: all get its words, and can go on.
class FailureTest : public ::testing::TestWithParam<int> {};

TEST_P(FailureTest, IsToldToAllWhereverTheyAre) {
  auto const said = Complaints(5, {0, 2, 3}, [&](Collective& all, SomeShards& some) {
    std::string text;
    try {
      some.Together([&] {
        for (int call = 0; call < 4; ++call) {
          if (all.shard() == 2 && call == GetParam()) throw InvalidArgument{"no memory"};
          call % 2 == 0 ? void(some.SumOf(1)) : AllOrNone(some, [] {});
        }
        if (all.shard() == 2) throw InvalidArgument{"no memory"};
      });
    } catch (Error const& e) {
      text = e.what();
    }
    std::int64_t sum = 0;
    some.Together([&] { sum = some.SumOf(1); });
    EXPECT_EQ(sum, some.stands_by() ? 0 : 3);
    throw Error{text};
  });
  for (std::size_t s = 0; s < 5; ++s) {
    EXPECT_EQ(said[s], s == 2 ? "no memory" : "All stop because shard 2 of 5 failed. It says: no memory");
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, FailureTest, ::testing::Range(0, 5));

TEST(SomeShardsTest, OnceAMemberHasFailedEveryCallOfTheOthersFails) {
  Complaints(3, {0, 1}, [&](Collective& all, SomeShards& some) {
    EXPECT_THROW(some.Together([&] {
      if (all.shard() == 1) throw Error{"first"};
      EXPECT_THROW(some.SumOf(1), OtherShardFailed);
      EXPECT_THROW(AllOrNone(some, [] {}), OtherShardFailed);
    }),
                 Error);
    EXPECT_EQ(all.SumOf(1), 3);
  });
}

TEST(SomeShardsTest, TheFirstWithAReasonOfItsOwnIsNamed) {
  auto const said = Complaints(4, {0, 1, 3}, [](Collective& all, SomeShards& some) {
    some.Together([&] {
      // On devices the others often find out by themselves that one does not come.
      if (all.shard() != 3) throw ShardsLost{"waited in vain"};
      throw Error{"the device is gone"};
    });
  });
  for (std::size_t s = 0; s < 4; ++s) {
    EXPECT_EQ(said[s],
              s == 3 ? "the device is gone" : "All stop because shard 3 of 4 failed. It says: the device is gone");
  }
  auto const nobody = Complaints(3, {0, 2}, [](Collective& all, SomeShards& some) {
    some.Together([&] { throw ShardsLost{"waited in vain " + std::to_string(all.shard())}; });
  });
  EXPECT_EQ(nobody[0], "waited in vain 0");
  EXPECT_EQ(nobody[1], "All stop because shard 0 of 3 failed. It says: waited in vain 0");
  EXPECT_EQ(nobody[2], "waited in vain 2");
}

TEST(SomeShardsTest, MembersThatMakeOtherCallsAllGetAnError) {
  auto const said = Complaints(4, {0, 1, 3}, [](Collective& all, SomeShards& some) {
    some.Together([&] { all.shard() == 1 ? void(some.SumOf(1)) : void(some.MaxOf(1)); });
  });
  for (auto const& text : said) EXPECT_NE(text.find("do not make the same call"), std::string::npos) << text;
}

TEST(SomeShardsTest, NobodyWaitsForAShardThatHasLeft) {
  for (int leaves : {0, 1}) {
    EXPECT_THROW(RunShards(3,
                           [&](Collective& all) {
                             SomeShards some{&all, {1, 2}};
                             if (all.shard() != leaves) some.Together([&] { some.SumOf(1); });
                           }),
                 OtherShardFailed);
  }
}

// Trees

class SomeShardsTreesTest : public ::testing::TestWithParam<std::tuple<GrowPolicy, testing::NamedCase>> {};

TEST_P(SomeShardsTreesTest, AreThoseOfAllRows) {
  auto const& [policy, shard_case] = GetParam();
  TreeCase c = testing::RandomCase(shard_case.shape, 601);
  c.max_bin = 32;
  shard_case.set(&c);
  testing::SetPolicy(&c.params, policy);
  std::size_t const rows = c.values.rows;
  auto const build = [&](TreeCase const& own, Collective* shards) {
    MemorySource source{own.values, 100};
    source.SetCategorical(own.categorical);
    return Dataset::Build(source, own.weights, own.max_bin, kThreads, {BackendKind::kHost, 0, shards});
  };
  auto const whole = build(c, nullptr);
  auto const alone = MakeHostTreeBuilder(testing::BinsOf(*whole), kThreads);
  std::vector<Tree> expected;
  for (std::uint32_t t = 0; t < 2; ++t) expected.push_back(alone->Grow(c.params, c.gradients, {0, t}));
  EXPECT_GE(expected[1].size(), 3U) << "a tree that says little";

  auto const first = testing::Boundaries(rows, 7);  // the first, one in the middle and the last have no rows
  std::vector<int> members;
  for (int s = 0; s < 7; ++s) {
    auto const i = static_cast<std::size_t>(s);
    if (first[i] < first[i + 1]) members.push_back(s);
  }
  ASSERT_LT(members.size(), 7U);
  RunShards(7, [&](Collective& all) {
    SomeShards some{&all, members};
    auto const s = static_cast<std::size_t>(all.shard());
    std::size_t const own_rows = first[s + 1] - first[s];
    TreeCase const own = testing::Slice(c, first[s], first[s + 1]);
    std::shared_ptr<Dataset const> data;
    some.Together([&] { data = build(own, &some); });
    Shard const place = Shard::Place(&all, own_rows);
    SomeShardsBuilder builder{
        &some, own_rows, [&] {
          return MakeHostTreeBuilder(testing::BinsOf(*data), {&some, place.first_row, place.all_rows}, kThreads);
        }};
    std::vector<float> margins(own_rows);
    for (std::uint32_t t = 0; t < 2; ++t) {
      Tree const tree = builder.Grow(c.params, own.gradients, {0, t});
      EXPECT_EQ(tree, expected[t]) << "shard " << s;
      builder.AddLeafValues(tree.leaf_value, margins.data(), 1);
    }
    std::vector<NodeIndex> positions(own_rows), of_all(rows);
    builder.LeafPositions(positions, {});
    alone->LeafPositions(of_all, {});
    EXPECT_EQ(positions, testing::RowsOf(of_all, rows, first[s], first[s + 1]));
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, SomeShardsTreesTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kPolicies),
                                            ::testing::ValuesIn(testing::kShardCases)),
                         [](auto const& c) {
                           return testing::NameOf(std::get<0>(c.param)) + std::get<1>(c.param).name;
                         });

/// One of three shards of 300 rows. The second has no rows, the others have half of them each.
struct MiddleHasNoRows {
  MiddleHasNoRows(TreeCase const& c, Collective const& all, SomeShards* some)
      : begin{all.shard() == 0 ? 0U : 150U},
        end{all.shard() == 1 ? begin : begin + 150},
        own{testing::Slice(c, begin, end)},
        data{Build(some)},
        builder{some, end - begin, [&] {
                  return MakeHostTreeBuilder(testing::BinsOf(*data), {some, begin, 300}, kThreads);
                }} {}

  std::shared_ptr<Dataset const> Build(SomeShards* some) const {
    std::shared_ptr<Dataset const> made;
    some->Together([&] {
      made =
          Dataset::Build(MemorySource{own.values}, own.weights, own.max_bin, kThreads, {BackendKind::kHost, 0, some});
    });
    return made;
  }

  std::size_t begin, end;
  TreeCase own;
  std::shared_ptr<Dataset const> data;  ///< null in a shard without rows
  SomeShardsBuilder builder;
};

TEST(SomeShardsTreesTest, OfVectorsAreThoseOfOneShard) {
  TreeCase const c = testing::RandomCase({300, 3}, 605);
  std::vector<GradientPair> gradients;
  for (GradientPair const& g : c.gradients) gradients.insert(gradients.end(), {g, {-0.5f * g.grad, 1.0f}});
  VectorTree const expected =
      Trainer{testing::MakeDataset(c), BackendKind::kHost, kThreads}.GrowVectors(c.params, gradients, 2, c.key);
  ASSERT_GT(expected.shape.size(), 5U);
  auto const said = Complaints(3, {0, 2}, [&](Collective& all, SomeShards& some) {
    MiddleHasNoRows shard{c, all, &some};
    Span<GradientPair const> const slice{gradients.data() + 2 * shard.begin, 2 * (shard.end - shard.begin)};
    EXPECT_EQ(shard.builder.GrowVectors(c.params, slice, 2, c.key), expected);
  });
  EXPECT_EQ(said, std::vector<std::string>(3));
}

TEST(SomeShardsTreesTest, AGradientThatIsNotFiniteEndsTheTreeInAllAndNothingElse) {
  TreeCase const c = testing::RandomCase({300, 3}, 602);
  Tree const expected = testing::Grow(c);
  auto const said = Complaints(3, {0, 2}, [&](Collective& all, SomeShards& some) {
    MiddleHasNoRows shard{c, all, &some};
    auto bad = shard.own.gradients;
    if (all.shard() == 2) bad[7].grad = std::numeric_limits<float>::infinity();
    std::string text;
    try {
      shard.builder.Grow(c.params, bad, c.key);
    } catch (Error const& e) {
      text = e.what();
    }
    EXPECT_EQ(shard.builder.Grow(c.params, shard.own.gradients, c.key), expected);
    throw Error{text};
  });
  EXPECT_NE(said[2].find("Gradient of row 7"), std::string::npos) << said[2];
  for (std::size_t s : {0U, 1U}) {
    EXPECT_NE(said[s].find("All stop because shard 2 of 3 failed. It says: Gradient of row 7"), std::string::npos)
        << said[s];
  }
}

TEST(TreeWordsTest, AreTheTree) {
  TreeCase c = testing::RandomCase({500, 4}, 603);
  for (std::size_t r = 0; r < 500; ++r) c.values(r, 2) = static_cast<float>(r * 7 % 40);
  c.categorical = {0, 0, 1, 0};
  Tree const tree = testing::Grow(c);
  ASSERT_FALSE(tree.category_bits.empty()) << "no split on categories";
  auto words = ToWords(tree);
  Tree found;
  OfWords(ToWords(Tree{}), &found);
  EXPECT_EQ(found, Tree{});
  OfWords(words, &found);
  EXPECT_EQ(found, tree);
  words.pop_back();
  EXPECT_EQ(WhatIsWrong<Error>([&] { OfWords(words, &found); }, {"ends early"}), "");
  EXPECT_EQ(WhatIsWrong<Error>([&] { OfWords({}, &found); }, {"ends early"}), "");
  words.insert(words.end(), 2, 0);
  EXPECT_EQ(WhatIsWrong<Error>([&] { OfWords(words, &found); }, {"more than its end"}), "");
}

TEST(TreeWordsTest, AreTheTreeOfVectors) {
  TreeCase const c = testing::RandomCase({500, 4}, 604);
  std::vector<GradientPair> gradients;
  for (GradientPair const& g : c.gradients) gradients.insert(gradients.end(), {g, {-0.5f * g.grad, 1.0f}});
  Trainer trainer{testing::MakeDataset(c), BackendKind::kHost, kThreads};
  VectorTree const tree = trainer.GrowVectors(c.params, gradients, 2, {});
  ASSERT_GT(tree.shape.size(), 5U);
  auto words = ToWords(tree);
  VectorTree found;
  OfWords(words, &found);
  EXPECT_EQ(found, tree);
  words.pop_back();
  EXPECT_EQ(WhatIsWrong<Error>([&] { OfWords(words, &found); }, {"ends early"}), "");
  words.insert(words.end(), 2, 0);
  EXPECT_EQ(WhatIsWrong<Error>([&] { OfWords(words, &found); }, {"more than its end"}), "");
}

}  // namespace
}  // namespace xgbgpu
