// Errors on a device say what is wrong, and leave everything as it was.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cuda/device.h"
#include "exact/exact_memory.h"
#include "matrix/device_matrix.h"
#include "support/grow.h"
#include "trees_cuda/cuda_exact_builder.h"
#include "trees_cuda/equality_case.h"
#include "trees_host/exact_host.h"
#include "xgbgpu/resident_rows.h"

namespace xgbgpu::testing {
namespace {

constexpr std::uint32_t kTrees = 2;

/// kCut, kOrdered and kLossGuide are loss-guided: cut out of all nodes to a depth, with an order, host-driven.
enum class Growth { kDepthWise, kCut, kOrdered, kLossGuide, kSymmetric, kExact };

class CudaFailureTest : public ::testing::TestWithParam<Growth> {
 protected:
  CudaFailureTest() : c_{RandomCase({1200, 9, 0.2}, 201)} {
    c_.params.grow_policy = GrowPolicy::kLossGuide;
    if (GetParam() == Growth::kDepthWise || GetParam() == Growth::kExact)
      c_.params.grow_policy = GrowPolicy::kDepthWise;
    if (GetParam() == Growth::kSymmetric) c_.params.grow_policy = GrowPolicy::kSymmetric;
    if (GetParam() == Growth::kCut) c_.params.max_leaves = 40;
    if (GetParam() == Growth::kOrdered) c_.params.max_leaves = 31;
    if (GetParam() == Growth::kOrdered || GetParam() == Growth::kLossGuide) c_.params.max_depth = 0;
    if (GetParam() == Growth::kDepthWise) c_.params.colsample_bynode = 0.8f;
    c_.params.subsample = 0.8f;
    SetDirections(&c_.params, 9);
    SetInteractions(&c_.params, 9);
    MemorySource const source{c_.values};
    if (GetParam() == Growth::kExact) {
      sorted_ = host::SortColumns(source, 2);
      needs_ = {"exact trees", "1200 rows", std::to_string(sorted_->stored()) + " values: about ",
                std::to_string(ExactDeviceBytes(1200, sorted_->stored())) + " bytes in all", "tree_method=gpu_hist"};
    } else {
      data_ = HostMatrix(source, c_.max_bin, 2);
      needs_ = {"max_bin"};
    }
  }
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
  void TearDown() override {
    FailDeviceAllocation(-1);
    FailCudaCall(-1);
  }

  std::vector<Tree> GrowTrees(TreeBuilder* builder) const {
    std::vector<Tree> trees;
    for (std::uint32_t t = 0; t < kTrees; ++t) {
      trees.push_back(builder->Grow(c_.params, c_.gradients, {t, 0}));
    }
    return trees;
  }
  std::unique_ptr<TreeBuilder> Make(BackendKind kind) const {
    if (sorted_ == nullptr) return MakeTreeBuilder(kind, *data_, 2);
    return kind == BackendKind::kHost ? MakeHostExactBuilder(sorted_, 2) : MakeCudaExactBuilder(sorted_, 0, 2);
  }
  std::vector<Tree> Train(BackendKind kind) const { return GrowTrees(Make(kind).get()); }

