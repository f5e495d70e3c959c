// Trees on pages of bins: the same bits as in core, wherever pages lie, over the generated matrix of settings.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend_cuda/device_matrices.h"
#include "cuda/device.h"
#include "matrix/lower_ends.h"
#include "matrix/page_stream_cuda.h"
#include "matrix/paged_bins_cuda.h"
#include "matrix/paged_builder_cuda.h"
#include "matrix/shards_cuda.h"
#include "partition/partition_policy.h"
#include "quantile/quantile.h"
#include "sample/sample.h"
#include "sample/sample_ops.h"
#include "sample/sample_policy.h"
#include "shards/deal_rows.h"
#include "shards/sharded_builder.h"
#include "support/data.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "trees_cuda/cuda_tree_builder.h"
#include "trees_cuda/equality_case.h"
#include "user_arrays/array_case.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::testing {
namespace {

using testing::Bits;
/// Code that is loaded when it is first used waits for all that the device does, and devices wait for each other.
[[maybe_unused]] int const kLoadsFirst = setenv("CUDA_MODULE_LOADING", "EAGER", 1);

/// A policy under which everything is in pages of 2,048 rows.
cuda::DevicePagePolicy SmallPages(double kept_share) {
  cuda::DevicePagePolicy policy;
  policy.page_bytes = policy.least_page_bytes = 1;
  policy.other_bytes = std::size_t{1} << 40;
  policy.kept_share = kept_share;
  return policy;
}

/// Pages are in pinned memory, or, from the first byte on, in a file.
MemoryLimits Limits(bool in_file) {
  MemoryLimits limits;
  limits.training_bytes = std::uint64_t{4} << 30;
  limits.host_bytes = in_file ? 1 : std::uint64_t{1} << 30;
  return limits;
}

std::shared_ptr<DeviceMatrix const> PagedMatrix(RowSource const& rows, int max_bin, int threads,
                                                MemoryLimits const& limits, cuda::DevicePagePolicy const& policy) {
  DeviceScope const scope{0};
  return cuda::BuildMatrixWithin(rows, {max_bin, {}}, {0, threads}, limits, policy);
}

struct Side {
  std::unique_ptr<TreeBuilder> builder;
  Tree tree{};
  std::vector<float> margins{};
  std::vector<NodeIndex> positions{};
  std::vector<std::uint8_t> sampled_out{};

  void GrowOne(EqualityCase const& c, std::vector<GradientPair> const& gradients, TreeKey key) {
    margins.resize(c.rows * c.stride);
    positions.resize(c.rows);
    sampled_out.resize(c.rows);
    tree = builder->Grow(c.params, gradients, key);
    builder->LeafPositions(positions, sampled_out);
    builder->AddLeafValues(tree.leaf_value, margins.data(), c.stride);
  }
};

class PagesTest : public ::testing::TestWithParam<EqualityCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(PagesTest, SameModelAsInCore) {
  EqualityCase const& c = GetParam();
  int const threads = omp_get_max_threads();
  CaseRows const rows{c};
  auto const matrix = HostMatrix(rows, c.max_bin, threads);
  CaseLoss const loss{c, rows};
  double const kept[] = {0, 0.5, 1};
  auto const paged = PagedMatrix(rows, c.max_bin, threads, Limits(c.number % 2 == 1), SmallPages(kept[c.number % 3]));
  ASSERT_NE(paged->pages, nullptr);
  ASSERT_EQ(paged->pages->pages().size(), (c.rows + 2047) / 2048);
  Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, threads)};
  Side cuda{MakeCudaTreeBuilder(paged, threads)};
  host.margins.resize(c.rows * c.stride);
  for (std::uint32_t t = 0; t < 3; ++t) {
    auto const gradients = loss.Gradients(host.margins);
    host.GrowOne(c, gradients, {t / 2, t % 2});
    cuda.GrowOne(c, gradients, {t / 2, t % 2});
    ASSERT_EQ(cuda.tree, host.tree) << "tree " << t;
    ASSERT_EQ(cuda.positions, host.positions) << "tree " << t;
    ASSERT_EQ(cuda.sampled_out, host.sampled_out) << "tree " << t;
    ASSERT_EQ(Bits(cuda.margins), Bits(host.margins)) << "tree " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Generated, PagesTest, ::testing::ValuesIn(EqualityCases()),
                         [](auto const& test) { return NameOf(test.param); });

/// Settings of data that several shards have rows of.
std::vector<EqualityCase> CasesOfShards() {
  std::vector<EqualityCase> cases;
  for (EqualityCase const& c : EqualityCases()) {
    if (c.rows >= 5000 && c.number % 5 == 0) cases.push_back(c);
  }
  return cases;
}

