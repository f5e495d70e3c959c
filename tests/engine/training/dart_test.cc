// driver: rounds of a dart; when the host is asked for weights, and which columns are made, kept, begun anew or given
// up.
#include "xgbgpu/dart.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/grow.h"
#include "support/model_case.h"

namespace xgbgpu {
namespace {

using testing::ModelCase;
using testing::OwnedData;
using testing::RandomValues;

/// A host's dart with weights of its own, which notes what it is asked.
class FakeDart final : public DartModel {
 public:
  std::uint32_t rounds() const override { return static_cast<std::uint32_t>(weights.size()); }
  void AskWeights(std::uint32_t first, std::uint32_t last, std::vector<float>* out) override {
    asked.push_back("ask " + std::to_string(first) + '-' + std::to_string(last));
    if (last == 0) last = rounds();
    out->resize(last);
    for (std::uint32_t tree = first; tree < last; ++tree) (*out)[tree] = weights[tree];
  }
  std::vector<float> Draw(std::function<std::vector<float> const&()> const& all) override {
    asked.emplace_back("draw");
    if (drops == kNone) return all();
    std::vector<float> drawn = weights;
    drawn[drops] = 0;
    return drawn;
  }

  std::vector<float> weights;  ///< weight of each tree; a round has one
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  std::uint32_t drops{kNone};  ///< the tree that the next draw drops
  std::vector<std::string> asked;
};

using Asked = std::vector<std::string>;

TEST(DartWeightsTest, AskOnlyForWhatMayHaveChanged) {
  FakeDart dart;
  DartWeights weights{&dart};
  EXPECT_TRUE(weights.all().empty());
  EXPECT_EQ(dart.asked, Asked{}) << "a model without rounds has no weights";

  weights.Draw();
  dart.weights = {1};
  weights.RoundIsOver(1);
  dart.asked.clear();
  weights.Draw();  // this draw drops no tree
  EXPECT_EQ(weights.drawn(), std::vector<float>{1});
  dart.weights = {1, 1};
  weights.RoundIsOver(2);
  EXPECT_EQ(weights.all(), (std::vector<float>{1, 1}));
  EXPECT_EQ(dart.asked, (Asked{"draw", "ask 1-2"})) << "without drops only the new tree has a weight to ask for";

  dart.asked.clear();
  dart.drops = 1;
  weights.Draw();
  EXPECT_EQ(weights.drawn(), (std::vector<float>{1, 0})) << "a dropped last tree counts, too";
  dart.weights = {1, 0.5f, 0.5f};
  weights.RoundIsOver(3);
  EXPECT_EQ(weights.all(), (std::vector<float>{1, 0.5f, 0.5f}));
  EXPECT_EQ(dart.asked, (Asked{"draw", "ask 0-0"})) << "drops change other trees' weights";

  dart.asked.clear();
  EXPECT_EQ(weights.all().size(), 3U);
  EXPECT_EQ(dart.asked, Asked{});
  weights.Forget();
  dart.weights = {2, 2};
  EXPECT_EQ(weights.all(), (std::vector<float>{2, 2}));
  EXPECT_EQ(dart.asked, Asked{"ask 0-0"});
}

TEST(DartShapeTest, ArrangesTrees) {
  DartShape const shape{2, 12, 3};
  EXPECT_TRUE(shape.IsEven());
  EXPECT_EQ(shape.per_round(), 6U);
  std::vector<std::uint32_t> outputs;
  for (std::size_t tree = 0; tree < 12; ++tree) outputs.push_back(shape.OutputOf(tree));
  EXPECT_EQ(outputs, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
  EXPECT_FALSE((DartShape{2, 11, 3}.IsEven())) << "loaded, and sliced in between";
  EXPECT_TRUE((DartShape{0, 0, 3}.IsEven()));
}

class DartColumnsTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(GetParam()); }

  Training& training() { return pool_.Get(data_.Request({GetParam(), 0}), 2); }

  /// Returns column `tree` of the model as the host would predict it.
  float Value(std::size_t tree, std::size_t row) const {
    return 0.25f * static_cast<float>(tree + 1) + 0.125f * static_cast<float>(row % 3);
  }
  /// Returns the host's RecordColumns, which notes from which round on it is asked.
  RecordColumns Recorder(DartShape const& model, float base) {
    return [this, model, base](std::uint32_t first, LeafColumns* columns) {
      recorded_from_.push_back(first);
      if (!has_room_) return false;
      std::vector<float> values(data_.rows(), base);
      if (first == 0) columns->BeginColumns(values);
      for (std::size_t tree = first; tree < model.trees; ++tree) {
        if (!columns->ReserveColumns(1)) return false;
        for (std::size_t row = 0; row < values.size(); ++row) values[row] = Value(tree, row);
        columns->AddColumn(values, 0);
      }
      return true;
    };
  }
  bool Complete(std::uint32_t rounds, float base) {
    DartShape const model{rounds, rounds, 1};
    return CompleteOwnColumns(model, {{}, {base}}, {}, Recorder(model, base), &training());
  }
  void ExpectMargins(std::size_t trees, float base, char const* when) {
    std::vector<float> margins(data_.rows());
    LeafColumns* const columns = training().own.columns();
    columns->WeighColumns(std::vector<float>(trees, 0.5f));
    columns->CopyMargins(margins);
    for (std::size_t row = 0; row < margins.size(); ++row) {
      float expected = base;
      for (std::size_t tree = 0; tree < trees; ++tree) expected += Value(tree, row) * 0.5f;
      ASSERT_EQ(margins[row], expected) << when << ", row " << row;
    }
  }