  TreeCase c_;
  std::unique_ptr<QuantisedMatrix> data_;       // for exact trees null
  std::shared_ptr<SortedMatrix const> sorted_;  // for others null
  std::vector<std::string> needs_;              ///< what a message about memory says in this case, too
};

/// The results of two rounds of absolute errors with resident rows.
struct Rounds {
  std::vector<Tree> trees;
  std::vector<float> margins;
};
bool operator==(Rounds const& a, Rounds const& b) { return a.trees == b.trees && a.margins == b.margins; }

Rounds RunRounds(TreeBuilder* builder, TrainParams const& params, std::vector<float> const& labels) {
  ResidentRounds& rounds = *builder->rounds();
  auto const rows = rounds.MakeResidentRows(1);
  Rounds result;
  result.margins.resize(labels.size());
  rows->SetTargets({labels.data()});
  rows->SetMargins(result.margins);
  try {
    for (std::uint32_t round = 0; round < kTrees; ++round) {
      rows->ComputeGradients({Objective::kAbsoluteError});
      Tree tree = rows->Grow(params, 0, {round, 0});
      rows->AdaptLeaves(&tree, 0);
      rows->AddLeafValues(tree.leaf_value, 0);
      result.trees.push_back(std::move(tree));
    }
  } catch (...) {
    rounds.Cancel();
    throw;
  }
  rows->CopyMargins(result.margins);
  return result;
}

TEST_P(CudaFailureTest, EveryAllocationMayFail) {
  auto const expected = Train(BackendKind::kHost);
  FailDeviceAllocation(-1);
  EXPECT_EQ(Train(BackendKind::kCuda), expected);
  std::int64_t const allocations = FailDeviceAllocation(-1);
  ASSERT_GT(allocations, 5);
  RecordProperty("allocations", static_cast<int>(allocations));
  for (std::int64_t n = 0; n < allocations; ++n) {
    FailDeviceAllocation(n);
    EXPECT_EQ(WhatIsWrong<OutOfDeviceMemory>([&] { Train(BackendKind::kCuda); },
                                             {"bytes of GPU memory for", "are free", "Try", "gpu_backend=host"}),
              "")
        << "allocation " << n;
    FailDeviceAllocation(n);
    EXPECT_EQ(WhatIsWrong<OutOfDeviceMemory>([&] { Train(BackendKind::kCuda); }, needs_), "") << "allocation " << n;
    FailDeviceAllocation(-1);
    ASSERT_EQ(Train(BackendKind::kCuda), expected) << "after allocation " << n << " had failed";
  }
}

TEST_P(CudaFailureTest, ABuilderSurvivesAllocationsThatFailInsideATree) {
  auto const expected = Train(BackendKind::kHost);
  auto const first = Make(BackendKind::kCuda);
  FailDeviceAllocation(-1);
  EXPECT_EQ(GrowTrees(first.get()), expected);
  std::int64_t const allocations = FailDeviceAllocation(-1);
  for (std::int64_t n = 0; n < allocations; ++n) {
    auto const builder = Make(BackendKind::kCuda);
    FailDeviceAllocation(n);
    EXPECT_EQ(WhatIsWrong<OutOfDeviceMemory>([&] { GrowTrees(builder.get()); }, {"bytes of GPU memory for"}), "")
        << "allocation " << n;
    FailDeviceAllocation(-1);
    ASSERT_EQ(GrowTrees(builder.get()), expected) << "after allocation " << n << " had failed";
  }
}

TEST_P(CudaFailureTest, RoundsOnTheDeviceSurviveAllocationsThatFail) {
  std::vector<float> labels;
  for (GradientPair const& g : c_.gradients) labels.push_back(g.grad);
  auto const first = Make(BackendKind::kCuda);
  FailDeviceAllocation(-1);
  Rounds const expected = RunRounds(first.get(), c_.params, labels);
  std::int64_t const allocations = FailDeviceAllocation(-1);
  EXPECT_GT(expected.trees[0].size(), 1U);
  auto const expected_of_host = Train(BackendKind::kHost);
  for (std::int64_t n = 0; n < allocations; ++n) {
    auto const builder = Make(BackendKind::kCuda);
    FailDeviceAllocation(n);
    EXPECT_EQ(WhatIsWrong<OutOfDeviceMemory>([&] { RunRounds(builder.get(), c_.params, labels); },
                                             {"bytes of GPU memory for"}),
              "")
        << "allocation " << n;
    FailDeviceAllocation(-1);
    ASSERT_TRUE(RunRounds(builder.get(), c_.params, labels) == expected) << "after allocation " << n << " had failed";
    ASSERT_EQ(GrowTrees(builder.get()), expected_of_host) << "after allocation " << n << " had failed";
  }
}

/// An error of CUDA that passes is told, or, where there is another way (a graph that cannot be recorded), changes
/// nothing.
TEST_P(CudaFailureTest, EveryCallMayFail) {
  auto const expected = Train(BackendKind::kHost);
  auto const first = Make(BackendKind::kCuda);
  FailCudaCall(-1);
  EXPECT_EQ(GrowTrees(first.get()), expected);
  std::int64_t const calls = FailCudaCall(-1);
  ASSERT_GT(calls, 20);
  std::int64_t told = 0;
  for (std::int64_t n = 0; n < calls; ++n) {
    auto const builder = Make(BackendKind::kCuda);
    FailCudaCall(n);
    try {
      EXPECT_EQ(GrowTrees(builder.get()), expected) << "call " << n << " had failed";
    } catch (DeviceError const& error) {
      ++told;
      EXPECT_NE(std::string{error.what()}.find("CUDA failed while"), std::string::npos) << error.what();
    }
    FailCudaCall(-1);
    ASSERT_EQ(GrowTrees(builder.get()), expected) << "after call " << n << " had failed";
  }
  EXPECT_GT(told, 20) << "of " << calls;
}

TEST_P(CudaFailureTest, FailuresGiveMemoryBack) {
  FailDeviceAllocation(-1);
  Train(BackendKind::kCuda);
  std::int64_t const allocations = FailDeviceAllocation(-1);
  std::size_t before = 0, after = 0, total = 0;
  CheckCuda(cudaMemGetInfo(&before, &total), "asking for free memory");
  for (int repeat = 0; repeat < 5; ++repeat) {
    for (std::int64_t n = 0; n < allocations; ++n) {
      FailDeviceAllocation(n);
      EXPECT_THROW(Train(BackendKind::kCuda), OutOfDeviceMemory) << n;
    }
  }
  CheckCuda(cudaMemGetInfo(&after, &total), "asking for free memory");
  EXPECT_GE(after, before);
}

TEST_P(CudaFailureTest, GradientsThatAreNoNumbersAreReportedAsOnTheHost) {
  auto const expected = Train(BackendKind::kHost);
  auto const host = Make(BackendKind::kHost);
  auto const cuda = Make(BackendKind::kCuda);
  auto const message = [&](TreeBuilder* builder, std::vector<GradientPair> const& gradients) -> std::string {
    try {
      builder->Grow(c_.params, gradients, {});
    } catch (InvalidArgument const& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  for (float const bad :
       {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    for (bool const in_hess : {false, true}) {
      auto gradients = c_.gradients;
      (in_hess ? gradients[345].hess : gradients[345].grad) = bad;
      gradients[1100].grad = bad;  // the first row is named
      std::string const text = message(host.get(), gradients);
      EXPECT_NE(text.find("row 345"), std::string::npos) << text;
      EXPECT_EQ(message(cuda.get(), gradients), text);
      std::vector<NodeIndex> positions(c_.values.rows);
      EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { cuda->LeafPositions(positions, {}); }, {"no tree"}), "");
      ASSERT_EQ(GrowTrees(cuda.get()), expected);
    }
  }
}

// A copy from a null pointer is an error that the device survives.
TEST_P(CudaFailureTest, AnErrorInATrainingNamesItsSizes) {
  auto const expected = Train(BackendKind::kHost);
  auto const builder = Make(BackendKind::kCuda);
  Span<GradientPair const> const nowhere{nullptr, c_.values.rows};
  EXPECT_EQ(WhatIsWrong<DeviceError>([&] { builder->Grow(c_.params, nowhere, {}); },
                                     {"copying gradients", "cudaErrorInvalidValue", "1200 rows", "9 features",
                                      "CUDA device 0", " bytes of its memory", "gpu_backend=host"}),
            "");
  EXPECT_EQ(GrowTrees(builder.get()), expected);
}

TEST_P(CudaFailureTest, RefusesWrongSizesAsTheHostDoes) {
  for (BackendKind const kind : kBackends) {
    auto const builder = Make(kind);
    std::vector<GradientPair> const few(5, {1.0f, 1.0f});
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { builder->Grow(c_.params, few, {}); }, {"5 gradients", "1200 rows"}),
              "");
    Tree const tree = builder->Grow(c_.params, c_.gradients, {});
    std::vector<NodeIndex> positions(1199);
    std::vector<std::uint8_t> sampled_out(3);
    std::vector<float> margins(1200), values(tree.size() + 1);
    EXPECT_EQ(
        WhatIsWrong<InvalidArgument>([&] { builder->LeafPositions(positions, {}); }, {"LeafPositions", "1199", "1200"}),
        "");
    positions.resize(1200);
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { builder->LeafPositions(positions, sampled_out); },
                                           {"LeafPositions", "3", "1200"}),
              "");
    EXPECT_EQ(
        WhatIsWrong<InvalidArgument>([&] { builder->AddLeafValues(values, margins.data(), 1); }, {"AddLeafValues"}),
        "");
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, CudaFailureTest,
                         ::testing::Values(Growth::kDepthWise, Growth::kCut, Growth::kOrdered, Growth::kLossGuide,
                                           Growth::kSymmetric, Growth::kExact),
                         [](auto const& c) {
                           return std::string{c.param == Growth::kDepthWise   ? "DepthWise"
                                              : c.param == Growth::kCut       ? "Cut"
                                              : c.param == Growth::kOrdered   ? "Ordered"
                                              : c.param == Growth::kLossGuide ? "LossGuide"
                                              : c.param == Growth::kSymmetric ? "Symmetric"
                                                                              : "Exact"};
                         });

