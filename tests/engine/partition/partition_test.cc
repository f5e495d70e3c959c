// partition: rows go to children as std::stable_partition does it, in every layout.
#include "partition/partition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reference/matrix.h"
#include "support/data.h"
#include "support/layouts.h"

namespace xgbgpu {
namespace {

using host::PartitionJob;
using testing::LayoutCase;

/// Makes records of all rows in order. Each gradient differs, to see that it travels with its row.
std::vector<RowRecord> AllRows(std::size_t n) {
  std::vector<RowRecord> rows(n);
  for (std::size_t r = 0; r < n; ++r) {
    rows[r] = {static_cast<RowIndex>(r), {static_cast<std::int16_t>(r % 30011), static_cast<std::int16_t>(r / 30011)}};
  }
  return rows;
}

bool Same(RowRecord const& a, RowRecord const& b) {
  return a.row == b.row && a.gradient.grad == b.gradient.grad && a.gradient.hess == b.gradient.hess;
}

class PartitionTest : public ::testing::TestWithParam<LayoutCase> {
 protected:
  PartitionTest()
      : values_{testing::RandomValues(GetParam().shape, 101)},
        matrix_{testing::MakeMatrix(values_, GetParam().max_bin)},
        bins_{reference::MakeBins(values_, matrix_->cuts)} {
    EXPECT_EQ(matrix_->layout, GetParam().layout);
  }

  bool GoesLeft(RowIndex row, PartitionJob const& job) const {
    int const bin = bins_(row, job.feature);
    return bin == reference::kNoBin ? job.default_left : bin < static_cast<int>(job.bin);
  }

  /// Makes jobs for the rows [0, n) in nodes of uneven sizes, each with another split; some split at bin 0 or behind
  /// the last. A large node is divided by the last feature, whose cell is a row's last.
  std::vector<PartitionJob> MakeJobs(std::vector<RowRecord> const& from, std::vector<RowRecord>* to) const {
    std::vector<PartitionJob> jobs;
    NodeIndex left = 1;
    std::size_t first = 0;
    for (std::size_t size = 0; first < from.size(); size = size * 2 + 1, left += 2) {
      std::size_t const rows = std::min(size, from.size() - first);
      auto const f = static_cast<FeatureIndex>((jobs.size() + 11 * values_.features - 11) % values_.features);
      BinIndex const n = matrix_->cuts.bins(f);
      BinIndex const bin = jobs.size() % 4 == 0 ? n : (jobs.size() % 4 == 1 ? 0 : n / 2);
      jobs.push_back({f, bin, jobs.size() % 2 == 1, from.data() + first, to->data() + first,
                      static_cast<std::uint32_t>(rows), left, 0});
      first += rows;
    }
    return jobs;
  }

  reference::Values values_;
  std::unique_ptr<QuantisedMatrix> matrix_;
  reference::Bins bins_;
};

TEST_P(PartitionTest, EqualsStablePartition) {
  auto const from = AllRows(values_.rows);
  std::vector<RowRecord> to(values_.rows);
  for (int threads : {1, 2, 3, 7}) {
    auto jobs = MakeJobs(from, &to);
    host::RowPartitioner{threads}.Partition(*matrix_, jobs);
    for (auto const& job : jobs) {
      std::vector<RowRecord> expected(job.from, job.from + job.rows);
      auto const middle = std::stable_partition(expected.begin(), expected.end(),
                                                [&](RowRecord const& r) { return GoesLeft(r.row, job); });
      ASSERT_EQ(job.n_left, static_cast<std::uint32_t>(middle - expected.begin()));
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), job.to, Same)) << "feature " << job.feature;
    }
  }
}

