// Tests which trees of resident rows are begun, returned and abandoned, on rounds that only take notes.
#include "xgbgpu/resident_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collective/in_process.h"
#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/error.h"

namespace xgbgpu::testing {
namespace {

/// Notes calls: B and the number of trees, F, A.
class NotedRounds final : public ResidentRounds {
 public:
  std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs) override;
  std::unique_ptr<ResidentRows> MakeResidentRows(RowSource const&, std::uint32_t outputs) override {
    return MakeResidentRows(outputs);
  }
  void KeepTree(Tree const&, std::uint32_t) override {}
  void ForgetTrees() override {}
  std::size_t kept_trees() const override { return 0; }

  std::string TakeNotes() { return std::exchange(notes, {}); }

  std::string notes;
  bool fails_to_begin{false};
  bool fails_to_finish{false};

 private:
  void Abandon() noexcept override { notes += 'A'; }
};

class NotedRows final : public ResidentRows {
 public:
  explicit NotedRows(NotedRounds* rounds, std::vector<float> margins = {})
      : rounds_{*rounds}, margins_{std::move(margins)} {}

  std::uint64_t rows() const override { return margins_.size(); }
  std::uint32_t outputs() const override { return 1; }
  void BeginColumns(Span<float const>) override {}
  void EndColumns() override {}
  bool has_columns() const override { return false; }
  std::size_t columns() const override { return 0; }
  bool ReserveColumns(std::size_t) override { return false; }
  void AddColumn(Span<float const>, std::uint32_t) override {}
  void WeighColumns(Span<float const>) override {}
  void CopyMargins(Span<float> margins) const override { std::copy(margins_.begin(), margins_.end(), margins.begin()); }
  void SetMargins(Span<float const>) override {}
  void SetEqualMargins(Span<float const>) override {}
  void SetTargets(TargetView const&) override {}
  void ComputeGradients(ObjectiveParams const&) override {}
  std::vector<std::int64_t> PositionLosses(std::size_t) override { return {}; }
  void AddTrees(std::size_t, std::size_t) override {}
  double Evaluate(ObjectiveParams const&, MetricParams const&) override { return 0; }
  void AdaptLeaves(Tree*, std::uint32_t) override {}
  void AddLeafValues(Span<float const>, std::uint32_t) override {}

 private:
  ResidentRounds& rounds() override { return rounds_; }
  void Begin(TrainParams const&, std::vector<RoundTree> trees) override {
    rounds_.notes += 'B' + std::to_string(trees.size());
    if (rounds_.fails_to_begin) throw OutOfDeviceMemory{"a test"};
  }
  Tree FinishNext() override {
    rounds_.notes += 'F';
    if (rounds_.fails_to_finish) throw DeviceError{"a test"};
    return {};
  }

  NotedRounds& rounds_;
  std::vector<float> margins_;
};

std::unique_ptr<ResidentRows> NotedRounds::MakeResidentRows(std::uint32_t) { return std::make_unique<NotedRows>(this); }

class ResidentRowsTest : public ::testing::Test {
 protected:
  ResidentRowsTest() : rows_{rounds_.MakeResidentRows(1)} {}
  void Grow(RoundTree const& tree) { rows_->Grow(params_, tree.output, tree.key); }
  std::string Notes() { return rounds_.TakeNotes(); }

