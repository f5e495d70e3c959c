// Trees of a round that grow at the same time are those that the host grows one after the other, bit for bit.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "backend_cuda/device_matrices.h"
#include "cuda/device.h"
#include "cuda/recorded_graph.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "trees_cuda/cuda_tree_builder.h"
#include "trees_cuda/equality_case.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::testing {
namespace {

struct LaneCase {
  char const* name;
  std::uint32_t outputs;
  std::uint32_t per_output;  ///< trees of each output
  RowIndex rows;
  FeatureIndex columns;
  double density;
  TrainParams params;
  float heavy_weight{1};  ///< weight of one row
};

void PrintTo(LaneCase const& c, std::ostream* os) { *os << c.name; }

template <typename Change>
TrainParams With(Change&& change) {
  TrainParams params;
  params.learning_rate = 0.4f;
  params.seed = 5;
  change(&params);
  return params;
}

std::vector<LaneCase> LaneCases() {
  auto const depth = [](int levels) { return With([&](TrainParams* p) { p->max_depth = levels; }); };
  auto const sampled = [](float part) { return With([&](TrainParams* p) { p->subsample = part; }); };
  std::vector<LaneCase> cases{
      {"TwoOutputs", 2, 1, 3000, 9, 1.0, depth(6)},
      {"ThreeOutputs", 3, 1, 3000, 9, 0.9, depth(4)},
      {"SevenOutputs", 7, 1, 3000, 20, 0.9, depth(6)},
      {"FortyOutputs", 40, 1, 1000, 9, 1.0, depth(5)},
      {"ForestsOfThreeOutputs", 3, 4, 2000, 9, 1.0, sampled(0.5f)},
      {"FewSampledRowsOnPaths", 5, 1, 3000, 9, 1.0, sampled(0.2f)},
      {"SampledRowsInLists", 5, 1, 3000, 40, 0.1, sampled(0.2f)},
      {"SampledRowsOnPaths", 5, 1, 3000, 9, 1.0, sampled(0.7f)},
      {"SparseRows", 4, 2, 3000, 40, 0.1, depth(6)},
      {"DeepTreesOnMovedRows", 3, 1, 20000, 9, 1.0, depth(10)},
      {"NarrowGradients", 3, 1, 70000, 9, 1.0, depth(6)},
      {"NarrowGradientsOnMovedRows", 3, 1, 80000, 110, 1.0, depth(6)},
      {"WideGradientsOnMovedRows", 3, 1, 80000, 110, 1.0, depth(6), 1e6f},
      {"StumpsOnly", 6, 1, 500, 3, 1.0, depth(1)},
  };
  cases.push_back({"SampledColumns", 4, 2, 3000, 20, 1.0, With([](TrainParams* p) {
                     p->colsample_bytree = 0.6f;
                     p->colsample_bylevel = 0.5f;
                   })});
  cases.push_back({"CopiedColumns", 3, 2, 3000, 300, 1.0, With([](TrainParams* p) { p->colsample_bytree = 0.2f; })});
  cases.push_back(
      {"CopiedColumnsOfSparse", 3, 2, 3000, 300, 0.2, With([](TrainParams* p) { p->colsample_bytree = 0.05f; })});
  cases.push_back({"CopiedColumnsOfSamples", 3, 2, 3000, 100, 0.9, With([](TrainParams* p) {
                     p->colsample_bytree = 0.2f;
                     p->subsample = 0.6f;
                   })});
  cases.push_back({"RowsSampledByGradient", 5, 2, 3000, 9, 1.0, With([](TrainParams* p) {
                     p->sampling_method = SamplingMethod::kGradientBased;
                     p->subsample = 0.3f;
                   })});
  cases.push_back(
      {"GossInLists", 5, 2, 3000, 40, 0.1, With([](TrainParams* p) { p->sampling_method = SamplingMethod::kGoss; })});
  cases.push_back({"ColumnsOfNodes", 3, 1, 2000, 20, 1.0, With([](TrainParams* p) { p->colsample_bynode = 0.5f; })});
  for (float subsample : {1.0f, 0.4f}) {
    cases.push_back({subsample < 1 ? "LossGuidedToADepthOnSamples" : "LossGuidedToADepth", 3, 2, 2000, 9, 1.0,
                     With([&](TrainParams* p) {
                       p->grow_policy = GrowPolicy::kLossGuide;
                       p->max_leaves = 20;
                       p->subsample = subsample;
                     })});
  }
  cases.push_back({"LossGuided", 3, 2, 2000, 9, 1.0, With([](TrainParams* p) {
                     p->grow_policy = GrowPolicy::kLossGuide;
                     p->max_depth = 0;
                     p->max_leaves = 20;
                   })});
  cases.push_back(
      {"Symmetric", 3, 2, 2000, 9, 1.0, With([](TrainParams* p) { p->grow_policy = GrowPolicy::kSymmetric; })});
  cases.push_back({"LossGuidedWithoutLimit", 3, 2, 2000, 9, 1.0, With([](TrainParams* p) {
                     p->grow_policy = GrowPolicy::kLossGuide;
                     p->max_depth = 0;
                   })});
  return cases;
}

/// The data of a training by rounds, with labels of classes or with heavy tails.
class LaneData {
 public:
  explicit LaneData(LaneCase const& c)
      : c_{c}, rows_{{700, c.rows, c.columns, c.density, Values::kContinuous, 64, Loss::kLogistic, {}, 1, {}}} {
    matrix_ = HostMatrix(rows_, 64, omp_get_max_threads());
    Random random{77};
    for (float const signal : rows_.signal()) {
      float const part = (signal + 2 * random.Uniform() + 1) / 5;
      auto const outputs = static_cast<float>(c.outputs);
      labels_.push_back(std::min(outputs - 1, std::max(0.0f, std::floor(part * outputs))));
      weights_.push_back(1);
    }
    weights_[c.rows / 3] = c.heavy_weight;
  }

