// driver: Dataset and Trainer, the front door: what they refuse, and what they say about rows.
#include "xgbgpu/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "matrix/matrix.h"
#include "reference/gradient.h"
#include "reference/tree.h"
#include "support/data.h"
#include "support/grow.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/resident_rows.h"

namespace xgbgpu {
namespace {

using testing::MemorySource;
using testing::TreeCase;
using testing::WhatIsWrong;

class DatasetTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(GetParam()); }
  static Place Here() { return {GetParam(), 0}; }
};

TEST_P(DatasetTest, SaysWhatItHolds) {
  auto const c = testing::RandomCase({100, 3}, 161);
  auto const data = testing::MakeDataset(c, {GetParam()});
  EXPECT_EQ(data->place().backend, GetParam());
  EXPECT_EQ(data->place().device, 0);
  EXPECT_EQ(data->rows(), 100U);
  EXPECT_EQ(data->features(), 3U);
  EXPECT_EQ(data->cuts(), reference::MakeCuts(c.values, {}, 256));
  EXPECT_GE(data->bytes(), 100U * 3);
}

TEST_P(DatasetTest, RefusesNonsense) {
  auto const c = testing::RandomCase({10, 3}, 162);
  MemorySource const source{c.values};
  auto const build = [&](int max_bin, int threads) {
    return [&, max_bin, threads] { Dataset::Build(source, {}, max_bin, threads, Here()); };
  };
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(build(256, 0), {"threads is 0", "1 or more"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(build(70000, 1), {"max_bin is 70000", "65535"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Dataset::FromBinEdges(source, -1, Here()); }, {"threads is -1"}), "");
}

TEST_P(DatasetTest, BinEdgesGiveTheTreeOfTheValues) {
  // Every value is replaced by the lower end of its bin, as in XGBoost's QuantileDMatrix. Bins and tree are the same,
  // except for the upper end of the last bin, which the edges do not have.
  auto const c = testing::RandomCase({1500, 5, 0.1}, 163);
  auto const data = testing::MakeDataset(c);
  auto const bins = reference::MakeBins(c.values, data->cuts());
  auto edges = c.values;
  for (std::size_t r = 0; r < edges.rows; ++r) {
    for (FeatureIndex f = 0; f < edges.features; ++f) {
      int const b = bins(r, f);
      if (b == reference::kNoBin) continue;
      edges(r, f) =
          b == 0 ? data->cuts().min_values[f] : data->cuts().values[data->cuts().ptr[f] + static_cast<BinIndex>(b) - 1];
    }
  }
  auto const from_edges = Dataset::FromBinEdges(MemorySource{edges}, 2, Here());
  EXPECT_EQ(from_edges->cuts().ptr, data->cuts().ptr);
  EXPECT_EQ(from_edges->cuts().min_values, data->cuts().min_values);
  Tree const expected = testing::Grow(c);
  Tree tree = Trainer{from_edges, GetParam(), 2}.Grow(c.params, c.gradients, {});
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.threshold[n] == std::numeric_limits<float>::max())
      tree.threshold[n] = data->cuts().values[tree.split_bin[n] - 1];
  }
  EXPECT_EQ(tree, expected);
}

INSTANTIATE_TEST_SUITE_P(Backends, DatasetTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& c) { return testing::NameOf(c.param); });

class TrainerTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  TrainerTest() : c_{testing::RandomCase({700, 4, 0.15}, 164)} {}
  void SetUp() override {
    XGBGPU_SKIP_UNLESS_HERE(GetParam());
    data_ = testing::MakeDataset(c_, {GetParam()});
    trainer_ = std::make_unique<Trainer>(data_, GetParam(), 3);
  }

  /// Finds leaves by a walk over raw values.
  std::vector<NodeIndex> Walk(Tree const& tree) const {
    std::vector<NodeIndex> leaves;
    for (std::size_t r = 0; r < c_.values.rows; ++r) leaves.push_back(reference::FindLeaf(tree, c_.values, r));
    return leaves;
  }

  TreeCase c_;
  std::shared_ptr<Dataset const> data_;
  std::unique_ptr<Trainer> trainer_;
};

TEST_P(TrainerTest, Backends) {
  EXPECT_EQ(trainer_->backend(), GetParam());
  EXPECT_EQ(Trainer(data_, GetParam(), 1).backend(), GetParam());
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Trainer(data_, GetParam(), 0); }, {"threads is 0"}), "");
}

TEST(BackendTest, TheHostKeepsNoRowsOrTrees) {
  TreeCase const c = testing::RandomCase({100, 3}, 165);
  Trainer trainer{testing::MakeDataset(c), BackendKind::kHost, 2};
  EXPECT_EQ(trainer.rounds(), nullptr);
}

