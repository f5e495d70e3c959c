// Rows on several devices: whole models are those of one host, bit for bit. A machine with one GPU has all shards
// there.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "backend_cuda/device_matrices.h"
#include "cuda/device.h"
#include "matrix/shards_cuda.h"
#include "shards/sharded_builder.h"
#include "support/data.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "trees_cuda/equality_case.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::testing {
namespace {

using testing::Bits;
constexpr int kThreads = 4;
constexpr double kPatience = 10;

/// A kernel that is loaded when it is first started may wait for the device, on which another shard's may wait for it.
/// Shards of one device are for tests alone.
[[maybe_unused]] int const kLoadsFirst = setenv("CUDA_MODULE_LOADING", "EAGER", 1);

/// Uneven shards, which begin anywhere: of one process they do not, of several they do.
std::vector<std::uint64_t> Bounds(std::uint64_t rows, std::size_t shards) {
  if (shards == 2) return {0, rows / 3 + 1, rows};
  return {0, rows / 2 + 3, rows / 2 + rows / 8 + 4, rows};
}

std::vector<std::shared_ptr<DeviceMatrix const>> MakeShards(RowSource const& rows, Cuts const& cuts,
                                                            std::size_t shards) {
  cuda::RowShards own{Bounds(rows.rows(), shards), {}};
  int const devices = CudaDeviceCount();
  for (std::size_t s = 0; s < shards; ++s) own.devices.push_back(static_cast<int>(s) % devices);
  std::vector<std::shared_ptr<DeviceMatrix const>> matrices;
  for (auto& matrix : cuda::QuantiseShards(rows, cuts, own, {kThreads})) matrices.push_back(std::move(matrix));
  return matrices;
}

class ShardedEqualityTest : public ::testing::TestWithParam<EqualityCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(ShardedEqualityTest, SameModel) {
  EqualityCase const& c = GetParam();
  std::size_t const shards = 2 + static_cast<std::size_t>(c.number) % 2;
  CaseRows const rows{c};
  if (rows.rows() < 16) GTEST_SKIP() << "too few rows for shards";
  auto const matrix = HostMatrix(rows, c.max_bin, kThreads);
  CaseLoss const loss{c, rows};
  auto const host = MakeTreeBuilder(BackendKind::kHost, *matrix, kThreads);
  // Where shares of the features are made for matrices of any size, two tiles are enough for them.
  std::size_t const least_shared = c.number / 2 % 2 == 0 ? 0 : cuda::DeviceShard{}.least_shared_bytes;
  ShardedBuilder cuda{MakeShards(rows, matrix->cuts, shards), kThreads, kPatience, least_shared};
  std::vector<float> margins(c.rows * c.stride), device_margins(margins);
  std::vector<NodeIndex> positions(c.rows), device_positions(c.rows);
  std::vector<std::uint8_t> out(c.rows), device_out(c.rows);
  for (std::uint32_t t = 0; t < 3; ++t) {
    auto const gradients = loss.Gradients(margins);
    TreeKey const key{t / 2, t % 2};
    Tree const expected = host->Grow(c.params, gradients, key);
    Tree const tree = cuda.Grow(c.params, gradients, key);
    ASSERT_EQ(tree, expected) << "tree " << t;
    host->LeafPositions(positions, out);
    cuda.LeafPositions(device_positions, device_out);
    ASSERT_EQ(device_positions, positions) << "tree " << t;
    ASSERT_EQ(device_out, out) << "tree " << t;
    host->AddLeafValues(expected.leaf_value, margins.data(), c.stride);
    cuda.AddLeafValues(tree.leaf_value, device_margins.data(), c.stride);
    ASSERT_EQ(Bits(device_margins), Bits(margins)) << "tree " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Generated, ShardedEqualityTest, ::testing::ValuesIn(EqualityCases()),
                         [](auto const& tested) { return NameOf(tested.param); });

/// Dense rows of many columns. Of the last third, every second is a copy of one of the first third, so that devices
/// which search a share of the columns each find splits of equal gain. Some values are missing.
class WideRows final : public RowSource {
 public:
  WideRows(RowIndex rows, FeatureIndex columns) : columns_{columns} {
    Random random{17};
    std::vector<float> row(columns);
    FeatureIndex const copies = columns - columns / 3;
    for (RowIndex r = 0; r < rows; ++r) {
      for (FeatureIndex f = 0; f < columns; ++f) {
        row[f] = f >= copies && f % 2 == 0 ? row[f - copies] : random.Between(-1, 1);
        bool const is_missing = f % 7 == 5 && random.Below(10) == 0;
        if (!is_missing) entries_.push_back({f, row[f]});
      }
      offsets_.push_back(entries_.size());
      float const middle = row[columns / 2];
      signal_.push_back(row[0] + 0.6f * row[5] + (middle > 0.25f ? row[columns - 1] : -0.7f * row[columns - 3]) +
                        0.5f * middle + 0.1f * random.Uniform());
    }
  }
  std::uint64_t rows() const override { return offsets_.size() - 1; }
  FeatureIndex features() const override { return columns_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    visit({0, offsets_, entries_});
  }
  std::vector<float> const& signal() const { return signal_; }

