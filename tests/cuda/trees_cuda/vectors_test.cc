// Trees whose leaves are vectors are those of the host, bit for bit: from gradients of the caller, and from rounds whose
// margins stay on the device.
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "backend_cuda/device_matrices.h"
#include "cuda/device.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "trees_cuda/cuda_tree_builder.h"
#include "trees_cuda/equality_case.h"
#include "xgbgpu/error.h"
#include "xgbgpu/objective.h"

namespace xgbgpu {

/// GoogleTest shows trees that differ with this.
void PrintTo(VectorTree const& tree, std::ostream* os) {
  PrintTo(tree.shape, os);
  *os << " of " << tree.outputs << " outputs";
}

namespace testing {
namespace {

/// The gradients of a case.
enum class Kind {
  kOwnHessians,
  kOneHessian,   ///< all outputs of a row have one hessian
  kHeavyOutput,  ///< one gradient of the last output is 10^6 times the typical one
};

struct VectorCase {
  char const* name;
  RowIndex rows;
  FeatureIndex columns;
  double density;
  int max_bin;
  std::uint32_t outputs;
  Kind kind;
  void (*set)(TrainParams*);
  std::uint32_t levels{0};  ///< number of categories of the first column; others have some then, too
};
void PrintTo(VectorCase const& c, std::ostream* os) { *os << c.name; }

void Nothing(TrainParams*) {}

constexpr VectorCase kCases[] = {
    {"Plain", 3000, 9, 1.0, 64, 3, Kind::kOwnHessians, Nothing},
    {"Missing", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians, Nothing},
    {"OneHessian", 3000, 20, 0.9, 64, 5, Kind::kOneHessian, Nothing},
    {"OneOutput", 3000, 9, 0.9, 64, 1, Kind::kOwnHessians, Nothing},
    {"ManyOutputs", 1000, 13, 0.9, 32, 70, Kind::kOwnHessians, Nothing},
    {"Sparse", 3000, 40, 0.1, 64, 4, Kind::kOwnHessians, Nothing},
    {"SparseColumns", 3000, 300, 0.02, 16, 3, Kind::kOneHessian, Nothing},
    {"ManyBins", 5000, 5, 0.95, 2000, 3, Kind::kOwnHessians, Nothing},
    {"OneColumn", 2000, 1, 1.0, 256, 2, Kind::kOwnHessians, Nothing},
    {"OneRow", 1, 3, 1.0, 16, 2, Kind::kOwnHessians, Nothing},
    {"Narrow", 70000, 40, 1.0, 256, 3, Kind::kOwnHessians, Nothing},
    {"NarrowMissing", 70000, 33, 0.9, 255, 4, Kind::kOwnHessians, Nothing},
    {"NarrowOneHessian", 70000, 40, 0.95, 255, 16, Kind::kOneHessian, Nothing},
    {"NarrowOneHessianOddOutputs", 70000, 40, 1.0, 64, 7, Kind::kOneHessian, Nothing},
    {"NarrowOneOutput", 70000, 40, 1.0, 64, 1, Kind::kOwnHessians, Nothing},
    {"NarrowSixteenColumns", 70000, 16, 1.0, 256, 9, Kind::kOwnHessians, Nothing},
    {"NarrowSixteenColumnsOneHessian", 70000, 13, 0.9, 100, 16, Kind::kOneHessian, Nothing},
    {"NarrowEightColumns", 70000, 5, 0.9, 256, 3, Kind::kOwnHessians, Nothing},
    {"NarrowManyBins", 70000, 5, 0.95, 2000, 3, Kind::kOwnHessians, Nothing},
    {"NarrowSparse", 70000, 40, 0.1, 64, 4, Kind::kOwnHessians, Nothing},
    {"NarrowManyRows", 300000, 35, 1.0, 256, 2, Kind::kOwnHessians, Nothing},
    {"HeavyOutput", 70000, 40, 1.0, 64, 3, Kind::kHeavyOutput, Nothing},
    {"NarrowSubsample", 200000, 40, 0.95, 255, 5, Kind::kOneHessian, [](TrainParams* p) { p->subsample = 0.5f; }},
    {"Subsample", 3000, 20, 0.9, 64, 3, Kind::kOwnHessians, [](TrainParams* p) { p->subsample = 0.4f; }},
    {"NobodySampled", 20, 3, 1.0, 16, 2, Kind::kOwnHessians, [](TrainParams* p) { p->subsample = 1e-9f; }},
    {"Columns", 3000, 40, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->colsample_bytree = 0.7f;
       p->colsample_bylevel = 0.8f;
       p->colsample_bynode = 0.7f;
     }},
    {"NarrowColumns", 70000, 200, 1.0, 64, 3, Kind::kOneHessian, [](TrainParams* p) { p->colsample_bytree = 0.2f; }},
    {"Depth", 20000, 9, 0.9, 64, 3, Kind::kOwnHessians, [](TrainParams* p) { p->max_depth = 11; }},
    {"NoDepthLimit", 5000, 9, 0.9, 64, 2, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->max_depth = 0;
       p->max_leaves = p->grow_policy == GrowPolicy::kSymmetric ? 256 : 300;
     }},
    {"MaxLeaves", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) { p->max_leaves = p->grow_policy == GrowPolicy::kSymmetric ? 16 : 11; }},
    {"Stump", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians, [](TrainParams* p) { p->max_depth = 1; }},
    {"OneLeaf", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians, [](TrainParams* p) { p->min_child_weight = 1e6f; }},
    {"MinChildWeightAndGamma", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->min_child_weight = 30;
       p->min_split_loss = 2;
     }},
    {"NoMinChildWeightNoLambda", 3000, 40, 0.1, 64, 2, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->min_child_weight = 0;
       p->reg_lambda = 0;
     }},
    {"AlphaAndMaxDeltaStep", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->reg_alpha = 2;
       p->max_delta_step = 0.1f;
     }},
    {"Monotone", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) { p->monotone_constraints = {1, -1, 0, 1, -1, 0, 0, 1, 1}; }},
    {"NarrowMonotoneAlpha", 70000, 40, 0.9, 64, 3, Kind::kOneHessian,
     [](TrainParams* p) {
       SetDirections(p, 40);
       p->reg_alpha = 2;
       p->max_delta_step = 0.3f;
     }},
    {"Interactions", 3000, 20, 0.9, 64, 3, Kind::kOwnHessians, [](TrainParams* p) { SetInteractions(p, 20); }},
    {"AllConstraints", 3000, 20, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) {
       SetInteractions(p, 20);
       SetDirections(p, 20);
       p->colsample_bynode = 0.8f;
     }},
    {"Categories", 3000, 9, 1.0, 64, 3, Kind::kOwnHessians, Nothing, 40},
    {"CategoriesMissing", 3000, 9, 0.7, 64, 3, Kind::kOwnHessians, Nothing, 40},
    {"CategoriesSparse", 3000, 40, 0.1, 64, 4, Kind::kOwnHessians, Nothing, 12},
    {"CategoriesOneOutput", 3000, 9, 0.9, 64, 1, Kind::kOwnHessians, Nothing, 40},
    {"CategoriesManyOutputs", 1000, 5, 0.9, 32, 300, Kind::kOwnHessians, [](TrainParams* p) { p->max_depth = 3; }, 30},
    {"CategoriesAlone", 3000, 2, 0.9, 64, 3, Kind::kOwnHessians, Nothing, 40},
    {"OneByOne", 3000, 9, 1.0, 64, 3, Kind::kOwnHessians, [](TrainParams* p) { p->max_cat_to_onehot = 100; }, 40},
    {"OneByOneMissing", 3000, 9, 0.8, 64, 3, Kind::kOneHessian, [](TrainParams* p) { p->max_cat_to_onehot = 10; }, 7},
    {"OneByOneOfMany", 20000, 5, 0.9, 64, 2, Kind::kOwnHessians, [](TrainParams* p) { p->max_cat_to_onehot = 9999; },
     3000},
    {"CategoryThreshold", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians, [](TrainParams* p) { p->max_cat_threshold = 5; },
     60},
    {"CategoryThresholdOne", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians, [](TrainParams* p) { p->max_cat_threshold = 1; },
     60},
    // Beyond 256 both ends are selected, or all are sorted; beyond 2048 in device memory. A block takes 256 splits at
    // once.
    {"HundredsOfCategories", 5000, 5, 0.95, 64, 3, Kind::kOwnHessians, Nothing, 600},
    {"HundredsOfCategoriesTried", 20000, 5, 0.95, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) { p->max_cat_threshold = 10000; }, 700},
    {"ThousandsOfCategories", 20000, 5, 0.95, 64, 3, Kind::kOwnHessians, Nothing, 5000},
    {"ThousandsOfCategoriesTried", 20000, 5, 1.0, 64, 2, Kind::kOwnHessians,
     [](TrainParams* p) { p->max_cat_threshold = 10000; }, 5000},
    {"NarrowCategories", 70000, 9, 0.9, 255, 4, Kind::kOwnHessians, Nothing, 40},
    {"NarrowCategoriesOneHessian", 70000, 40, 1.0, 64, 7, Kind::kOneHessian, Nothing, 90},
    {"NarrowCategoriesSparse", 70000, 40, 0.1, 64, 4, Kind::kOneHessian, Nothing, 90},
    {"NarrowHundredsOfCategories", 70000, 9, 0.9, 64, 3, Kind::kOneHessian, Nothing, 600},
    {"CategoriesMinChildWeightAndGamma", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->min_child_weight = 80;
       p->min_split_loss = 2;
     },
     40},
    {"HundredsOfLightCategories", 20000, 5, 0.95, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->min_child_weight = 300;
       p->max_cat_threshold = 10000;
     },
     700},
    {"CategoriesNoMinChildWeightNoLambda", 3000, 9, 0.9, 64, 2, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->min_child_weight = 0;
       p->reg_lambda = 0;
     },
     40},
    {"CategoriesAlphaAndMaxDeltaStep", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->reg_alpha = 2;
       p->max_delta_step = 0.1f;
     },
     40},
    {"CategoriesMonotone", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) { p->monotone_constraints = {0, 0, 1, 0, -1, 1, -1}; }, 40},
    {"MonotoneCategoriesAlpha", 3000, 9, 0.9, 64, 3, Kind::kOneHessian,
     [](TrainParams* p) {
       p->monotone_constraints = {1, -1, 1, -1, -1};
       p->reg_alpha = 2;
       p->max_delta_step = 0.3f;
       p->max_cat_to_onehot = 10;
     },
     40},
    {"CategoriesAllConstraints", 3000, 20, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) {
       SetInteractions(p, 20);
       SetDirections(p, 20);
       p->colsample_bynode = 0.8f;
       p->min_child_weight = 20;
     },
     40},
    {"CategoriesSubsampleColumns", 3000, 9, 0.9, 64, 3, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->subsample = 0.5f;
       p->colsample_bytree = 0.7f;
       p->colsample_bylevel = 0.8f;
     },
     40},
    {"CategoriesNobodySampled", 20, 4, 1.0, 16, 2, Kind::kOwnHessians, [](TrainParams* p) { p->subsample = 1e-9f; },
     6},
    {"CategoriesDepth", 20000, 9, 0.9, 64, 3, Kind::kOwnHessians, [](TrainParams* p) { p->max_depth = 11; }, 40},
    {"CategoriesNoDepthLimit", 5000, 9, 0.9, 64, 2, Kind::kOwnHessians,
     [](TrainParams* p) {
       p->max_depth = 0;
       p->max_leaves = p->grow_policy == GrowPolicy::kSymmetric ? 256 : 300;
     },
     300},
};

