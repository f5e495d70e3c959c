// collective: cuts, trees and leaves of rows in shards are those of all rows together, bit for bit.
#include "xgbgpu/collective.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "collective/host_word.h"
#include "collective/in_process.h"
#include "quantile/gather_columns.h"
#include "quantile/quantile.h"
#include "support/data.h"
#include "support/dataset_forms.h"
#include "support/grow.h"
#include "support/shards.h"
#include "support/tree_cases.h"
#include "trees_host/hist_host.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::DataShape;
using testing::MemorySource;
using testing::Random;
using testing::TreeCase;
using testing::WhatIsWrong;

constexpr int kThreads = 2;

std::shared_ptr<Dataset const> MakeDataset(TreeCase const& c, Collective* shards) {
  MemorySource source{c.values, 100};
  source.SetCategorical(c.categorical);
  return Dataset::Build(source, c.weights, c.max_bin, kThreads, {BackendKind::kHost, 0, shards});
}

/// What a training gives.
struct Outcome {
  Cuts cuts;
  std::vector<Tree> trees;
  std::vector<NodeIndex> positions;  ///< [trees, rows]
  std::vector<std::uint8_t> sampled_out;
  std::vector<float> margins;  ///< [rows]
};

/// Trains a forest of two trees and a tree of the next round, on the same gradients.
Outcome Train(TreeCase const& c, Collective* shards) {
  auto const data = MakeDataset(c, shards);
  Trainer trainer{data, BackendKind::kHost, kThreads};
  Outcome out{data->cuts(), {}, {}, {}, std::vector<float>(c.values.rows)};
  std::vector<NodeIndex> positions(c.values.rows);
  std::vector<std::uint8_t> sampled_out(c.values.rows);
  for (TreeKey const key : {TreeKey{4, 0}, TreeKey{4, 1}, TreeKey{5, 0}}) {
    out.trees.push_back(trainer.Grow(c.params, c.gradients, key));
    trainer.LeafPositions(positions, sampled_out);
    trainer.AddLeafValues(out.trees.back().leaf_value, out.margins.data(), 1);
    out.positions.insert(out.positions.end(), positions.begin(), positions.end());
    out.sampled_out.insert(out.sampled_out.end(), sampled_out.begin(), sampled_out.end());
  }
  return out;
}

void ExpectSameInShards(TreeCase const& c) {
  std::size_t const rows = c.values.rows;
  Outcome const expected = Train(c, nullptr);
  std::size_t leaves = 0;
  for (Tree const& tree : expected.trees) leaves += tree.Leaves();
  EXPECT_GT(leaves, 6U) << "trees that say little";
  for (int shards : {1, 2, 3, 7}) {
    SCOPED_TRACE(std::to_string(shards) + " shards");
    auto const first = testing::Boundaries(rows, shards);
    std::vector<Outcome> found(static_cast<std::size_t>(shards));
    RunShards(shards, [&](Collective& collective) {
      auto const s = static_cast<std::size_t>(collective.shard());
      found[s] = Train(testing::Slice(c, first[s], first[s + 1]), &collective);
    });
    for (std::size_t s = 0; s < found.size(); ++s) {
      SCOPED_TRACE("shard " + std::to_string(s));
      auto const of_rows = [&](auto const& all) { return testing::RowsOf(all, rows, first[s], first[s + 1]); };
      EXPECT_EQ(found[s].cuts, expected.cuts);
      ASSERT_EQ(found[s].trees, expected.trees);
      EXPECT_EQ(found[s].positions, of_rows(expected.positions));
      EXPECT_EQ(found[s].sampled_out, of_rows(expected.sampled_out));
      EXPECT_EQ(found[s].margins, of_rows(expected.margins));
    }
  }
}

class ShardedTreesTest : public ::testing::TestWithParam<std::tuple<GrowPolicy, testing::NamedCase>> {};

