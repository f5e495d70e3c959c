// Gradients, leaves and metrics of rows in shards are those of all rows together, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "collective/in_process.h"
#include "objective/leaf_quantile.h"
#include "support/data.h"
#include "xgbgpu/error.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::testing {
namespace {

constexpr int kThreads = 2;

/// Rows with all that an objective or a metric may want to know; a group has up to 40 rows.
struct Rows {
  Rows(std::size_t n, std::uint32_t the_outputs) : outputs{the_outputs} {
    Random random{n + the_outputs};
    group_ptr.push_back(0);
    while (n > 0 && group_ptr.back() < n) {
      auto const size = static_cast<std::uint32_t>(1 + random.Below(40));
      group_ptr.push_back(std::min(static_cast<std::uint32_t>(n), group_ptr.back() + size));
      group_weights.push_back(random.Between(0.5f, 2));
    }
    for (std::size_t i = 0; i < n; ++i) {
      labels.push_back(static_cast<float>(random.Below(outputs > 1 ? outputs : 2)));
      times.push_back(static_cast<float>(1 + random.Below(30)) * (random.Below(3) == 0 ? -1.0f : 1.0f));
      weights.push_back(random.Between(0, 3));
      lower.push_back(random.Between(1, 5));
      upper.push_back(lower.back() + random.Between(0, 2));
      for (std::uint32_t k = 0; k < outputs; ++k) values.push_back(random.Between(0.05f, 0.95f));
    }
  }

  /// Returns rows [begin, end). Groups, too, if they begin and end there.
  Rows Slice(std::size_t begin, std::size_t end) const {
    Rows own{0, outputs};
    auto const take = [&](std::vector<float> const& all, std::size_t columns) {
      return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(begin * columns),
                                all.begin() + static_cast<std::ptrdiff_t>(end * columns));
    };
    own.labels = take(labels, 1);
    own.times = take(times, 1);
    own.weights = take(weights, 1);
    own.lower = take(lower, 1);
    own.upper = take(upper, 1);
    own.values = take(values, outputs);
    for (std::size_t g = 0; g + 1 < group_ptr.size(); ++g) {
      if (group_ptr[g] < begin || group_ptr[g + 1] > end || group_ptr[g] == end) continue;
      own.group_ptr.push_back(group_ptr[g + 1] - static_cast<std::uint32_t>(begin));
      own.group_weights.push_back(group_weights[g]);
    }
    return own;
  }

  OutputView<float const> Values() const { return RowMajor(values.data(), labels.size(), outputs); }

  std::uint32_t outputs;
  std::vector<float> labels, times, weights, lower, upper, values, group_weights;
  std::vector<std::uint32_t> group_ptr;
};

enum class Kind { kRows, kTimes, kBounds, kGroups };

TargetView TargetsOf(Rows const& rows, Kind kind, bool weighted) {
  TargetView view;
  auto const data = [](std::vector<float> const& values) { return values.empty() ? nullptr : values.data(); };
  view.labels = data(kind == Kind::kTimes ? rows.times : rows.labels);
  if (kind == Kind::kBounds) {
    view.lower = data(rows.lower);
    view.upper = data(rows.upper);
  }
  if (weighted) view.weights = data(kind == Kind::kGroups ? rows.group_weights : rows.weights);
  if (kind == Kind::kGroups && rows.group_ptr.size() > 1) {
    view.group_ptr = rows.group_ptr.data();
    view.groups = static_cast<std::uint32_t>(rows.group_ptr.size() - 1);
  }
  return view;
}

/// Returns where shards begin, [shards + 1]: uneven ones, some empty, some smaller than a block of a sum. Of groups
/// none is in two shards.
std::vector<std::size_t> BordersOf(Rows const& rows, int shards, Kind kind) {
  std::size_t const n = rows.labels.size();
  std::vector<std::size_t> borders{0};
  for (int s = 1; s < shards; ++s) {
    std::size_t border = s == 1 ? n / 3 : s == 2 ? n / 3 : n / 3 + static_cast<std::size_t>(s) * n / 17;
    border = std::max(border, borders.back());
    if (kind == Kind::kGroups) border = *std::lower_bound(rows.group_ptr.begin(), rows.group_ptr.end(), border);
    borders.push_back(std::min(border, n));
  }
  borders.push_back(n);
  return borders;
}

template <typename T>
bool SameBits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

