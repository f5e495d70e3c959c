// Stages of exact trees over all rows of the matrix, on a device, one at a time, against plain loops.
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "cuda/staged_copies.h"
#include "exact/exact_cuda.h"
#include "exact/exact_level.h"
#include "predict/predict_cuda.h"
#include "sample/sample_ops.h"
#include "support/grow.h"

namespace xgbgpu::testing {
namespace {

using namespace cuda;

class CudaExactRows : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

/// Checks gradients that are quantised to compact or wide pairs, of all rows or of a sample.
void ExpectQuantised(std::size_t rows, bool compact, float subsample) {
  SCOPED_TRACE(std::to_string(rows) + " rows, sample of " + std::to_string(subsample) + (compact ? ", compact" : ""));
  double const grad_scale = compact ? 0x1p20 : 0x1p40, hess_scale = compact ? 0x1p25 : 0x1p33;
  constexpr std::uint64_t kSeed = 0x123456789ABCDEFU;
  constexpr std::uint32_t kTree = 17;
  Random random{rows};
  std::vector<GradientPair> gradients;
  for (std::size_t r = 0; r < rows; ++r) gradients.push_back({random.Between(-30, 30), random.Between(-1, 30)});
  for (std::size_t r = 2; r < rows; r += 3) gradients[r].hess = 1e-30f;  // rounds to 0, but is above 0
  std::vector<RowIndex> const sample = reference::SampleRows(rows, subsample, kSeed, kTree);
  bool const sampled = subsample < 1;
  std::vector<NodeIndex> positions(rows, sampled ? ~NodeIndex{0} : 0);
  std::vector<std::uint8_t> sides(rows, sampled ? 0 : 0xAB);
  for (RowIndex const r : sample) {
    positions[r] = 0;
    if (sampled) sides[r] = 1;
  }
  std::vector<GradientSum> quantised;
  for (GradientPair const g : gradients) {
    auto const hess = std::llrint(static_cast<double>(g.hess) * hess_scale);  // to nearest, ties to even
    quantised.push_back({std::llrint(static_cast<double>(g.grad) * grad_scale), hess == 0 && g.hess > 0 ? 1 : hess});
  }
  GradientSum sum;
  for (RowIndex const r : sample) sum = {sum.grad + quantised[r].grad, sum.hess + quantised[r].hess};

  TestMemory memory;
  auto const from = memory.Put(gradients);
  auto const small = memory.Filled<int2>(compact ? rows : 0, 0xAB);
  auto const wide = memory.Filled<GradientSum>(compact ? 0 : rows, 0xAB);
  auto const to_positions = memory.Filled<NodeIndex>(rows, 0xAB);
  auto const to_sides = memory.Filled<std::uint8_t>(rows, 0xAB);
  auto const to_sum = memory.Filled<GradientSum>(1, 0);
  ExactRootView root{};
  root.gradients = from.data();
  root.rows = rows;
  root.grad_scale = grad_scale;
  root.hess_scale = hess_scale;
  root.draws = {kSeed, RandomPurpose::kRowSample, kTree, 0};
  root.threshold = SampleThreshold(subsample);
  root.sampled = sampled;
  root.quantised = {small.data(), wide.data()};
  root.positions = to_positions.data();
  root.sides = to_sides.data();
  root.sum = to_sum.data();
  QuantiseExact(root, memory.limits(), memory.stream());
  auto const pairs = memory.Read(small);
  auto const sums = memory.Read(wide);
  for (std::size_t r = 0; r < rows; ++r) {
    ASSERT_EQ(compact ? (GradientSum{pairs[r].x, pairs[r].y}) : sums[r], quantised[r]) << "row " << r;
  }
  EXPECT_EQ(memory.Read(to_positions), positions);
  EXPECT_EQ(memory.Read(to_sides), sides);
  EXPECT_EQ(memory.Read(to_sum)[0], sum);
}

TEST_F(CudaExactRows, GradientsAreQuantisedAndSampled) {
  for (std::size_t const rows : {1, 2, 3, 4, 5, 1000, 300'007}) {
    for (bool const compact : {true, false}) {
      for (float const subsample : {1.0f, 0.3f}) ExpectQuantised(rows, compact, subsample);
    }
  }
}

/// Numbers of rows are near those of a word, a block and several blocks.
TEST_F(CudaExactRows, SidesArePacked) {
  for (std::size_t const rows : {1, 31, 32, 33, 8191, 8192, 8193, 16384, 1'000'003}) {
    Random random{rows};
    std::vector<std::uint8_t> sides(32 * RowWords(rows), 0);
    for (std::size_t r = 0; r < rows; ++r) sides[r] = random.Below(3) == 0 ? 1 : 0;
    TestMemory memory;
    auto const from = memory.Put(sides);
    auto const words = memory.Filled<RowWord>(RowWords(rows), 0xAB);
    auto const states = memory.Filled<unsigned long long>(kStateWords * (rows / kPackRows + 1), 0);
    PackSides(from.data(), rows, words.data(), {states.data(), 1}, memory.stream());
    auto const found = memory.Read(words);
    auto const expected = PackedSides(sides, rows);
    for (std::size_t w = 0; w < expected.size(); ++w) {
      ASSERT_EQ(found[w].left, expected[w].left) << "word " << w << " of " << rows << " rows";
      ASSERT_EQ(found[w].before, expected[w].before) << "word " << w << " of " << rows << " rows";
    }
  }
}

TEST_F(CudaExactRows, PositionsAreRenumbered) {
  Random random{3};
  std::vector<NodeIndex> node_of, positions, expected;
  for (NodeIndex n = 0; n < 100; ++n) node_of.push_back(n / 3);
  for (int r = 0; r < 100'001; ++r) {
    auto const node = static_cast<NodeIndex>(random.Below(100));
    bool const out = random.Below(2) == 0;
    positions.push_back(out ? ~node : node);
    expected.push_back(out ? ~(node / 3) : node / 3);
  }
  TestMemory memory;
  auto const map = memory.Put(node_of);
  auto const changed = memory.Put(positions);
  RenumberPositions(map.data(), changed.data(), positions.size(), memory.limits(), memory.stream());
  EXPECT_EQ(memory.Read(changed), expected);
}

/// Copies need far more memory than they begin with, and none waits for another.
TEST_F(CudaExactRows, StagedCopiesMayFollowEachOther) {
  TestMemory memory;
  StagedCopies copies{memory.stream()};
  Random random{13};
  for (int round = 0; round < 3; ++round) {
    std::vector<std::vector<std::uint32_t>> expected;
    std::vector<DeviceBuffer<std::uint32_t>> buffers;
    for (int i = 0; i < 100; ++i) {
      std::vector<std::uint32_t> values(i % 10 == 0 ? 0 : random.Below(20'000));
      for (std::uint32_t& v : values) v = static_cast<std::uint32_t>(random.Bits());
      buffers.push_back(memory.Filled<std::uint32_t>(values.size(), 0xAB));
      copies.ToDevice(buffers.back().data(), values.data(), values.size(), "a test");
      expected.push_back(values);
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      std::vector<std::uint32_t> found(buffers[i].size());
      copies.ToHost(found.data(), buffers[i].data(), found.size(), "a test");
      ASSERT_EQ(found, expected[i]) << i;
    }
  }
}

class CudaExactColumns : public ::testing::TestWithParam<ExactCaseName> {
 protected:
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
    std::vector<RowIndex> rows(c_.values.rows);
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = static_cast<RowIndex>(r);
    std::uint64_t place = 0;
    places_.assign(c_.values.features, std::vector<std::uint64_t>(rows.size(), kNone));
    for (std::size_t f = 0; f < c_.values.features; ++f) {
      column_ptr_.push_back(place);
      for (RowIndex const r : reference::SortByValue(c_.values, f, rows)) places_[f][r] = place++;
    }
    column_ptr_.push_back(place);
  }

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  ExactCase const c_{MakeExactCase(GetParam())};
  std::vector<std::uint64_t> column_ptr_;
  std::vector<std::vector<std::uint64_t>> places_;  ///< [features, rows] the row's place in the column, or kNone
};
INSTANTIATE_TEST_SUITE_P(Cases, CudaExactColumns, ::testing::ValuesIn(ExactCases()),
                         ::testing::PrintToStringParamName());

TEST_P(CudaExactColumns, RowsAreLocated) {
  Random random{5};
  for (std::size_t const one_in : {1, 7, 900}) {
    std::vector<std::uint32_t> row_ptr{0};
    std::vector<RowIndex> rows;
    std::vector<std::uint64_t> expected;
    for (std::size_t f = 0; f < c_.values.features; ++f) {
      bool const is_wanted = random.Below(3) != 0;
      for (RowIndex r = 0; r < c_.values.rows; ++r) {
        if (!is_wanted || places_[f][r] == kNone || random.Below(one_in) != 0) continue;
        rows.push_back(r);
        expected.push_back(places_[f][r]);
      }
      row_ptr.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    if (rows.empty()) continue;  // a tree without splits looks for no rows
    DeviceLevel level{c_, true};
    TestMemory& memory = level.memory();
    auto const ptr = memory.Put(row_ptr);
    auto const wanted = memory.Put(rows);
    auto const marks = memory.Filled<std::uint8_t>(c_.values.rows, 0xAB);
    auto const places = memory.Filled<std::uint64_t>(rows.size(), 0xAB);
    LocateRows(level.columns(), {ptr.data(), wanted.data(), static_cast<std::uint32_t>(rows.size())}, marks.data(),
               places.data(), memory.limits(), memory.stream());
    EXPECT_EQ(memory.Read(places), expected);
  }
}

/// Makes a tree of five levels, with leaves in all but the first.
std::vector<ExactStep> RandomSteps(ExactCase const& c, std::vector<std::uint64_t> const& column_ptr, Random* random) {
  std::vector<ExactStep> steps{{kNoNode, kNoNode, 0, 0, 0, 0}};
  for (std::size_t n = 0; n < steps.size(); ++n) {
    if (steps[n].depth == 4 || (n > 0 && random->Below(4) == 0)) continue;
    FeatureIndex const f = c.used[random->Below(c.used.size())];
    auto const left = static_cast<NodeIndex>(steps.size());
    steps[n].left = left;
    steps[n].feature = f;
    steps[n].place = column_ptr[f] + random->Below(column_ptr[f + 1] - column_ptr[f] + 1);
    steps[n].default_left = static_cast<std::uint32_t>(random->Below(2));
    ExactStep const child{static_cast<NodeIndex>(n), kNoNode, 0, steps[n].depth + 1, 0, 0};
    steps.push_back(child);
    steps.push_back(child);
  }
  return steps;
}

TEST_P(CudaExactColumns, RowsOutsideTheSampleStepDown) {
  Random random{7};
  std::vector<ExactStep> const steps = RandomSteps(c_, column_ptr_, &random);
  std::vector<NodeIndex> expected;
  for (std::size_t r = 0; r < c_.values.rows; ++r) expected.push_back(random.Below(2) == 0 ? 3 : ~NodeIndex{0});
  DeviceLevel level{c_, true};
  TestMemory& memory = level.memory();
  auto const nodes = memory.Put(steps);
  auto const positions = memory.Put(expected);
  for (int depth = 0; depth < 5; ++depth) {
    StepUnsampled(level.columns(), nodes.data(), depth, positions.data(), memory.limits(), memory.stream());
    for (std::size_t r = 0; r < expected.size(); ++r) {
      if (expected[r] >= 0) continue;
      ExactStep const& step = steps[static_cast<std::size_t>(~expected[r])];
      if (step.left == kNoNode || step.depth != depth) continue;
      std::uint64_t const place = places_[step.feature][r];
      bool const left = place == kNone ? step.default_left != 0 : place < step.place;
      expected[r] = ~(step.left + (left ? 0 : 1));
    }
    ASSERT_EQ(memory.Read(positions), expected) << "depth " << depth;
  }
}

}  // namespace
}  // namespace xgbgpu::testing
