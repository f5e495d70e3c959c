// driver: trees, leaves and margins of a matrix in pages are those of the matrix in core, bit for bit.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collective/in_process.h"
#include "page/page_file.h"
#include "quantile/quantile.h"
#include "support/data.h"
#include "support/dataset_forms.h"
#include "support/grow.h"
#include "support/paged.h"
#include "support/shards.h"
#include "support/tree_cases.h"
#include "trees_host/hist_host.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::MakePaged;
using testing::MemorySource;
using testing::TreeCase;
using testing::WhatIsWrong;

constexpr int kThreads = 2;
constexpr std::size_t kPages[] = {1, 2, 5, 40};

/// Bytes of `slots` histograms.
std::size_t WorkingBytes(PagedMatrix const& paged, std::size_t slots) {
  return slots * paged.whole().cells() * sizeof(GradientSum);
}

/// What a training gives.
struct Outcome {
  std::vector<Tree> trees;
  std::vector<NodeIndex> positions;  ///< [trees, rows]
  std::vector<std::uint8_t> sampled_out;
  std::vector<float> margins;  ///< [rows]
};

/// Grows a forest of two trees and a tree of the next round, on the same gradients.
Outcome Train(TreeCase const& c, TreeBuilder* builder) {
  std::size_t const rows = c.values.rows;
  Outcome out{{}, {}, {}, std::vector<float>(rows)};
  std::vector<NodeIndex> positions(rows);
  std::vector<std::uint8_t> sampled_out(rows);
  for (TreeKey const key : {TreeKey{4, 0}, TreeKey{4, 1}, TreeKey{5, 0}}) {
    out.trees.push_back(builder->Grow(c.params, c.gradients, key));
    builder->LeafPositions(positions, sampled_out);
    builder->AddLeafValues(out.trees.back().leaf_value, out.margins.data(), 1);
    out.positions.insert(out.positions.end(), positions.begin(), positions.end());
    out.sampled_out.insert(out.sampled_out.end(), sampled_out.begin(), sampled_out.end());
  }
  return out;
}

void ExpectSame(Outcome const& found, Outcome const& expected) {
  ASSERT_EQ(found.trees, expected.trees);
  EXPECT_EQ(found.positions, expected.positions);
  EXPECT_EQ(found.sampled_out, expected.sampled_out);
  EXPECT_EQ(found.margins, expected.margins);
}

MemorySource SourceOf(TreeCase const& c) {
  MemorySource source{c.values, 100};
  source.SetCategorical(c.categorical);
  return source;
}

void ExpectSameInPages(TreeCase const& c) {
  auto const data = testing::MakeDataset(c);
  Outcome const expected = Train(c, MakeHostTreeBuilder(testing::BinsOf(*data), kThreads).get());
  MemorySource const source = SourceOf(c);
  Shard const shard = Shard::Whole(c.values.rows);
  for (std::size_t const pages : kPages) {
    auto const paged = MakePaged(source, data->cuts(), pages);
    int const threads = pages == 2 ? 1 : 3;
    SCOPED_TRACE(std::to_string(paged->pages()) + " pages, " + std::to_string(threads) + " threads");
    ExpectSame(Train(c, MakeHostTreeBuilder(*paged, shard, threads).get()), expected);
    // With so little memory no sample is copied.
    ExpectSame(Train(c, MakeHostTreeBuilder(*paged, shard, threads, 0).get()), expected);
  }
}

class PagedTreesTest : public ::testing::TestWithParam<std::tuple<GrowPolicy, testing::NamedCase>> {};

TEST_P(PagedTreesTest, AreThoseInCore) {
  auto const& [policy, named] = GetParam();
  TreeCase c = testing::RandomCase(named.shape, 131);
  c.max_bin = 32;
  named.set(&c);
  testing::SetPolicy(&c.params, policy);
  ExpectSameInPages(c);
}

std::string CaseName(::testing::TestParamInfo<std::tuple<GrowPolicy, testing::NamedCase>> const& info) {
  return testing::NameOf(std::get<0>(info.param)) + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Cases, PagedTreesTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kPolicies),
                                            ::testing::ValuesIn(testing::kTreeCases)),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(MoreCases, PagedTreesTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kPolicies),
                                            ::testing::ValuesIn(testing::kShardCases)),
                         CaseName);

