// Trees on a sample of the columns are recorded as often as trees on all: which columns a copy holds is data on the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "cuda/recorded_graph.h"
#include "cuda/two_trainings.h"

namespace xgbgpu {
namespace testing {
namespace {

bool HasCopiedColumns(MemoryReport const& report) {
  return std::any_of(report.parts.begin(), report.parts.end(),
                     [](auto const& part) { return part.name == "copied columns"; });
}

/// What a training of several rounds has shown.
struct Rounds {
  std::set<std::set<FeatureIndex>> features;  ///< of the splits of each tree
  std::int64_t recordings{0};                 ///< begun after the first two rounds
  bool copied{false};
};

Rounds Train(TrainParams const& params, DataShape const& shape) {
  constexpr int kFirst = 2, kMore = 6;
  TwoTrainings both{CaseOf({"", shape, 64}), {Objective::kLogistic}};
  for (int round = 0; round < kFirst; ++round) both.Round(params);
  Rounds found;
  SpoilRecordings(1000);
  for (int round = 0; round < kMore; ++round) {
    both.Round(params);
    Tree const& tree = both.tree();
    found.features.emplace(tree.feature.begin(), tree.feature.end());
  }
  found.recordings = SpoilRecordings(0);
  found.copied = HasCopiedColumns(both.cuda().memory());
  return found;
}

TEST(RecordedColumnsTest, OneRecordingServesEverySetOfColumns) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  for (double const missing : {0.0, 0.8}) {
    DataShape const shape{3000, 300, missing};
    for (float const share : {1.0f, 0.2f, 0.05f}) {
      SCOPED_TRACE(std::to_string(missing) + " missing, colsample_bytree=" + std::to_string(share));
      Rounds const found = Train(With([&](TrainParams* p) { p->colsample_bytree = share; }), shape);
      EXPECT_EQ(found.recordings, 0);
      EXPECT_EQ(found.copied, share < 1);
      EXPECT_GT(found.features.size(), 1U);
    }
  }
}

TEST(RecordedColumnsTest, AndEverySetOfALevel) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  Rounds const found = Train(With([](TrainParams* p) { p->colsample_bylevel = 0.1f; }), {3000, 300, 0.0});
  EXPECT_EQ(found.recordings, 0);
  EXPECT_TRUE(found.copied);
  EXPECT_GT(found.features.size(), 1U);
}

}  // namespace
}  // namespace testing
}  // namespace xgbgpu
