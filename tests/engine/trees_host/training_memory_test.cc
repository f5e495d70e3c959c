// driver: when a training on the host is in pages, and how a limit of memory is shared out.
#include "trees_host/training_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collective/in_process.h"
#include "matrix/paged_matrix.h"
#include "quantile/quantile.h"
#include "support/data.h"
#include "support/dataset_forms.h"
#include "support/grow.h"
#include "support/shards.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::MemorySource;
using testing::TreeCase;
using testing::WhatIsWrong;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kLeastPage = PagePolicy{}.least_page_bytes;

/// A million rows of 28 columns of 256 bins, as dense rows of one byte a value.
constexpr TrainingNeeds kNeeds{1000000, 60 * kMiB, 40000, 28 * 256 * 16, 2 * 28 * 256 * 24, 32};
constexpr std::uint64_t kInCore = 1000000 * 47 + 60 * kMiB + 40000 + 2 * 28 * 256 * 16 + 2 * 28 * 256 * 24;
constexpr std::uint64_t kInPages = 1000000 * 34 + 3 * (40000 + kLeastPage) + 2 * 28 * 256 * 16 + 2 * 28 * 256 * 24;

TrainingMemory Choose(TrainingNeeds const& needs, std::uint64_t limit) {
  return ChooseTrainingMemory(needs, limit, NoOtherShards());
}

TEST(TrainingMemoryTest, WithoutALimitItIsInCore) {
  TrainingMemory const memory = Choose(kNeeds, 0);
  EXPECT_FALSE(memory.in_pages);
  EXPECT_EQ(memory.working_bytes, HostHistogramPolicy{}.cache_bytes);
}

TEST(TrainingMemoryTest, WhatFitsIsInCoreWithFewerHistograms) {
  EXPECT_FALSE(Choose(kNeeds, kInCore).in_pages);
  EXPECT_EQ(Choose(kNeeds, kInCore).working_bytes, 2 * kNeeds.histogram);
  EXPECT_EQ(Choose(kNeeds, kInCore + 5 * kMiB).working_bytes, 2 * kNeeds.histogram + 5 * kMiB);
  EXPECT_EQ(Choose(kNeeds, kInCore + 5000 * kMiB).working_bytes, HostHistogramPolicy{}.cache_bytes);
}

TEST(TrainingMemoryTest, WhatDoesNotFitIsInPages) {
  TrainingMemory const largest = Choose(kNeeds, kInCore - 1);
  EXPECT_TRUE(largest.in_pages);
  std::uint64_t const left = kInCore - 1 - kInPages;
  EXPECT_EQ(largest.page_bytes, kLeastPage + left / 12);
  EXPECT_EQ(largest.working_bytes, 2 * kNeeds.histogram + left - 3 * (left / 12));
  TrainingMemory const least = Choose(kNeeds, kInPages);
  EXPECT_TRUE(least.in_pages);
  EXPECT_EQ(least.page_bytes, kLeastPage);
  EXPECT_EQ(least.working_bytes, 2 * kNeeds.histogram);
  TrainingNeeds large = kNeeds;
  large.bins = 6000 * kMiB;
  TrainingMemory const roomy = Choose(large, kInPages + 5000 * kMiB);
  EXPECT_TRUE(roomy.in_pages);
  EXPECT_EQ(roomy.page_bytes, PagePolicy{}.page_bytes);
  EXPECT_EQ(roomy.working_bytes, 2 * kNeeds.histogram + 5000 * kMiB - 3 * (PagePolicy{}.page_bytes - kLeastPage));
}

TEST(TrainingMemoryTest, APageHasRoomForTheLargestRow) {
  TrainingNeeds needs = kNeeds;
  needs.row_bins = kMiB;
  std::uint64_t const least = kInPages + 3 * (kMiB - kLeastPage);
  EXPECT_EQ(Choose(needs, least).page_bytes, kMiB);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Choose(needs, least - 1); }, {std::to_string(least) + " or more"}), "");
}

TEST(TrainingMemoryTest, RefusesLessThanTheLeast) {
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Choose(kNeeds, kInPages - 1); },
                                         {"gpu_memory_limit is " + std::to_string(kInPages - 1) + " bytes",
                                          std::to_string(kInPages) + " or more", "1000000 rows", "0 for no limit"}),
            "");
  // Few rows take less in core than the smallest pages do.
  TrainingNeeds few = kNeeds;
  few.rows = 100;
  few.bins = 100 * 60;
  std::uint64_t const least = 100 * 47 + 100 * 60 + 40000 + 2 * 28 * 256 * 16 + 2 * 28 * 256 * 24;
  EXPECT_FALSE(Choose(few, least).in_pages);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Choose(few, least - 1); },
                                         {std::to_string(least) + " or more", "100 rows of 47 bytes", "bins of 6000"}),
            "")
      << "the parts that it names are those of a training in core";
}