TEST(PagedTreesTest, WithRoomForFewHistograms) {
  TreeCase c = testing::RandomCase({1501, 6, 0.2, 30}, 502);
  c.params.subsample = 0.7f;
  for (GrowPolicy const policy : testing::kPolicies) {
    testing::SetPolicy(&c.params, policy);
    auto const data = testing::MakeDataset(c);
    Outcome const expected = Train(c, MakeHostTreeBuilder(testing::BinsOf(*data), kThreads).get());
    auto const paged = MakePaged(SourceOf(c), data->cuts(), 5);
    for (std::size_t const slots : {2U, 3U, 7U}) {
      SCOPED_TRACE(testing::NameOf(policy) + ", " + std::to_string(slots) + " histograms");
      auto const builder =
          MakeHostTreeBuilder(*paged, Shard::Whole(c.values.rows), kThreads, WorkingBytes(*paged, slots));
      ExpectSame(Train(c, builder.get()), expected);
    }
  }
}

TEST(PagedTreesTest, SymmetricTreesThatAreCut) {
  TreeCase c = testing::RandomCase({1500, 7, 0.2, 30}, 505);
  testing::SetPolicy(&c.params, GrowPolicy::kSymmetric);
  c.params.subsample = 0.5f;
  auto const data = testing::MakeDataset(c);
  std::size_t least = 1000;
  for (float const gamma : {0.0f, 5.0f, 8.0f, 12.0f, 20.0f, 40.0f}) {
    c.params.min_split_loss = gamma;
    least = std::min(least, testing::Grow(c).Leaves());
    ExpectSameInPages(c);
  }
  EXPECT_LT(least, 33U) << "no level was cut off";
}

TEST(PagedTreesTest, GradientsThatChangeTheirFormat) {
  // One builder grows trees of the wide and of the narrow format in turns.
  TreeCase c = testing::RandomCase({(std::size_t{1} << 16) + 4321, 3, 0.1}, 506);
  c.params.max_depth = 4;
  TreeCase wide = c;
  wide.gradients[700].grad = 3e6f;
  auto const data = testing::MakeDataset(c);
  auto const in_core = MakeHostTreeBuilder(testing::BinsOf(*data), kThreads);
  auto const paged = MakePaged(SourceOf(c), data->cuts(), 5);
  auto const builder = MakeHostTreeBuilder(*paged, Shard::Whole(c.values.rows), kThreads);
  for (int repeat = 0; repeat < 2; ++repeat) {
    ExpectSame(Train(c, builder.get()), Train(c, in_core.get()));
    ExpectSame(Train(wide, builder.get()), Train(wide, in_core.get()));
  }
}

TEST(PagedTreesTest, ReportWhatTheyHold) {
  TreeCase const c = testing::RandomCase({3000, 6}, 507);
  auto const data = testing::MakeDataset(c);
  auto const paged = MakePaged(SourceOf(c), data->cuts(), 5);
  auto const builder = MakeHostTreeBuilder(*paged, Shard::Whole(c.values.rows), kThreads);
  builder->Grow(c.params, c.gradients, {});
  MemoryReport const report = builder->memory();
  std::size_t bytes = 0, pages = 0;
  for (auto const& part : report.parts) {
    bytes += part.bytes;
    if (part.name == "pages") pages = part.bytes;
  }
  EXPECT_EQ(bytes, report.bytes);
  // 6 features take 8 bytes a row: two pages of a fifth of the rows.
  EXPECT_GE(pages, 2U * 8 * 3000 / 5);
  EXPECT_LE(pages, 2U * 8 * 3000 / 5 + 2 * (paged->whole().bytes() + 100));
  EXPECT_EQ(report.pages.count, paged->pages());
  EXPECT_EQ(report.pages.on_device, 0U);
  EXPECT_EQ(report.pages.memory_bytes, 8U * 3000);
  EXPECT_EQ(report.pages.file_bytes, 0U);
  // The root, and 6 levels. After the first pass two pages are there already.
  std::size_t least = 0;
  for (std::size_t page = 0; page + 2 < paged->pages(); ++page) least += paged->bytes(page);
  EXPECT_GE(report.pages.copied_bytes, 8U * 3000 + 6 * least);
  EXPECT_LE(report.pages.copied_bytes, 8U * 3000 * 7);
  std::uint64_t const version = builder->memory_version();
  builder->Grow(c.params, c.gradients, {});
  EXPECT_NE(builder->memory_version(), version);
}

