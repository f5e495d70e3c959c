/// Neutral names, and small functions, for types that differ between series of XGBoost.
/// docs/adr/0002-how-the-plugin-enters-xgboost.md
#ifndef XGBGPU_PLUGIN_XGB_TYPES_H_
#define XGBGPU_PLUGIN_XGB_TYPES_H_

#include <xgboost/base.h>
#include <xgboost/data.h>
#include <xgboost/host_device_vector.h>
#include <xgboost/learner.h>
#include <xgboost/predictor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "xgb/series.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::plugin {

/// The context that all parts of a learner share: seed, threads, device.
using XgbContext = xgboost::Context;
/// A learner's cached margins of a matrix: a vector, and the number of rounds in it.
using XgbCache = xgboost::PredictionCacheEntry;
/// Gradients as objectives write them: row-major [rows, outputs], on the host.
XGBGPU_BEFORE_300(using XgbGradientMatrix = xgboost::HostDeviceVector<xgboost::GradientPair>;)
XGBGPU_SINCE_300(using XgbGradientMatrix = xgboost::linalg::Matrix<xgboost::GradientPair>;)
/// Gradients as boosters and updaters are given them.
XGBGPU_BEFORE_302(using XgbGradients = XgbGradientMatrix;)
XGBGPU_SINCE_302(using XgbGradients = xgboost::GradientContainer;)

/// The types of numbers of rounds: in general, and in predictions of leaves.
XGBGPU_BEFORE_300(using XgbRound = unsigned;)
XGBGPU_SINCE_300(using XgbRound = xgboost::bst_layer_t;)
XGBGPU_BEFORE_304(using XgbLeafRound = unsigned;)
XGBGPU_SINCE_304(using XgbLeafRound = xgboost::bst_layer_t;)

/// The leaf of each row.
using XgbPositions = xgboost::HostDeviceVector<xgboost::bst_node_t>;
/// The type of the number of an output.
XGBGPU_BEFORE_302(using XgbGroup = std::int32_t;)
XGBGPU_SINCE_302(using XgbGroup = xgboost::bst_target_t;)

/// The margins of one output, as updaters are given them.
XGBGPU_BEFORE_300(using XgbMarginView = xgboost::linalg::VectorView<float>;)
XGBGPU_SINCE_300(using XgbMarginView = xgboost::linalg::MatrixView<float>;)

/// Calls the decorated stock part with the arguments that XGBoost gave.
using StockCall = std::function<void()>;
/// Calls the decorated stock part with another matrix in the place of XGBoost's argument.
using StockCallOn = std::function<void(xgboost::DMatrix*)>;

static_assert(sizeof(xgboost::GradientPair) == sizeof(GradientPair) &&
                  std::is_standard_layout_v<xgboost::GradientPair> &&
                  std::is_same_v<xgboost::GradientPair::ValueT, decltype(GradientPair::grad)>,
              "gradients are read where they lie");

/// Returns the gradients of a booster as an objective writes them.
inline XgbGradientMatrix* MatrixOf(XgbGradients* gradients) {
  XGBGPU_BEFORE_302(return gradients;)
  XGBGPU_SINCE_302(return gradients->FullGradOnly();)
}
inline XgbGradientMatrix const& MatrixOf(XgbGradients const& gradients) {
  XGBGPU_BEFORE_302(return gradients;)
  XGBGPU_SINCE_302(return *gradients.FullGradOnly();)
}
/// Returns the gradients where they lie, as the engine's type.
inline Span<GradientPair const> View(XgbGradientMatrix const& gradients) {
  auto const& host = gradients XGBGPU_SINCE_300(.Data()->) XGBGPU_BEFORE_300(.) ConstHostVector();
  return {reinterpret_cast<GradientPair const*>(host.data()), host.size()};
}
/// Makes room for one gradient for each row and output, and returns it as the engine's type.
inline Span<GradientPair> Resize(XgbGradientMatrix* gradients, std::uint64_t rows, std::uint32_t outputs) {
  XGBGPU_BEFORE_300(gradients->HostVector().resize(rows * outputs);)
  XGBGPU_SINCE_300(gradients->Reshape(rows, outputs);)
  auto& host = gradients->XGBGPU_SINCE_300(Data()->) HostVector();
  return {reinterpret_cast<GradientPair*>(host.data()), host.size()};
}

/// Frees gradients that no code reads. In newer learners it does nothing: they fill an empty matrix with zeros.
inline void ReleaseUnread(XgbGradientMatrix* XGBGPU_BEFORE_300(gradients)) {
  XGBGPU_BEFORE_300(gradients->HostVector().clear();)
}

/// Makes `ctx` one of the CPU, with this number of threads (0: XGBoost's default).
inline void SetUpForCpu(XgbContext* ctx, int nthread) {
  XGBGPU_BEFORE_300(std::pair<std::string, std::string> const cpu{"gpu_id", "-1"};)
  XGBGPU_SINCE_300(std::pair<std::string, std::string> const cpu{"device", "cpu"};)
  ctx->UpdateAllowUnknown(xgboost::Args{{"nthread", std::to_string(nthread)}, cpu});
}

/// From now on there are no margins in the cache.
inline void Clear(XgbCache* cache) {
  cache->predictions.HostVector().clear();
  cache->version = 0;
}

/// Returns the margins of a row before the first tree, if the matrix has none of its own: one for each output, or one
/// for all of them.
inline std::vector<float> BaseScores(xgboost::LearnerModelParam const& model) {
  auto const scores =
      model.BaseScore(XGBGPU_BEFORE_300(XgbContext::kCpuId) XGBGPU_SINCE_300(xgboost::DeviceOrd::CPU()));
  std::vector<float> all(scores.Size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = scores(i);
  return all;
}

/// Returns the object that keeps a matrix's names of categories. Its address tells matrices of frames apart. Null: this
/// series has no names of categories.
inline std::shared_ptr<void const> CategoriesOf(xgboost::DMatrix const& XGBGPU_SINCE_302(data)) {
  XGBGPU_SINCE_302(return data.CatsShared();)
  XGBGPU_BEFORE_302(return nullptr;)
}

/// Has `to` share the names of categories of `from`.
inline void TakeCategories(xgboost::DMatrix const& XGBGPU_SINCE_302(from), xgboost::DMatrix* XGBGPU_SINCE_302(to)) {
  XGBGPU_SINCE_302(to->Info().Cats(std::const_pointer_cast<xgboost::CatContainer>(from.CatsShared()));)
}

/// Returns true if the trees of the model have a vector in each leaf (multi_strategy=multi_output_tree).
inline bool HasVectorLeaves(xgboost::LearnerModelParam const& XGBGPU_SINCE_300(model)) {
  XGBGPU_SINCE_300(return model.IsVectorLeaf();)
  XGBGPU_BEFORE_300(return false;)
}

/// Returns true if the bins of `data` were chosen when it was made (QuantileDMatrix).
inline bool IsBinned(xgboost::DMatrix const& data) { return !data.PageExists<xgboost::SparsePage>(); }

/// Returns true unless `data` are pages of external memory.
inline bool IsInMemory(xgboost::DMatrix const& data) { return data.SingleColBlock(); }

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_TYPES_H_