  QuantisedMatrix const& matrix() const { return *matrix_; }
  TargetView targets() const {
    TargetView targets;
    targets.labels = labels_.data();
    targets.weights = weights_.data();
    return targets;
  }
  std::vector<RoundTree> Trees(std::uint32_t round) const {
    std::vector<RoundTree> trees;
    for (std::uint32_t i = 0; i < c_.outputs * c_.per_output; ++i) trees.push_back({i / c_.per_output, {round, i}});
    return trees;
  }
  static ObjectiveParams Objective() { return {xgbgpu::Objective::kSoftmax}; }

 private:
  LaneCase c_;
  CaseRows rows_;
  std::unique_ptr<QuantisedMatrix> matrix_;
  std::vector<float> labels_, weights_;
};

struct Training {
  std::vector<Tree> trees;
  std::vector<std::uint32_t> margins;  ///< the margins' bits, row-major
};
bool operator==(Training const& a, Training const& b) { return a.trees == b.trees && a.margins == b.margins; }
void PrintTo(Training const& training, std::ostream* os) { *os << training.trees.size() << " trees"; }

constexpr std::uint32_t kRounds = 3;

Training OnHost(LaneCase const& c, LaneData const& data) {
  auto const builder = MakeTreeBuilder(BackendKind::kHost, data.matrix(), omp_get_max_threads());
  std::vector<float> margins(std::size_t{c.rows} * c.outputs);
  std::vector<GradientPair> all(margins.size()), gradients(c.rows);
  Training training;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    host::ComputeGradients(LaneData::Objective(), data.targets(),
                           RowMajor<float const>(margins.data(), c.rows, c.outputs),
                           RowMajor(all.data(), c.rows, c.outputs), 2);
    for (auto const& [output, key] : data.Trees(round)) {
      for (RowIndex row = 0; row < c.rows; ++row) gradients[row] = all[std::size_t{row} * c.outputs + output];
      training.trees.push_back(builder->Grow(c.params, gradients, key));
      builder->AddLeafValues(training.trees.back().leaf_value, margins.data() + output, c.outputs);
    }
  }
  training.margins = Bits(margins);
  return training;
}

/// One training on a device, which can be repeated.
class OnDevice {
 public:
  OnDevice(LaneCase const& c, LaneData const& data, LanePolicy const& policy)
      : c_{c}, data_{data}, builder_{CopyMatrixToDevice(data.matrix(), 0, 2), 2, policy} {}