/// Rows with labels [rows, outputs], and gradients [rows, outputs] of no margin in particular.
class VectorData {
 public:
  explicit VectorData(VectorCase const& c)
      : rows_{{900, c.rows, c.columns, c.density, Values::kContinuous, c.max_bin, Loss::kLogistic, {}, 1, {}}} {
    if (c.levels != 0) rows_.MakeCategories({c.levels, 3, 0, c.levels / 2 + 1});
    matrix_ = HostMatrix(rows_, c.max_bin, omp_get_max_threads());
    Random random{99};
    for (std::size_t row = 0; row < c.rows; ++row) {
      float const hess = 0.5f + random.Uniform();
      weights.push_back(hess);
      for (std::uint32_t k = 0; k < c.outputs; ++k) {
        float const slope = std::sin(static_cast<float>(k + 1) * rows_.signal()[row]);
        labels.push_back(slope + 0.3f * random.Uniform());
        gradients.push_back({static_cast<float>(k + 1) * (slope + random.Uniform() - 0.5f),
                             c.kind == Kind::kOneHessian ? hess : 0.3f + random.Uniform()});
      }
    }
    if (c.kind == Kind::kHeavyOutput) gradients[c.rows / 2 * c.outputs + c.outputs - 1].grad = 1e6f;
  }