TEST_P(ShardedTreesTest, AreThoseOfAllRows) {
  auto const& [policy, shard_case] = GetParam();
  TreeCase c = testing::RandomCase(shard_case.shape, 501);
  c.max_bin = 32;
  if (policy == GrowPolicy::kLossGuide) {
    c.params.max_leaves = 23;
    c.params.max_depth = 0;
  }
  shard_case.set(&c);
  testing::SetPolicy(&c.params, policy);
  ExpectSameInShards(c);
}

INSTANTIATE_TEST_SUITE_P(Cases, ShardedTreesTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kPolicies),
                                            ::testing::ValuesIn(testing::kShardCases)),
                         [](auto const& c) {
                           return testing::NameOf(std::get<0>(c.param)) + std::get<1>(c.param).name;
                         });

TEST(ShardedTreesTest, WithRoomForFewHistograms) {
  TreeCase const c = testing::RandomCase({1501, 6, 0.2, 30}, 502);
  Tree const expected = testing::Grow(c);
  for (std::size_t slots : {2U, 3U, 7U}) {
    auto const first = testing::Boundaries(c.values.rows, 3);
    RunShards(3, [&](Collective& collective) {
      auto const s = static_cast<std::size_t>(collective.shard());
      TreeCase const own = testing::Slice(c, first[s], first[s + 1]);
      auto const data = MakeDataset(own, &collective);
      auto const builder = MakeHostTreeBuilder(testing::BinsOf(*data), Shard::Place(&collective, own.values.rows),
                                               kThreads, slots * testing::BinsOf(*data).cells() * sizeof(GradientSum));
      EXPECT_EQ(builder->Grow(c.params, own.gradients, c.key), expected) << slots;
    });
  }
}

// Cuts

using Columns = std::vector<std::vector<float>>;

reference::Values MakeValues(Columns const& columns) {
  reference::Values values{columns[0].size(), columns.size()};
  for (std::size_t f = 0; f < columns.size(); ++f) {
    for (std::size_t r = 0; r < columns[f].size(); ++r) values(r, f) = columns[f][r];
  }
  return values;
}

/// Makes columns with many, few, one or no distinct values, and with values in few rows. Three columns have 16, 17 and
/// 18 distinct values: as many as a max_bin of 16 tells apart, one more, and two more.
reference::Values ColumnsOfManyKinds(std::size_t rows) {
  Random random{503};
  Columns columns(9, std::vector<float>(rows, reference::kMissing));
  for (std::size_t r = 0; r < rows; ++r) {
    float const normal = random.Between(-1, 1) * random.Between(0, 1);
    columns[0][r] = normal;
    columns[1][r] = static_cast<float>(random.Below(7)) - 3;
    columns[2][r] = 5;
    columns[4][r] = r > rows - 30 ? normal : reference::kMissing;
    columns[5][r] = static_cast<float>(r % 16);
    columns[6][r] = static_cast<float>(r % 17);
    columns[7][r] = static_cast<float>(r % 18);
    columns[8][r] = random.Below(2) == 0 ? normal * 1e30f : random.Below(2) == 0 ? -0.0f : 0.0f;
  }
  return MakeValues(columns);
}

template <typename MakeCuts>
void ExpectSameCuts(reference::Values const& values, std::vector<float> const& weights, MakeCuts&& make_cuts) {
  TreeCase all{values, std::vector<GradientPair>(values.rows), {}};
  all.weights = weights;
  Cuts const expected = make_cuts(MemorySource{values}, weights, NoOtherShards());
  for (int shards : {2, 3, 7}) {
    auto const first = testing::Boundaries(values.rows, shards);
    RunShards(shards, [&](Collective& collective) {
      auto const s = static_cast<std::size_t>(collective.shard());
      TreeCase const own = testing::Slice(all, first[s], first[s + 1]);
      EXPECT_EQ(make_cuts(MemorySource{own.values}, own.weights, collective), expected) << shards << " shards";
    });
  }
}