  OwnedData data_{RandomValues({1200, 3}, 41), 1, 42};
  TrainingPool pool_;
  std::vector<std::uint32_t> recorded_from_;
  bool has_room_{true};
};

TEST_P(DartColumnsTest, AreRecordedOnceAndThenContinued) {
  EXPECT_TRUE(Complete(2, 0.5f));
  ExpectMargins(2, 0.5f, "recorded");
  EXPECT_TRUE(Complete(2, 0.5f));
  EXPECT_TRUE(Complete(5, 0.5f));
  ExpectMargins(5, 0.5f, "continued");
  EXPECT_EQ(recorded_from_, (std::vector<std::uint32_t>{0, 2}));
}

TEST_P(DartColumnsTest, BeginAnewForAnotherModelOrBase) {
  EXPECT_TRUE(Complete(4, 0.5f));
  EXPECT_TRUE(Complete(3, 0.5f)) << "an older model was loaded";
  ExpectMargins(3, 0.5f, "older model");
  EXPECT_TRUE(Complete(3, 0.25f));
  ExpectMargins(3, 0.25f, "other base");
  training().Forget();
  EXPECT_TRUE(Complete(3, 0.25f));
  EXPECT_EQ(recorded_from_, (std::vector<std::uint32_t>{0, 0, 0, 0}));
}

TEST_P(DartColumnsTest, AreGivenUpForGoodWhereThereIsNoRoom) {
  EXPECT_TRUE(Complete(1, 0.5f));
  has_room_ = false;
  EXPECT_FALSE(Complete(2, 0.5f));
  EXPECT_FALSE(training().own.columns()->has_columns());
  has_room_ = true;
  EXPECT_FALSE(Complete(2, 0.5f)) << "nobody tries again in every round";
  EXPECT_EQ(recorded_from_, (std::vector<std::uint32_t>{0, 1}));
}

TEST_P(DartColumnsTest, TreesOfARoundBecomeColumnsAsTheyGrow) {
  EXPECT_TRUE(Complete(0, 0.5f));
  Training& training = this->training();
  auto const columns_of = ReserveRound(&training, 0);
  ASSERT_EQ(columns_of, std::uint32_t{0});
  RoundOrder order;
  order.adds_columns = true;
  std::vector<GradientPair> gradients(data_.rows());
  for (std::size_t row = 0; row < gradients.size(); ++row) gradients[row] = {0.5f - data_.labels()[row], 1};
  HostRound round{&training, order, {}};
  Tree const tree = round.Next(gradients, 1);
  round.End(1);
  training.own.rounds = 1;
  EXPECT_GT(tree.size(), 1U);
  EXPECT_EQ(training.own.columns()->columns(), 1U);

  std::vector<float> expected(data_.rows(), 0.5f), leaves(data_.rows()), margins(data_.rows());
  training.trainer->AddLeafValues(tree.leaf_value, leaves.data(), 1);
  for (std::size_t row = 0; row < expected.size(); ++row) expected[row] += leaves[row] * 0.75f;
  training.own.columns()->WeighColumns(std::vector<float>{0.75f});
  training.own.columns()->CopyMargins(margins);
  EXPECT_EQ(margins, expected);
  EXPECT_TRUE(Complete(1, 0.5f));
  EXPECT_EQ(recorded_from_, std::vector<std::uint32_t>{0}) << "the new tree has its column";
}

TEST_P(DartColumnsTest, KeptTreesBecomeColumnsOfRowsThatAreEvaluated) {
  OwnedData other{RandomValues({1100, 3}, 43), 1, 44};
  ModelCase model{&data_, GetParam()};
  model.Round();
  Training& training = model.training();
  KeptRows* const rows = training.AddEvaluated(other.key(), &other.source(), other.rows(), 1);
  EXPECT_EQ(training.Evaluated(other.key()), rows);
  EXPECT_EQ(rows->rows != nullptr, GetParam() == BackendKind::kCuda);
  std::vector<std::uint32_t> asked;
  RecordColumns const record = [&](std::uint32_t first, LeafColumns* columns) {
    asked.push_back(first);
    std::vector<float> values(other.rows(), 0.5f);
    if (first == 0) columns->BeginColumns(values);
    for (std::size_t tree = first; tree < model.trees().size(); ++tree) {
      EXPECT_TRUE(columns->ReserveColumns(1));
      for (std::size_t row = 0; row < other.rows(); ++row) {
        Tree const& t = model.trees()[tree];
        NodeIndex n = 0;
        while (!t.IsLeaf(n)) n = other.values()(row, t.feature[n]) < t.threshold[n] ? t.left[n] : t.left[n] + 1;
        values[row] = t.leaf_value[n];
      }
      columns->AddColumn(values, 0);
    }
    return true;
  };
  auto const complete = [&] {
    DartShape const shape{model.rounds(), model.trees().size(), 1};
    return CompleteColumns(shape, {{}, {0.5f}}, {}, record, &training, rows);
  };
  EXPECT_TRUE(complete());
  model.Round(rows->rows != nullptr);
  model.Round(rows->rows != nullptr);
  EXPECT_TRUE(complete());
  if (rows->rows != nullptr) {
    EXPECT_EQ(asked, std::vector<std::uint32_t>{0}) << "a device has the trees";
  } else {
    EXPECT_EQ(asked, (std::vector<std::uint32_t>{0, 1}));
  }
  std::vector<float> margins(other.rows());
  rows->columns()->WeighColumns(std::vector<float>(3, 1.0f));
  rows->columns()->CopyMargins(margins);
  EXPECT_EQ(margins, model.Predict(other));
}

INSTANTIATE_TEST_SUITE_P(Backends, DartColumnsTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& i) { return testing::NameOf(i.param); });

}  // namespace
}  // namespace xgbgpu