 private:
  FeatureIndex columns_;
  std::vector<std::uint64_t> offsets_{0};
  std::vector<Entry> entries_;
  std::vector<float> signal_;
};

struct WideCase {
  char const* name;
  std::function<void(TrainParams*)> set;
  RowIndex rows{5000};      ///< fewer than kNarrowMinRows have sums of more than 32 bits
  float most_weight{1};     ///< of a few rows
  bool host_driven{false};  ///< does the host plan every level?
};

/// Trees whose devices search a share of the features each.
class SharedFeaturesTest : public ::testing::TestWithParam<WideCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  /// Compares the trees of two and of three shards with the host's.
  void CompareShards(FeatureIndex columns, int max_bin, std::size_t least_shared_bytes) {
    // The host waits for a device after every level, and the driver may keep another shard of the same device from
    // going on meanwhile.
    std::size_t const most = GetParam().host_driven ? static_cast<std::size_t>(CudaDeviceCount()) : 3;
    if (most < 2) GTEST_SKIP() << "host-driven trees on shards need a device for each";
    for (std::size_t shards = 2; shards <= std::min<std::size_t>(most, 3); ++shards) {
      Compare(columns, max_bin, shards, least_shared_bytes);
    }
  }

  void Compare(FeatureIndex columns, int max_bin, std::size_t shards, std::size_t least_shared_bytes) {
    SCOPED_TRACE(std::to_string(columns) + " columns, " + std::to_string(shards) + " shards");
    RowIndex const count = GetParam().rows;
    WideRows const rows{count, columns};
    auto const matrix = HostMatrix(rows, max_bin, kThreads);
    auto const host = MakeTreeBuilder(BackendKind::kHost, *matrix, kThreads);
    ShardedBuilder cuda{MakeShards(rows, matrix->cuts, shards), kThreads, kPatience, least_shared_bytes};
    ASSERT_TRUE(cuda.deals_features());
    TrainParams params;
    params.max_depth = 6;
    GetParam().set(&params);
    if (!params.monotone_constraints.empty()) SetDirections(&params, columns);
    std::vector<float> margins(count);
    std::vector<FeatureIndex> used;
    for (std::uint32_t t = 0; t < 3; ++t) {
      std::vector<GradientPair> gradients(count);
      for (RowIndex r = 0; r < count; ++r) {
        float const scale = r % 1000 == 13 ? GetParam().most_weight : 1.0f;
        gradients[r] = {(margins[r] - rows.signal()[r]) * scale, scale};
      }
      Tree const expected = host->Grow(params, gradients, {t, 0});
      ASSERT_GT(expected.size(), 9U);
      ASSERT_EQ(cuda.Grow(params, gradients, {t, 0}), expected) << "tree " << t;
      host->AddLeafValues(expected.leaf_value, margins.data(), 1);
      used.insert(used.end(), expected.feature.begin(), expected.feature.end());
    }
    // All devices have found splits that were made: else the test would not show that winners are told.
    if (params.colsample_bytree < 0.1f || !params.interaction_constraints.empty() || GetParam().most_weight > 1) return;
    EXPECT_TRUE(std::any_of(used.begin(), used.end(), [&](FeatureIndex f) { return f == columns / 2; }));
    EXPECT_TRUE(std::any_of(used.begin(), used.end(), [&](FeatureIndex f) { return f + 20 > columns; }));
    EXPECT_TRUE(std::any_of(used.begin(), used.end(), [&](FeatureIndex f) { return f == 5; }));
  }
};

TEST_P(SharedFeaturesTest, SameTrees) { CompareShards(300, 256, cuda::DeviceShard{}.least_shared_bytes); }

/// Matrices whose rows go by paths have few tiles, so that their histograms are smaller than the policy asks for.
TEST_P(SharedFeaturesTest, SameTreesByPaths) { CompareShards(120, 255, 0); }

INSTANTIATE_TEST_SUITE_P(
    Wide, SharedFeaturesTest,
    ::testing::Values(WideCase{"DepthWise", [](TrainParams*) {}}, WideCase{"NarrowSums", [](TrainParams*) {}, 70000},
                      WideCase{"FewLeaves", [](TrainParams* p) { p->max_leaves = 20; }},
                      WideCase{"LossGuided",
                               [](TrainParams* p) {
                                 p->grow_policy = GrowPolicy::kLossGuide;
                                 p->max_depth = 0;
                                 p->max_leaves = 40;
                               }},
                      WideCase{"LossGuidedCut",
                               [](TrainParams* p) {
                                 p->grow_policy = GrowPolicy::kLossGuide;
                                 p->max_leaves = 40;
                               }},
                      WideCase{"HostDriven",
                               [](TrainParams* p) {
                                 p->max_depth = 0;
                                 p->min_child_weight = 20;
                               },
                               5000, 1, true},
                      WideCase{"FeaturesOfNodes", [](TrainParams* p) { p->colsample_bynode = 0.2f; }},
                      WideCase{"FeaturesOfLevels", [](TrainParams* p) { p->colsample_bylevel = 0.3f; }},
                      WideCase{"NoFeaturesOfADevice", [](TrainParams* p) { p->colsample_bytree = 0.01f; }},
                      WideCase{"SampledRows", [](TrainParams* p) { p->subsample = 0.5f; }},
                      WideCase{"Monotone", [](TrainParams* p) { p->monotone_constraints = {1}; }},
                      WideCase{"MonotoneLossGuided",
                               [](TrainParams* p) {
                                 p->monotone_constraints = {1};
                                 p->grow_policy = GrowPolicy::kLossGuide;
                                 p->max_depth = 0;
                                 p->max_leaves = 40;
                               }},
                      WideCase{"Interactions",
                               [](TrainParams* p) {
                                 p->interaction_constraints = {{0, 50, 60, 118}, {1, 2, 119}};
                               }},
                      WideCase{"HeavyRows", [](TrainParams*) {}, 5000, 1e3f}),
    [](auto const& tested) { return tested.param.name; });

struct VectorsCase {
  char const* name;
  RowIndex rows;
  FeatureIndex columns;
  double density;
  std::uint32_t outputs;
  bool one_hessian;
  std::function<void(TrainParams*)> set;
  std::uint32_t levels{0};  ///< number of categories of the first column; the second has three then
};

/// Trees of vectors. The host waits for a device after every level, so that each shard needs a device of its own.
class ShardedVectorsTest : public ::testing::TestWithParam<VectorsCase> {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    if (CudaDeviceCount() < 2) GTEST_SKIP() << "trees of vectors on shards need a device for each";
    VectorsCase const& c = GetParam();
    case_ = EqualityCases()[0];
    case_.rows = c.rows;
    case_.columns = c.columns;
    case_.density = c.density;
    case_.max_bin = 64;
    rows_ = std::make_unique<CaseRows>(case_);
    if (c.levels != 0) rows_->MakeCategories({c.levels, 3});
    matrix_ = HostMatrix(*rows_, case_.max_bin, kThreads);
    Random random{5};
    for (RowIndex r = 0; r < c.rows; ++r) {
      float const hess = 0.5f + random.Uniform();
      for (std::uint32_t k = 0; k < c.outputs; ++k) {
        float const slope = std::sin(static_cast<float>(k + 1) * rows_->signal()[r]);
        gradients_.push_back({static_cast<float>(k + 1) * (slope + random.Uniform() - 0.5f),
                              c.one_hessian ? hess : 0.3f + random.Uniform()});
      }
    }
  }
  std::unique_ptr<ShardedBuilder> MakeBuilder(std::size_t shards) const {
    return std::make_unique<ShardedBuilder>(MakeShards(*rows_, matrix_->cuts, shards), kThreads, kPatience);
  }