TEST(ShardedCutsTest, AreThoseOfAllRows) {
  for (std::size_t rows : {1U, 2U, 19U, 900U, 7000U}) {
    auto const values = ColumnsOfManyKinds(rows);
    std::vector<float> some_zero, all_zero(rows), tiny;
    for (std::size_t r = 0; r < rows; ++r) {
      some_zero.push_back(static_cast<float>(r % 4) * 0.7f);
      tiny.push_back(r % 3 == 0 ? 1e-30f : static_cast<float>(r % 11));
    }
    for (auto const& weights : {std::vector<float>{}, some_zero, all_zero, tiny}) {
      for (int max_bin : {2, 16, 256, kMaxBinLimit}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, max_bin " + std::to_string(max_bin));
        ExpectSameCuts(values, weights, [&](RowSource const& source, Span<float const> own, Collective& collective) {
          return host::ComputeCuts(source, own, max_bin, kThreads, collective);
        });
      }
    }
  }
}

TEST(ShardedCutsTest, OfBinEdges) {
  ExpectSameCuts(ColumnsOfManyKinds(900), {}, [](RowSource const& source, Span<float const>, Collective& collective) {
    return host::CutsFromBinEdges(source, kThreads, collective);
  });
  TreeCase many = testing::RandomCase({70000, 1}, 504);
  std::iota(many.values.at.begin(), many.values.at.end(), 0.0f);
  auto const refused = [&](int shards) {
    return WhatIsWrong<InvalidArgument>(
        [&] {
          RunShards(shards, [&](Collective& collective) {
            auto const s = static_cast<std::size_t>(collective.shard()), n = std::size_t{70000} / 2;
            host::CutsFromBinEdges(MemorySource{testing::Slice(many, s * n, s * n + n).values}, kThreads, collective);
          });
        },
        {"70000 bins in feature 0", "65535"});
  };
  EXPECT_EQ(refused(2), "");
}

TEST(ShardedCutsTest, GroupsOfColumnsFitTheLargestShard) {
  constexpr std::uint64_t kBudget = host::kColumnBufferValues;
  auto const groups = host::MakeColumnGroups({10, 20, 30, 40}, {kBudget - 1, 1, kBudget, 40});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].last, 2U);
  EXPECT_EQ(groups[1].last, 3U);
  EXPECT_EQ(groups[0].start, (std::vector<std::uint64_t>{0, 10, 30}));
  EXPECT_EQ(groups[2].start, (std::vector<std::uint64_t>{0, 40}));
}

// Errors

/// Calls f in every shard. Returns the text of the error in each.
template <typename F>
std::vector<std::string> Complaints(int shards, F&& f) {
  std::vector<std::string> said(static_cast<std::size_t>(shards));
  RunShards(shards, [&](Collective& collective) {
    try {
      f(collective);
    } catch (Error const& e) {
      said[static_cast<std::size_t>(collective.shard())] = e.what();
    }
  });
  return said;
}

TEST(ShardErrorsTest, AGradientThatIsNotFiniteEndsTheTreeInAllAndNothingElse) {
  TreeCase const c = testing::RandomCase({300, 3}, 505);
  for (float subsample : {1.0f, 0.5f}) {
    TrainParams params = c.params;
    params.subsample = subsample;
    Tree const expected = Trainer{MakeDataset(c, nullptr), BackendKind::kHost, kThreads}.Grow(params, c.gradients, {});
    auto const said = Complaints(3, [&](Collective& collective) {
      auto const s = static_cast<std::size_t>(collective.shard());
      TreeCase own = testing::Slice(c, s * 100, s * 100 + 100);
      Trainer trainer{MakeDataset(own, &collective), BackendKind::kHost, kThreads};
      auto bad = own.gradients;
      if (s == 1) bad[7].grad = std::numeric_limits<float>::quiet_NaN();
      std::string text;
      try {
        trainer.Grow(params, bad, {});
      } catch (Error const& e) {
        text = e.what();
      }
      EXPECT_EQ(trainer.Grow(params, own.gradients, {}), expected);
      throw Error{text};
    });
    EXPECT_NE(said[1].find("Gradient of row 7"), std::string::npos) << said[1];
    for (std::size_t s : {0U, 2U}) EXPECT_NE(said[s].find("another shard"), std::string::npos) << said[s];
  }
}