TEST(TrainingMemoryTest, ShardsDecideTogether) {
  TrainingNeeds small = kNeeds;
  small.rows = 1000;
  small.bins = 60000;
  std::vector<TrainingMemory> found(3);
  std::vector<std::string> wrong(3);
  RunShards(3, [&](Collective& collective) {
    auto const s = static_cast<std::size_t>(collective.shard());
    TrainingNeeds const& own = s == 1 ? kNeeds : small;
    found[s] = ChooseTrainingMemory(own, kInCore - 1, collective);
    wrong[s] = WhatIsWrong<InvalidArgument>([&] { ChooseTrainingMemory(kNeeds, kInPages - 1, collective); },
                                            {std::to_string(kInPages) + " or more"});
    // One shard cannot, so none does.
    EXPECT_EQ(WhatIsWrong<Error>([&] { ChooseTrainingMemory(own, kInPages - 1, collective); },
                                 {std::to_string(kInPages) + " or more"}),
              "");
  });
  EXPECT_EQ(wrong, std::vector<std::string>(3));
  for (TrainingMemory const& memory : found) {
    EXPECT_TRUE(memory.in_pages);
    EXPECT_EQ(memory.working_bytes, Choose(kNeeds, kInCore - 1).working_bytes);
  }
  // Only one has a limit.
  RunShards(3, [&](Collective& collective) {
    auto const s = static_cast<std::size_t>(collective.shard());
    found[s] = ChooseTrainingMemory(kNeeds, s == 2 ? kInPages : 0, collective);
  });
  for (TrainingMemory const& memory : found) {
    EXPECT_TRUE(memory.in_pages);
    EXPECT_EQ(memory.working_bytes, 2 * kNeeds.histogram);
  }
  EXPECT_EQ(found[0].page_bytes, PagePolicy{}.page_bytes);
  EXPECT_EQ(found[2].page_bytes, kLeastPage);
}

TEST(TrainingNeedsTest, AreThoseOfTheMatrix) {
  for (double const missing : {0.1, 0.8}) {
    auto const values = testing::RandomValues({500, 6, missing}, 600);
    MemorySource const source{values};
    host::MatrixPlan const plan = host::PlanMatrix(source, host::ComputeCuts(source, {}, 16, 2), 2);
    TrainingNeeds const needs = NeedsOf(plan, 3);
    auto const matrix = host::QuantiseMatrix(source, plan.matrix->cuts, 2);
    EXPECT_EQ(needs.rows, 500U);
    EXPECT_EQ(needs.bins + needs.shared, matrix->bytes());
    EXPECT_EQ(needs.histogram, matrix->cells() * sizeof(GradientSum));
    EXPECT_EQ(needs.scratch, 3U * matrix->cells() * (8 + 16));
    // A page of one row has as many bytes as the largest row wants.
    PagedMatrix const paged{source, host::PlanMatrix(source, matrix->cuts, 2), 2, 1, {}};
    QuantisedMatrix const workspace = paged.MakeWorkspace();
    EXPECT_EQ(needs.row_bins, workspace.data.bytes() + workspace.row_ptr.bytes());
  }
}

/// Limits for a case: one that it fits in core, and the least.
struct Limits {
  std::uint64_t in_core, least;
};
Limits LimitsOf(Dataset const& data, int threads) {
  std::uint64_t const scratch = static_cast<std::uint64_t>(threads) * testing::BinsOf(data).cells() * 24;
  std::uint64_t const histograms = 2 * testing::BinsOf(data).cells() * sizeof(GradientSum);
  std::uint64_t const shared = data.bytes() - testing::BinsOf(data).data.bytes() -
                               testing::BinsOf(data).columns.bytes() - testing::BinsOf(data).row_ptr.bytes();
  return {data.rows() * 47 + data.bytes() + histograms + scratch,
          data.rows() * 34 + histograms + scratch + 3 * (shared + kLeastPage)};
}

TEST(DatasetInPagesTest, ALimitDecides) {
  TreeCase const c = testing::RandomCase({30000, 9, 0.1}, 601);
  MemorySource const source{c.values, 1000};
  auto const whole = Dataset::Build(source, {}, 64, 2);
  Limits const limits = LimitsOf(*whole, 2);
  ASSERT_LT(limits.least, limits.in_core);
  EXPECT_FALSE(whole->in_pages());
  Tree const expected = Trainer{whole, BackendKind::kHost, 2}.Grow(c.params, c.gradients, {});
  auto const build = [&](std::uint64_t limit) {
    Place place;
    place.memory.training_bytes = limit;
    return Dataset::Build(source, {}, 64, 2, place);
  };
  EXPECT_FALSE(build(limits.in_core)->in_pages());
  for (std::uint64_t const limit : {limits.in_core - 1, limits.least}) {
    auto const data = build(limit);
    ASSERT_TRUE(data->in_pages());
    EXPECT_EQ(data->cuts(), whole->cuts());
    EXPECT_EQ(data->stored(), whole->stored());
    EXPECT_GE(testing::PagesOf(*data).store().file_bytes(), 30000U * 9);
    EXPECT_LT(data->bytes(), 30000U);
    Trainer trainer{data, BackendKind::kAuto, 2};
    EXPECT_EQ(trainer.backend(), BackendKind::kHost);
    EXPECT_EQ(trainer.Grow(c.params, c.gradients, {}), expected);
    EXPECT_LE(trainer.memory().bytes + data->bytes(), limit);
  }
  EXPECT_GE(testing::PagesOf(*build(limits.least)).pages(), 4U);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { build(limits.least - 1); },
                                         {"gpu_memory_limit is", std::to_string(limits.least) + " or more"}),
            "");
  EXPECT_EQ(WhatIsWrong<Unsupported>([&] { Trainer(build(limits.least), BackendKind::kCuda, 2); },
                                     {"gpu_backend", "cuda", "in pages", "auto, host"}),
            "");
}

