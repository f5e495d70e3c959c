/// Stage 7 on a CUDA device for trees of vectors: equal to host::VectorSplitFinder.
#ifndef XGBGPU_SPLIT_VECTOR_SPLIT_CUDA_H_
#define XGBGPU_SPLIT_VECTOR_SPLIT_CUDA_H_

#include <cstdint>

#include "cuda/device.h"
#include "histogram/vector_histogram_cuda.h"
#include "split/split_cuda.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// The data of nodes beside Node: arrays [nodes, outputs] on the device.
struct VectorNodes {
  GradientSum* sums;
  GradientSum* left;  ///< sums of the rows that go left by the best split
  float* weights;
  WeightBounds* bounds;  ///< nullptr without monotone constraints
  double* gain;          ///< [nodes] gain of the node's own weights, common to all its splits
};

/// The units of the integers of an output.
struct alignas(16) OutputUnits {
  double grad;
  double hess;
};

/// The categorical features of a matrix, and room to search them. Arrays are on the device.
struct VectorCategories {
  std::uint8_t const* is_categorical;  ///< [features]; nullptr: no feature is
  FeatureIndex const* features;        ///< [count] numbers of categorical features, ascending
  std::uint32_t count;
  GradientSum* ends;  ///< [CategoryBlocks, 2, outputs] scratch
};

/// The search of a level. Arrays are on the device.
struct VectorSplitView {
  SplitView of;  ///< without limits of monotone constraints; groups and candidates are unused
  VectorCells cells;
  VectorNodes nodes;
  SplitParams params;        ///< without units, min_child_weight 0
  OutputUnits const* units;  ///< [outputs]
  double min_child_weight;
  std::int8_t const* directions;  ///< [features] of monotone constraints; nullptr: none
  unsigned long long* best;       ///< [2 · families] keys of the best candidates; zeros before the search
  /// [2 · families, features] 1: a row of the child misses the feature; zeros before. nullptr: it is not noted.
  std::uint8_t* misses;
  VectorCategories categories;
};

/// Enqueues weights, bounds and gain of the root, from its sums.
void StartVectorRoot(VectorSplitView const& view, cudaStream_t stream);
/// Enqueues sums, weights, bounds and gains of the children of `families` families, from the best splits of their
/// parents.
void MakeVectorChildren(VectorSplitView const& view, std::uint32_t families, cudaStream_t stream);
/// Enqueues the accumulation of the histograms of `families` families, of one root or of two children each: a cell
/// becomes the sum over the bins up to its own. Siblings are made by subtraction in this form. At most 65,535 families.
void AccumulateVectors(VectorSplitView const& view, std::uint32_t families, bool root, cudaStream_t stream);
/// Enqueues the search of the families: AccumulateVectors, then the best split of each child.
void FindVectorSplits(VectorSplitView const& view, std::uint32_t families, bool root, DeviceLimits const& limits,
                      cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_VECTOR_SPLIT_CUDA_H_