  QuantisedMatrix const& matrix() const { return *matrix_; }
  TargetView targets(VectorCase const& c) const {
    TargetView targets;
    targets.labels = labels.data();
    targets.label_columns = c.outputs;
    targets.weights = weights.data();
    return targets;
  }

  std::vector<float> labels, weights;
  std::vector<GradientPair> gradients;

 private:
  CaseRows rows_;
  std::unique_ptr<QuantisedMatrix> matrix_;
};

class CudaVectorsTest : public ::testing::TestWithParam<std::tuple<GrowPolicy, VectorCase>> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
  static TrainParams Params() {
    TrainParams params;
    params.learning_rate = 0.4f;
    params.seed = 5;
    params.grow_policy = std::get<0>(GetParam());
    std::get<1>(GetParam()).set(&params);
    return params;
  }
};

/// A tree, with all that a builder says of its rows.
struct Grown {
  VectorTree tree;
  std::vector<NodeIndex> positions;
  std::vector<std::uint8_t> sampled_out;
};

Grown Grow(TreeBuilder* builder, VectorData const& data, VectorCase const& c, TrainParams const& params, TreeKey key) {
  Grown grown{builder->GrowVectors(params, data.gradients, c.outputs, key), std::vector<NodeIndex>(c.rows),
              std::vector<std::uint8_t>(c.rows)};
  builder->LeafPositions(grown.positions, grown.sampled_out);
  return grown;
}