  Training Train() {
    std::vector<float> margins(std::size_t{c_.rows} * c_.outputs);
    if (rows_ == nullptr) rows_ = builder_.MakeRows(c_.outputs);
    rows_->SetTargets(data_.targets());
    rows_->SetMargins(margins);
    Training training;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      rows_->ComputeGradients(LaneData::Objective());
      auto const trees = data_.Trees(round);
      builder_.Begin(c_.params, rows_.get(), trees);
      for (RoundTree const& tree : trees) {
        training.trees.push_back(builder_.FinishNext());
        builder_.AddLeafValues(training.trees.back().leaf_value, rows_.get(), tree.output);
      }
    }
    rows_->CopyMargins(margins);
    training.margins = Bits(margins);
    return training;
  }
  CudaTreeBuilder& builder() { return builder_; }

 private:
  LaneCase const& c_;
  LaneData const& data_;
  CudaTreeBuilder builder_;
  std::unique_ptr<cuda::DeviceResidentRows> rows_;
};

LanePolicy Lanes(std::uint32_t most, double share = 2) {
  LanePolicy policy;
  policy.most_lanes = most;
  policy.least_free = 0;
  policy.share = share;
  return policy;
}

class CudaLanesTest : public ::testing::TestWithParam<LaneCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(CudaLanesTest, SameModelWithAnyNumberOfLanes) {
  LaneCase const& c = GetParam();
  LaneData const data{c};
  Training const expected = OnHost(c, data);
  EXPECT_GT(expected.trees[0].size(), 1U);
  for (LanePolicy const& policy : {Lanes(1), Lanes(2), Lanes(3, 1), Lanes(16), Lanes(64, 1e9)}) {
    OnDevice device{c, data, policy};
    for (int repeat = 0; repeat < 2; ++repeat) {  // the second time all trees are recorded
      Training const found = device.Train();
      ASSERT_EQ(found.trees, expected.trees) << policy.most_lanes << " lanes, training " << repeat;
      ASSERT_EQ(found.margins, expected.margins) << policy.most_lanes << " lanes, training " << repeat;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(HostAndCuda, CudaLanesTest, ::testing::ValuesIn(LaneCases()),
                         [](auto const& c) { return std::string{c.param.name}; });

class CudaLaneTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
  void TearDown() override {
    FailDeviceAllocation(-1);
    SpoilRecordings(0);
  }

  LaneCase c_{"", 5, 2, 1500, 9, 1.0, {}};
};

TEST_F(CudaLaneTest, TimedTreesComeOneByOne) {
  LaneData const data{c_};
  OnDevice device{c_, data, Lanes(4)};
  Training const expected = device.Train();
  Timeline timeline{device.builder().stream()};
  device.builder().SetTimeline(&timeline);
  EXPECT_EQ(device.Train(), expected);
  device.builder().SetTimeline(nullptr);
  EXPECT_EQ(timeline.entries().back().tree + 1, static_cast<int>(expected.trees.size()));
  constexpr int kNoTree = -1;
  int tree = 0, last = kNoTree;
  double end = 0;
  for (TraceStage const& entry : timeline.entries()) {
    if (last != kNoTree && entry.tree != last) end = 0;  // clocks were compared anew after tree `last`
    last = entry.tree;
    // Events have a resolution of half a microsecond, and both numbers depend on four of them.
    EXPECT_GE(entry.start_us, end - 2) << entry.name << " of tree " << entry.tree;
    end = entry.start_us + entry.duration_us;
    if (entry.tree == kNoTree) continue;
    EXPECT_GE(entry.tree, tree) << entry.name;
    tree = entry.tree;
  }
  EXPECT_EQ(device.Train(), expected);
}

TEST_F(CudaLaneTest, TreesThatNobodyFinishesLeaveNoTrace) {
  LaneData const data{c_};
  OnDevice device{c_, data, Lanes(4)};
  Training const expected = device.Train();
  CudaTreeBuilder& builder = device.builder();
  for (std::size_t const finished : {0U, 1U, 6U}) {
    auto const rows = builder.MakeRows(c_.outputs);
    rows->SetTargets(data.targets());
    rows->SetMargins(std::vector<float>(std::size_t{c_.rows} * c_.outputs));
    rows->ComputeGradients(LaneData::Objective());
    builder.Begin(c_.params, rows.get(), data.Trees(0));
    for (std::size_t i = 0; i < finished; ++i) ASSERT_EQ(builder.FinishNext(), expected.trees[i]);
    if (finished == 1) builder.Abandon();
    ASSERT_EQ(device.Train(), expected) << "after " << finished << " trees";
  }
}

TEST_F(CudaLaneTest, OnlyWhatIsNeededIsHeld) {
  auto const held = [&](std::uint32_t outputs, std::uint32_t lanes, std::string const& part) {
    LaneCase c = c_;
    c.outputs = outputs;
    c.per_output = 1;
    LaneData const data{c};
    OnDevice device{c, data, Lanes(lanes)};
    device.Train();
    MemoryReport const report = device.builder().memory();
    std::size_t bytes = part.empty() ? report.bytes : 0;
    for (auto const& p : report.parts) bytes += p.name == part ? p.bytes : 0;
    return bytes;
  };
  EXPECT_EQ(held(1, 16, ""), held(1, 1, ""));
  std::size_t const one = held(8, 1, "histograms");
  EXPECT_GT(one, 0U);
  for (std::uint32_t const lanes : {2U, 4U, 8U}) EXPECT_EQ(held(8, lanes, "histograms"), lanes * one);
  EXPECT_EQ(held(8, 20, "histograms"), 8 * one);
  // Gradients are read where they are if every tree has a lane; else they are copied to each lane.
  std::size_t const own = held(8, 8, "gradients"), copy = c_.rows * sizeof(GradientPair);
  EXPECT_GE(own, 8 * copy);
  EXPECT_EQ(held(8, 1, "gradients"), own + copy);
  EXPECT_EQ(held(8, 4, "gradients"), own + 4 * copy);
  LaneData const data{c_};
  LanePolicy scarce = Lanes(4);
  scarce.least_free = 2;  // more than there is
  OnDevice device{c_, data, scarce}, single{c_, data, Lanes(1)};
  EXPECT_EQ(device.Train(), single.Train());
  EXPECT_EQ(device.builder().memory().bytes, single.builder().memory().bytes);
}

// If memory is short for several trees at a time, one lane goes on alone.
TEST_F(CudaLaneTest, EveryAllocationMayFail) {
  LaneData const data{c_};
  Training const expected = OnHost(c_, data);
  auto const single = [&] {
    OnDevice device{c_, data, Lanes(1)};
    FailDeviceAllocation(-1);
    EXPECT_EQ(device.Train(), expected);
    return FailDeviceAllocation(-1);
  }();
  OnDevice first{c_, data, Lanes(4)};
  FailDeviceAllocation(-1);
  EXPECT_EQ(first.Train(), expected);
  std::int64_t const allocations = FailDeviceAllocation(-1);
  ASSERT_GT(allocations, 2 * single);
  std::int64_t errors = 0;
  for (std::int64_t n = 0; n < allocations; ++n) {
    OnDevice device{c_, data, Lanes(4)};
    FailDeviceAllocation(n);
    try {
      ASSERT_EQ(device.Train(), expected) << "allocation " << n;
    } catch (OutOfDeviceMemory const& e) {
      EXPECT_NE(std::string{e.what()}.find("bytes of GPU memory for"), std::string::npos) << e.what();
      ++errors;
    }
    FailDeviceAllocation(-1);
    ASSERT_EQ(device.Train(), expected) << "after allocation " << n << " had failed";
  }
  EXPECT_LT(errors, single);
}

TEST_F(CudaLaneTest, AnErrorInOneLaneNamesItsRow) {
  LaneData const data{c_};
  OnDevice device{c_, data, Lanes(4)};
  Training const expected = device.Train();
  CudaTreeBuilder& builder = device.builder();
  // There are several targets. The gradient of one row is infinite for output 2 alone.
  std::vector<float> labels(std::size_t{c_.rows} * c_.outputs, 0.5f);
  labels[345 * c_.outputs + 2] = std::numeric_limits<float>::infinity();
  auto const rows = builder.MakeRows(c_.outputs);
  rows->SetTargets({labels.data(), c_.outputs});
  rows->SetMargins(std::vector<float>(labels.size()));
  rows->ComputeGradients({xgbgpu::Objective::kSquaredError});
  auto const trees = data.Trees(0);
  builder.Begin(c_.params, rows.get(), trees);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(builder.FinishNext().size(), 1U) << i;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { builder.FinishNext(); }, {"row 345"}), "");
  std::vector<NodeIndex> positions(c_.rows);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { builder.LeafPositions(positions, {}); }, {"no tree"}), "");
  builder.Abandon();
  EXPECT_EQ(device.Train(), expected);
}