TEST(DatasetInPagesTest, BinEdgesAndOtherCutsToo) {
  TreeCase const c = testing::RandomCase({30000, 9, 0.1}, 602);
  MemorySource const source{c.values, 1000};
  auto const other = Dataset::Build(MemorySource{testing::RandomValues({500, 9, 0.1}, 603)}, {}, 32, 2);
  Place place;
  auto const edges = Dataset::BuildWithCuts(source, other->cuts(), 2, place);
  place.memory.training_bytes = LimitsOf(*edges, 2).least;
  auto const paged = Dataset::BuildWithCuts(source, other->cuts(), 2, place);
  ASSERT_TRUE(paged->in_pages());
  EXPECT_EQ((Trainer{paged, BackendKind::kHost, 2}.Grow(c.params, c.gradients, {})),
            (Trainer{edges, BackendKind::kHost, 2}.Grow(c.params, c.gradients, {})));
  std::vector<std::vector<Entry>> rows;
  for (std::size_t r = 0; r < 30000; ++r) {
    rows.push_back({{0, static_cast<float>(r % 50)}, {1, static_cast<float>(r * 7 % 31)}});
  }
  MemorySource const levels{rows, 2, 1000};
  auto const whole = Dataset::FromBinEdges(levels, 2);
  place.memory.training_bytes = LimitsOf(*whole, 2).least;
  auto const of_edges = Dataset::FromBinEdges(levels, 2, place);
  ASSERT_TRUE(of_edges->in_pages());
  EXPECT_EQ((Trainer{of_edges, BackendKind::kHost, 2}.Grow(c.params, c.gradients, {})),
            (Trainer{whole, BackendKind::kHost, 2}.Grow(c.params, c.gradients, {})));
}

TEST(DatasetInPagesTest, DataOnTheHostAreNotMovedToOtherLimits) {
  TreeCase const c = testing::RandomCase({300, 3}, 606);
  auto const data = Dataset::Build(MemorySource{c.values}, {}, 16, 1);
  MemoryLimits limits;
  limits.training_bytes = 1;
  EXPECT_EQ(Dataset::Within(data, limits), data);
}

TEST(DatasetInPagesTest, RefusesFoldersAndExactTrees) {
  TreeCase const c = testing::RandomCase({30000, 9, 0.1}, 604);
  MemorySource const source{c.values};
  Place place;
  place.memory.training_bytes = LimitsOf(*Dataset::Build(source, {}, 64, 2), 2).least;
  place.memory.cache_folder = "/no/such/folder";
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Dataset::Build(source, {}, 64, 2, place); },
                                         {"gpu_cache_folder", "/no/such/folder"}),
            "");
  EXPECT_EQ(WhatIsWrong<Unsupported>([&] { Dataset::BuildSorted(source, 2, place); },
                                     {"gpu_exact", "gpu_memory_limit is", "0 (no limit)"}),
            "");
}

TEST(DatasetInPagesTest, ShardsToo) {
  TreeCase const c = testing::RandomCase({60000, 9, 0.1}, 605);
  Tree const expected = testing::Grow(c);
  RunShards(2, [&](Collective& collective) {
    auto const s = static_cast<std::size_t>(collective.shard());
    TreeCase const own = testing::Slice(c, s * 30000, (s + 1) * 30000);
    Place place;
    place.shards = &collective;
    auto const whole = Dataset::Build(MemorySource{own.values}, {}, c.max_bin, 2, place);
    auto const least = LimitsOf(*whole, 2).least;
    place.memory.training_bytes = static_cast<std::uint64_t>(collective.MaxOf(static_cast<std::int64_t>(least)));
    auto const data = Dataset::Build(MemorySource{own.values}, {}, c.max_bin, 2, place);
    ASSERT_TRUE(data->in_pages());
    EXPECT_EQ((Trainer{data, BackendKind::kHost, 2}.Grow(c.params, own.gradients, {})), expected);
    // A shard whose disk is full, or whose folder is not there, is an error of all.
    if (s == 1) place.memory.cache_folder = "/no/such/folder";
    EXPECT_EQ(WhatIsWrong<Error>([&] { Dataset::Build(MemorySource{own.values}, {}, c.max_bin, 2, place); },
                                 {"/no/such/folder"}),
              "");
  });
}

}  // namespace
}  // namespace xgbgpu
