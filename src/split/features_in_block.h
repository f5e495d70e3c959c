/// The features of a block that a node may be split by.
#ifndef XGBGPU_SPLIT_FEATURES_IN_BLOCK_H_
#define XGBGPU_SPLIT_FEATURES_IN_BLOCK_H_

#include <algorithm>
#include <cstddef>

#include "histogram/histogram.h"
#include "split/node_splits.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

inline Span<FeatureIndex const> FeaturesInBlock(SplitJob const& job, FeatureBlock const& block) {
  if (!job.features) return block.features;
  Span<FeatureIndex const> const allowed = *job.features;
  auto const* const first = std::lower_bound(allowed.begin(), allowed.end(), block.features.front());
  auto const* const last = std::upper_bound(first, allowed.end(), block.features.back());
  return {first, static_cast<std::size_t>(last - first)};
}

}  // namespace xgbgpu::host

#endif  // XGBGPU_SPLIT_FEATURES_IN_BLOCK_H_