class PagedShardsTest : public ::testing::TestWithParam<EqualityCase> {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    // The host waits for a device between pages, and keeps another shard of the same device from going on.
    if (CudaDeviceCount() < 2) GTEST_SKIP() << "pages of shards need a device for each";
  }
};

// Each of two devices pages its own rows.
TEST_P(PagedShardsTest, SameTreesAsInCore) {
  EqualityCase const& c = GetParam();
  int const threads = omp_get_max_threads();
  CaseRows const rows{c};
  auto const matrix = HostMatrix(rows, c.max_bin, threads);
  CaseLoss const loss{c, rows};
  cuda::RowShards shards{DealRows(c.rows, 2), {0, 1}};
  shards.devices.resize(shards.bounds.size() - 1);
  auto built = cuda::BuildShards(rows, {c.max_bin, {}}, shards, {threads, 0, Limits(false), SmallPages(0.5)});
  std::vector<std::shared_ptr<DeviceMatrix const>> matrices;
  for (auto& part : built) {
    ASSERT_NE(part->pages, nullptr);
    matrices.push_back(std::move(part));
  }
  Side host{MakeTreeBuilder(BackendKind::kHost, *matrix, threads)};
  Side cuda{std::make_unique<ShardedBuilder>(matrices, threads)};
  host.margins.resize(c.rows * c.stride);
  for (std::uint32_t t = 0; t < 2; ++t) {
    auto const gradients = loss.Gradients(host.margins);
    host.GrowOne(c, gradients, {t, 0});
    cuda.GrowOne(c, gradients, {t, 0});
    ASSERT_EQ(cuda.tree, host.tree) << "tree " << t;
    ASSERT_EQ(cuda.positions, host.positions) << "tree " << t;
    ASSERT_EQ(Bits(cuda.margins), Bits(host.margins)) << "tree " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Generated, PagedShardsTest, ::testing::ValuesIn(CasesOfShards()),
                         [](auto const& test) { return NameOf(test.param); });

/// Trees on samples of dense rows of more tiles than paths are used for.
struct WideCase {
  char const* name;
  std::function<void(TreeCase*)> set;  ///< the sampling, and what else is special
  DataShape shape{5000, 300};
};

void PrintTo(WideCase const& c, std::ostream* os) { *os << c.name; }

/// Changes the parameters of a tree on a fifth of the rows, chosen by their gradients.
WideCase WithParams(char const* name, std::function<void(TrainParams*)> const& set,
                    DataShape const& shape = {5000, 300}) {
  return {name, [set](TreeCase* c) { set(&c->params); }, shape};
}

WideCase WithCategories(char const* name, std::function<void(TrainParams*)> const& set) {
  return {name, [set](TreeCase* c) {
            for (std::size_t feature : {0U, 4U, 299U}) AddCategories(c, feature, 50);
            set(&c->params);
          }};
}

void SetLossGuided(TrainParams* params, int max_depth, int max_leaves) {
  params->grow_policy = GrowPolicy::kLossGuide;
  params->max_depth = max_depth;
  params->max_leaves = max_leaves;
}

void SetUniform(TrainParams* params, float part) {
  params->sampling_method = SamplingMethod::kUniform;
  params->subsample = part;
}

void SetGoss(TrainParams* params) {
  params->sampling_method = SamplingMethod::kGoss;
  params->subsample = 1;
}

std::vector<WideCase> WideCases() {
  DataShape const many_rows{75001, 150};
  std::vector<WideCase> cases{
      WithParams("GradientBased", [](TrainParams*) {}),
      WithParams("Uniform", [](TrainParams* p) { SetUniform(p, 0.3f); }),
      WithParams("Goss", SetGoss),
      WithParams("NearlyAllRows", [](TrainParams* p) { SetUniform(p, 0.99f); }),
      WithParams("FewRows", [](TrainParams* p) { SetUniform(p, 0.003f); }),
      WithParams("OneLevel", [](TrainParams* p) { p->max_depth = 1; }),
      WithParams("Deep", [](TrainParams* p) { p->max_depth = 9; }),
      // Trees of few leaves are open: levels are enqueued while they grow.
      WithParams("FewLeaves", [](TrainParams* p) { p->max_leaves = 20; }),
      WithParams("FewLeavesOfAnyDepth",
                 [](TrainParams* p) {
                   SetUniform(p, 0.5f);
                   p->max_depth = 0;
                   p->max_leaves = 31;
                 }),
      WithParams("LossGuided", [](TrainParams* p) { SetLossGuided(p, 0, 40); }),
      WithParams("LossGuidedUniform",
                 [](TrainParams* p) {
                   SetLossGuided(p, 0, 40);
                   SetUniform(p, 0.5f);
                 }),
      WithParams("LossGuidedGoss",
                 [](TrainParams* p) {
                   SetLossGuided(p, 0, 40);
                   SetGoss(p);
                 }),
      // The host cuts the tree out of the whole one.
      WithParams("LossGuidedCut", [](TrainParams* p) { SetLossGuided(p, 6, 40); }),
      WithParams("Symmetric", [](TrainParams* p) { p->grow_policy = GrowPolicy::kSymmetric; }),
      WithParams("SymmetricGossCut",
                 [](TrainParams* p) {
                   p->grow_policy = GrowPolicy::kSymmetric;
                   p->max_depth = 8;
                   p->min_split_loss = 5;
                   SetGoss(p);
                 }),
      WithParams("Monotone", [](TrainParams* p) { SetDirections(p, 300); }),
      WithParams("MonotoneLossGuided",
                 [](TrainParams* p) {
                   SetDirections(p, 300);
                   SetLossGuided(p, 0, 40);
                 }),
      WithParams("Interactions", [](TrainParams* p) { SetInteractions(p, 300); }),
      WithParams("FeaturesOfNodes", [](TrainParams* p) { p->colsample_bynode = 0.2f; }),
      // Symbols of two bytes: 256 bins and "missing", and more bins.
      WithParams("Missing", [](TrainParams* p) { p->max_depth = 5; }, {5000, 300, 0.1}),
      {"ManyBins", [](TreeCase* c) { c->max_bin = 1000; }, {6000, 60}},
      WithCategories("Categories", [](TrainParams*) {}),
      WithCategories("CategoriesUniform", [](TrainParams* p) { SetUniform(p, 0.4f); }),
      WithCategories("CategoriesLossGuided", [](TrainParams* p) { SetLossGuided(p, 0, 40); }),
      // From kNarrowMinRows rows on, gradients have the narrow format, but not those of heavy tails.
      WithParams(
          "NarrowFormat", [](TrainParams* p) { SetUniform(p, 0.95f); }, many_rows),
      WithParams(
          "NarrowFormatGradientBased", [](TrainParams* p) { p->subsample = 0.93f; }, many_rows),
      {"WideFormat",
       [](TreeCase* c) {
         SetUniform(&c->params, 0.95f);
         for (std::size_t row = 0; row < c->gradients.size(); row += 500) c->gradients[row].grad *= 1e4f;
       },
       many_rows}};
  return cases;
}

/// Makes the data of a case, with 256 bins and a tree of depth 6 on a fifth of the rows, chosen by gradients, unless the
/// case says otherwise.
TreeCase MakeWide(WideCase const& wide) {
  TreeCase c = RandomCase(wide.shape, 21);
  c.params.max_depth = 6;
  c.params.min_child_weight = 0.5f;
  c.params.sampling_method = SamplingMethod::kGradientBased;
  c.params.subsample = 0.2f;
  wide.set(&c);
  return c;
}

MemorySource SourceOf(TreeCase const& c) {
  MemorySource source{c.values, 4096};
  source.SetCategorical(c.categorical);
  return source;
}

/// The host, and a device or several, on the same rows.
class WidePair {
 public:
  WidePair(TreeCase const& c, std::unique_ptr<TreeBuilder> cuda)
      : case_{c}, source_{SourceOf(c)}, matrix_{HostMatrix(source_, c.max_bin, omp_get_max_threads())} {
    host_.builder = MakeTreeBuilder(BackendKind::kHost, *matrix_, omp_get_max_threads());
    cuda_.builder = std::move(cuda);
  }

  /// Grows a tree in both and compares all results. Gradients follow from the margins.
  void Compare(TreeKey key) {
    EqualityCase shape{};
    shape.rows = static_cast<RowIndex>(case_.values.rows);
    shape.stride = 1;
    shape.params = case_.params;
    host_.margins.resize(shape.rows);
    auto gradients = case_.gradients;
    for (std::size_t row = 0; row < gradients.size(); ++row) gradients[row].grad += host_.margins[row];
    host_.GrowOne(shape, gradients, key);
    cuda_.GrowOne(shape, gradients, key);
    ASSERT_GT(host_.tree.size(), 1U);
    ASSERT_EQ(cuda_.tree, host_.tree);
    ASSERT_EQ(cuda_.positions, host_.positions);
    ASSERT_EQ(cuda_.sampled_out, host_.sampled_out);
    ASSERT_EQ(Bits(cuda_.margins), Bits(host_.margins));
  }
  std::uint64_t copied_bytes() const { return cuda_.builder->memory().pages.copied_bytes; }

 private:
  TreeCase const& case_;
  MemorySource source_;
  std::unique_ptr<QuantisedMatrix> matrix_;
  Side host_, cuda_;
};

/// Compares three trees with the host's, of which each visits the pages this many times.
void CompareTrees(TreeCase const& c, std::shared_ptr<DeviceMatrix const> const& paged, std::uint64_t visits) {
  WidePair pair{c, MakeCudaTreeBuilder(paged, 2)};
  std::uint64_t before = 0;
  for (std::uint32_t t = 0; t < 3; ++t) {
    SCOPED_TRACE("tree " + std::to_string(t));
    ASSERT_NO_FATAL_FAILURE(pair.Compare({t / 2, t % 2}));
    // Before the first tree pages are copied ahead, after each the first ones of the next.
    std::uint64_t const copied = pair.copied_bytes();
    if (t > 0) {
      EXPECT_EQ(copied - before, visits * paged->pages->all_bytes());
    }
    before = copied;
  }
}

class WidePagesTest : public ::testing::TestWithParam<WideCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

// The sample is copied, and its rows go in lists. Every tree visits the pages twice: once for the copy, and once for the
// leaves of all rows.
TEST_P(WidePagesTest, SameTreesAsOnTheHostInTwoVisits) {
  TreeCase const c = MakeWide(GetParam());
  auto const paged = PagedMatrix(SourceOf(c), c.max_bin, 2, Limits(false), SmallPages(0));
  ASSERT_NE(paged->pages, nullptr);
  ASSERT_TRUE(paged->view.dense);
  ASSERT_GT(paged->view.tiles, PartitionPolicy{}.most_path_tiles);
  CompareTrees(c, paged, 2);
}

// Trees are the same where half of the pages stay on the device, and others are in a file.
TEST_P(WidePagesTest, SameTreesWherePagesStay) {
  TreeCase const c = MakeWide(GetParam());
  auto const paged = PagedMatrix(SourceOf(c), c.max_bin, 2, Limits(true), SmallPages(0.5));
  WidePair pair{c, MakeCudaTreeBuilder(paged, 2)};
  for (std::uint32_t t = 0; t < 2; ++t) {
    SCOPED_TRACE("tree " + std::to_string(t));
    ASSERT_NO_FATAL_FAILURE(pair.Compare({t, 0}));
  }
}

// Each of two devices copies the sample's rows that are in its own pages.
TEST_P(WidePagesTest, SameTreesOnTwoDevices) {
  // The host waits for a device between pages, and keeps another shard of the same device from going on.
  if (CudaDeviceCount() < 2) GTEST_SKIP() << "pages of shards need a device for each";
  TreeCase const c = MakeWide(GetParam());
  MemorySource const rows = SourceOf(c);
  cuda::RowShards shards{DealRows(c.values.rows, 2), {0, 1}};
  shards.devices.resize(shards.bounds.size() - 1);
  auto built = cuda::BuildShards(rows, {c.max_bin, {}}, shards, {2, 0, Limits(false), SmallPages(0.5)});
  std::vector<std::shared_ptr<DeviceMatrix const>> matrices;
  for (auto& part : built) matrices.push_back(std::move(part));
  WidePair pair{c, std::make_unique<ShardedBuilder>(matrices, 2)};
  for (std::uint32_t t = 0; t < 2; ++t) {
    SCOPED_TRACE("tree " + std::to_string(t));
    ASSERT_NO_FATAL_FAILURE(pair.Compare({t, 0}));
  }
}

INSTANTIATE_TEST_SUITE_P(Wide, WidePagesTest, ::testing::ValuesIn(WideCases()),
                         [](auto const& test) { return std::string{test.param.name}; });

class WideSampleTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

// The columns of a tree are copied in one visit. Its rows walk through the copy.
TEST_F(WideSampleTest, TreesOfSomeColumnsVisitThePagesOnce) {
  struct Way {
    char const* name;
    std::size_t features;
    float share;
    int depth;
  };
  constexpr Way kWays[] = {
      {"by paths", 300, 0.1f, 6}, {"by paths that are moved", 300, 0.1f, 9}, {"in lists", 1300, 0.45f, 6}};
  for (auto const policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide, GrowPolicy::kSymmetric}) {
    for (Way const& way : kWays) {
      SCOPED_TRACE(std::string{NameOf(policy)} + ", " + way.name);
      TreeCase const c = MakeWide({"",
                                   [&](TreeCase* wide) {
                                     wide->params = {};
                                     wide->params.max_depth = way.depth;
                                     wide->params.grow_policy = policy;
                                     wide->params.colsample_bytree = way.share;
                                   },
                                   {3000, way.features}});
      auto const paged = PagedMatrix(SourceOf(c), c.max_bin, 2, Limits(false), SmallPages(0));
      ASSERT_NE(paged->pages, nullptr);
      CompareTrees(c, paged, 1);
    }
  }
}