/// Grows a tree on 40 pages; returns its leaves and depth, and how often pages were visited, two of them being there
/// when a visit begins.
struct Visits {
  std::size_t leaves, least, most;
  int depth;
};
Visits CountVisits(TreeCase const& c, std::size_t slots) {
  auto const data = testing::MakeDataset(c);
  auto const paged = MakePaged(SourceOf(c), data->cuts(), 40);
  auto const builder = MakeHostTreeBuilder(*paged, Shard::Whole(c.values.rows), kThreads, WorkingBytes(*paged, slots));
  Tree const tree = builder->Grow(c.params, c.gradients, {});
  EXPECT_EQ(tree, testing::Grow(c));
  std::size_t all = 0, largest = 0;
  for (std::size_t page = 0; page < paged->pages(); ++page) {
    all += paged->bytes(page);
    largest = std::max(largest, paged->bytes(page));
  }
  std::size_t const copied = builder->memory().pages.copied_bytes;
  std::vector<int> depth(tree.size());
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.left[n] == kNoNode) continue;
    for (auto const child : {tree.left[n], tree.left[n] + 1}) depth[static_cast<std::size_t>(child)] = depth[n] + 1;
  }
  std::size_t const later = copied - all;  // of the visits after the first
  return {tree.Leaves(), 1 + (later + all - 1) / all, 1 + later / (all - 2 * largest),
          *std::max_element(depth.begin(), depth.end())};
}

TEST(PagedTreesTest, LossGuidedTreesVisitPagesOnceForEachLevel) {
  TreeCase c = testing::RandomCase({3000, 6}, 510);
  testing::SetPolicy(&c.params, GrowPolicy::kLossGuide);
  c.params.max_depth = 0;
  for (int const max_leaves : {2, 30, 100, 0}) {
    SCOPED_TRACE(std::to_string(max_leaves) + " leaves at most");
    c.params.max_leaves = max_leaves;
    Visits const visits = CountVisits(c, 1000);
    EXPECT_TRUE(max_leaves == 0 || visits.leaves == static_cast<std::size_t>(max_leaves)) << visits.leaves;
    EXPECT_LE(visits.most, static_cast<std::size_t>(visits.depth) + 1) << visits.leaves << " leaves";
  }
}

TEST(PagedTreesTest, LossGuidedTreesVisitPagesForEachLeafAtMost) {
  TreeCase c = testing::RandomCase({3000, 6}, 511);
  testing::SetPolicy(&c.params, GrowPolicy::kLossGuide);
  c.params.max_depth = 0;
  c.params.max_leaves = 60;
  for (std::size_t const slots : {2U, 3U, 8U}) {  // a visit has room for the children of one node, one, and four
    Visits const visits = CountVisits(c, slots);
    EXPECT_LE(visits.least, visits.leaves) << slots << " histograms";
    EXPECT_LE(visits.most, visits.leaves / (slots / 2) + 2U * static_cast<unsigned>(visits.depth))
        << slots << " histograms";
  }
  c.params.colsample_bynode = 0.5f;  // which columns a node may be split by depends on its number
  Visits const visits = CountVisits(c, 1000);
  EXPECT_EQ(visits.most, visits.leaves);
}

TEST(PagedTreesTest, OnASampleVisitPagesTwice) {
  TreeCase c = testing::RandomCase({20000, 12, 0.1}, 512);
  c.params.subsample = 0.3f;
  auto const data = testing::MakeDataset(c);
  auto const paged = MakePaged(SourceOf(c), data->cuts(), 40);
  std::size_t all = 0, largest = 0;
  for (std::size_t page = 0; page < paged->pages(); ++page) {
    all += paged->bytes(page);
    largest = std::max(largest, paged->bytes(page));
  }
  // 6,000 rows of the sample or some more take 32 bytes of bins, and 32 beside them: 386 KB; two histograms take 98.
  for (auto const& [kilobytes, is_copied] : {std::pair{2000, true}, {1000, true}, {800, false}}) {
    for (GrowPolicy const policy : testing::kPolicies) {
      SCOPED_TRACE(testing::NameOf(policy) + ", " + std::to_string(kilobytes) + " KB");
      testing::SetPolicy(&c.params, policy);
      auto const builder =
          MakeHostTreeBuilder(*paged, Shard::Whole(c.values.rows), kThreads, kilobytes * std::size_t{1000});
      EXPECT_EQ(builder->Grow(c.params, c.gradients, {}), testing::Grow(c));
      std::size_t const copied = builder->memory().pages.copied_bytes;
      EXPECT_EQ(copied <= 2 * all, is_copied) << copied << " bytes of " << all;
      EXPECT_GE(copied, 2 * all - 2 * largest);
      std::size_t sample = 0;
      for (auto const& part : builder->memory().parts) sample += part.name == "sample" ? part.bytes : 0;
      EXPECT_EQ(sample > 6000 * 44, is_copied) << sample;
      EXPECT_LE(sample, kilobytes * std::size_t{500});
    }
  }
}

