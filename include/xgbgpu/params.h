/// Parameters of tree construction, by the names XGBoost's users know.
#ifndef XGBGPU_PARAMS_H_
#define XGBGPU_PARAMS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The order of splits. `kDepthWise`: level by level. `kLossGuide`: the node with the largest gain first. `kSymmetric`:
/// all nodes of a level by one feature and one threshold (docs/adr/0022-symmetric-trees.md).
enum class GrowPolicy { kDepthWise, kLossGuide, kSymmetric };

/// The way rows of a tree are sampled. `kUniform`: each row with probability `subsample`. `kGradientBased`: with
/// the probability min(1, √(grad² + 0.1 hess²) / t), where t makes `subsample` · rows the expected number. `kGoss`: the
/// share `top_rate` of rows with the largest |grad · hess|, and a random share `other_rate` (of all rows) of the
/// remaining rows. The last two methods divide the gradients of a row by its probability.
enum class SamplingMethod { kUniform, kGradientBased, kGoss };

/// The rules of regularisation in two generations of XGBoost.
///
/// kOf1_7  a gain omits the L1 penalty of a weight that max_delta_step or monotone constraints limit. A node with
///         hessians below min_child_weight has the weight 0
/// kOf3_4  a gain includes the penalty. A node with hessians below min_child_weight, always a root, keeps its weight
enum class Regularisation : std::uint8_t { kOf1_7, kOf3_4 };

/// Where trees grow. `kAuto`: on a CUDA device if one is usable, or on the host. `kCuda`: on a device, or an error.
enum class BackendKind { kAuto, kCuda, kHost };

/// Plain values with XGBoost's defaults. docs/parameters.md has meanings and ranges.
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
  Regularisation regularisation{Regularisation::kOf1_7};
  std::uint32_t max_cat_to_onehot{4};  ///< a feature with fewer categories is split one category against the rest
  int max_cat_threshold{64};           ///< number of sorted categories that are tried from either end
  SamplingMethod sampling_method{SamplingMethod::kUniform};
  float subsample{1.0f};
  float top_rate{0.2f};    ///< kGoss: share of rows kept for their large gradients
  float other_rate{0.1f};  ///< kGoss: share of rows drawn from the remaining rows
  float colsample_bytree{1.0f};
  float colsample_bylevel{1.0f};
  float colsample_bynode{1.0f};
  std::vector<float> feature_weights;  ///< [features] or empty: relative probability of a column to be sampled
  /// [up to features] -1: predictions never rise with the feature; 1: they never fall; 0 or absent: no constraint.
  std::vector<int> monotone_constraints;
  /// Sets of features that may share a path from the root to a leaf. A feature in no set shares a path with no other
  /// feature. Empty: no constraint.
  std::vector<std::vector<FeatureIndex>> interaction_constraints;
  std::uint64_t seed{0};

  /// Returns the number of levels that a symmetric tree may split, from max_depth and max_leaves.
  int SymmetricDepth() const;
  /// Returns true if a tree grows on a sample of the rows.
  bool SamplesRows() const { return sampling_method == SamplingMethod::kGoss || subsample < 1.0f; }
  /// Throws InvalidArgument if a value is out of range or contradicts another one: names parameter, value and range.
  void Validate() const;
};

XGBGPU_API bool operator==(TrainParams const& a, TrainParams const& b);

/// The largest `max_depth` of symmetric trees.
constexpr int kMostSymmetricLevels = 16;

/// The largest `max_bin`: the bin of a feature fits 16 bits, with one value left for "missing".
constexpr int kMaxBinLimit = 65535;

/// Throws InvalidArgument unless 2 <= max_bin <= kMaxBinLimit.
XGBGPU_API void ValidateMaxBin(std::int64_t max_bin);

}  // namespace xgbgpu

#endif  // XGBGPU_PARAMS_H_