// The columns of all levels of a tree are copied in one visit.
TEST_F(WideSampleTest, LevelsOfSomeColumnsVisitThePagesOnce) {
  TreeCase const c = MakeWide(WithParams("", [](TrainParams* p) {
    *p = {};
    p->max_depth = 6;
    p->colsample_bylevel = 0.1f;
  }));
  auto const paged = PagedMatrix(SourceOf(c), c.max_bin, 2, Limits(false), SmallPages(0));
  ASSERT_NE(paged->pages, nullptr);
  CompareTrees(c, paged, 1);
}

// Trees of several kinds take turns in the same memory: samples of several sizes and methods, all rows, and trees that
// the host attends.
TEST_F(WideSampleTest, TreesOfAllKindsTakeTurns) {
  TreeCase c = MakeWide(WithParams("", [](TrainParams*) {}));
  auto const paged = PagedMatrix(SourceOf(c), c.max_bin, 2, Limits(false), SmallPages(0.3));
  WidePair pair{c, MakeCudaTreeBuilder(paged, 2)};
  std::vector<std::function<void(TrainParams*)>> const changes{
      [](TrainParams*) {},
      [](TrainParams* p) { SetUniform(p, 0.7f); },
      [](TrainParams* p) { SetUniform(p, 1); },
      SetGoss,
      [](TrainParams* p) { p->max_depth = 0; },
      [](TrainParams* p) { p->grow_policy = GrowPolicy::kSymmetric; },
      [](TrainParams* p) { SetLossGuided(p, 0, 20); },
      [](TrainParams* p) { p->max_depth = 8; },
      [](TrainParams* p) { SetUniform(p, 0.1f); },
  };
  TrainParams const params = c.params;
  std::uint32_t iteration = 0;
  for (auto const& change : changes) {
    SCOPED_TRACE("change " + std::to_string(iteration));
    c.params = params;
    change(&c.params);
    ASSERT_NO_FATAL_FAILURE(pair.Compare({iteration++, 0}));
  }
}

