// Checks that this library and the XGBoost of the process see the same members of matrices, contexts and trees.
#include "xgb/layouts.h"

#include <xgboost/c_api.h>
#include <xgboost/json.h>
#include <xgboost/learner.h>
#include <xgboost/tree_model.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/message.h"
#include "xgb/adapt_tree.h"
#include "xgb/next_function.h"
#include "xgb/types.h"
#include "xgb/version.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

constexpr std::size_t kRows = 3, kColumns = 2;

void Check(bool is_right, char const* what) {
  if (!is_right) Throw<Unsupported>("XGBoost ", RunningVersion(), " has other members than its headers: ", what);
}

void CheckCall(int result) {
  if (result != 0) throw Unsupported{XGBGetLastError()};
}

/// A matrix that XGBoost has made, with labels, weights, margins and names. It is a proxy, which needs no values. In a
/// build of XGBoost with CUDA the first C call of a process starts the driver, here as well as in any program.
class StockMatrix {
 public:
  StockMatrix() {
    CheckCall(XGProxyDMatrixCreate(&handle_));
    xgboost::MetaInfo& info = get()->Info();
    info.num_row_ = kRows;
    info.num_col_ = kColumns;
    info.labels.Reshape(kRows, 1);
    info.labels.Data()->HostVector() = labels;
    info.weights_.HostVector() = weights;
    info.base_margin_.Reshape(kRows, 1);
    info.base_margin_.Data()->HostVector() = margins;
    std::array<char const*, kColumns> names{"first", "second"};
    std::array<char const*, kColumns> types{"float", "c"};
    CheckCall(XGDMatrixSetStrFeatureInfo(handle_, "feature_name", names.data(), kColumns));
    CheckCall(XGDMatrixSetStrFeatureInfo(handle_, "feature_type", types.data(), kColumns));
  }
  ~StockMatrix() { XGBGPU_NEXT(XGDMatrixFree)(handle_); }
  StockMatrix(StockMatrix const&) = delete;
  StockMatrix& operator=(StockMatrix const&) = delete;

  xgboost::DMatrix* get() const { return static_cast<std::shared_ptr<xgboost::DMatrix> const*>(handle_)->get(); }

  std::vector<float> const labels{0.25f, 0.5f, 0.75f}, weights{3, 2, 1}, margins{-1, 0, 1};

  /// Returns what XGBoost's code reads of what was set here.
  std::vector<float> Read(char const* name) const {
    bst_ulong size = 0;
    float const* values = nullptr;
    CheckCall(XGDMatrixGetFloatInfo(handle_, name, &size, &values));
    return {values, values + size};
  }
  std::uint64_t Count(decltype(XGDMatrixNumRow)* count) const {
    bst_ulong n = 0;
    CheckCall(count(handle_, &n));
    return n;
  }

 private:
  DMatrixHandle handle_{nullptr};
};

void CheckMatrix() {
  StockMatrix const matrix;
  Check(matrix.Count(XGDMatrixNumRow) == kRows && matrix.Count(XGDMatrixNumCol) == kColumns, "rows and columns");
  Check(matrix.Read("label") == matrix.labels, "labels");
  Check(matrix.Read("weight") == matrix.weights, "weights");
  Check(matrix.Read("base_margin") == matrix.margins, "base margins");
  xgboost::MetaInfo const& info = matrix.get()->Info();
  Check(info.feature_names == std::vector<std::string>{"first", "second"}, "names of columns");
  auto const& types = info.feature_types.ConstHostVector();
  Check(types.size() == kColumns && types[1] == xgboost::FeatureType::kCategorical, "types of columns");
  Check(info.group_ptr_.empty() && info.feature_weights.Size() == 0, "groups and weights of columns");
}

void CheckLearner() {
  BoosterHandle booster = nullptr;
  CheckCall(XGBoosterCreate(nullptr, 0, &booster));
  auto const& learner = *static_cast<xgboost::Learner const*>(booster);
  std::unique_ptr<void, void (*)(void*)> const owner{booster, [](void* made) { XGBoosterFree(made); }};
  CheckCall(XGBGPU_NEXT(XGBoosterSetParam)(booster, "seed", "12"));
  auto const& told = learner.GetConfigurationArguments();
  Check(told.count("seed") == 1 && told.at("seed") == "12", "parameters of a learner");
  Check(learner.Ctx() != nullptr, "the context of a learner");
  XgbContext context;
  SetUpForCpu(&context, 2);
  Check(context.nthread == 2 && context.Threads() >= 1 && context.seed == 0, "the context");
}

/// Grows a tree by our code, and has XGBoost's code save it.
void CheckTree() {
  Tree tree;
  tree.Resize(3);
  tree.left = {1, -1, -1};
  tree.feature[0] = 1;
  tree.threshold[0] = 3.5f;
  tree.default_left[0] = 1;
  tree.gain[0] = 7;
  tree.sum_hess = {3, 2, 1};
  tree.leaf_value = {0, -0.25f, 0.5f};
  xgboost::RegTree stored{};
  CopyTree(tree, 1.0f, &stored);
  Check(LeafValues(stored) == std::vector<float>{0, -0.25f, 0.5f}, "leaves of trees");
  xgboost::Json saved{xgboost::Object{}};
  static_cast<xgboost::Model const&>(stored).SaveModel(&saved);
  auto const floats = [&](char const* name) { return xgboost::get<xgboost::F32Array const>(saved[name]); };
  Check(floats("split_conditions") == std::vector<float>{3.5f, -0.25f, 0.5f}, "thresholds of trees");
  Check(floats("sum_hessian") == std::vector<float>{3, 2, 1}, "statistics of trees");
  Check(floats("loss_changes") == std::vector<float>{7, 0, 0}, "gains of trees");
}

}  // namespace

void CheckLayouts() {
  CheckMatrix();
  CheckLearner();
  CheckTree();
}

}  // namespace xgbgpu::plugin
