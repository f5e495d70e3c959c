// Checks training parameters and compares them.
#include "xgbgpu/params.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

#include "base/message.h"

namespace xgbgpu {

namespace {

template <typename Number>
void CheckRange(char const* name, Number value, double low, double high, char const* allowed) {
  if (!(static_cast<double>(value) >= low && static_cast<double>(value) <= high)) {  // NaN fails both comparisons
    Throw<InvalidArgument>("Parameter ", name, " is ", value, "; allowed: ", allowed);
  }
}

template <typename Number>
void CheckNotNegative(char const* name, Number value) {
  CheckRange(name, value, 0.0, std::numeric_limits<float>::max(), "a finite number, 0 or larger");
}

template <typename Number>
void CheckPositive(char const* name, Number value) {
  CheckRange(name, value, 1.0, std::numeric_limits<std::int32_t>::max(), "1 to 2147483647");
}

void CheckAboveZeroToOne(char const* name, float value) {
  CheckRange(name, value, std::numeric_limits<float>::min(), 1.0, "larger than 0, at most 1");
}

void CheckBetweenZeroAndOne(char const* name, float value) {
  CheckRange(name, value, std::numeric_limits<float>::min(), std::nextafter(1.0f, 0.0f), "larger than 0, less than 1");
}

void CheckGoss(TrainParams const& params) {
  if (params.subsample < 1.0f) {
    Throw<InvalidArgument>("Parameter subsample is ", params.subsample,
                           ", but sampling_method is 'goss'; allowed with it: 1. The sizes of its samples are top_rate "
                           "and other_rate");
  }
  if (!(params.top_rate + params.other_rate <= 1.0f)) {
    Throw<InvalidArgument>("Parameter top_rate is ", params.top_rate, " and other_rate is ", params.other_rate,
                           "; allowed: a sum of at most 1");
  }
}

void CheckSymmetric(TrainParams const& params) {
  if (params.max_depth > kMostSymmetricLevels) {
    Throw<InvalidArgument>("Parameter max_depth is ", params.max_depth,
                           ", but grow_policy is 'symmetric'; allowed with it: 1 to ", kMostSymmetricLevels);
  }
  if (params.max_depth == 0 && params.max_leaves == 0) {
    Throw<InvalidArgument>(
        "Parameter max_depth is 0 (no limit), but grow_policy is 'symmetric'; allowed with it: 1 to ",
        kMostSymmetricLevels, ", or 0 with max_leaves");
  }
  bool const is_power = (params.max_leaves & (params.max_leaves - 1)) == 0;
  if (!is_power || params.max_leaves > 1 << kMostSymmetricLevels) {
    Throw<InvalidArgument>("Parameter max_leaves is ", params.max_leaves,
                           ", but grow_policy is 'symmetric'; allowed with it: 0 (no limit), or a power of 2 up to ",
                           1 << kMostSymmetricLevels);
  }
}

}  // namespace

int TrainParams::SymmetricDepth() const {
  int depth = max_depth == 0 ? kMostSymmetricLevels : max_depth;
  while (max_leaves != 0 && (1 << depth) > max_leaves) --depth;
  return depth;
}

void TrainParams::Validate() const {
  CheckNotNegative("learning_rate", learning_rate);
  CheckNotNegative("min_split_loss", min_split_loss);
  CheckNotNegative("max_depth", max_depth);
  CheckNotNegative("max_leaves", max_leaves);
  if (grow_policy == GrowPolicy::kSymmetric) CheckSymmetric(*this);
  CheckNotNegative("min_child_weight", min_child_weight);
  CheckNotNegative("reg_lambda", reg_lambda);
  CheckNotNegative("reg_alpha", reg_alpha);
  CheckNotNegative("max_delta_step", max_delta_step);
  CheckPositive("max_cat_to_onehot", max_cat_to_onehot);
  CheckPositive("max_cat_threshold", max_cat_threshold);
  CheckAboveZeroToOne("subsample", subsample);
  CheckBetweenZeroAndOne("top_rate", top_rate);
  CheckBetweenZeroAndOne("other_rate", other_rate);
  if (sampling_method == SamplingMethod::kGoss) CheckGoss(*this);
  CheckAboveZeroToOne("colsample_bytree", colsample_bytree);
  CheckAboveZeroToOne("colsample_bylevel", colsample_bylevel);
  CheckAboveZeroToOne("colsample_bynode", colsample_bynode);
  for (float w : feature_weights) CheckNotNegative("feature_weights", w);
  for (int direction : monotone_constraints) {
    CheckRange("monotone_constraints", direction, -1, 1, "-1, 0 or 1 for each feature");
  }
}

void ValidateMaxBin(std::int64_t max_bin) {
  if (max_bin < 2 || max_bin > kMaxBinLimit) {
    Throw<InvalidArgument>("Parameter max_bin is ", max_bin, "; allowed: 2 to ", kMaxBinLimit);
  }
}

bool operator==(TrainParams const& one, TrainParams const& other) {
  auto const fields = [](TrainParams const& params) {
    // Compiles only if every member has a name here.
    auto const& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = params;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
  };
  return fields(one) == fields(other);
}

}  // namespace xgbgpu