TEST(ShardErrorsTest, DataThatOneShardRefusesAreRefusedByAll) {
  TreeCase c = testing::RandomCase({300, 3}, 506);
  struct Bad {
    void (*spoil)(TreeCase*);
    char const* says;
  };
  for (Bad const& bad :
       {Bad{[](TreeCase* own) { own->values(5, 1) = std::numeric_limits<float>::infinity(); }, "row 5"},
        Bad{[](TreeCase* own) { own->weights.assign(100, -1.0f); }, "Weight of row 0"},
        Bad{[](TreeCase* own) { own->values(5, 2) = -3; }, "Category of row 5"}}) {
    auto const said = Complaints(3, [&](Collective& collective) {
      auto const s = static_cast<std::size_t>(collective.shard());
      TreeCase own = testing::Slice(c, s * 100, s * 100 + 100);
      for (std::size_t r = 0; r < 100; ++r) own.values(r, 2) = 1;
      own.categorical = {0, 0, 1};
      if (s == 2) bad.spoil(&own);
      MakeDataset(own, &collective);
    });
    EXPECT_NE(said[2].find(bad.says), std::string::npos) << said[2];
    for (std::size_t s : {0U, 1U}) {
      EXPECT_NE(said[s].find("shard 2 of 3 failed"), std::string::npos) << said[s];
      EXPECT_NE(said[s].find(bad.says), std::string::npos) << said[s];
    }
  }
}

