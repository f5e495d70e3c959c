/// Grows trees on one matrix: the part of a backend that a training calls in every round.
#ifndef XGBGPU_BACKEND_TREE_BUILDER_H_
#define XGBGPU_BACKEND_TREE_BUILDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "xgbgpu/memory_report.h"
#include "xgbgpu/params.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trace.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/tree_key.h"

namespace xgbgpu {

class ResidentRows;  // xgbgpu/resident_rows.h

/// A device offers this beside trees: rounds whose margins and gradients stay on it.
/// docs/adr/0008-rounds-on-the-device.md
class DeviceRounds {
 public:
  virtual ~DeviceRounds() = default;

  /// Makes memory for the rows of the builder's own matrix, with `outputs` margins each. It must not outlive the
  /// builder.
  virtual std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs) = 0;
  /// Makes memory for the rows of another matrix, with their raw values. It must not outlive the builder. Waits.
  virtual std::unique_ptr<ResidentRows> MakeResidentRows(RowSource const& source, std::uint32_t outputs) = 0;
  /// The tree, of this output, becomes the last of those that ResidentRows::AddTrees adds.
  virtual void KeepTree(Tree const& tree, std::uint32_t output) = 0;
  virtual void ForgetTrees() = 0;
  virtual std::size_t kept_trees() const = 0;

  /// Begins trees, one or more, on the gradients that `rows`, made above, computed last: as many at the same time as is
  /// good for the device, the others as these are finished. Trees begun before are abandoned. Throws InvalidArgument if
  /// these gradients are not there any more (ResidentRows::ComputeGradients).
  /// docs/adr/0009-trees-in-lanes.md
  virtual void Begin(TrainParams const& params, ResidentRows* rows, std::vector<RoundTree> trees) = 0;
  /// Waits for the next of the trees begun, in their order: call it once for each. After an error the others can only
  /// be abandoned.
  virtual Tree FinishNext() = 0;
  /// Waits for the trees that were begun and are not finished, and forgets them.
  virtual void Abandon() noexcept = 0;
  /// The leaves of `tree`, which was finished last, become what the objective that `rows` computed gradients for wants
  /// them to be. Waits.
  virtual void AdaptLeaves(Tree* tree, ResidentRows* rows) = 0;
  /// Enqueues what TreeBuilder::AddLeafValues does, for the tree that was finished last and the margins of `rows`.
  virtual void AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output) = 0;
};

/// Grows trees on one matrix, on one kind of device.
///
/// A whole tree is one call: a device that knows beforehand what a tree may need enqueues all of it and waits once; how
/// levels follow one another is the backend's own (trees_host/hist_host.cc, trees_cuda/hist_levels_cuda.h). Memory that grows
/// with the data is taken in the constructor and, at most, between two stages.
///
/// Every implementation gives the same bits: sums are integers, formulas a fixed sequence of IEEE operations, draws a
/// function of (seed, tree, row). docs/adr/0001-backend-interface.md
///
/// From  Mitchell, Adinets, Rao, Frank, "XGBoost: Scalable GPU Accelerated Learning", arXiv:1806.11248, section 2
class TreeBuilder {
 public:
  virtual ~TreeBuilder() = default;

  /// Grows one tree on these gradients [rows], which are on the host. Throws InvalidArgument (gradients, params).
  virtual Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) = 0;

  // The next five calls do what those of the same names do in Trainer (xgbgpu/trainer.h).
  virtual void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const = 0;
  virtual void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const = 0;
  virtual void Trace(std::shared_ptr<TraceFile> file) = 0;
  virtual MemoryReport memory() const = 0;
  virtual std::uint64_t memory_version() const = 0;
  /// Trainer::lost
  virtual bool lost() const { return false; }
  /// Is null for a backend that works in host memory.
  virtual DeviceRounds* rounds() { return nullptr; }
};

/// Returns a number for each tree of a training. No number comes twice in 2^16 rounds of up to 2^16 trees each.
inline std::uint32_t TreeNumber(TreeKey key) { return key.iteration * 65536U + key.index; }

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_TREE_BUILDER_H_
