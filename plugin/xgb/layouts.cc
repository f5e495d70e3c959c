// Checks that this library and the XGBoost of the process see the same members of matrices, contexts and trees.
#include "xgb/layouts.h"

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
#include "xgb/series.h"
#include "xgb/types.h"
#include "xgb/version.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

constexpr std::size_t kRows = 3, kColumns = 2;

void Check(bool is_right, char const* what) {
  if (!is_right) Throw<Unsupported>("XGBoost ", RunningVersion(), " has other members than its headers: ", what);
}

/// Returns what XGBoost's code reads of the floats that were set here.
std::vector<float> Read(xgboost::MetaInfo const& info, char const* name) {
  XGBGPU_BEFORE_302(xgboost::bst_ulong size = 0; void const* values = nullptr;
                    info.GetInfo(name, &size, xgboost::DataType::kFloat32, &values);)
  XGBGPU_SINCE_302(XgbContext const context; auto const found = info.GetInfo(&context, name);
                   auto const size = found.Size(); void const* const values = found.data;)
  auto const* const floats = static_cast<float const*>(values);
  return {floats, floats + size};
}

/// Sets members here and has XGBoost's code read them, and the other way round. No C function is called: the first one
/// of a process starts the CUDA driver in a build with CUDA, and processes forked later cannot use it.
void CheckMatrix() {
  std::vector<float> const labels{0.25f, 0.5f, 0.75f}, weights{3, 2, 1}, margins{-1, 0, 1};
  xgboost::MetaInfo info;
  info.num_row_ = kRows;
  info.num_col_ = kColumns;
  info.labels.Reshape(kRows, 1);
  info.labels.Data()->HostVector() = labels;
  info.weights_.HostVector() = weights;
  info.base_margin_.Reshape(kRows, 1);
  info.base_margin_.Data()->HostVector() = margins;
  Check(Read(info, "label") == labels, "labels");
  Check(Read(info, "weight") == weights, "weights");
  Check(Read(info, "base_margin") == margins, "base margins");
  std::array<char const*, kColumns> names{"first", "second"};
  std::array<char const*, kColumns> types{"float", "c"};
  info.SetFeatureInfo("feature_name", names.data(), kColumns);
  info.SetFeatureInfo("feature_type", types.data(), kColumns);
  Check(info.feature_names == std::vector<std::string>{"first", "second"}, "names of columns");
  auto const& kinds = info.feature_types.ConstHostVector();
  Check(kinds.size() == kColumns && kinds[1] == xgboost::FeatureType::kCategorical, "types of columns");
  Check(info.group_ptr_.empty() && info.feature_weights.Size() == 0, "groups and weights of columns");
}

void CheckLearner() {
  std::unique_ptr<xgboost::Learner> const learner{xgboost::Learner::Create({})};
  learner->SetParam("seed", "12");
  auto const& told = learner->GetConfigurationArguments();
  Check(told.count("seed") == 1 && told.at("seed") == "12", "parameters of a learner");
  Check(learner->Ctx() != nullptr, "the context of a learner");
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