TEST(ShardErrorsTest, ShardsThatDoNotBelongTogether) {
  auto const all_say = [](std::vector<std::string> const& said, std::string const& what) {
    for (auto const& text : said) EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  TreeCase const c = testing::RandomCase({100, 3}, 507);
  all_say(Complaints(2,
                     [&](Collective& collective) {
                       TreeCase own = testing::RandomCase({50, collective.shard() == 0 ? 3U : 4U}, 1);
                       MakeDataset(own, &collective);
                     }),
          "from 3 to 4 features");
  all_say(Complaints(2,
                     [&](Collective& collective) {
                       TreeCase own = testing::Slice(c, 0, 50);
                       if (collective.shard() == 0) own.weights.assign(50, 1.0f);
                       MakeDataset(own, &collective);
                     }),
          "some have none");
}

TEST(ShardErrorsTest, ExactTreesRefuseShardsAndTheHostKeepsItsOwn) {
  TreeCase const c = testing::RandomCase({100, 3}, 508);
  RunShards(2, [&](Collective& collective) {
    MemorySource const source{c.values};
    Place const place{BackendKind::kHost, 0, &collective};
    EXPECT_EQ(WhatIsWrong<Unsupported>([&] { Dataset::BuildSorted(source, kThreads, place); },
                                       {"gpu_exact", "2 shards", "gpu_hist"}),
              "");
    auto const data = Dataset::Build(source, {}, 16, kThreads, {BackendKind::kAuto, 0, &collective});
    EXPECT_EQ(Trainer(data, BackendKind::kAuto, kThreads).backend(), BackendKind::kHost);
    EXPECT_EQ(WhatIsWrong<Unsupported>([&] { Trainer(data, BackendKind::kCuda, kThreads); }, {"2 shards"}), "");
  });
  RunShards(1, [&](Collective& collective) {
    EXPECT_TRUE(Dataset::BuildSorted(MemorySource{c.values}, kThreads, {BackendKind::kHost, 0, &collective})->sorted());
  });
}

TEST(ShardErrorsTest, FactsThatDifferAreNamed) {
  auto const said = Complaints(3, [](Collective& collective) {
    Agree(collective, {{"max_depth", "6"}, {"eta", "0.3"}}, [] {});
    bool const other = collective.shard() == 2;
    Agree(collective, {{"max_depth", "6"}, {"eta", other ? "0.1" : "0.3"}}, [] {});
  });
  for (auto const& text : said) {
    for (char const* const what : {"same eta", "'0.3' on shard 0", "'0.1' on shard 2"}) {
      EXPECT_NE(text.find(what), std::string::npos) << text;
    }
  }
  auto const lacks = Complaints(2, [](Collective& collective) {
    std::vector<Fact> facts{{"rounds", "3"}};
    if (collective.shard() == 1) facts.push_back({"eval_metric", "auc"});
    Agree(collective, facts, [] {});
  });
  for (auto const& text : lacks) {
    EXPECT_NE(text.find("same eval_metric: it is not set on shard 0 and 'auc' on shard 1"), std::string::npos) << text;
  }
}

TEST(ShardErrorsTest, AFailureComesBeforeFactsThatDiffer) {
  auto const said = Complaints(2, [](Collective& collective) {
    bool const is_first = collective.shard() == 0;
    Agree(collective, {{"max_depth", is_first ? "6" : "7"}}, [&] {
      if (is_first) throw InvalidArgument{"no label"};
    });
  });
  EXPECT_EQ(said[0], "no label");
  EXPECT_EQ(said[1], "All stop because shard 0 of 2 failed. It says: no label");
}

// The collective itself

class InProcessTest : public ::testing::TestWithParam<int> {};

TEST_P(InProcessTest, SumsMaximaAndLists) {
  int const shards = GetParam();
  RunShards(shards, [&](Collective& collective) {
    EXPECT_EQ(collective.shards(), shards);
    std::int64_t const s = collective.shard(), n = shards;
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::int64_t> a{s, 1, -s * s}, none, b(1000, s);
      std::vector<Span<std::int64_t>> const parts{a, none, b};
      collective.Sum(parts);
      EXPECT_EQ(a, (std::vector<std::int64_t>{n * (n - 1) / 2, n, -(n - 1) * n * (2 * n - 1) / 6}));
      EXPECT_EQ(b, std::vector<std::int64_t>(1000, n * (n - 1) / 2));
      collective.Sum(Span<Span<std::int64_t> const>{});
      EXPECT_EQ(collective.MaxOf(s % 3 - 7), std::min<std::int64_t>(n - 1, 2) - 7);
      EXPECT_TRUE(collective.AnyOf(s == n - 1));
      EXPECT_FALSE(collective.AnyOf(false));
      std::vector<std::uint32_t> const own(static_cast<std::size_t>(s), static_cast<std::uint32_t>(repeat));
      auto const all = collective.Gather(Span<std::uint32_t const>{own});
      ASSERT_EQ(all.size(), static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i], std::vector<std::uint32_t>(i, static_cast<std::uint32_t>(repeat)));
      }
    }
    Shard const place = Shard::Place(&collective, static_cast<std::uint64_t>(s) + 1);
    EXPECT_EQ(place.first_row, static_cast<std::uint64_t>(s * (s + 1) / 2));
    EXPECT_EQ(place.all_rows, static_cast<std::uint64_t>(n * (n + 1) / 2));
  });
}

INSTANTIATE_TEST_SUITE_P(Shards, InProcessTest, ::testing::Values(1, 2, 3, 7));

TEST(InProcessErrorsTest, NobodyWaitsForAShardThatHasFailed) {
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [] {
                  RunShards(3, [](Collective& collective) {
                    collective.SumOf(1);
                    if (collective.shard() == 1) throw InvalidArgument{"of its own"};
                    collective.SumOf(1);
                  });
                },
                {"of its own"}),
            "");
}

TEST(InProcessErrorsTest, NorForOneThatIsDone) {
  EXPECT_THROW(RunShards(2,
                         [](Collective& collective) {
                           if (collective.shard() == 1) collective.SumOf(1);
                         }),
               OtherShardFailed);
}