  EqualityCase case_;
  std::unique_ptr<CaseRows> rows_;
  std::unique_ptr<QuantisedMatrix> matrix_;
  std::vector<GradientPair> gradients_;
};

TEST_P(ShardedVectorsTest, AreThoseOfTheHost) {
  VectorsCase const& c = GetParam();
  auto const host = MakeTreeBuilder(BackendKind::kHost, *matrix_, kThreads);
  auto const devices = static_cast<std::size_t>(CudaDeviceCount());
  for (std::size_t shards = 2; shards <= std::min<std::size_t>(devices, 3); ++shards) {
    auto const cuda = MakeBuilder(shards);
    for (GrowPolicy const policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide, GrowPolicy::kSymmetric}) {
      SCOPED_TRACE(std::to_string(shards) + " shards, " + NameOf(policy));
      TrainParams params;
      params.grow_policy = policy;
      params.seed = 5;
      c.set(&params);
      for (std::uint32_t round = 0; round < 2; ++round) {
        TreeKey const key{round, 1};
        VectorTree const expected = host->GrowVectors(params, gradients_, c.outputs, key);
        ASSERT_GT(expected.shape.size(), 5U);
        ASSERT_EQ(cuda->GrowVectors(params, gradients_, c.outputs, key), expected) << "round " << round;
        std::vector<NodeIndex> positions(c.rows), device_positions(c.rows);
        std::vector<std::uint8_t> out(c.rows), device_out(c.rows);
        host->LeafPositions(positions, out);
        cuda->LeafPositions(device_positions, device_out);
        EXPECT_EQ(device_positions, positions);
        EXPECT_EQ(device_out, out);
      }
    }
  }
}

