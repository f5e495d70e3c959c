/// Grows trees on one matrix: the part of a backend that a training calls in every round.
#ifndef XGBGPU_BACKEND_TREE_BUILDER_H_
#define XGBGPU_BACKEND_TREE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "xgbgpu/error.h"
#include "xgbgpu/memory_report.h"
#include "xgbgpu/params.h"
#include "xgbgpu/resident_rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trace.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/tree_key.h"
#include "xgbgpu/types.h"
#include "xgbgpu/vector_tree.h"

namespace xgbgpu {

/// Grows trees on one matrix with one backend.
///
/// A whole tree is one call, and the order of its steps belongs to the builder (trees_host/hist_host.cc,
/// trees_cuda/hist_levels_cuda.h): a device that knows beforehand what a tree may need enqueues all of it and waits
/// once. Memory that grows with the data is taken in the constructor and between two stages at most.
///
/// Every implementation gives the same bits: sums are integers, formulas a fixed sequence of IEEE operations, draws a
/// function of (seed, tree, row). docs/adr/0001-backend-interface.md
///
/// From  Mitchell, Adinets, Rao, Frank, "XGBoost: Scalable GPU Accelerated Learning", arXiv:1806.11248, section 2
class TreeBuilder {
 public:
  virtual ~TreeBuilder() = default;

  // xgbgpu/trainer.h has the contracts. Parameters have been validated, and no started tree is under way.

  virtual Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) = 0;
  /// Only builders of gpu_hist grow trees of vectors.
  virtual VectorTree GrowVectors(TrainParams const& /*params*/, Span<GradientPair const> /*gradients*/,
                                 std::uint32_t /*outputs*/, TreeKey /*key*/) {
    throw Unsupported{
        "Trees of vectors (multi_strategy=multi_output_tree) are asked of a builder that has none; supported: trees by "
        "histograms on the host or on GPUs"};
  }
  virtual void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const = 0;
  virtual void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const = 0;
  virtual void Trace(std::shared_ptr<TraceFile> file) = 0;
  virtual MemoryReport memory() const = 0;
  virtual std::uint64_t memory_version() const = 0;
  virtual bool lost() const { return false; }
  virtual ResidentRounds* rounds() { return nullptr; }
};

/// Returns a number for each tree of a training. No number comes twice in 2^16 rounds of up to 2^16 trees each.
inline std::uint32_t TreeNumber(TreeKey key) { return key.iteration * 65536U + key.index; }

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_TREE_BUILDER_H_