TEST_P(TrainerTest, BackendsOfADatasetOnTheHost) {
  auto const data = testing::MakeDataset(c_, {BackendKind::kHost});
  Trainer trainer{data, GetParam(), 2};
  EXPECT_EQ(trainer.backend(), GetParam());
  EXPECT_EQ(trainer.Grow(c_.params, c_.gradients, {}), trainer_->Grow(c_.params, c_.gradients, {}));
}

TEST(BackendTest, WithoutADevice) {
  std::string why_not;
  if (CudaAvailable(&why_not)) GTEST_SKIP() << "this test is for builds and machines without a CUDA device";
  EXPECT_FALSE(why_not.empty());
  EXPECT_EQ(CudaDeviceCount(), 0);
  EXPECT_TRUE(CudaDevices().empty());
  auto const c = testing::RandomCase({50, 2}, 165);
  auto const data = testing::MakeDataset(c);
  EXPECT_EQ(Trainer(data, BackendKind::kAuto, 1).backend(), BackendKind::kHost);
  EXPECT_EQ(testing::MakeDataset(c, {BackendKind::kAuto})->place().backend, BackendKind::kHost);
  for (auto const& refused : std::vector<std::function<void()>>{
           [&] { Trainer(data, BackendKind::kCuda, 1); }, [&] { testing::MakeDataset(c, {BackendKind::kCuda}); },
           [&] {
             Dataset::FromBinEdges(MemorySource{c.values}, 1, {BackendKind::kCuda, 0});
           }}) {
    EXPECT_EQ(WhatIsWrong<Unsupported>(refused, {"gpu_backend", "cuda", why_not, "auto, host"}), "");
  }
}

TEST(BackendTest, WithADevice) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  int const devices = CudaDeviceCount();
  EXPECT_GE(devices, 1);
  EXPECT_EQ(CudaDevices().size(), static_cast<std::size_t>(devices));
  EXPECT_GE(CudaDevices()[0].architecture, 75);
  EXPECT_FALSE(CudaArchitectures().empty());
  auto const c = testing::RandomCase({50, 2}, 166);
  auto const data = testing::MakeDataset(c, {BackendKind::kAuto});
  EXPECT_EQ(data->place().backend, BackendKind::kCuda);
  EXPECT_EQ(Trainer(data, BackendKind::kAuto, 1).backend(), BackendKind::kCuda);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Trainer(data, BackendKind::kHost, 1); }, {"gpu_backend", "host"}), "");
  for (int const device : {-1, devices, 9999}) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                  [&] {
                    Dataset::Build(MemorySource{c.values}, {}, 16, 1, {BackendKind::kCuda, device});
                  },
                  {"gpu_id", std::to_string(device), "0 to " + std::to_string(devices - 1)}),
              "");
  }
}

TEST_P(TrainerTest, PositionsOfAllRows) {
  std::vector<NodeIndex> positions(700);
  std::vector<std::uint8_t> sampled_out(700, 9);
  for (GrowPolicy policy : testing::kPolicies) {
    for (float subsample : {1.0f, 0.5f}) {
      for (int max_leaves : {0, 1, 13}) {
        c_.params.subsample = subsample;
        c_.params.max_leaves = max_leaves;
        testing::SetPolicy(&c_.params, policy);
        Tree const tree = trainer_->Grow(c_.params, c_.gradients, {});
        trainer_->LeafPositions(positions, sampled_out);
        EXPECT_EQ(positions, Walk(tree));
        auto const sample = reference::SampleRows(700, subsample, 0, 0);
        for (RowIndex r = 0; r < 700; ++r) {
          bool const in = std::binary_search(sample.begin(), sample.end(), r);
          ASSERT_EQ(sampled_out[r], in ? 0 : 1) << r;
        }
      }
    }
  }
}

TEST_P(TrainerTest, AddsLeafValuesToMargins) {
  c_.params.subsample = 0.7f;
  Tree const tree = trainer_->Grow(c_.params, c_.gradients, {});
  std::vector<float> margins(700 * 2, 0.5f);
  trainer_->AddLeafValues(tree.leaf_value, margins.data(), 2);
  auto const leaves = Walk(tree);
  for (std::size_t r = 0; r < 700; ++r) {
    EXPECT_EQ(margins[2 * r], 0.5f + tree.leaf_value[static_cast<std::size_t>(leaves[r])]);
    EXPECT_EQ(margins[2 * r + 1], 0.5f);
  }
}

TEST_P(TrainerTest, ErrorsLeaveTheTrainerUsableButWithoutATree) {
  std::vector<NodeIndex> positions(700);
  std::vector<float> margins(700);
  auto const no_tree = [&] { trainer_->LeafPositions(positions, {}); };
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(no_tree, {"LeafPositions", "no tree"}), "");
  Tree const expected = trainer_->Grow(c_.params, c_.gradients, {});

  auto bad = c_.gradients;
  bad[123].grad = std::nanf("");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { trainer_->Grow(c_.params, bad, {}); }, {"row 123"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(no_tree, {"no tree"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { trainer_->AddLeafValues(expected.leaf_value, margins.data(), 1); },
                                         {"no tree"}),
            "");
  EXPECT_EQ(trainer_->Grow(c_.params, c_.gradients, {}), expected);
}