TEST_P(ShardedVectorsTest, RoundsStayOnTheDevices) {
  VectorsCase const& c = GetParam();
  auto const cuda = MakeBuilder(2);
  auto const one = MakeCudaTreeBuilder(CopyMatrixToDevice(*matrix_, 0, kThreads), kThreads);
  std::vector<float> labels(std::size_t{c.rows} * c.outputs);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = -gradients_[i].grad;
  TargetView targets;
  targets.labels = labels.data();
  targets.label_columns = c.outputs;
  ResidentRounds* const sides[] = {one->rounds(), cuda->rounds()};
  std::unique_ptr<ResidentRows> rows[2];
  TrainParams params;
  c.set(&params);
  for (int side = 0; side < 2; ++side) {
    rows[side] = sides[side]->MakeResidentRows(c.outputs);
    rows[side]->SetMargins(std::vector<float>(labels.size(), 0.25f));
    rows[side]->SetTargets(targets);
  }
  for (std::uint32_t round = 0; round < 3; ++round) {
    VectorTree trees[2];
    std::vector<float> margins[2];
    for (int side = 0; side < 2; ++side) {
      rows[side]->ComputeGradients({Objective::kSquaredError});
      trees[side] = rows[side]->GrowVectors(params, {round, 0});
      rows[side]->AddVectorLeaves(trees[side]);
      margins[side].resize(labels.size());
      rows[side]->CopyMargins(margins[side]);
    }
    ASSERT_EQ(trees[1], trees[0]) << "round " << round;
    ASSERT_EQ(Bits(margins[1]), Bits(margins[0])) << "round " << round;
    ASSERT_EQ(rows[1]->Evaluate({Objective::kSquaredError}, {Metric::kRmse}),
              rows[0]->Evaluate({Objective::kSquaredError}, {Metric::kRmse}));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ShardedVectorsTest,
    ::testing::Values(VectorsCase{"Plain", 3000, 9, 0.9, 3, false, [](TrainParams*) {}},
                      VectorsCase{"Narrow", 150000, 40, 0.95, 5, false, [](TrainParams*) {}},
                      VectorsCase{"NarrowOneHessian", 150000, 20, 1.0, 16, true, [](TrainParams*) {}},
                      VectorsCase{"Sparse", 5000, 60, 0.05, 4, false, [](TrainParams*) {}},
                      VectorsCase{"NarrowSparse", 150000, 60, 0.05, 4, true, [](TrainParams*) {}},
                      VectorsCase{"Subsample", 150000, 9, 0.9, 3, false, [](TrainParams* p) { p->subsample = 0.6f; }},
                      VectorsCase{"Columns", 5000, 30, 0.9, 3, false,
                                  [](TrainParams* p) {
                                    p->colsample_bytree = 0.7f;
                                    p->colsample_bynode = 0.6f;
                                  }},
                      VectorsCase{"Constraints", 5000, 20, 0.9, 3, false,
                                  [](TrainParams* p) {
                                    SetDirections(p, 20);
                                    SetInteractions(p, 20);
                                    p->min_child_weight = 30;
                                  }},
                      VectorsCase{"Categories", 5000, 9, 0.9, 3, false, [](TrainParams*) {}, 40},
                      VectorsCase{"NarrowCategories", 150000, 9, 0.9, 5, true, [](TrainParams*) {}, 300},
                      VectorsCase{"DeepCategories", 20000, 9, 0.9, 3, false,
                                  [](TrainParams* p) {
                                    p->max_depth = 11;
                                    p->min_child_weight = 5;
                                  },
                                  40}),
    [](auto const& tested) { return tested.param.name; });

class FailingShardedVectorsTest : public ShardedVectorsTest {};

TEST_P(FailingShardedVectorsTest, EveryAllocationMayFail) {
  VectorsCase const& c = GetParam();
  auto const host = MakeTreeBuilder(BackendKind::kHost, *matrix_, kThreads);
  for (GrowPolicy const policy : {GrowPolicy::kDepthWise, GrowPolicy::kSymmetric}) {
    TrainParams params;
    params.grow_policy = policy;
    VectorTree const expected = host->GrowVectors(params, gradients_, c.outputs, {});
    auto const cuda = MakeBuilder(2);
    int failures = 0;
    for (;; ++failures) {
      FailDeviceAllocation(failures);
      try {
        EXPECT_EQ(cuda->GrowVectors(params, gradients_, c.outputs, {}), expected);
        break;
      } catch (OutOfDeviceMemory const&) {
      }
    }
    FailDeviceAllocation(-1);
    EXPECT_GT(failures, 0);
  }
}

TEST_P(FailingShardedVectorsTest, AGradientThatIsNoNumberNamesItsRow) {
  VectorsCase const& c = GetParam();
  auto const cuda = MakeBuilder(2);
  RowIndex const row = c.rows - 2;  // of the last shard
  float& hess = gradients_[std::size_t{row} * c.outputs + 1].hess;
  float const before = hess;
  hess = std::numeric_limits<float>::infinity();
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { cuda->GrowVectors({}, gradients_, c.outputs, {}); },
                                         {"Gradient of row " + std::to_string(row), "inf"}),
            "");
  hess = before;
  EXPECT_GT(cuda->GrowVectors({}, gradients_, c.outputs, {}).shape.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Plain, FailingShardedVectorsTest,
                         ::testing::Values(VectorsCase{"", 3000, 9, 0.9, 3, false, [](TrainParams*) {}}));