TEST_P(PartitionTest, AssignsTheSameChildren) {
  auto const from = AllRows(values_.rows);
  std::vector<RowRecord> to(values_.rows);
  auto const jobs = MakeJobs(from, &to);
  for (int threads : {1, 2, 3, 7}) {
    std::vector<NodeIndex> positions(values_.rows, -5);
    host::RowPartitioner{threads}.AssignChildren(*matrix_, jobs, positions.data());
    for (auto const& job : jobs) {
      for (std::uint32_t i = 0; i < job.rows; ++i) {
        RowIndex const r = job.from[i].row;
        ASSERT_EQ(positions[r], job.left + (GoesLeft(r, job) ? 0 : 1));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, PartitionTest, ::testing::ValuesIn(testing::kLayoutCases), testing::LayoutName{});
// Some rows have up to SparseView::kSpare cells, others more.
INSTANTIATE_TEST_SUITE_P(
    Short, PartitionTest,
    ::testing::Values(testing::LayoutCase{"SparseAboutEight", MatrixLayout::kSparse16, {1500, 24, 0.66}, 64},
                      testing::LayoutCase{"Sparse32Short", MatrixLayout::kSparse32, {40000, 40, 0.94}, 4000}),
    testing::LayoutName{});

// The rows of a node lie 1, 3 or 50 rows apart. The nearer they are, the fewer values of the column lie between them.
TEST(SparsePartitionTest, NodesOfRowsApart) {
  auto const values = testing::RandomValues({60000, 9, 0.7}, 103);
  auto const m = testing::MakeMatrix(values, 32);
  ASSERT_EQ(m->layout, MatrixLayout::kSparse16);
  ASSERT_NE(m->sparse_columns.bytes(), 0U);
  auto const bins = reference::MakeBins(values, m->cuts);
  auto const all = AllRows(values.rows);
  std::vector<RowRecord> from, to(values.rows);
  std::vector<PartitionJob> jobs;
  for (std::size_t apart : {1, 3, 50}) {
    std::size_t const first = from.size();
    for (std::size_t r = 20000 * (jobs.size()); r < 20000 * (jobs.size() + 1); r += apart) from.push_back(all[r]);
    auto const f = static_cast<FeatureIndex>(2 * jobs.size());
    jobs.push_back({f, 11, jobs.size() != 1, nullptr, to.data() + first,
                    static_cast<std::uint32_t>(from.size() - first), static_cast<NodeIndex>(1 + 2 * jobs.size()), 0});
  }
  for (PartitionJob& job : jobs) job.from = from.data() + (job.to - to.data());
  auto const goes_left = [&](RowIndex row, PartitionJob const& job) {
    int const bin = bins(row, job.feature);
    return bin == reference::kNoBin ? job.default_left : bin < static_cast<int>(job.bin);
  };
  for (int threads : {1, 3}) {
    host::RowPartitioner partitioner{threads};
    for (int turn = 0; turn < 2; ++turn) {
      partitioner.Partition(*m, jobs);
      std::vector<NodeIndex> positions(values.rows, -5);
      partitioner.AssignChildren(*m, jobs, positions.data());
      for (auto const& job : jobs) {
        std::vector<RowRecord> expected(job.from, job.from + job.rows);
        std::stable_partition(expected.begin(), expected.end(),
                              [&](RowRecord const& r) { return goes_left(r.row, job); });
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), job.to, Same)) << "feature " << job.feature;
        for (auto const& r : expected) ASSERT_EQ(positions[r.row], job.left + (goes_left(r.row, job) ? 0 : 1));
      }
    }
  }
}

TEST(PartitionChunkTest, NodesLargerThanAChunk) {
  auto const values = testing::RandomValues({50000, 2, 0.1}, 102);
  auto const m = testing::MakeMatrix(values, 32);
  auto const bins = reference::MakeBins(values, m->cuts);
  auto const from = AllRows(values.rows);
  std::vector<RowRecord> to(values.rows);
  std::vector<PartitionJob> jobs{{1, 11, true, from.data(), to.data(), 50000, 1, 0}};
  for (int threads : {1, 3}) {
    host::RowPartitioner{threads}.Partition(*m, jobs);
    auto expected = from;
    std::stable_partition(expected.begin(), expected.end(), [&](RowRecord const& r) {
      return bins(r.row, 1) == reference::kNoBin || bins(r.row, 1) < 11;
    });
    EXPECT_TRUE(std::equal(to.begin(), to.end(), expected.begin(), expected.end(), Same));
  }
}

}  // namespace
}  // namespace xgbgpu