std::vector<GradientPair> Gradients(ObjectiveParams const& params, Rows const& rows, TargetView const& targets,
                                    Collective& collective) {
  std::vector<GradientPair> out(rows.values.size());
  host::ComputeGradients(params, targets, rows.Values(), RowMajor(out.data(), rows.labels.size(), rows.outputs),
                         kThreads, collective);
  return out;
}

TEST(ShardedRounds, Gradients) {
  struct Case {
    Objective objective;
    Kind kind;
    std::uint32_t outputs;
  };
  for (Case const& c : {Case{Objective::kLogistic, Kind::kRows, 1}, Case{Objective::kSoftmax, Kind::kRows, 3},
                        Case{Objective::kAft, Kind::kBounds, 1}, Case{Objective::kCox, Kind::kTimes, 1},
                        Case{Objective::kSmoothAbsoluteError, Kind::kRows, 1},
                        Case{Objective::kSmoothQuantile, Kind::kRows, 3}, Case{Objective::kExpectile, Kind::kRows, 3},
                        Case{Objective::kRankPairwise, Kind::kGroups, 1}, Case{Objective::kRankNdcg, Kind::kGroups, 1},
                        Case{Objective::kRankMap, Kind::kGroups, 1}, Case{Objective::kRankMap, Kind::kRows, 1}}) {
    Rows const all{5000, c.outputs};
    ObjectiveParams params{c.objective};
    params.seed = 7;
    params.iteration = 3;
    params.num_pairsample = 2;
    params.alphas = {0.1f, 0.5f, 0.8f};
    for (bool const weighted : {false, true}) {
      bool const ranks_all = IsRanking(c.objective) && c.kind == Kind::kRows;
      if (ranks_all && weighted) continue;  // weights of groups, and there are none
      auto const expected = Gradients(params, all, TargetsOf(all, c.kind, weighted), NoOtherShards());
      for (int const shards : {2, 3, 6}) {
        auto const borders = BordersOf(all, shards, c.kind);
        RunShards(shards, [&](Collective& collective) {
          auto const s = static_cast<std::size_t>(collective.shard());
          Rows const own = all.Slice(borders[s], borders[s + 1]);
          auto const found = Gradients(params, own, TargetsOf(own, c.kind, weighted), collective);
          std::vector<GradientPair> const part(
              expected.begin() + static_cast<std::ptrdiff_t>(borders[s] * c.outputs),
              expected.begin() + static_cast<std::ptrdiff_t>(borders[s + 1] * c.outputs));
          EXPECT_TRUE(SameBits(found, part)) << "objective " << static_cast<int>(c.objective) << ", shard " << s
                                             << " of " << shards << ", weighted " << weighted;
        });
      }
    }
  }
}

TEST(ShardedRounds, Metrics) {
  struct Case {
    char const* name;
    Kind kind;
    std::uint32_t outputs;
  };
  for (Case const& c :
       {Case{"rmse", Kind::kRows, 1}, Case{"logloss", Kind::kRows, 1}, Case{"gamma-deviance", Kind::kRows, 1},
        Case{"merror", Kind::kRows, 3}, Case{"mlogloss", Kind::kRows, 3}, Case{"auc", Kind::kRows, 1},
        Case{"aucpr", Kind::kRows, 1}, Case{"auc", Kind::kRows, 3}, Case{"auc", Kind::kGroups, 1},
        Case{"aucpr", Kind::kGroups, 1}, Case{"ndcg", Kind::kGroups, 1}, Case{"map@3-", Kind::kGroups, 1},
        Case{"pre@5", Kind::kGroups, 1}, Case{"ndcg", Kind::kRows, 1}, Case{"cox-nloglik", Kind::kTimes, 1},
        Case{"aft-nloglik", Kind::kBounds, 1}}) {
    MetricParams const params = *MetricByName(c.name);
    for (std::size_t const n : {100U, 2048U, 5000U, 13000U}) {
      Rows const all{n, c.outputs};
      for (bool const weighted : {false, true}) {
        double const expected = host::Evaluate(params, TargetsOf(all, c.kind, weighted), all.Values(), kThreads);
        for (int const shards : {2, 3, 6}) {
          auto const borders = BordersOf(all, shards, c.kind);
          RunShards(shards, [&](Collective& collective) {
            auto const s = static_cast<std::size_t>(collective.shard());
            Rows const own = all.Slice(borders[s], borders[s + 1]);
            double const found =
                host::Evaluate(params, TargetsOf(own, c.kind, weighted), own.Values(), kThreads, collective);
            EXPECT_TRUE(SameBits(std::vector<double>{found}, std::vector<double>{expected}))
                << c.name << " of " << n << " rows, shard " << s << " of " << shards << ": " << found << ", not "
                << expected;
          });
        }
      }
    }
  }
}