// Kernels of two trainings that wait for their counterparts fill the devices: they take turns.
TEST(ShardedTrainings, InThreads) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  constexpr RowIndex kRows = 20000;
  WideRows const rows{kRows, 40};
  auto const matrix = HostMatrix(rows, 256, kThreads);
  auto const host = MakeTreeBuilder(BackendKind::kHost, *matrix, kThreads);
  std::vector<GradientPair> gradients(kRows);
  for (RowIndex r = 0; r < kRows; ++r) gradients[r] = {-rows.signal()[r], 1.0f};
  TrainParams params;
  params.max_depth = 8;
  constexpr std::uint32_t kTrees = 20;
  std::vector<Tree> expected;
  for (std::uint32_t t = 0; t < kTrees; ++t) expected.push_back(host->Grow(params, gradients, {t, 0}));
  struct Training {
    ShardedBuilder cuda;
    std::vector<Tree> trees;
    std::thread thread;
  };
  std::vector<std::unique_ptr<Training>> trainings;
  for (int i = 0; i < 2; ++i) {
    auto const shards = MakeShards(rows, matrix->cuts, 2);
    trainings.push_back(std::unique_ptr<Training>{new Training{{shards, kThreads, kPatience}, {}, {}}});
  }
  for (auto& training : trainings) {
    training->thread = std::thread{[&] {
      EXPECT_NO_THROW({
        for (std::uint32_t t = 0; t < kTrees; ++t)
          training->trees.push_back(training->cuda.Grow(params, gradients, {t, 0}));
      });
    }};
  }
  for (auto& training : trainings) training->thread.join();
  for (auto const& training : trainings) EXPECT_EQ(training->trees, expected);
}

/// Histograms that are small stay whole.
TEST(SharedFeatures, OnlyWhereHistogramsAreLarge) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  WideRows const rows{3000, 120};
  auto const cuts = HostMatrix(rows, 64, kThreads)->cuts;
  EXPECT_FALSE((ShardedBuilder{MakeShards(rows, cuts, 2), kThreads, kPatience}.deals_features()));
}