// The sample has more rows than there was room for, and the tree is grown again.
TEST_F(WideSampleTest, ASampleLargerThanExpectedIsGrownAgain) {
  constexpr std::size_t kRows = 2500;
  TreeCase c = MakeWide({"", [](TreeCase* wide) { SetUniform(&wide->params, 0.1f); }, {kRows, 150}});
  auto const paged = PagedMatrix(SourceOf(c), c.max_bin, 2, Limits(false), SmallPages(0));
  ASSERT_GT(paged->view.tiles, PartitionPolicy{}.most_path_tiles);
  WidePair pair{c, MakeCudaTreeBuilder(paged, 2)};
  std::uint32_t const room = SampleCapacity(MakeSampleTarget(c.params, kRows).expected, kRows);
  std::vector<RowRecord> rows(kRows);
  std::vector<std::size_t> counts(host::SampleChunks(kRows));
  int found = 0;
  for (std::uint32_t iteration = 0; iteration < 60000 && found < 2; ++iteration) {
    for (std::uint32_t index = 0; index < 20 && found < 2; ++index) {
      RandomStream const draws{c.params.seed, RandomPurpose::kRowSample, TreeNumber({iteration, index}), 0};
      if (host::SampleRows(draws, 0.1f, kRows, counts, rows, 1) <= room) continue;
      ++found;
      ASSERT_NO_FATAL_FAILURE(pair.Compare({iteration, index}));
      ASSERT_NO_FATAL_FAILURE(pair.Compare({iteration + 1, index}));  // the room is as usual again
    }
  }
  EXPECT_EQ(found, 2);
}

