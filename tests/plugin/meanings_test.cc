// Tests the table of series in which names of objectives and metrics have the engine's meaning.
#include "params/meanings.h"

#include <gtest/gtest.h>

#include <string>

#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::plugin {
namespace {

constexpr int kSeries[] = {107, 201, 300, 301, 302, 303, 304};

TEST(Meanings, AllNamesOfTheEngineAreOursIn17) {
  for (int i = 0; i <= static_cast<int>(Objective::kRankMap); ++i) {
    auto const kind = static_cast<Objective>(i);
    EXPECT_EQ(ObjectiveIsOurs(107, NameOf(kind)), !HasAlphas(kind)) << NameOf(kind);  // 1.7 does not know those
  }
  for (char const* const alias : {"reg:linear", "reg:logistic", "multi:softmax"}) {
    EXPECT_TRUE(ObjectiveByName(alias) && ObjectiveIsOurs(107, alias)) << alias;
  }
  for (int i = 0; i <= static_cast<int>(Metric::kMap); ++i) {
    std::string const name = NameOf(static_cast<Metric>(i));
    EXPECT_TRUE(MetricIsOurs(107, name)) << name;
  }
}

TEST(Meanings, NamesThatTheEngineLacksAreNeverOurs) {
  for (int const series : kSeries) {
    for (char const* const name : {"rank", "", "rmse"}) {
      EXPECT_FALSE(ObjectiveIsOurs(series, name)) << series << ' ' << name;
    }
    for (char const* const name : {"ams", "quantile", "expectile", "", "-", "@", "reg:squarederror"}) {
      EXPECT_FALSE(MetricIsOurs(series, name)) << series << ' ' << name;
    }
  }
}

TEST(Meanings, RankingsAreOursAndTheirMetricsAreOthersSince20) {
  for (int const series : kSeries) {
    for (char const* const name : {"rank:pairwise", "rank:ndcg", "rank:map"}) {
      EXPECT_TRUE(ObjectiveIsOurs(series, name)) << series << ' ' << name;
    }
    for (char const* const name : {"ndcg", "ndcg-", "ndcg@5", "ndcg@5-", "map", "map@3-", "pre", "pre@10"}) {
      EXPECT_EQ(MetricIsOurs(series, name), series < 200) << series << ' ' << name;
    }
  }
}

TEST(Meanings, QuantilesAreOursSince30) {
  for (int const series : kSeries) EXPECT_EQ(ObjectiveIsOurs(series, "reg:quantileerror"), series >= 300) << series;
  EXPECT_EQ(LastSeriesOfObjective("reg:quantileerror"), 303);
  EXPECT_EQ(LastSeriesOfMetric("ndcg@5-"), 107);
}

TEST(Meanings, ExpectilesAreOursSince33) {
  for (int const series : kSeries) EXPECT_EQ(ObjectiveIsOurs(series, "reg:expectileerror"), series >= 303) << series;
}

TEST(Meanings, LeavesOfAbsoluteErrorAreOthersFrom20To33) {
  for (int const series : kSeries) {
    EXPECT_EQ(ObjectiveIsOurs(series, "reg:absoluteerror"), series < 200 || series >= 304) << series;
  }
  EXPECT_EQ(LastSeriesOfObjective("reg:absoluteerror"), 107);
}

TEST(Meanings, TwoLossesAreSmoothSince34) {
  for (int const series : kSeries) {
    bool const are_smooth = series >= 304;
    EXPECT_EQ(InSeries(series, Objective::kAbsoluteError),
              are_smooth ? Objective::kSmoothAbsoluteError : Objective::kAbsoluteError);
    EXPECT_EQ(InSeries(series, Objective::kQuantile), are_smooth ? Objective::kSmoothQuantile : Objective::kQuantile);
    for (Objective const kind : {Objective::kExpectile, Objective::kPseudoHuber, Objective::kRankMap}) {
      EXPECT_EQ(InSeries(series, kind), kind) << series;
    }
  }
}

TEST(Meanings, OtherNamesAreOursInEverySeriesThatWasCompared) {
  for (int const series : kSeries) {
    for (char const* const name : {"reg:squarederror", "binary:logistic", "multi:softprob", "count:poisson"}) {
      EXPECT_TRUE(ObjectiveIsOurs(series, name)) << series << ' ' << name;
    }
    for (char const* const name : {"rmse", "error@0.7", "tweedie-nloglik@1.5", "auc", "cox-nloglik"}) {
      EXPECT_TRUE(MetricIsOurs(series, name)) << series << ' ' << name;
    }
  }
}

TEST(Meanings, NothingIsOursInASeriesThatWasNotCompared) {
  for (int const series : {0, 106, 305, 400}) {
    EXPECT_FALSE(ObjectiveIsOurs(series, "reg:squarederror")) << series;
    EXPECT_FALSE(MetricIsOurs(series, "rmse")) << series;
  }
}

}  // namespace
}  // namespace xgbgpu::plugin