/// Data, labels and the two sides of a training whose rounds stay on the devices.
class ShardedRoundsTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  /// Makes data of so many rows and both trainers: of one device, and of `shards`.
  void Make(RowIndex rows, std::size_t shards) {
    case_ = EqualityCases()[0];
    case_.rows = rows;
    case_.columns = 9;
    case_.density = 0.9;
    case_.max_bin = 64;
    rows_ = std::make_unique<CaseRows>(case_);
    auto const matrix = HostMatrix(*rows_, case_.max_bin, kThreads);
    one_ = MakeCudaTreeBuilder(CopyMatrixToDevice(*matrix, 0, kThreads), kThreads);
    several_ = std::make_unique<ShardedBuilder>(MakeShards(*rows_, matrix->cuts, shards), kThreads, kPatience);
    labels_.resize(rows);
    weights_.resize(rows);
    for (RowIndex r = 0; r < rows; ++r) {
      labels_[r] = rows_->signal()[r];
      weights_[r] = 0.5f + static_cast<float>(r % 7) / 8.0f;
    }
  }

  /// Runs `rounds` rounds in both and compares trees, margins and metrics.
  void Compare(ObjectiveParams objective, TargetView const& targets, std::uint32_t outputs, TrainParams const& params,
               std::vector<MetricParams> const& metrics, std::uint32_t rounds = 3) {
    ResidentRounds* const sides[] = {one_->rounds(), several_->rounds()};
    std::unique_ptr<ResidentRows> rows[2], evaluated[2];
    std::vector<float> const base(labels_.size() * outputs, 0.25f);
    for (int side = 0; side < 2; ++side) {
      rows[side] = sides[side]->MakeResidentRows(outputs);
      side == 0 ? rows[side]->SetMargins(base) : rows[side]->SetEqualMargins({base.data(), 1});
      rows[side]->SetTargets(targets);
      evaluated[side] = sides[side]->MakeResidentRows(*rows_, outputs);
      evaluated[side]->SetMargins(base);
      evaluated[side]->SetTargets(targets);
      sides[side]->ForgetTrees();
    }
    for (std::uint32_t round = 0; round < rounds; ++round) {
      objective.iteration = round;
      std::vector<Tree> trees[2];
      for (int side = 0; side < 2; ++side) {
        std::vector<RoundTree> wanted;
        for (std::uint32_t k = 0; k < outputs; ++k) wanted.push_back({k, {round, k}});
        rows[side]->ComputeGradients(objective);
        rows[side]->Start(params, wanted);
        for (std::uint32_t k = 0; k < outputs; ++k) {
          trees[side].push_back(rows[side]->Grow(params, k, {round, k}));
          Tree& tree = trees[side].back();
          if (AdaptsLeaves(objective.kind)) rows[side]->AdaptLeaves(&tree, k);
          rows[side]->AddLeafValues(tree.leaf_value, k);
          sides[side]->KeepTree(tree, k);
        }
        evaluated[side]->AddTrees(round * outputs, (round + 1) * outputs);
      }
      ASSERT_EQ(trees[1], trees[0]) << "round " << round;
      ASSERT_GT(trees[0][0].size(), 1U);
      std::vector<float> margins[2] = {base, base}, of_evaluated[2] = {base, base};
      for (int side = 0; side < 2; ++side) {
        rows[side]->CopyMargins(margins[side]);
        evaluated[side]->CopyMargins(of_evaluated[side]);
      }
      ASSERT_EQ(Bits(margins[1]), Bits(margins[0])) << "round " << round;
      ASSERT_EQ(Bits(of_evaluated[1]), Bits(of_evaluated[0])) << "round " << round;
      for (MetricParams const& metric : metrics) {
        ASSERT_EQ(rows[1]->Evaluate(objective, metric), rows[0]->Evaluate(objective, metric)) << NameOf(metric.kind);
        ASSERT_EQ(evaluated[1]->Evaluate(objective, metric), evaluated[0]->Evaluate(objective, metric))
            << NameOf(metric.kind);
      }
    }
  }

  TargetView Weighted() const {
    TargetView targets;
    targets.labels = labels_.data();
    targets.weights = weights_.data();
    return targets;
  }

  EqualityCase case_;
  std::unique_ptr<CaseRows> rows_;
  std::unique_ptr<TreeBuilder> one_;
  std::unique_ptr<ShardedBuilder> several_;
  std::vector<float> labels_, weights_;
};

TrainParams Params() {
  TrainParams params;
  params.max_depth = 5;
  params.learning_rate = 0.3f;
  params.min_child_weight = 0.0f;
  return params;
}

void MakeBinary(std::vector<float>* labels) {
  for (float& label : *labels) label = label > 0 ? 1.0f : 0.0f;
}