TEST(InProcessErrorsTest, NorDoesOneThatAsksAgain) {
  EXPECT_THROW(RunShards(2,
                         [](Collective& collective) {
                           if (collective.shard() == 0) return;
                           EXPECT_THROW(collective.SumOf(1), ShardsLost);
                           collective.SumOf(1);
                         }),
               ShardsLost);
}

TEST(InProcessErrorsTest, ShapesThatDiffer) {
  EXPECT_EQ(WhatIsWrong<Error>(
                [] {
                  RunShards(2, [](Collective& collective) {
                    std::vector<std::int64_t> own(static_cast<std::size_t>(collective.shard()) + 1);
                    collective.Sum(Span<std::int64_t>{own});
                  });
                },
                {"do not add up the same things"}),
            "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([] { RunShards(0, [](Collective&) {}); }, {"0", "1 or more"}), "");
}

TEST(ShardThreadsTest, ShardsMeetInEveryJob) {
  ShardThreads threads{3};
  EXPECT_EQ(threads.shards(), 3);
  for (std::int64_t job = 0; job < 200; ++job) {
    std::vector<std::int64_t> sums(3);
    threads.Run([&](int shard) { sums[static_cast<std::size_t>(shard)] = threads.of(shard)->SumOf(job + shard); });
    ASSERT_EQ(sums, std::vector<std::int64_t>(3, 3 * job + 3));
  }
}

TEST(ShardThreadsTest, AForkedProcessMayDestroyThemWhileTheParentsThreadsWait) {
  constexpr auto kLongerThanIdleThreadsSpin = std::chrono::milliseconds{5};
  auto threads = std::make_unique<ShardThreads>(3);
  threads->Run([](int) {});
  std::this_thread::sleep_for(kLongerThanIdleThreadsSpin);
  pid_t const child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // ends the process if it hangs
    threads.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
  EXPECT_EQ(threads->shards(), 3);
  threads->Run([](int) {});
}

/// The error of the shard that failed comes out, not those of shards that waited for it; then another job can run.
TEST(ShardThreadsTest, AFailureEndsOneJobOnly) {
  std::atomic<int> told{0};
  ShardThreads threads{4, [&] { ++told; }};
  for (int bad = 0; bad < 4; ++bad) {
    told = 0;
    auto const fail = [&] {
      threads.Run([&](int shard) {
        if (shard == bad) throw InvalidArgument{"bad " + std::to_string(bad)};
        threads.of(shard)->AnyOf(false);
      });
    };
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(fail, {"bad " + std::to_string(bad)}), "");
    EXPECT_EQ(told, 4) << "the one that failed, and three that waited";
    std::vector<std::int64_t> most(4);
    threads.Run([&](int shard) { most[static_cast<std::size_t>(shard)] = threads.of(shard)->MaxOf(shard); });
    EXPECT_EQ(most, std::vector<std::int64_t>(4, 3));
  }
}

TEST(HostWordTest, WhoOpensTheSameNameSharesTheWordUntilTheNameIsClosed) {
  std::string const name = "xgbgpu-test-" + std::to_string(getpid());
  HostWord first{name}, second{name};
  HostWord const other{name + "-other"};
  EXPECT_FALSE(first.IsSet());
  first.Set();
  EXPECT_TRUE(first.IsSet());
  EXPECT_TRUE(second.IsSet());
  EXPECT_FALSE(other.IsSet());
  second.CloseName();
  HostWord later{name};
  EXPECT_FALSE(later.IsSet());
  later.CloseName();
  HostWord{name + "-other"}.CloseName();
}

TEST(HostWordTest, WithoutSharedMemoryAProcessHasAWordOfItsOwn) {
  HostWord word{"no such folder/word"};
  EXPECT_FALSE(word.IsSet());
  word.Set();
  EXPECT_TRUE(word.IsSet());
  word.CloseName();
}

}  // namespace
}  // namespace xgbgpu