// A wait for the whole device spoils what any thread is recording, so freeing rows must not wait so.
TEST_F(CudaLaneTest, RowsAreFreedWhileAnotherThreadRecords) {
  LaneData const data{c_};
  OnDevice device{c_, data, Lanes(4)};
  Training const expected = device.Train();
  auto rows = device.builder().MakeRows(c_.outputs);
  rows->SetTargets(data.targets());
  rows->SetMargins(std::vector<float>(std::size_t{c_.rows} * c_.outputs));
  rows->ComputeGradients(LaneData::Objective());
  device.builder().Begin(c_.params, rows.get(), data.Trees(0));
  Stream const other;
  CheckCuda(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal), "recording nothing");
  std::thread{[&] { rows.reset(); }}.join();
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaSuccess);
  if (graph != nullptr) cudaGraphDestroy(graph);
  EXPECT_EQ(device.Train(), expected);
}

TEST_F(CudaLaneTest, TreesAreGrownThoughTheirRecordingIsSpoilt) {
  LaneData const data{c_};
  Training const expected = OnHost(c_, data);
  for (std::uint32_t const lanes : {1U, 4U}) {
    OnDevice device{c_, data, Lanes(lanes)};
    SpoilRecordings(std::int64_t{1} << 30);
    EXPECT_EQ(device.Train(), expected) << "nothing can be recorded";
    EXPECT_GE(SpoilRecordings(1), 2) << "one from its beginning on, and one at its end";
    EXPECT_EQ(device.Train(), expected) << "one recording fails";
    EXPECT_EQ(SpoilRecordings(0), 1);
    EXPECT_EQ(device.Train(), expected) << "all are recorded";
    EXPECT_EQ(SpoilRecordings(0), 0);
  }
}

