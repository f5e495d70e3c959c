/// Neutral names, and small functions, for types that differ between series of XGBoost.
/// docs/adr/0002-how-the-plugin-enters-xgboost.md
#ifndef XGBGPU_PLUGIN_XGB_TYPES_H_
#define XGBGPU_PLUGIN_XGB_TYPES_H_

#include <xgboost/base.h>
#include <xgboost/data.h>
#include <xgboost/generic_parameters.h>
#include <xgboost/host_device_vector.h>
#include <xgboost/learner.h>
#include <xgboost/predictor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "xgbgpu/data_key.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::plugin {

/// The context that all parts of a learner share: seed, threads, device.
using XgbContext = xgboost::Context;
/// The margins that a learner has cached of a matrix: a vector, and the number of rounds in it.
using XgbCache = xgboost::PredictionCacheEntry;
/// Gradients, row-major [rows × outputs], on the host.
using XgbGradients = xgboost::HostDeviceVector<xgboost::GradientPair>;

/// Has the stock part that is decorated do what XGBoost asks, with the arguments that XGBoost gave.
using StockCall = std::function<void()>;

static_assert(sizeof(xgboost::GradientPair) == sizeof(GradientPair) &&
                  std::is_standard_layout_v<xgboost::GradientPair> &&
                  std::is_same_v<xgboost::GradientPair::ValueT, decltype(GradientPair::grad)>,
              "gradients are read where they lie");

/// Returns the gradients where they lie, as the engine's type.
inline Span<GradientPair const> View(XgbGradients const& gradients) {
  auto const& host = gradients.ConstHostVector();
  return {reinterpret_cast<GradientPair const*>(host.data()), host.size()};
}
/// Makes room for one gradient for each row and output, and returns it as the engine's type.
inline Span<GradientPair> Resize(XgbGradients* gradients, std::uint64_t rows, std::uint32_t outputs) {
  auto& host = gradients->HostVector();
  host.resize(rows * outputs);
  return {reinterpret_cast<GradientPair*>(host.data()), host.size()};
}
inline void Clear(XgbGradients* gradients) { gradients->HostVector().clear(); }

/// Makes `ctx` one of the CPU, with this number of threads (0: XGBoost's default).
inline void SetUpForCpu(XgbContext* ctx, int nthread) {
  ctx->UpdateAllowUnknown(
      xgboost::Args{{"nthread", std::to_string(nthread)}, {"gpu_id", std::to_string(XgbContext::kCpuId)}});
}

/// From now on there are no margins in the cache.
inline void Clear(XgbCache* cache) {
  cache->predictions.HostVector().clear();
  cache->version = 0;
}

/// Returns the owner of `data`, which tells it from a later matrix at the same address. C++ code that drives boosters
/// itself may not name one. Then the matrix counts as a new one in every round.
inline std::shared_ptr<xgboost::DMatrix> OwnerOf(xgboost::DMatrix* data, XgbCache const& cache) {
  auto owner = cache.ref.lock();
  if (owner.get() != data) owner.reset(data, [](xgboost::DMatrix*) {});
  return owner;
}
/// Returns the engine's key of `data`.
inline DataKey KeyOf(xgboost::DMatrix* data, XgbCache const& cache) { return DataKey{OwnerOf(data, cache)}; }
/// Returns true if the cache names the owner of its matrix.
inline bool HasOwner(XgbCache const& cache) { return !cache.ref.expired(); }

/// Returns the margin of a row before the first tree, if the matrix has none of its own.
inline float BaseScore(xgboost::LearnerModelParam const& model) { return model.BaseScore(XgbContext::kCpuId)(0); }

/// Returns true if the bins of `data` were chosen when it was made (QuantileDMatrix).
inline bool IsBinned(xgboost::DMatrix const& data) { return !data.PageExists<xgboost::SparsePage>(); }

/// Returns true unless `data` are pages of external memory.
inline bool IsInMemory(xgboost::DMatrix const& data) { return data.SingleColBlock(); }

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_TYPES_H_