TEST(ShardedRounds, BlocksOfASumThatEndWhereShardsEnd) {
  for (std::size_t const border : {std::size_t{2048}, std::size_t{4096}, std::size_t{2047}, std::size_t{6144}}) {
    Rows const all{6144, 1};
    MetricParams const params = *MetricByName("logloss");
    double const expected = host::Evaluate(params, TargetsOf(all, Kind::kRows, true), all.Values(), kThreads);
    RunShards(2, [&](Collective& collective) {
      Rows const own = collective.shard() == 0 ? all.Slice(0, border) : all.Slice(border, 6144);
      EXPECT_EQ(host::Evaluate(params, TargetsOf(own, Kind::kRows, true), own.Values(), kThreads, collective), expected)
          << border;
    });
  }
}

TEST(ShardedRounds, QuantilesOfLeaves) {
  constexpr std::size_t kRows = 3000, kNodes = 9;
  Random random{5};
  std::vector<NodeIndex> positions;
  std::vector<float> residuals, weights;
  for (std::size_t i = 0; i < kRows; ++i) {
    auto const leaf = static_cast<NodeIndex>(random.Below(kNodes));
    positions.push_back(random.Below(9) == 0 ? ~leaf : leaf);
    residuals.push_back(static_cast<float>(random.Below(40)) * 0.1f);
    weights.push_back(random.Between(0, 2));
  }
  for (bool const weighted : {false, true}) {
    std::vector<float> expected(kNodes, -5.0f);
    host::QuantileLeaves(positions, Span<float const>{residuals}, weighted ? weights.data() : nullptr, 0.3,
                         Span<float>{expected}, kThreads);
    std::vector<std::size_t> const borders{0, 0, 1300, 1301, kRows};
    RunShards(4, [&](Collective& collective) {
      auto const s = static_cast<std::size_t>(collective.shard());
      std::size_t const begin = borders[s], n = borders[s + 1] - begin;
      std::vector<float> found(kNodes, -5.0f);
      bool const has_weights = weighted && n != 0;
      host::QuantileLeaves({positions.data() + begin, n}, {residuals.data() + begin, n},
                           has_weights ? weights.data() + begin : nullptr, 0.3, Span<float>{found}, kThreads,
                           collective);
      EXPECT_TRUE(SameBits(found, expected)) << s;
    });
  }
}

TEST(ShardedRounds, WhatDoesNotFitIsRefusedByAll) {
  Rows const all{400, 1};
  MetricParams const classes = *MetricByName("mlogloss");
  auto const refuses = [&](std::vector<std::string> const& says, auto&& work) {
    RunShards(2, [&](Collective& collective) {
      Rows own = collective.shard() == 0 ? all.Slice(0, 100) : all.Slice(100, 400);
      EXPECT_EQ(WhatIsWrong<Error>([&] { work(own, collective); }, says), "");
    });
  };
  refuses({"row 105 has label 7"}, [&](Rows own, Collective& collective) {
    if (collective.shard() == 1) own.labels[5] = 7;
    own.outputs = 2;
    own.values.insert(own.values.end(), own.values.begin(), own.values.end());
    host::Evaluate(classes, TargetsOf(own, Kind::kRows, false), own.Values(), kThreads, collective);
  });
  refuses({"ranking groups (qid)", "groups of all rows, or none"}, [&](Rows const& own, Collective& collective) {
    auto const kind = collective.shard() == 0 ? Kind::kGroups : Kind::kRows;
    TargetView targets = TargetsOf(own, kind, false);
    std::uint32_t const one[] = {0, static_cast<std::uint32_t>(own.labels.size())};
    if (targets.group_ptr != nullptr) {
      targets.group_ptr = one;
      targets.groups = 1;
    }
    std::vector<GradientPair> out(own.labels.size());
    host::ComputeGradients({Objective::kRankNdcg}, targets, own.Values(), RowMajor(out.data(), out.size(), 1), kThreads,
                           collective);
  });
  refuses({"Metric ndcg", "ranking groups (qid)", "300 rows"}, [&](Rows const& own, Collective& collective) {
    TargetView targets = TargetsOf(own, Kind::kRows, false);
    std::uint32_t const one[] = {0, 100};
    if (collective.shard() == 0) {
      targets.group_ptr = one;
      targets.groups = 1;
    }
    host::Evaluate(*MetricByName("ndcg"), targets, own.Values(), kThreads, collective);
  });
}

}  // namespace
}  // namespace xgbgpu::testing
