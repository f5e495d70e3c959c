// Trainings give the same bits and take the same memory, however long, in any number of threads and under any load.
#include <gtest/gtest.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "cuda/device.h"
#include "support/data.h"
#include "support/grow.h"
#include "trees_cuda/equality_case.h"

namespace xgbgpu::testing {
namespace {

class CudaEnduranceTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

/// Trains `trees` trees on one matrix, with gradients of the margins.
std::vector<Tree> Train(BackendKind kind, EqualityCase const& c, CaseRows const& rows, QuantisedMatrix const& matrix,
                        std::uint32_t trees) {
  auto const builder = MakeTreeBuilder(kind, matrix, 2);
  CaseLoss const loss{c, rows};
  std::vector<float> margins(c.rows * c.stride);
  std::vector<Tree> result;
  for (std::uint32_t t = 0; t < trees; ++t) {
    result.push_back(builder->Grow(c.params, loss.Gradients(margins), {t, 0}));
    builder->AddLeafValues(result.back().leaf_value, margins.data(), c.stride);
  }
  return result;
}

EqualityCase SomeCase(RowIndex rows, FeatureIndex columns, double density, GrowPolicy policy) {
  EqualityCase c{900, rows, columns, density, Values::kContinuous, 64, Loss::kLogistic, {}, 1, {}};
  c.params.grow_policy = policy;
  // Loss-guided trees of 3,000 rows are host-driven.
  if (policy == GrowPolicy::kLossGuide) c.params.max_depth = rows == 500 ? 6 : 0;
  c.params.max_leaves = c.params.max_depth == 0 && rows != 3000 ? 40 : 0;
  c.params.subsample = 0.7f;
  return c;
}

TEST_F(CudaEnduranceTest, ThreadsTrainAtTheSameTime) {
  struct Task {
    EqualityCase c;
    std::unique_ptr<CaseRows> rows;
    std::unique_ptr<QuantisedMatrix> matrix;
    std::vector<Tree> expected, found;
  };
  std::vector<Task> tasks;
  for (auto const policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide}) {
    for (RowIndex const rows : {500U, 3000U, 70000U}) {
      Task task{SomeCase(rows, 9, rows == 3000 ? 0.2 : 1.0, policy), {}, {}, {}, {}};
      task.rows = std::make_unique<CaseRows>(task.c);
      task.matrix = HostMatrix(*task.rows, task.c.max_bin, 2);
      task.expected = Train(BackendKind::kHost, task.c, *task.rows, *task.matrix, 10);
      tasks.push_back(std::move(task));
    }
  }
  std::vector<std::thread> threads;
  for (Task& task : tasks) {
    threads.emplace_back([&task] { task.found = Train(BackendKind::kCuda, task.c, *task.rows, *task.matrix, 10); });
  }
  for (auto& thread : threads) thread.join();
  for (Task const& task : tasks) EXPECT_EQ(task.found, task.expected) << task.c.rows << " rows";
}

TEST_F(CudaEnduranceTest, ManyTrainersShareAMatrix) {
  auto const c = SomeCase(3000, 9, 1.0, GrowPolicy::kDepthWise);
  CaseRows const rows{c};
  auto const matrix = HostMatrix(rows, c.max_bin, 2);
  auto const expected = Train(BackendKind::kHost, c, rows, *matrix, 10);
  std::vector<std::vector<Tree>> found(4);
  std::vector<std::thread> threads;
  for (auto& trees : found) {
    threads.emplace_back([&] { trees = Train(BackendKind::kCuda, c, rows, *matrix, 10); });
  }
  for (auto& thread : threads) thread.join();
  for (auto const& trees : found) EXPECT_EQ(trees, expected);
}

TEST_F(CudaEnduranceTest, RunsAreEqualWhileAnotherProcessLoadsTheDevice) {
  auto const c = SomeCase(70000, 28, 0.95, GrowPolicy::kDepthWise);
  CaseRows const rows{c};
  auto const matrix = HostMatrix(rows, c.max_bin, 2);
  auto const expected = Train(BackendKind::kHost, c, rows, *matrix, 5);
  std::FILE* const load = popen(XGBGPU_CUDA_LOAD, "w");  // the program runs until its input ends
  ASSERT_NE(load, nullptr);
  std::fputs("begin\n", load);
  std::fflush(load);
  int unequal = 0;
  for (int repeat = 0; repeat < 30; ++repeat) unequal += Train(BackendKind::kCuda, c, rows, *matrix, 5) != expected;
  EXPECT_EQ(unequal, 0) << "of 30 runs";
  EXPECT_EQ(pclose(load), 0) << "the other process has failed";
}

TEST_F(CudaEnduranceTest, TwoThousandRoundsInConstantMemory) {
  for (auto const policy : {GrowPolicy::kDepthWise, GrowPolicy::kLossGuide}) {
    auto const c = SomeCase(1000, 6, 0.9, policy);
    CaseRows const rows{c};
    auto const matrix = HostMatrix(rows, c.max_bin, 2);
    auto const host = MakeTreeBuilder(BackendKind::kHost, *matrix, 2);
    auto const cuda = MakeTreeBuilder(BackendKind::kCuda, *matrix, 2);
    CaseLoss const loss{c, rows};
    std::vector<float> margins(c.rows);
    std::size_t held = 0, free_before = 0, free_after = 0, total = 0;
    // The second thousand repeats the first, so memory for the largest tree is there by then.
    Random random{902};
    for (std::uint32_t i = 0; i < 2000; ++i) {
      std::uint32_t const round = i % 1000;
      if (round == 0) random = Random{902};
      for (float& margin : margins)
        margin = random.Between(-1, 1);  // with margins of its own it would soon have learned all
      auto const gradients = loss.Gradients(margins);
      Tree const tree = cuda->Grow(c.params, gradients, {round, 0});
      ASSERT_GT(tree.Leaves(), 5U) << "round " << round;
      cuda->AddLeafValues(tree.leaf_value, margins.data(), 1);
      if (round % 100 == 99) {
        ASSERT_EQ(tree, host->Grow(c.params, gradients, {round, 0})) << "round " << round;
      }
      if (i == 999) {
        held = cuda->memory().bytes;
        CheckCuda(cudaMemGetInfo(&free_before, &total), "asking for free memory");
      }
    }
    CheckCuda(cudaMemGetInfo(&free_after, &total), "asking for free memory");
    EXPECT_EQ(cuda->memory().bytes, held);
    EXPECT_GE(free_after, free_before);
  }
}

}  // namespace
}  // namespace xgbgpu::testing