TEST_P(TrainerTest, RefusesWrongSizes) {
  std::vector<GradientPair> const few(5, {1.0f, 1.0f});
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { trainer_->Grow(c_.params, few, {}); }, {"5 gradients", "700 rows"}), "");
  c_.params.feature_weights = {1.0f};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { trainer_->Grow(c_.params, c_.gradients, {}); },
                                         {"feature_weights", "4 features"}),
            "");
  c_.params.feature_weights.clear();
  c_.params.reg_lambda = -1;
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { trainer_->Grow(c_.params, c_.gradients, {}); }, {"reg_lambda"}), "");

  c_.params.reg_lambda = 1;
  Tree const tree = trainer_->Grow(c_.params, c_.gradients, {});
  std::vector<NodeIndex> positions(699);
  std::vector<float> margins(700), values(tree.size() + 1);
  EXPECT_EQ(
      WhatIsWrong<InvalidArgument>([&] { trainer_->LeafPositions(positions, {}); }, {"LeafPositions", "699", "700"}),
      "");
  EXPECT_EQ(
      WhatIsWrong<InvalidArgument>([&] { trainer_->AddLeafValues(values, margins.data(), 1); }, {"AddLeafValues"}), "");
  positions.resize(700);
  std::vector<std::uint8_t> sampled_out(3);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { trainer_->LeafPositions(positions, sampled_out); },
                                         {"LeafPositions", "3", "700"}),
            "");
}

TEST_P(TrainerTest, SaysWhatMemoryItHolds) {
  trainer_->Grow(c_.params, c_.gradients, {});
  MemoryReport const report = trainer_->memory();
  EXPECT_GE(report.bytes, 700 * sizeof(NodeIndex));
  EXPECT_GE(report.peak_bytes, report.bytes);
  std::size_t parts = 0;
  for (auto const& part : report.parts) {
    EXPECT_FALSE(part.name.empty());
    parts += part.bytes;
  }
  EXPECT_EQ(parts, report.bytes);
  trainer_->Grow(c_.params, c_.gradients, {});
  EXPECT_EQ(trainer_->memory().bytes, report.bytes);
}

TEST_P(TrainerTest, KeyAndSeedDecideTheSample) {
  c_.params.subsample = 0.5f;
  auto const grow = [&](std::uint64_t seed, TreeKey key) {
    c_.params.seed = seed;
    return trainer_->Grow(c_.params, c_.gradients, key);
  };
  Tree const tree = grow(1, {4, 2});
  EXPECT_EQ(grow(1, {4, 2}), tree);
  EXPECT_NE(grow(1, {4, 3}), tree);
  EXPECT_NE(grow(1, {5, 2}), tree);
  EXPECT_NE(grow(2, {4, 2}), tree);
}

TEST_P(TrainerTest, TrainersShareADataset) {
  Trainer other{data_, GetParam(), 1};
  Tree const tree = trainer_->Grow(c_.params, c_.gradients, {});
  c_.params.max_depth = 2;
  Tree const shallow = other.Grow(c_.params, c_.gradients, {});
  EXPECT_NE(tree, shallow);
  std::vector<NodeIndex> positions(700);
  trainer_->LeafPositions(positions, {});
  EXPECT_EQ(positions, Walk(tree));
}

TEST_P(TrainerTest, ManyRoundsLowerTheLoss) {
  // The data determine the target, which the engine learns with squared error.
  std::vector<float> target(700), margins(700, 0.0f);
  for (std::size_t r = 0; r < 700; ++r) {
    target[r] = (c_.values(r, 0) > 0 ? 1.0f : -1.0f) + (std::isnan(c_.values(r, 1)) ? 0.5f : 0.0f);
  }
  for (std::uint32_t round = 0; round < 30; ++round) {
    for (std::size_t r = 0; r < 700; ++r) c_.gradients[r] = {margins[r] - target[r], 1.0f};
    Tree const tree = trainer_->Grow(c_.params, c_.gradients, {round, 0});
    trainer_->AddLeafValues(tree.leaf_value, margins.data(), 1);
  }
  // Trees of depth 6 fit the target exactly, except for the bins. A round leaves at most 1 - 0.3 · n/(n + 1) of the
  // error of a leaf of n rows. With n >= 4 thirty rounds leave 0.76^30 = 2.7e-4.
  double error = 0;
  for (std::size_t r = 0; r < 700; ++r) error += std::pow(static_cast<double>(margins[r] - target[r]), 2) / 700;
  EXPECT_LT(error, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Backends, TrainerTest, ::testing::ValuesIn(testing::kBackends),
                         [](auto const& c) { return testing::NameOf(c.param); });

}  // namespace
}  // namespace xgbgpu
