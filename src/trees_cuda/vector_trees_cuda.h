/// Trees of vectors on a CUDA device, one at a time, on a matrix in core. docs/adr/0043-vector-leaves.md
#ifndef XGBGPU_TREES_CUDA_VECTOR_TREES_CUDA_H_
#define XGBGPU_TREES_CUDA_VECTOR_TREES_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gradient/vector_gradients_cuda.h"
#include "growth/batch_growth.h"
#include "histogram/vector_histogram_cuda.h"
#include "split/constraints_cuda.h"
#include "split/vector_split_cuda.h"
#include "trees_cuda/symmetric_vectors_cuda.h"
#include "trees_cuda/tree_leaves_cuda.h"
#include "trees_cuda/tree_parts_cuda.h"
#include "xgbgpu/span.h"
#include "xgbgpu/vector_tree.h"

namespace xgbgpu::cuda {

/// Grows the tree in batches of nodes. The host chooses the nodes by the splits that the device has found, as in
/// HostDrivenTree. A symmetric tree grows level by level. Rows are in lists. Gradients, histograms and splits have all
/// outputs.
///
/// Same  bit-equal to host::VectorTrees
class VectorTrees {
 public:
  /// All arguments must outlive this object. `matrix` is in core. With other devices all of them grow the same trees at
  /// the same time.
  VectorTrees(DeviceMatrix const& matrix, ColumnLists* lists, DeviceShard const& shard, DeviceArena* arena,
              Stream const& stream, std::size_t histogram_budget, std::uint32_t outputs);
  ~VectorTrees();
  VectorTrees(VectorTrees const&) = delete;
  VectorTrees& operator=(VectorTrees const&) = delete;

  std::uint32_t outputs() const { return outputs_; }
  /// Copies gradients [rows, outputs] to the device, for the next tree. `threads` copy.
  VectorGradients Upload(Span<GradientPair const> gradients, int threads);
  /// Grows a tree. Nothing if a gradient of its rows is NaN or infinite. Waits.
  std::optional<VectorTree> Grow(TreeRequest request, VectorGradients const& gradients);
  /// Returns an output whose gradients are not finite, after a Grow that returned nothing.
  std::uint32_t bad_output() const { return bad_output_; }

  /// From the next tree on stages are timed; nullptr ends that.
  void SetTimeline(Timeline* timeline) { parts_.device.timer.SetTimeline(timeline); }
  /// The leaves of all rows in the tree that was grown last.
  TreeLeaves const& leaves() const { return leaves_; }

 private:
  void Reserve();
  void ReserveNodes(std::size_t kept);
  void FindFacts();
  void ShareLargest();
  void ShareFormatSums();
  void CopyOnDevice(void* to, void const* from, std::size_t bytes) const;
  void CopyColumns(void* packed, void* field, std::size_t bytes, bool to_packed) const;
  bool ChooseFormats();
  void ReserveHistograms();
  void Quantise();
  void Evaluate(LevelBounds const& bounds, bool root, int batch);
  void LearnBack(std::size_t first, std::size_t n);
  void GrowBatch(int batch);
  VectorTree GrowBatches();
  VectorTree GrowSymmetric();
  VectorTree Take();

  VectorFacts* facts() { return reinterpret_cast<VectorFacts*>(facts_.data()); }
  static OutputFacts* outputs(VectorFacts* facts) { return reinterpret_cast<OutputFacts*>(facts + 1); }
  RowsOfTree Rows() const;
  NarrowRows NarrowGradients() const { return {narrow_rows_.data(), outputs_, one_hessian_}; }
  LevelBounds BoundsOf(std::uint32_t families, std::uint32_t siblings = 0) const;
  void Sum(LevelBounds const& bounds) const;
  void SumOverDevices(LevelBounds const& bounds, int level) const;
  VectorSplitView Splits() const;
  bool IsSymmetric() const { return params_.grow_policy == GrowPolicy::kSymmetric; }

  std::uint32_t outputs_;
  std::size_t histogram_budget_;
  TreeParts parts_;
  TreeDevice& device_;
  TreeLeaves leaves_;
  BatchGrowth growth_;
  SymmetricVectors symmetric_;
  std::size_t batch_{0};  ///< families of one batch, or level, at most
  TrainParams params_;    ///< with monotone constraints and symmetric growth, which parts_ do not know
  DeviceConstraints monotone_;
  VectorGradients gradients_{};
  std::uint32_t bad_output_{0};
  // Equal on all devices.
  bool narrow_{false};       ///< gradients are in the narrow format
  bool one_hessian_{false};  ///< the hessians of all outputs are equal
  bool in_planes_{false};    ///< histograms are those of SumVectors
  std::vector<SplitParams> split_params_;

  DeviceBuffer<GradientPair> row_major_, columns_;  ///< gradients of the host
  DeviceBuffer<std::uint8_t> facts_;                ///< VectorFacts, OutputFacts [outputs]
  DeviceBuffer<std::uint32_t> narrow_rows_;         ///< NarrowRows::words
  DeviceBuffer<GradientPair> narrow_pairs_;         ///< VectorIntegers::pairs
  DeviceBuffer<GradientFormat> formats_;
  DeviceBuffer<GradientState> states_;  ///< [outputs] formats for SumRows
  DeviceBuffer<OutputUnits> units_;
  DeviceBuffer<std::uint32_t> largest_;             ///< of all devices
  DeviceBuffer<std::int64_t> format_sums_;          ///< of all devices
  PinnedBuffer<std::uint32_t> host_cannot_sum_{1};  ///< not 0: a device cannot sum vectors
  PinnedBuffer<std::uint8_t> host_facts_;
  PinnedBuffer<GradientFormat> host_formats_;
  PinnedBuffer<GradientState> host_states_;
  PinnedBuffer<OutputUnits> host_units_;
  PinnedBuffer<Family> host_families_;
  PinnedBuffer<GradientSum> host_sums_;  ///< of the finished tree
  PinnedBuffer<float> host_weights_;

  // VectorCategories
  DeviceBuffer<std::uint8_t> is_categorical_;
  DeviceBuffer<FeatureIndex> categorical_;
  DeviceBuffer<GradientSum> ends_;
  // VectorNodes
  DeviceBuffer<GradientSum> sums_, left_;
  DeviceBuffer<float> weights_;
  DeviceBuffer<WeightBounds> bounds_;
  DeviceBuffer<double> gain_;
  DeviceBuffer<unsigned long long> best_;
  DeviceBuffer<std::uint8_t> misses_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_TREES_CUDA_VECTOR_TREES_CUDA_H_