TEST(PagedTreesTest, OnSamplesOfNoRowsAndOfMany) {
  // One builder grows trees on samples of other sizes, without one, and of both formats of gradients.
  TreeCase c = testing::RandomCase({(std::size_t{1} << 17) + 77, 3, 0.1}, 513);
  c.params.max_depth = 4;
  auto const data = testing::MakeDataset(c);
  auto const in_core = MakeHostTreeBuilder(testing::BinsOf(*data), kThreads);
  auto const paged = MakePaged(SourceOf(c), data->cuts(), 5);
  auto const builder = MakeHostTreeBuilder(*paged, Shard::Whole(c.values.rows), kThreads);
  auto const bytes_of = [&](char const* name) {
    std::size_t bytes = 0;
    for (auto const& part : builder->memory().parts) bytes += part.name == name ? part.bytes : 0;
    return bytes;
  };
  for (float const subsample : {0.1f, 0.9f, 1.0f, 1e-7f, 0.6f}) {
    c.params.subsample = subsample;
    ExpectSame(Train(c, builder.get()), Train(c, in_core.get()));
    if (subsample == 1.0f) {
      EXPECT_LE(bytes_of("sample"), paged->whole().bytes()) << "what a sample took is not for others";
    }
  }
  EXPECT_GT(bytes_of("sample"), std::size_t{70000} * 12);
}

class PagedShardsTest : public ::testing::TestWithParam<std::tuple<GrowPolicy, testing::NamedCase>> {};

TEST_P(PagedShardsTest, GrowTheTreesOfAllRowsInCore) {
  auto const& [policy, named] = GetParam();
  TreeCase c = testing::RandomCase(named.shape, 501);
  c.max_bin = 32;
  named.set(&c);
  testing::SetPolicy(&c.params, policy);
  auto const data = testing::MakeDataset(c);
  Outcome const expected = Train(c, MakeHostTreeBuilder(testing::BinsOf(*data), kThreads).get());
  for (int const shards : {2, 7}) {
    SCOPED_TRACE(std::to_string(shards) + " shards");
    auto const first = testing::Boundaries(c.values.rows, shards);
    std::vector<Outcome> found(static_cast<std::size_t>(shards));
    RunShards(shards, [&](Collective& collective) {
      auto const s = static_cast<std::size_t>(collective.shard());
      TreeCase const own = testing::Slice(c, first[s], first[s + 1]);
      auto const paged = MakePaged(SourceOf(own), data->cuts(), s + 1, testing::InMemory(), kThreads, collective);
      auto const builder = MakeHostTreeBuilder(*paged, Shard::Place(&collective, own.values.rows), kThreads);
      found[s] = Train(own, builder.get());
    });
    for (std::size_t s = 0; s < found.size(); ++s) {
      SCOPED_TRACE("shard " + std::to_string(s));
      auto const of_rows = [&](auto const& all) { return testing::RowsOf(all, c.values.rows, first[s], first[s + 1]); };
      ExpectSame(found[s], {expected.trees, of_rows(expected.positions), of_rows(expected.sampled_out),
                            of_rows(expected.margins)});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, PagedShardsTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kPolicies),
                                            ::testing::ValuesIn(testing::kShardCases)),
                         CaseName);

/// A case whose pages are in a file, a builder on them, and the tree that it should grow.
class PageFaultTest : public ::testing::TestWithParam<double> {
 protected:
  PageFaultTest()
      : c_{testing::RandomCase({2000, 6, GetParam()}, 508)},
        data_{testing::MakeDataset(c_)},
        expected_{Train(c_, MakeHostTreeBuilder(testing::BinsOf(*data_), kThreads).get())},
        paged_{MakePaged(SourceOf(c_), data_->cuts(), 5, {})},
        builder_{MakeHostTreeBuilder(*paged_, Shard::Whole(2000), kThreads)} {}