// Where the copy does not fit, rows are marked, and every level visits the pages.
TEST_F(WideSampleTest, ASampleThatDoesNotFitIsNotCopied) {
  TreeCase const c = MakeWide({"",
                               [](TreeCase* wide) {
                                 SetUniform(&wide->params, 0.9f);
                                 wide->params.max_depth = 2;
                               },
                               {100000, 150}});
  MemoryLimits limits = Limits(false);
  limits.training_bytes = std::uint64_t{14} << 20;
  auto const paged = [&] {
    DeviceScope const scope{0};
    auto const built = PagedMatrix(SourceOf(c), c.max_bin, 2, Limits(false), SmallPages(0));
    return cuda::MatrixWithin(built, limits, SmallPages(0));
  }();
  ASSERT_GT(paged->view.tiles, PartitionPolicy{}.most_path_tiles);
  std::uint64_t const copy = 88000 * paged->view.tiles * paged->view.record_bytes();  // at least
  std::uint64_t const held = paged->arena.bytes() + 100000 * (sizeof(NodeIndex) + sizeof(GradientPair));
  ASSERT_GT(copy + held, limits.training_bytes);
  WidePair pair{c, MakeCudaTreeBuilder(paged, 2)};
  std::uint64_t before = 0;
  for (std::uint32_t t = 0; t < 2; ++t) {
    SCOPED_TRACE("tree " + std::to_string(t));
    ASSERT_NO_FATAL_FAILURE(pair.Compare({t, 0}));
    std::uint64_t const copied = pair.copied_bytes();
    if (t > 0) {  // the root, and two levels
      EXPECT_EQ(copied - before, 3 * paged->pages->all_bytes());
    }
    before = copied;
  }
}

