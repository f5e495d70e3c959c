/// The tree that a builder asks for.
#ifndef XGBGPU_TREES_CUDA_TREE_REQUEST_H_
#define XGBGPU_TREES_CUDA_TREE_REQUEST_H_

#include <cstdint>
#include <optional>
#include <tuple>

#include "sample/sample.h"
#include "xgbgpu/params.h"

namespace xgbgpu::cuda {

/// Parameters of one tree, its features and its number (TreeNumber).
struct TreeRequest {
  TrainParams params;
  std::optional<FeatureSampler> features;  ///< empty before the first tree
  std::uint32_t number{0};

  bool symmetric() const { return params.grow_policy == GrowPolicy::kSymmetric; }
  bool sampled() const { return params.SamplesRows(); }
  /// Tells whether gradients decide which rows are in the sample. Each gradient is then divided by the chance of its
  /// row.
  bool weighted() const { return sampled() && params.sampling_method != SamplingMethod::kUniform; }

  /// Returns the values that a recorded tree depends on.
  auto RecordingKey() const { return std::tuple{params.max_depth, sampled(), weighted(), symmetric()}; }
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_TREE_REQUEST_H_