  int file() const { return paged_->store().descriptor(); }
  /// Returns a block of the file.
  std::vector<std::uint8_t> Block(std::size_t block) const {
    std::vector<std::uint8_t> bytes(kFileBlock);
    std::unique_ptr<void, void (*)(void*)> const room{AllocateAligned(kFileBlock), std::free};
    EXPECT_EQ(pread(file(), room.get(), kFileBlock, static_cast<off_t>(block * kFileBlock)), kFileBlock);
    std::memcpy(bytes.data(), room.get(), kFileBlock);
    return bytes;
  }
  void Overwrite(std::size_t block, std::vector<std::uint8_t> const& bytes) const {
    std::unique_ptr<void, void (*)(void*)> const room{AllocateAligned(kFileBlock), std::free};
    std::memcpy(room.get(), bytes.data(), kFileBlock);
    EXPECT_EQ(pwrite(file(), room.get(), kFileBlock, static_cast<off_t>(block * kFileBlock)), kFileBlock);
  }
  /// Growing fails, with this in its text, and the builder has no tree afterwards.
  void ExpectNoTree(std::vector<std::string> const& parts) const {
    std::vector<float> margins(2000, 0.25f);
    std::vector<NodeIndex> positions(2000);
    EXPECT_EQ(WhatIsWrong<Error>([&] { builder_->Grow(c_.params, c_.gradients, {}); }, parts), "");
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { builder_->LeafPositions(positions, {}); }, {"no tree"}), "");
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                  [&] { builder_->AddLeafValues(expected_.trees[0].leaf_value, margins.data(), 1); }, {"no tree"}),
              "");
    EXPECT_EQ(margins, std::vector<float>(2000, 0.25f));
  }

  TreeCase c_;
  std::shared_ptr<Dataset const> data_;
  Outcome expected_;
  std::unique_ptr<PagedMatrix> paged_;
  std::unique_ptr<TreeBuilder> builder_;
};

TEST_P(PageFaultTest, ABitIsFlipped) {
  for (std::size_t const block : {std::size_t{0}, paged_->store().file_bytes() / kFileBlock - 1}) {
    auto const right = Block(block);
    auto wrong = right;
    wrong[17] ^= 4;
    Overwrite(block, wrong);
    ExpectNoTree({"is not what was written there"});
    ExpectNoTree({"is not what was written there"});
    Overwrite(block, right);
    ExpectSame(Train(c_, builder_.get()), expected_);
  }
}

TEST_P(PageFaultTest, ThePagesAreCutShort) {
  ExpectSame(Train(c_, builder_.get()), expected_);
  ASSERT_EQ(ftruncate(file(), 4096), 0);
  ExpectNoTree({"page ", "offset "});
}

INSTANTIATE_TEST_SUITE_P(Layouts, PageFaultTest, ::testing::Values(0.1, 0.8),
                         [](auto const& c) { return std::string{c.param < 0.5 ? "Dense" : "Sparse"}; });

TEST(PageFaultInShardsTest, AllShardsFail) {
  TreeCase const c = testing::RandomCase({3000, 6}, 509);
  auto const data = testing::MakeDataset(c);
  Tree const expected = testing::Grow(c);
  std::vector<std::string> wrong(3);
  RunShards(3, [&](Collective& collective) {
    auto const s = static_cast<std::size_t>(collective.shard());
    TreeCase const own = testing::Slice(c, s * 1000, (s + 1) * 1000);
    auto const paged = MakePaged(SourceOf(own), data->cuts(), 5, {}, kThreads, collective);
    auto const builder = MakeHostTreeBuilder(*paged, Shard::Place(&collective, 1000), kThreads);
    EXPECT_EQ(builder->Grow(c.params, own.gradients, {}), expected);
    if (s == 1) {
      ASSERT_EQ(ftruncate(paged->store().descriptor(), 4096), 0);
    }
    wrong[s] = WhatIsWrong<Error>(
        [&] { builder->Grow(c.params, own.gradients, {}); },
        s == 1 ? std::vector<std::string>{"page ", "offset"} : std::vector<std::string>{"shard 1", "page "});
  });
  EXPECT_EQ(wrong, std::vector<std::string>(3));
}

}  // namespace
}  // namespace xgbgpu