/// Trees of some rounds, the margins after them, and the bytes of pages that were copied in the last round.
struct Rounds {
  std::vector<Tree> trees;
  std::vector<std::uint32_t> margins;
  std::uint64_t copied_bytes;
};

/// Runs rounds of `per_output` trees for each of `outputs` classes, from labels and margins on the device.
Rounds RunRounds(std::shared_ptr<DeviceMatrix const> matrix, TrainParams const& params,
                 std::vector<float> const& labels, std::uint32_t outputs, std::uint32_t per_output) {
  CudaTreeBuilder builder{std::move(matrix), 2};
  auto const rows = builder.MakeRows(outputs);
  TargetView targets;
  targets.labels = labels.data();
  std::vector<float> margins(labels.size() * outputs);
  rows->SetTargets(targets);
  rows->SetMargins(margins);
  Rounds result;
  for (std::uint32_t round = 0; round < 3; ++round) {
    std::uint64_t const before = builder.memory().pages.copied_bytes;
    rows->ComputeGradients({outputs == 1 ? Objective::kLogistic : Objective::kSoftmax});
    std::vector<RoundTree> wanted;
    for (std::uint32_t i = 0; i < outputs * per_output; ++i) wanted.push_back({i / per_output, {round, i}});
    builder.Begin(params, rows.get(), wanted);
    for (RoundTree const& tree : wanted) {
      result.trees.push_back(builder.FinishNext());
      builder.AddLeafValues(result.trees.back().leaf_value, rows.get(), tree.output);
    }
    result.copied_bytes = builder.memory().pages.copied_bytes - before;
  }
  rows->CopyMargins(margins);
  result.margins = Bits(margins);
  return result;
}

// Rounds of one tree, of two, and of a tree for each of three classes, with gradients that are computed from margins.
// Seven trees of depth 6 visit the pages together, which takes fewer visits than a copy for each.
TEST_F(WideSampleTest, RoundsAreThoseInCore) {
  for (auto const& [outputs, per_output] :
       {std::pair{1U, 1U}, std::pair{1U, 2U}, std::pair{3U, 1U}, std::pair{7U, 1U}}) {
    for (SamplingMethod const method :
         {SamplingMethod::kUniform, SamplingMethod::kGradientBased, SamplingMethod::kGoss}) {
      SCOPED_TRACE(std::to_string(outputs) + " outputs, " + std::to_string(per_output) + " trees each, method " +
                   std::to_string(static_cast<int>(method)));
      TreeCase c = MakeWide(WithParams("", [](TrainParams*) {}));
      c.params.sampling_method = method;
      if (method == SamplingMethod::kGoss) SetGoss(&c.params);
      std::vector<float> labels;
      for (GradientPair const& g : c.gradients) {  // between -1 and 1
        auto const classes = static_cast<float>(std::max(2U, outputs));
        labels.push_back(std::min(classes - 1, std::floor((g.grad + 1) / 2 * classes)));
      }
      MemorySource const source = SourceOf(c);
      auto const in_core = BuildDeviceMatrix(source, CutRequest{c.max_bin, {}}, 0, 2);
      ASSERT_EQ(in_core->pages, nullptr);
      auto const paged = PagedMatrix(source, c.max_bin, 2, Limits(false), SmallPages(0));
      Rounds const expected = RunRounds(in_core, c.params, labels, outputs, per_output);
      Rounds const found = RunRounds(paged, c.params, labels, outputs, per_output);
      ASSERT_GT(expected.trees.back().size(), 1U);
      EXPECT_EQ(found.trees, expected.trees);
      EXPECT_EQ(found.margins, expected.margins);
      std::uint64_t const visits = std::min(2 * outputs * per_output, 7U);
      EXPECT_EQ(found.copied_bytes, visits * paged->pages->all_bytes());
    }
  }
}

class PagedDataTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

// Bins that are packed to 1 to 16 bits, and sparse ones, read back.
/// Returns numbers of values and values of some rows of a matrix.
std::pair<std::vector<std::uint64_t>, std::vector<std::uint32_t>> ReadBack(DeviceMatrix const& matrix, int threads) {
  std::vector<std::uint64_t> sizes;
  std::vector<float> values;
  cuda::VisitLowerEnds(matrix, 1000, 3500, threads, [&](RowBatch const& batch) {
    for (std::uint64_t r = 0; r < batch.rows(); ++r) {
      sizes.push_back(batch.row(r).size());
      for (Entry const& entry : batch.row(r)) {
        values.push_back(static_cast<float>(entry.feature));
        values.push_back(entry.value);
      }
    }
  });
  return {sizes, Bits(values)};
}

TEST_F(PagedDataTest, BinsAreThoseOfTheMatrixInCore) {
  int const threads = omp_get_max_threads();
  for (DataShape const& shape : {DataShape{9000, 13, 0.0}, DataShape{9000, 13, 0.1}, DataShape{9000, 13, 0.9},
                                 DataShape{5000, 70, 0.2}, DataShape{5000, 300, 0.98}}) {
    for (int const max_bin : {2, 3, 4, 17, 100, 255, 256, 257, 3000}) {
      SCOPED_TRACE(std::to_string(shape.features) + " columns, " + std::to_string(max_bin) + " bins");
      MemorySource const rows{RandomValues(shape, 17), 4096};
      auto const paged = PagedMatrix(rows, max_bin, threads, Limits(false), SmallPages(1));
      auto const in_core = BuildDeviceMatrix(rows, CutRequest{max_bin, {}}, 0, threads);
      ASSERT_NE(paged->pages, nullptr);
      ASSERT_EQ(in_core->pages, nullptr);
      EXPECT_EQ(ReadBack(*paged, threads), ReadBack(*in_core, threads));
    }
  }
}

// Pages of one array, and of arrays that come one after the other, on the host and on the device.
TEST_F(PagedDataTest, BinsOfArraysAreThoseOfTheMatrixInCore) {
  for (ArrayCase const& c : ArrayCases()) {
    if (c.rows < 5000 || c.features > 1000) continue;
    SCOPED_TRACE(c.name);
    CaseArray array{c};
    auto const copy = array.on_device(0);
    auto const in_core = BuildDeviceMatrix(array.on_host(), CutRequest{256, {}}, 0, 2);
    auto const expected = ReadBack(*in_core, 2);
    std::uint64_t const most = c.rows / 3 + 1;
    ArraysSource const parts{array.on_host(), most}, copied_parts{copy, most};
    for (RowSource const* source :
         std::initializer_list<RowSource const*>{&array.on_host(), &copy, &parts, &copied_parts}) {
      auto const paged = PagedMatrix(*source, 256, 2, Limits(false), SmallPages(1));
      ASSERT_NE(paged->pages, nullptr);
      EXPECT_EQ(paged->cuts, in_core->cuts);
      EXPECT_EQ(ReadBack(*paged, 2), expected) << "device " << source->arrays()->device;
    }
  }
}

// Bins that a training has no room for in core are moved, dense ones, CSR and tiles.
TEST_F(PagedDataTest, BinsInCoreAreMoved) {
  for (DataShape const& shape : {DataShape{9000, 13, 0.0}, DataShape{9000, 13, 0.1}, DataShape{9000, 13, 0.9},
                                 DataShape{5000, 300, 0.45}, DataShape{5000, 300, 0.98}}) {
    for (int const max_bin : {4, 256, 3000}) {
      SCOPED_TRACE(std::to_string(shape.features) + " columns, " + std::to_string(shape.missing) + " missing, " +
                   std::to_string(max_bin) + " bins");
      MemorySource const rows{RandomValues(shape, 18), 4096};
      auto const in_core = BuildDeviceMatrix(rows, CutRequest{max_bin, {}}, 0, 2);
      auto const expected = ReadBack(*in_core, 2);
      DeviceScope const scope{0};
      EXPECT_EQ(cuda::MatrixWithin(in_core, {}), in_core);
      EXPECT_EQ(cuda::MatrixWithin(in_core, Limits(false)), in_core);
      auto moved = cuda::MatrixWithin(in_core, Limits(false), SmallPages(1));
      ASSERT_NE(moved->pages, nullptr);
      EXPECT_EQ(moved->pages->pages().size(), (shape.rows + 2047) / 2048);
      EXPECT_EQ(moved->stored, in_core->stored);
      EXPECT_EQ(moved->training_bytes, Limits(false).training_bytes);
      EXPECT_EQ(ReadBack(*moved, 2), expected);
      // Pages that another training uses live longer than the matrix that they were made with.
      MemoryLimits limits;
      limits.training_bytes = std::uint64_t{1} << 30;
      auto const other = cuda::MatrixWithin(moved, limits);
      EXPECT_EQ(other->pages.get(), moved->pages.get());
      EXPECT_EQ(other->training_bytes, limits.training_bytes);
      moved.reset();
      EXPECT_EQ(ReadBack(*other, 2), expected);
      auto const gradients = RandomGradients(RandomValues(shape, 18), 19);
      TrainParams params;
      params.max_depth = 5;
      Tree const tree = MakeCudaTreeBuilder(in_core, 2)->Grow(params, gradients, {});
      EXPECT_EQ(MakeCudaTreeBuilder(other, 2)->Grow(params, gradients, {}), tree);
    }
  }
}