// Through Trainer: speculative trees are used by the calls that they were started for.
TEST_F(CudaLaneTest, TheTrainerTakesTreesInTheirOrderOrNone) {
  LaneData const data{c_};
  Training const expected = OnHost(c_, data);
  CaseRows const source{{700, c_.rows, c_.columns, 1.0, Values::kContinuous, 64, Loss::kLogistic, {}, 1, {}}};
  Trainer trainer{Dataset::Build(source, {}, 64, 2, {BackendKind::kCuda, 0}), BackendKind::kCuda, 2};
  auto const rows = trainer.rounds()->MakeResidentRows(c_.outputs);
  rows->SetTargets(data.targets());
  rows->SetMargins(std::vector<float>(std::size_t{c_.rows} * c_.outputs));
  rows->ComputeGradients(LaneData::Objective());
  auto const trees = data.Trees(0);
  auto const grow = [&](std::size_t i) { return rows->Grow(c_.params, trees[i].output, trees[i].key); };
  for (std::size_t const jump : {0U, 3U, 7U}) {
    rows->Start(c_.params, trees);
    rows->Start(c_.params, trees);
    for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(grow(i), expected.trees[i]);
    ASSERT_EQ(grow(jump), expected.trees[jump]) << "not the next, unless it is " << jump;
    ASSERT_EQ(grow(4), expected.trees[4]);
  }
  TrainParams other = c_.params;
  other.max_depth = 2;
  rows->Start(other, trees);
  ASSERT_EQ(grow(0), expected.trees[0]) << "of other parameters than the speculative trees";
}

}  // namespace
}  // namespace xgbgpu::testing
