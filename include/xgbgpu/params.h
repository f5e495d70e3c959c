/// Parameters of tree construction, by the names XGBoost's users know.
#ifndef XGBGPU_PARAMS_H_
#define XGBGPU_PARAMS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Which nodes are split next. `kDepthWise`: level by level; `kLossGuide`: that of the largest gain. `kSymmetric`: all
/// of a level, by one feature and one threshold (docs/adr/0022-symmetric-trees.md).
enum class GrowPolicy { kDepthWise, kLossGuide, kSymmetric };

/// How the rows of a tree are sampled. `kUniform`: each with the same chance, `subsample`. `kGradientBased`: with a
/// chance in proportion to the gradient, `subsample` on average. `kGoss`: the `top_rate` of rows with the largest
/// gradients, and of the others `other_rate` (of all rows). The last two divide a row's gradients by its chance.
enum class SamplingMethod { kUniform, kGradientBased, kGoss };

/// `kAuto`: CUDA where a device is usable, else the host. `kCuda`: an error where there is none.
enum class BackendKind { kAuto, kCuda, kHost };

/// Plain values; defaults are XGBoost's. Meaning and ranges: docs/parameters.md.
struct XGBGPU_API TrainParams {
  float learning_rate{0.3f};
  float min_split_loss{0.0f};
  int max_depth{6};   ///< 0: no limit; the tree grows while there is gain
  int max_leaves{0};  ///< 0: no limit
  GrowPolicy grow_policy{GrowPolicy::kDepthWise};
  float min_child_weight{1.0f};
  float reg_lambda{1.0f};
  float reg_alpha{0.0f};
  float max_delta_step{0.0f};
  std::uint32_t max_cat_to_onehot{4};  ///< a feature of fewer categories is split one category against the others
  int max_cat_threshold{64};  ///< of the sorted categories of a feature, how many are looked at from either end
  SamplingMethod sampling_method{SamplingMethod::kUniform};
  float subsample{1.0f};
  float top_rate{0.2f};    ///< kGoss: share of rows kept for their large gradients
  float other_rate{0.1f};  ///< kGoss: share of rows drawn from the others
  float colsample_bytree{1.0f};
  float colsample_bylevel{1.0f};
  float colsample_bynode{1.0f};
  std::vector<float> feature_weights;  ///< [features] or empty: chance of a column to be sampled
  /// [features at most] -1 or 1: the predictions never rise or never fall with the feature; 0, and what is not given:
  /// free. Empty: none.
  std::vector<int> monotone_constraints;
  /// Sets of features that may meet on a path from the root to a leaf; a feature in no set meets none. Empty: all may.
  std::vector<std::vector<FeatureIndex>> interaction_constraints;
  std::uint64_t seed{0};

  /// The most levels of a symmetric tree that are split: max_depth, and what max_leaves leaves of it.
  int SymmetricDepth() const;
  /// Is a tree grown on some of the rows?
  bool SamplesRows() const { return sampling_method == SamplingMethod::kGoss || subsample < 1.0f; }
  /// Throws InvalidArgument, naming parameter, value and range, if a value is out of range or contradicts another.
  void Validate() const;
};

XGBGPU_API bool operator==(TrainParams const& a, TrainParams const& b);

/// The largest `max_depth` of symmetric trees.
constexpr int kMostSymmetricLevels = 16;

/// The largest `max_bin`: a bin of one feature fits 16 bits, with one symbol left for "missing".
constexpr int kMaxBinLimit = 65535;

/// Throws InvalidArgument unless 2 <= max_bin <= kMaxBinLimit.
XGBGPU_API void ValidateMaxBin(std::int64_t max_bin);

}  // namespace xgbgpu

#endif  // XGBGPU_PARAMS_H_