TEST_F(PagedDataTest, InCoreIfThereIsRoom) {
  MemorySource const rows{RandomValues({9000, 13, 0.1}, 17), 4096};
  MemoryLimits limits;
  limits.training_bytes = std::uint64_t{1} << 30;
  EXPECT_EQ(BuildDeviceMatrix(rows, CutRequest{256, {}}, 0, 2, limits)->pages, nullptr);
  limits.training_bytes = std::uint64_t{32} << 20;
  auto const paged = BuildDeviceMatrix(rows, CutRequest{256, {}}, 0, 2, limits);
  ASSERT_NE(paged->pages, nullptr);
}

TEST_F(PagedDataTest, ALimitBelowTheLeastIsRefused) {
  MemorySource const rows{RandomValues({9000, 13, 0.1}, 17), 4096};
  MemoryLimits limits;
  limits.training_bytes = 1 << 20;
  try {
    BuildDeviceMatrix(rows, CutRequest{256, {}}, 0, 2, limits);
    FAIL() << "a limit of 1 MiB was accepted";
  } catch (InvalidArgument const& error) {
    std::string const words = error.what();
    EXPECT_NE(words.find("gpu_memory_limit"), std::string::npos) << words;
    EXPECT_NE(words.find("1048576"), std::string::npos) << words;
  }
}

TEST_F(PagedDataTest, PagesThatStayAreGivenUpForOtherMemory) {
  MemorySource const rows{RandomValues({20000, 13, 0.1}, 17), 4096};
  auto const matrix = PagedMatrix(rows, 256, 2, Limits(false), SmallPages(1));
  DeviceScope const scope{0};
  DeviceArena arena{"Test"};
  Stream const stream;
  cuda::PageStream pages{*matrix->pages, &arena, stream};
  arena.OnShortage([&] { return pages.GiveUpPages(); });
  std::size_t const before = arena.bytes();
  arena.SetLimit(before + (std::size_t{1} << 20));
  pages.KeepPages(0);
  ASSERT_GT(pages.kept(), 2U);
  std::size_t visited = 0;
  auto const visit = [&](Page<DeviceMatrixView> const& page) { visited += page.matrix.rows; };
  pages.ForEach(visit);
  EXPECT_EQ(visited, 20000U);
  DeviceBuffer<std::uint8_t> const other{&arena, "other", std::size_t{1} << 20};
  EXPECT_EQ(pages.kept(), 0U);
  pages.ForEach(visit);
  EXPECT_EQ(visited, 40000U);
  EXPECT_THROW((DeviceBuffer<std::uint8_t>{&arena, "more", 1}), OutOfDeviceMemory);
  stream.Wait("a test");
}

TEST_F(PagedDataTest, NextPagesAreCopiedOnce) {
  MemorySource const rows{RandomValues({20000, 13, 0.1}, 17), 4096};
  auto const matrix = PagedMatrix(rows, 256, 2, Limits(false), SmallPages(0));
  DeviceScope const scope{0};
  DeviceArena arena{"Test"};
  Stream const stream;
  cuda::PageStream const pages{*matrix->pages, &arena, stream};
  for (int pass = 0; pass < 4; ++pass) pages.ForEach([](Page<DeviceMatrixView> const&) {});
  stream.Wait("a test");
  std::size_t const all = matrix->pages->all_bytes();
  EXPECT_GE(pages.copied_bytes(), 4 * all);
  EXPECT_LE(pages.copied_bytes(), 4 * all + cuda::PageStream::kSlots * matrix->pages->most_bytes());
}

}  // namespace
}  // namespace xgbgpu::testing
