/// Trees of vectors on given rows and a matrix: gradients, histograms, splits and nodes with a number for each output.
#ifndef XGBGPU_TREES_HOST_VECTOR_TREES_H_
#define XGBGPU_TREES_HOST_VECTOR_TREES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "gradient/gradient.h"
#include "growth/growth.h"
#include "growth/symmetric.h"
#include "histogram/histogram.h"
#include "histogram/histogram_slots.h"
#include "page/page.h"
#include "partition/node_rows.h"
#include "sample/sample.h"
#include "split/constraints.h"
#include "split/level_split.h"
#include "split/vector_split.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"
#include "xgbgpu/vector_tree.h"

namespace xgbgpu::host {

/// Grows one tree after the other, on the rows of a tree builder. A node's histogram has the cells of each output, one
/// output after the other. The gradients of each output are integers of its own unit, so sums over rows are exact, as
/// in any tree (docs/determinism.md). Gradients are rounded to the narrow format if all outputs allow it. In either
/// format they are kept and summed in 64 bits.
///
/// Memory  16 bytes a row and output, and 12 a row; histograms as `histogram_bytes` says, or two
class VectorTrees {
 public:
  /// `matrix` and `histograms` must outlive it.
  VectorTrees(QuantisedMatrix const& matrix, HistogramBuilder* histograms, std::uint32_t outputs,
              std::size_t histogram_bytes, int threads);

  std::uint32_t outputs() const { return static_cast<std::uint32_t>(gradients_.size()); }
  std::size_t bytes() const;

  /// Brings `gradients` [rows, outputs] to fixed point. `sample`: hessians of 0 mark rows outside the sample; empty:
  /// all rows count. `tree`: its TreeNumber. `all_rows`: of the tree, in all shards. Throws as ChooseGradientFormat.
  void Quantise(TrainParams const& params, Span<GradientPair const> gradients, Span<GradientPair const> sample,
                std::uint32_t tree, std::size_t all_rows, Shard const& shard);
  /// Begins a tree whose root has the `sampled` rows. `features` must live until the tree is finished.
  void Begin(TrainParams const& params, FeatureSampler const& features, std::size_t sampled, NodeRows* rows,
             bool in_pages, Collective* collective);
  /// Sums the page's rows of each job's node, for each output.
  void Sum(Page<QuantisedMatrix> const& page, NodeRows* rows, Span<NodeHistogram const> jobs);

  /// Returns the growth of depth-wise and loss-guided trees.
  Growth& growth() { return growth_; }
  /// Returns the growth of symmetric trees.
  SymmetricGrowth& symmetric() { return symmetric_; }
  VectorTree Make() const;

 private:
  bool IsSymmetric() const { return train_.grow_policy == GrowPolicy::kSymmetric; }

  QuantisedMatrix const& matrix_;
  HistogramBuilder* histograms_;
  int threads_;
  Buffer<GradientPair> column_;          ///< gradients of one output
  Buffer<NarrowGradient> narrow_;        ///< column_ in the narrow format
  std::vector<GradientFormat> formats_;  ///< units; `narrow` is false
  std::vector<Buffer<GradientSum>> gradients_;
  HistogramSlots slots_;
  VectorSplitFinder splits_;
  LevelSplitFinder level_splits_;
  Growth growth_;
  SymmetricGrowth symmetric_;
  TrainParams train_;                ///< of the tree
  std::vector<SplitParams> params_;  ///< [outputs] of a symmetric tree, with units
  Constraints constraints_;          ///< of splits
  Constraints interactions_;         ///< without monotone constraints: their bounds have a number for each output
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_TREES_HOST_VECTOR_TREES_H_