TEST_P(CudaVectorsTest, TreesOfGradientsEqualTheHosts) {
  VectorCase const& c = std::get<1>(GetParam());
  VectorData const data{c};
  TrainParams const params = Params();
  auto const host = MakeTreeBuilder(BackendKind::kHost, data.matrix(), omp_get_max_threads());
  CudaTreeBuilder device{CopyMatrixToDevice(data.matrix(), 0, 2), 2};
  for (std::uint32_t round = 0; round < 2; ++round) {
    TreeKey const key{round, 3};
    Grown const expected = Grow(host.get(), data, c, params, key), found = Grow(&device, data, c, params, key);
    ASSERT_EQ(found.tree, expected.tree) << "round " << round;
    bool const must_split = c.levels != 0 && c.rows > 100 && params.max_cat_threshold > 1;
    EXPECT_TRUE(!must_split || !expected.tree.shape.category_ptr.empty()) << "round " << round;
    EXPECT_EQ(found.positions, expected.positions) << "round " << round;
    EXPECT_EQ(found.sampled_out, expected.sampled_out) << "round " << round;
    std::vector<float> margins(c.rows), wanted(c.rows);
    device.AddLeafValues(found.tree.LeafValues(c.outputs - 1), margins.data(), 1);
    host->AddLeafValues(expected.tree.LeafValues(c.outputs - 1), wanted.data(), 1);
    EXPECT_EQ(Bits(margins), Bits(wanted)) << "round " << round;
  }
}

TEST_P(CudaVectorsTest, RoundsOnTheDeviceEqualTheHosts) {
  VectorCase const& c = std::get<1>(GetParam());
  VectorData const data{c};
  TrainParams const params = Params();
  ObjectiveParams const objective{Objective::kSquaredError};
  auto const host = MakeTreeBuilder(BackendKind::kHost, data.matrix(), omp_get_max_threads());
  CudaTreeBuilder device{CopyMatrixToDevice(data.matrix(), 0, 2), 2};
  auto const rows = device.MakeRows(c.outputs);
  std::vector<float> margins(std::size_t{c.rows} * c.outputs), found(margins.size());
  std::vector<GradientPair> gradients(margins.size());
  rows->SetTargets(data.targets(c));
  rows->SetMargins(margins);
  for (std::uint32_t round = 0; round < 2; ++round) {
    TreeKey const key{round, 0};
    host::ComputeGradients(objective, data.targets(c), RowMajor<float const>(margins.data(), c.rows, c.outputs),
                           RowMajor(gradients.data(), c.rows, c.outputs), 2);
    VectorTree const expected = host->GrowVectors(params, gradients, c.outputs, key);
    rows->ComputeGradients(objective);
    ASSERT_EQ(rows->GrowVectors(params, key), expected) << "round " << round;
    for (std::uint32_t k = 0; k < c.outputs; ++k) {
      host->AddLeafValues(expected.LeafValues(k), margins.data() + k, c.outputs);
      if (round != 0) rows->AddLeafValues(expected.LeafValues(k), k);
    }
    if (round == 0) rows->AddVectorLeaves(expected);
  }
  rows->CopyMargins(found);
  EXPECT_EQ(Bits(found), Bits(margins));
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaVectorsTest,
                         ::testing::Combine(::testing::Values(GrowPolicy::kDepthWise, GrowPolicy::kLossGuide,
                                                              GrowPolicy::kSymmetric),
                                            ::testing::ValuesIn(kCases)),
                         [](auto const& c) { return NameOf(std::get<0>(c.param)) + std::get<1>(c.param).name; });

class CudaVectorTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
  void TearDown() override { FailDeviceAllocation(-1); }

  VectorCase c_{"", 2000, 9, 0.9, 64, 3, Kind::kOwnHessians, Nothing};
};

class CudaVectorLevelsTest : public CudaVectorTest, public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  CudaVectorLevelsTest() { c_.levels = GetParam(); }
};

TEST_P(CudaVectorLevelsTest, TakeTurnsWithOrdinaryTrees) {
  VectorCase wider = c_;
  wider.outputs = 5;
  VectorData const data{c_}, other{wider};
  std::vector<GradientPair> const one(data.gradients.begin(), data.gradients.begin() + c_.rows);
  auto const host = MakeTreeBuilder(BackendKind::kHost, data.matrix(), 2);
  CudaTreeBuilder device{CopyMatrixToDevice(data.matrix(), 0, 2), 2};
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(device.GrowVectors({}, data.gradients, 3, {}), host->GrowVectors({}, data.gradients, 3, {}));
    EXPECT_EQ(device.Grow({}, one, {}), host->Grow({}, one, {}));
    std::vector<NodeIndex> positions(c_.rows), wanted(c_.rows);
    device.LeafPositions(positions, {});
    host->LeafPositions(wanted, {});
    EXPECT_EQ(positions, wanted);
    EXPECT_EQ(device.GrowVectors({}, other.gradients, 5, {}), host->GrowVectors({}, other.gradients, 5, {}));
  }
}

TEST_F(CudaVectorTest, GradientsThatAreNotFiniteAreNamed) {
  VectorData data{c_};
  CudaTreeBuilder device{CopyMatrixToDevice(data.matrix(), 0, 2), 2};
  data.gradients[31 * 3 + 1].hess = std::numeric_limits<float>::infinity();
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { device.GrowVectors({}, data.gradients, 3, {}); },
                                         {"Gradient of row 31", "inf"}),
            "");
  data.gradients[31 * 3 + 1].hess = 1;
  EXPECT_GT(device.GrowVectors({}, data.gradients, 3, {}).shape.size(), 1U);
}

TEST_F(CudaVectorTest, RefuseWhatTheyDoNotHave) {
  VectorData const data{c_};
  CudaTreeBuilder device{CopyMatrixToDevice(data.matrix(), 0, 2), 2};
  TrainParams goss;
  goss.sampling_method = SamplingMethod::kGoss;
  EXPECT_EQ(WhatIsWrong<Unsupported>([&] { device.GrowVectors(goss, data.gradients, 3, {}); },
                                     {"sampling_method is 'goss'", "uniform"}),
            "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { device.GrowVectors({}, data.gradients, 2, {}); },
                                         {"6000 gradients of 2 outputs", "2000 rows"}),
            "");
}

TEST_P(CudaVectorLevelsTest, EveryAllocationMayFail) {
  VectorData const data{c_};
  auto const host = MakeTreeBuilder(BackendKind::kHost, data.matrix(), 2);
  for (GrowPolicy const policy : {GrowPolicy::kDepthWise, GrowPolicy::kSymmetric}) {
    TrainParams params;
    params.grow_policy = policy;
    VectorTree const expected = host->GrowVectors(params, data.gradients, 3, {});
    CudaTreeBuilder device{CopyMatrixToDevice(data.matrix(), 0, 2), 2};
    int failures = 0;
    for (;; ++failures) {
      FailDeviceAllocation(failures);
      try {
        EXPECT_EQ(device.GrowVectors(params, data.gradients, 3, {}), expected);
        break;
      } catch (OutOfDeviceMemory const&) {
      }
    }
    FailDeviceAllocation(-1);
    EXPECT_GT(failures, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, CudaVectorLevelsTest, ::testing::Values(0U, 40U, 3000U),
                         [](auto const& c) { return "Categories" + std::to_string(c.param); });

}  // namespace
}  // namespace testing
}  // namespace xgbgpu