TEST_F(ShardedRoundsTest, Logistic) {
  for (std::size_t const shards : {2U, 3U}) {
    for (RowIndex const rows : {3000U, 150000U}) {  // with and without gradients that are foreseen
      Make(rows, shards);
      MakeBinary(&labels_);
      for (float const subsample : {1.0f, 0.4f}) {
        for (SamplingMethod const method :
             {SamplingMethod::kUniform, SamplingMethod::kGradientBased, SamplingMethod::kGoss}) {
          TrainParams params = Params();
          if (method == SamplingMethod::kGoss && subsample == 1.0f) continue;
          params.sampling_method = method;
          params.subsample = method == SamplingMethod::kGoss ? 1.0f : subsample;
          SCOPED_TRACE(std::to_string(shards) + " shards, " + std::to_string(rows) + " rows, subsample " +
                       std::to_string(subsample));
          Compare({Objective::kLogistic}, Weighted(), 1, params,
                  {{Metric::kLogloss}, {Metric::kError}, {Metric::kAuc}, {Metric::kAucpr}}, 4);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(ShardedRoundsTest, OtherObjectives) {
  Make(5000, 3);
  Compare({Objective::kSquaredError}, Weighted(), 1, Params(), {{Metric::kRmse}, {Metric::kMae}});
  Compare({Objective::kAbsoluteError}, Weighted(), 1, Params(), {{Metric::kMae}});
  ObjectiveParams quantiles{Objective::kQuantile};
  quantiles.alphas = {0.1f, 0.8f};
  Compare(quantiles, Weighted(), 2, Params(), {});
  Compare({Objective::kSmoothAbsoluteError}, Weighted(), 1, Params(), {{Metric::kMae}});
  for (Objective const kind : {Objective::kSmoothQuantile, Objective::kExpectile}) {
    quantiles.kind = kind;
    Compare(quantiles, Weighted(), 2, Params(), {});
  }
  for (float& label : labels_) label = 0.1f + std::min(std::abs(label), 20.0f);
  TargetView times = Weighted();
  Compare({Objective::kCox}, times, 1, Params(), {{Metric::kCoxNloglik}});
  std::vector<float> upper = labels_;
  for (float& bound : upper) bound += 1.0f;
  times.labels = nullptr;
  times.lower = labels_.data();
  times.upper = upper.data();
  Compare({Objective::kAft}, times, 1, Params(), {{Metric::kAftNloglik}, {Metric::kIntervalAccuracy}});
}

TEST_F(ShardedRoundsTest, Classes) {
  Make(6000, 2);
  for (std::size_t i = 0; i < labels_.size(); ++i) labels_[i] = static_cast<float>(i % 3);
  Compare({Objective::kSoftmax}, Weighted(), 3, Params(), {{Metric::kMerror}, {Metric::kMlogloss}});
}

TEST_F(ShardedRoundsTest, Rankings) {
  Make(6000, 3);
  for (std::size_t i = 0; i < labels_.size(); ++i) labels_[i] = static_cast<float>(i * 7 % 5);
  std::vector<std::uint32_t> groups{0};
  while (groups.back() < 6000) groups.push_back(std::min<std::uint32_t>(6000, groups.back() + 17));
  TargetView targets;
  targets.labels = labels_.data();
  targets.group_ptr = groups.data();
  targets.groups = static_cast<std::uint32_t>(groups.size()) - 1;
  for (Objective const kind : {Objective::kRankPairwise, Objective::kRankNdcg, Objective::kRankMap}) {
    if (kind == Objective::kRankMap) MakeBinary(&labels_);
    std::vector<MetricParams> const metrics{{kind == Objective::kRankMap ? Metric::kMap : Metric::kNdcg}};
    Compare({kind}, targets, 1, Params(), metrics);
    ObjectiveParams lambdas{kind};
    lambdas.lambdarank.is_used = true;
    Compare(lambdas, targets, 1, Params(), metrics);
  }
}

TEST_F(ShardedRoundsTest, LossGuidedAndDeep) {
  Make(40000, 3);
  MakeBinary(&labels_);
  for (int const leaves : {31, 3000}) {
    TrainParams params = Params();
    params.grow_policy = GrowPolicy::kLossGuide;
    params.max_depth = 0;
    params.max_leaves = leaves;
    Compare({Objective::kLogistic}, Weighted(), 1, params, {{Metric::kLogloss}});
  }
  TrainParams deep = Params();
  deep.max_depth = 0;
  Compare({Objective::kLogistic}, Weighted(), 1, deep, {}, 2);
}

/// A failure of one device ends the wait of the others, and the builder goes on afterwards.
TEST_F(ShardedRoundsTest, EveryAllocationMayFail) {
  Make(4000, 3);
  MakeBinary(&labels_);
  std::vector<GradientPair> gradients(labels_.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = {labels_[i] - 0.5f, 0.25f};
  TrainParams params = Params();
  Tree const expected = one_->Grow(params, gradients, {0, 0});
  int failed = 0;
  for (std::int64_t n = 0;; ++n) {
    auto const again =
        std::make_unique<ShardedBuilder>(MakeShards(*rows_, HostMatrix(*rows_, 64, 1)->cuts, 3), 1, kPatience);
    FailDeviceAllocation(n);
    try {
      Tree const tree = again->Grow(params, gradients, {0, 0});
      bool const reached = FailDeviceAllocation(-1) > n;
      EXPECT_EQ(tree, expected);
      if (!reached) break;
    } catch (OutOfDeviceMemory const& error) {
      ++failed;
      FailDeviceAllocation(-1);
      EXPECT_NE(std::string{error.what()}.find("bytes of GPU memory"), std::string::npos) << error.what();
      EXPECT_EQ(again->Grow(params, gradients, {0, 0}), expected) << "after allocation " << n << " had failed";
    }
  }
  EXPECT_GT(failed, 3);
}

/// A device that CUDA fails on ends the wait of the others at once.
TEST_F(ShardedRoundsTest, EveryCallMayFail) {
  Make(4000, 2);
  MakeBinary(&labels_);
  std::vector<GradientPair> gradients(labels_.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = {labels_[i] - 0.5f, 0.25f};
  TrainParams const params = Params();
  Tree const expected = one_->Grow(params, gradients, {0, 0});
  auto const cuts = HostMatrix(*rows_, 64, 1)->cuts;
  FailCudaCall(-1);
  int failed = 0;
  for (std::int64_t n = 0;; ++n) {
    ShardedBuilder again{MakeShards(*rows_, cuts, 2), 1, kPatience};
    auto const begin = std::chrono::steady_clock::now();
    FailCudaCall(n);
    try {
      Tree const tree = again.Grow(params, gradients, {0, 0});
      bool const reached = FailCudaCall(-1) > n;
      EXPECT_EQ(tree, expected) << "call " << n << " had failed";
      if (!reached) break;
    } catch (DeviceError const& error) {
      ++failed;
      FailCudaCall(-1);
      EXPECT_NE(std::string{error.what()}.find("CUDA failed while"), std::string::npos) << error.what();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5}) << "call " << n;
    ASSERT_EQ(again.Grow(params, gradients, {0, 0}), expected) << "after call " << n << " had failed";
  }
  EXPECT_GT(failed, 20);
}

TEST_F(ShardedRoundsTest, AGradientThatIsNoNumberNamesItsRow) {
  Make(4000, 3);
  std::vector<GradientPair> gradients(4000, {0.5f, 1.0f});
  gradients[3001].grad = std::numeric_limits<float>::infinity();
  try {
    several_->Grow(Params(), gradients, {0, 0});
    FAIL() << "no error";
  } catch (InvalidArgument const& error) {
    EXPECT_NE(std::string{error.what()}.find("row 3001"), std::string::npos) << error.what();
  }
  gradients[3001].grad = 0.25f;
  EXPECT_EQ(several_->Grow(Params(), gradients, {0, 0}), one_->Grow(Params(), gradients, {0, 0}));
}

/// A device that does not come is waited for as long as it may take, and not longer.
TEST(PeerDevicesTest, NobodyWaitsForEver) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  int const devices = CudaDeviceCount();
  cuda::PeerDevices peers{{0, 1 % devices}, 0.2};
  DeviceScope const scope{0};
  DeviceArena arena{"The test"};
  Stream const stream;
  std::vector<std::int64_t> const values(64, 1);
  auto const sums = Upload(&arena, "sums", values.data(), values.size());
  peers.of(0)->Sum(sums.data(), values.size(), stream);
  stream.Wait("adding up");
  EXPECT_THROW(peers.of(0)->Check(), ShardsLost);
  peers.Reset();
  EXPECT_NO_THROW(peers.of(0)->Check());

  // Both come now. The second is told to stop before the first does.
  DeviceScope const other{1 % devices};
  DeviceArena arena_of_other{"The test"};
  auto const more = Upload(&arena_of_other, "sums", values.data(), values.size());
  Stream const stream_of_other;
  peers.of(1)->Sum(more.data(), values.size(), stream_of_other);
  {
    DeviceScope const first{0};
    auto const again = Upload(&arena, "sums", values.data(), values.size());
    peers.of(0)->Sum(again.data(), values.size(), stream);
    std::vector<std::int64_t> got(values.size());
    CopyToHost(got.data(), again.data(), got.size(), stream, "reading");
    stream.Wait("reading");
    peers.of(0)->Check();
    EXPECT_EQ(got, std::vector<std::int64_t>(64, 2));
  }
  stream_of_other.Wait("adding up");
  cuda::PeerDevices patient{{0, 1 % devices}, 600};
  patient.of(1)->Sum(more.data(), values.size(), stream_of_other);
  patient.Abort();
  stream_of_other.Wait("adding up");
  EXPECT_THROW(patient.of(1)->Check(), ShardsLost);
}

}  // namespace
}  // namespace xgbgpu::testing