  NotedRounds rounds_;
  std::unique_ptr<ResidentRows> rows_;
  TrainParams params_;
  std::vector<RoundTree> const trees_{{0, {0, 0}}, {0, {0, 1}}, {1, {0, 2}}};
};

TEST_F(ResidentRowsTest, AStartedTreeIsBegunOnce) {
  rows_->Start(params_, trees_);
  rows_->Start(params_, trees_);
  EXPECT_EQ(Notes(), "B3");
  for (RoundTree const& tree : trees_) Grow(tree);
  EXPECT_EQ(Notes(), "FFF");
  rounds_.Cancel();
  EXPECT_EQ(Notes(), "") << "all trees have been asked for";
}

TEST_F(ResidentRowsTest, ATreeThatWasNotStartedIsBegunAlone) {
  Grow(trees_[0]);
  Grow(trees_[1]);
  EXPECT_EQ(Notes(), "B1FB1F");
}

TEST_F(ResidentRowsTest, AnotherTreeAbandonsTheRest) {
  rows_->Start(params_, trees_);
  Grow(trees_[0]);
  Grow(trees_[2]);
  EXPECT_EQ(Notes(), "B3FAB1F");
}

TEST_F(ResidentRowsTest, OtherParametersRowsAndTreesAreStartedAnew) {
  auto const others = rounds_.MakeResidentRows(1);
  rows_->Start(params_, trees_);
  params_.max_depth = 2;
  rows_->Start(params_, trees_);
  EXPECT_EQ(Notes(), "B3AB3");
  others->Start(params_, trees_);
  EXPECT_EQ(Notes(), "AB3");
  others->Start(params_, {trees_[0]});
  EXPECT_EQ(Notes(), "AB1");
}

TEST_F(ResidentRowsTest, StartedAgainAfterTheFirstTree) {
  rows_->Start(params_, trees_);
  Grow(trees_[0]);
  rows_->Start(params_, trees_);
  EXPECT_EQ(Notes(), "B3FAB3");
}

TEST_F(ResidentRowsTest, CancelAbandonsWhatWasStarted) {
  rounds_.Cancel();
  EXPECT_EQ(Notes(), "");
  rows_->Start(params_, trees_);
  rounds_.Cancel();
  rounds_.Cancel();
  EXPECT_EQ(Notes(), "B3A");
}

TEST_F(ResidentRowsTest, ErrorsAbandon) {
  rounds_.fails_to_begin = true;
  EXPECT_THROW(rows_->Start(params_, trees_), OutOfDeviceMemory);
  EXPECT_EQ(Notes(), "B3A");
  rounds_.fails_to_begin = false;
  rounds_.fails_to_finish = true;
  rows_->Start(params_, trees_);
  EXPECT_THROW(Grow(trees_[0]), DeviceError);
  EXPECT_EQ(Notes(), "B3FA");
  rounds_.fails_to_finish = false;
  Grow(trees_[1]);
  EXPECT_EQ(Notes(), "B1F");
}

TEST_F(ResidentRowsTest, WrongParametersChangeNothing) {
  rows_->Start(params_, trees_);
  TrainParams wrong;
  wrong.reg_lambda = -1;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { rows_->Start(wrong, trees_); }, {"reg_lambda"}), "");
  Grow(trees_[0]);
  EXPECT_EQ(Notes(), "B3F");
}

TEST(ResidentRowsInGroupTest, AMetricIsThatOfTheRowsOfAllProcesses) {
  constexpr std::size_t kRows = 5000, kFirst = 1700;  // of the first process
  std::vector<float> margins(kRows), labels(kRows);
  Random random{5};
  for (std::size_t i = 0; i < kRows; ++i) {
    margins[i] = random.Between(-2, 2);
    labels[i] = random.Below(2) == 0 ? 0.0f : 1.0f;
  }
  ObjectiveParams const objective{Objective::kLogistic};
  std::vector<float> predictions = margins;
  host::Transform(objective, RowMajor<float const>(margins.data(), kRows, 1), RowMajor(predictions.data(), kRows, 1),
                  1);
  TargetView all;
  all.labels = labels.data();
  std::vector<MetricParams> metrics;
  std::vector<double> expected;
  for (char const* const name : {"logloss", "auc", "error@0.7", "rmse"}) {
    metrics.push_back(*MetricByName(name));
    expected.push_back(host::Evaluate(metrics.back(), all, RowMajor<float const>(predictions.data(), kRows, 1), 1));
  }
  RunShards(2, [&](Collective& group) {
    std::size_t const first = group.shard() == 0 ? 0 : kFirst, last = group.shard() == 0 ? kFirst : kRows;
    NotedRounds rounds;
    NotedRows rows{&rounds, {margins.begin() + first, margins.begin() + last}};
    TargetView own;
    own.labels = labels.data() + first;
    std::vector<SharedRows> shared(metrics.size());
    std::vector<SharedRows*> of_each;
    for (SharedRows& one : shared) of_each.push_back(&one);
    EXPECT_EQ(rows.EvaluateInGroup(objective, metrics, own, 1, &group, of_each), expected);
    EXPECT_EQ(rows.EvaluateInGroup(objective, metrics, own, 1, &group, of_each), expected) << "again";
    Span<MetricParams const> const one{metrics};
    Span<SharedRows* const> const known{of_each};
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      auto const alone = rows.EvaluateInGroup(objective, one.subspan(i, 1), own, 1, &group, known.subspan(i, 1));
      EXPECT_EQ(alone, std::vector<double>{expected[i]}) << "alone";
    }
  });
}

}  // namespace
}  // namespace xgbgpu::testing