/// Takes all free memory of the device, except for pieces below `smallest` bytes.
std::vector<DeviceBuffer<char>> TakeMemory(DeviceArena* arena, std::size_t smallest) {
  std::vector<DeviceBuffer<char>> taken;
  std::size_t size = 0, total = 0;
  CheckCuda(cudaMemGetInfo(&size, &total), "asking for free memory");
  while (size >= smallest) {
    try {
      taken.emplace_back(arena, "all that is free", size);
    } catch (OutOfDeviceMemory const&) {
      size /= 2;
    }
  }
  return taken;
}

TEST(ExactMemoryTest, ASetThatDoesNotFitIsToldHowMuchItNeeds) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  EqualityCase c{901, 600'000, 28, 1.0, Values::kContinuous, 256, Loss::kLogistic, {}, 1, {}};
  c.params.max_depth = 4;
  CaseRows const rows{c};
  auto const gradients = CaseLoss{c, rows}.Gradients(std::vector<float>(c.rows));
  std::shared_ptr<SortedMatrix const> const sorted = host::SortColumns(rows, 2);
  auto const grow = [&](TreeBuilder* builder) { return builder->Grow(c.params, gradients, {}); };
  Tree const expected = grow(MakeHostExactBuilder(sorted, 2).get());
  EXPECT_EQ(grow(MakeCudaExactBuilder(sorted, 0, 2).get()), expected);  // the code of kernels is on the device now
  DeviceArena arena{"This test"};
  {
    // Less than 32 MiB are left, for streams and the like. Columns take 4 bytes for each of their values.
    DeviceBuffer<char> spare{&arena, "spare", 24 << 20};
    auto const taken = TakeMemory(&arena, 8 << 20);
    spare = {};
    ASSERT_GT(4 * sorted->stored(), 32U << 20);
    EXPECT_EQ(WhatIsWrong<OutOfDeviceMemory>(
                  [&] { grow(MakeCudaExactBuilder(sorted, 0, 2).get()); },
                  {"Training exact trees on the GPU (600000 rows", std::to_string(sorted->stored()) + " values",
                   "about " + std::to_string(ExactDeviceBytes(600'000, sorted->stored())) + " bytes in all", "are free",
                   "tree_method=gpu_hist", "gpu_backend=host"}),
              "");
  }
  EXPECT_EQ(grow(MakeCudaExactBuilder(sorted, 0, 2).get()), expected);
}

TEST(DeviceErrorTest, AShortageSaysHowMuchForWhatAndWhatIsFree) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  DeviceArena arena{"This test"};
  constexpr std::size_t kTooMuch = std::size_t{1} << 60;
  EXPECT_EQ(WhatIsWrong<OutOfDeviceMemory>([&] { arena.Allocate("the moon", kTooMuch); },
                                           {"This test", std::to_string(kTooMuch), "the moon", "are free", "max_bin"}),
            "");
  EXPECT_EQ(arena.bytes(), 0U);
  DeviceBuffer<int> const buffer{&arena, "a little", 10};
  EXPECT_EQ(arena.bytes(), 40U);
}

TEST(DeviceErrorTest, AnErrorSaysWhatWasBeingDone) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  EXPECT_EQ(
      WhatIsWrong<DeviceError>([] { DeviceScope scope{4711}; }, {"choosing the device", "cudaErrorInvalidDevice"}), "");
  CheckCuda(cudaGetLastError(), "looking for errors that are left over");
}

TEST(CudaMemoryTest, PinnedMemorySaysHowMuch) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  constexpr std::size_t kTooMuch = std::size_t{1} << 50;
  EXPECT_EQ(
      WhatIsWrong<DeviceError>([] { PinnedBuffer<char>{kTooMuch}; },
                               {std::to_string(kTooMuch) + " bytes of pinned memory", "bytes of GPU memory are free"}),
      "");
  EXPECT_EQ(PinnedBuffer<int>{0}.data(), nullptr);
  PinnedBuffer<int> const usable{2};
  usable[1] = 3;
  EXPECT_EQ(usable[1], 3);
}

}  // namespace
}  // namespace xgbgpu::testing
