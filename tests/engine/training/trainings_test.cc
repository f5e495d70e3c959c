// driver: which quantised data, trainers and margins belong to which data set, and what is kept for it.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "collective/in_process.h"
#include "support/grow.h"
#include "support/model_case.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/data_key.h"
#include "xgbgpu/dataset_cache.h"
#include "xgbgpu/margin_bases.h"
#include "xgbgpu/time_orders.h"
#include "xgbgpu/training_pool.h"

namespace xgbgpu {
namespace {

using testing::OwnedData;
using testing::RandomValues;

Place const kHost{BackendKind::kHost, 0};

TEST(DataKeyTest, TellsAnObjectFromALaterOneAtItsAddress) {
  alignas(int) unsigned char place[sizeof(int)];
  auto const make = [&] { return std::shared_ptr<int>{new (place) int{1}, [](int*) {}}; };
  auto first = make();
  DataKey const key{first};
  EXPECT_FALSE(key.expired());
  EXPECT_EQ(key, DataKey{std::shared_ptr<int>{first}});
  first.reset();
  EXPECT_TRUE(key.expired());
  auto const second = make();
  EXPECT_NE(key, DataKey{second});
  EXPECT_NE(DataKey{}, DataKey{second});
  EXPECT_TRUE(DataKey{}.expired());
}

OwnedData SomeData(std::uint64_t seed, std::size_t rows = 200) {
  return OwnedData{RandomValues({rows, 4, 0.1}, seed), 1, seed};
}

TEST(DatasetCacheTest, SharesWhatDependsOnTheSame) {
  OwnedData data = SomeData(1), other = SomeData(2);
  DatasetCache cache;
  auto const first = cache.Get(data.Request(kHost));
  EXPECT_EQ(cache.Get(data.Request(kHost)), first);
  EXPECT_NE(cache.Get(other.Request(kHost)), first);
  EXPECT_NE(cache.Get(data.Request(kHost, 16)), first);
  EXPECT_EQ(cache.Get(data.Request(kHost)), first);

  std::vector<float> weights(data.rows(), 1.0f);
  auto weighted = data.Request(kHost);
  weighted.weights = weights;
  auto const second = cache.Get(weighted);
  EXPECT_NE(second, first);
  weights[3] = 2;
  EXPECT_NE(cache.Get(weighted), second) << "weights were set anew";

  auto categorical = data.Request(kHost);
  std::vector<std::uint8_t> const types{1, 0, 0, 0};
  categorical.categorical = types;
  EXPECT_NE(cache.Get(categorical), first);

  auto limited = data.Request(kHost);
  limited.place.memory.training_bytes = 100000000;
  EXPECT_NE(cache.Get(limited), first);
}

TEST(DatasetCacheTest, OtherLimitsOfMemoryAreAnotherPlace) {
  OwnedData data = SomeData(1);
  DatasetCache cache;
  auto const without = cache.Get(data.Request(kHost));
  for (MemoryLimits const& memory :
       {MemoryLimits{1 << 30, 0, {}}, MemoryLimits{0, 1 << 30, {}}, MemoryLimits{0, 0, "/var/tmp"}}) {
    Place place = kHost;
    place.memory = memory;
    auto const with = cache.Get(data.Request(place));
    EXPECT_NE(with, without);
    EXPECT_EQ(cache.Get(data.Request(place)), with);
  }
  EXPECT_EQ(cache.Get(data.Request(kHost)), without);
}

TEST(DatasetCacheTest, ShardsGetPartsOfOneDataset) {
  RunShards(2, [](Collective& collective) {
    bool const changes = collective.shard() == 1;
    auto const shard = static_cast<std::uint64_t>(collective.shard());
    OwnedData data = SomeData(1 + shard), other = SomeData(7);
    Place const place{BackendKind::kHost, 0, &collective};
    DatasetCache cache;
    auto const first = cache.Get(data.Request(place));
    EXPECT_EQ(cache.Get(data.Request(place)), first);
    auto const second = cache.Get((changes ? other : data).Request(place));
    EXPECT_NE(second, first) << "the other shard's rows are others now";
    EXPECT_EQ(cache.Get((changes ? other : data).Request(place)), second);
    auto const third = cache.Get(data.Request(place));
    EXPECT_NE(third, first) << "shard 0 has another one for these rows";
    EXPECT_NE(third, second);
    EXPECT_EQ(cache.Get(data.Request(place)), third);

    TrainingPool pool;
    Training* const training = &pool.Get(data.Request(place), 1);
    EXPECT_EQ(&pool.Get(data.Request(place), 1), training);
  });
}

TEST(DatasetCacheTest, LooksAtWeightsOnceAnEpoch) {
  OwnedData data = SomeData(3);
  DatasetCache cache;
  std::vector<float> weights(data.rows(), 1.0f);
  auto request = data.Request(kHost);
  request.weights = weights;
  request.epoch = 7;
  auto const first = cache.Get(request);
  EXPECT_EQ(cache.Get(request), first);  // weights have been compared in epoch 7
  weights[0] = 3;
  EXPECT_EQ(cache.Get(request), first) << "nobody may set weights without another epoch";
  request.epoch = 8;
  EXPECT_NE(cache.Get(request), first);
}

TEST(DatasetCacheTest, BinsOfTheDataThemselvesDependOnNothingElse) {
  OwnedData data = SomeData(4);
  DatasetCache cache;
  auto request = data.Request(kHost);
  request.has_own_bins = true;
  auto const first = cache.Get(request);
  std::vector<float> const weights(data.rows(), 2.0f);
  request.weights = weights;
  request.max_bin = 16;
  EXPECT_EQ(cache.Get(request), first);
  request.max_bin = kNoBins;
  EXPECT_NE(cache.Get(request), first) << "sorted columns are not bins";
}

TEST(DatasetCacheTest, HoldsTheNewestUntilItsDataAreGone) {
  OwnedData data = SomeData(5), other = SomeData(6);
  DatasetCache cache;
  std::weak_ptr<Dataset const> const first = cache.Get(data.Request(kHost));
  EXPECT_FALSE(first.expired()) << "the next training on the same data finds it";
  std::weak_ptr<Dataset const> const second = cache.Get(other.Request(kHost));
  EXPECT_TRUE(first.expired());
  EXPECT_FALSE(second.expired());
  other.Die();
  cache.DropExpired();
  EXPECT_TRUE(second.expired());
}

TEST(DatasetCacheTest, OfTwoThreadsBothGetOne) {
  OwnedData data = SomeData(7);
  DatasetCache cache;
  auto const request = data.Request(kHost);
  std::shared_ptr<Dataset const> a, b;
  std::thread one{[&] { a = cache.Get(request); }};
  std::thread two{[&] { b = cache.Get(request); }};
  one.join();
  two.join();
  EXPECT_EQ(a, b);
}

TEST(TrainingPoolTest, AlternatesBetweenTwoDataSetsAndFreesTheThird) {
  struct Count final : TrainerWatch {
    explicit Count(int* living) : living_{living} { ++*living_; }
    ~Count() override { --*living_; }
    void Refresh() override {}
    int* living_;
  };
  OwnedData a = SomeData(8), b = SomeData(9), c = SomeData(10);
  int living = 0, made = 0;
  TrainingPool pool{[&](Trainer const&) { return std::make_unique<Count>(&living); }};
  auto const get = [&](OwnedData const& data) { return &pool.Get(data.Request(kHost), 2, [&] { ++made; }); };
  Training* const of_a = get(a);
  Training* const of_b = get(b);
  EXPECT_EQ(get(a), of_a);
  EXPECT_EQ(get(b), of_b);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(pool.Newest(), of_b);
  EXPECT_EQ(pool.TrainingOf(a.key()), of_a);
  EXPECT_EQ(pool.TrainingOf(c.key()), nullptr);
  get(c);
  EXPECT_EQ(living, 2);
  EXPECT_EQ(pool.TrainingOf(a.key()), nullptr) << "it was used least";
  c.Die();
  pool.DropExpired();
  EXPECT_EQ(living, 1);
  EXPECT_EQ(pool.Newest(), of_b);
}

TEST(TrainingPoolTest, FindsMarginsOfTheModelAsItIs) {
  OwnedData a = SomeData(11);
  TrainingPool pool;
  Training& training = pool.Get(a.Request(kHost), 2);
  EXPECT_EQ(pool.FindMargins(a.key(), 0), nullptr);
  training.own.rounds = 3;
  EXPECT_EQ(pool.FindMargins(a.key(), 3), &training);
  EXPECT_EQ(pool.FindMargins(a.key(), 4), nullptr);
  pool.ForgetMargins();
  EXPECT_EQ(pool.FindMargins(a.key(), 3), nullptr);
}

TEST(BaseMarkTest, ComparesUnlessTheEpochIsTheSame) {
  std::vector<float> margins{1, 2, 3};
  BaseMark mark;
  mark.Set({margins, {0.5f}}, 4);
  EXPECT_TRUE(mark.IsOf({margins, {0.5f}}, 4));
  EXPECT_FALSE(mark.IsOf({margins, {0.25f}}, 4));
  margins[1] = 9;
  EXPECT_TRUE(mark.IsOf({margins, {0.5f}}, 4)) << "nobody may set margins without another epoch";
  EXPECT_FALSE(mark.IsOf({margins, {0.5f}}, 5));
  EXPECT_FALSE(mark.IsOf({margins, {0.5f}}, {})) << "the host cannot tell";
  EXPECT_FALSE(mark.IsOf({{}, {0.5f}}, 5));
}

TEST(BaseMarginsTest, EachOutputHasItsScore) {
  std::vector<float> margins;
  BaseMargins const of_outputs{{}, {0.5f, -1.0f}};
  of_outputs.AssignTo(2, 2, &margins);
  EXPECT_EQ(margins, (std::vector<float>{0.5f, -1.0f, 0.5f, -1.0f}));
  BaseMargins{{}, {0.25f}}.AssignTo(2, 2, &margins);
  EXPECT_EQ(margins, std::vector<float>(4, 0.25f));
  std::vector<float> const own{1, 2};
  BaseMargins{own, {0.25f}}.AssignTo(2, 1, &margins);
  EXPECT_EQ(margins, own);
  BaseMark mark;
  mark.Set(of_outputs, {});
  EXPECT_TRUE(mark.IsOf(of_outputs, {}));
  EXPECT_FALSE(mark.IsOf({{}, {0.5f, 1.0f}}, {}));
}

TEST(MarginBasesTest, DropsWhatBeganOtherwise) {
  OwnedData data = SomeData(12);
  MarginBases bases;
  int cache_a = 0, cache_b = 0;
  auto const look = [&](float base, void const* cache) { return bases.Begin(data.key(), {{}, {base}}, {}, cache); };
  EXPECT_FALSE(bases.any());
  auto stale = look(0.5f, &cache_a);
  EXPECT_TRUE(stale.cached) << "nobody knows how these began";
  EXPECT_FALSE(stale.kept);
  EXPECT_TRUE(bases.any());
  EXPECT_FALSE(look(0.5f, &cache_a).cached);
  EXPECT_TRUE(look(0.5f, &cache_b).cached) << "another thread's";
  stale = look(0.75f, &cache_a);
  EXPECT_TRUE(stale.cached && stale.kept) << "the base score was changed";
  EXPECT_TRUE(look(0.75f, &cache_b).cached);

  bases.LeaveToXGBoost(data.key(), {{}, {0.75f}}, {});
  EXPECT_FALSE(look(0.75f, &cache_a).cached);
  bases.LeaveToXGBoost(data.key(), {{}, {0.5f}}, {});
  EXPECT_TRUE(look(0.75f, &cache_a).cached) << "others went on with another base";

  bases.Forget();
  EXPECT_FALSE(bases.any());
  EXPECT_TRUE(look(0.75f, &cache_a).cached);
}

TEST(TargetMarkTest, IsOfValuesUnlessTheEpochIsKnown) {
  OwnedData data = SomeData(13);
  auto const mark = [&](DataEpoch epoch, int threads = 2) {
    return TargetMark::Of(data.targets(), data.rows(), Objective::kLogistic, epoch, threads);
  };
  auto const before = mark({});
  EXPECT_EQ(mark({}, 7), before);
  std::swap(data.labels()[3], data.labels()[4]);
  EXPECT_NE(mark({}), before);
  EXPECT_EQ(mark(5), mark(5));
  EXPECT_NE(mark(5), mark(6));
  EXPECT_NE(mark(5), TargetMark::Of(data.targets(), data.rows(), Objective::kCox, 5, 2));
}

TEST(TimeOrdersTest, SortsOnceForTheLabelsThatThereAre) {
  OwnedData data = SomeData(14);
  TimeOrders orders;
  auto const get = [&](std::uint64_t epoch) {
    TargetMark const mark = TargetMark::Of(data.targets(), data.rows(), Objective::kCox, epoch, 2);
    return orders.Get(data.key(), data.rows(), data.targets(), mark);
  };
  auto const first = get(1);
  EXPECT_EQ(get(1), first);
  data.labels()[0] = 100;
  auto const second = get(2);
  EXPECT_NE(second, first);
  EXPECT_EQ(second->rows[data.rows() - 1], 0U);
  std::weak_ptr<TimeOrder const> const kept = second;
  data.Die();
  orders.DropExpired();
  EXPECT_EQ(kept.use_count(), 1) << "only we have it";
}

}  // namespace
}  // namespace xgbgpu
