/// Boosting rounds with margins, targets and gradients that stay on a device.
#ifndef XGBGPU_RESIDENT_ROWS_H_
#define XGBGPU_RESIDENT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/leaf_columns.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/params.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/tree_key.h"
#include "xgbgpu/vector_tree.h"

namespace xgbgpu {

class ResidentRounds;

/// Margins, targets and gradients of the rows of one data set, for training or evaluation. ResidentRounds makes the
/// rows and must outlive them. Calls enqueue work on a stream of the trainer's device and return at once, unless they
/// say that they wait.
///
/// While has_columns(), leaf values become new columns, and margins are the weighted sum of the last WeighColumns.
///
/// Throws  DeviceError, OutOfDeviceMemory from any call; InvalidArgument from SetMargins and CopyMargins, if there is not
///         one margin for each row and output
class XGBGPU_API ResidentRows : public LeafColumns {
 public:
  /// Copies margins [rows, outputs], row-major, from host memory. Ends columns. Waits.
  virtual void SetMargins(Span<float const> margins) = 0;
  /// Sets the margins of all rows to one value for each output, on the device. `margins`: [outputs], or [1] for all of
  /// them. Ends columns.
  virtual void SetEqualMargins(Span<float const> margins) = 0;
  /// Copies labels and weights from host memory. CheckTargets must accept them. Waits.
  virtual void SetTargets(TargetView const& targets) = 0;

  /// Exchanges bounds of margins and targets among the processes of a group. All processes call it at the same time:
  /// after margins or targets were set in any process, and before the next gradients. Rows of a single process need no
  /// call. Waits.
  virtual void ShareBounds() {}
  /// Returns false if margins or targets were set since the last ShareBounds.
  virtual bool bounds_are_shared() const { return true; }

  /// Takes the memory without which ComputeGradients and AdaptLeaves would fail while other processes wait for them, if
  /// this objective makes them exchange numbers. Targets must be set.
  virtual void ReserveGradients(ObjectiveParams const& /*objective*/) {}
  /// Computes gradients from margins and targets, which must be set, for the trees that are started next. They are
  /// valid until margins or targets change, and for all trees that are started together. Trees may compute them later,
  /// so they cannot be had after a change of margins or targets.
  virtual void ComputeGradients(ObjectiveParams const& objective) = 0;
  /// Returns the losses for NextBiases, [4 × positions], which the last ComputeGradients has added up over the rows.
  /// Its objective has biases of `positions` positions. Waits.
  virtual std::vector<std::int64_t> PositionLosses(std::size_t positions) = 0;

  /// Adds the leaf values of kept trees first … last - 1 (ResidentRounds::KeepTree). Only for rows that were made with
  /// values.
  virtual void AddTrees(std::size_t first, std::size_t last) = 0;

  /// Returns the metric of the predictions that the objective makes of the margins. Targets must be set. Input and
  /// errors: as host::Evaluate (xgbgpu/metric.h). Waits.
  virtual double Evaluate(ObjectiveParams const& objective, MetricParams const& metric) = 0;
  /// Takes the memory of predictions, without which EvaluateInGroup would fail while other processes wait for it.
  virtual void ReservePredictions() {}
  /// Takes the memory that EvaluateInGroup with this `shared` relies on. All processes had it at an earlier evaluation.
  /// Returns false if there is too little now.
  virtual bool ReserveShared(SharedRows const& /*shared*/) { return true; }
  /// Returns metrics of the rows of all processes of a group. Each process calls this or host::Evaluate for its own
  /// rows, all at the same time, after ReservePredictions. `targets` are the targets of SetTargets, in host memory.
  /// `shared` as in host::Evaluate of several metrics.
  virtual std::vector<double> EvaluateInGroup(ObjectiveParams const& objective, Span<MetricParams const> metrics,
                                              TargetView const& targets, int threads, Collective* group,
                                              Span<SharedRows* const> shared);

  // Trees on the gradients computed last. The rows must be the trainer's own.

  /// Grows one tree for this output. Waits. After an error all other started trees are cancelled.
  /// Throws  InvalidArgument (parameters; a gradient that is not finite; margins or targets have changed since
  ///         ComputeGradients, unless the tree was started before)
  Tree Grow(TrainParams const& params, std::uint32_t output, TreeKey key);
  /// Starts trees, at least one, for the calls of Grow that come next with the same arguments in this order. A device
  /// grows several trees at the same time where it can. Leaf values may be added to the margins in between. Cancels
  /// trees that were started before, unless they are the same trees and none has been asked for. Another Grow cancels
  /// the rest of the trees, and no effect of them shows.
  /// Throws  as Grow
  void Start(TrainParams const& params, std::vector<RoundTree> const& trees);
  /// Sets the leaves of `tree`, the last tree of this output, for an objective with adaptive leaves (AdaptsLeaves).
  /// Uses the margins that the gradients were computed from. Waits.
  /// Throws  InvalidArgument (the gradients are another objective's; a leaf would be NaN)
  virtual void AdaptLeaves(Tree* tree, std::uint32_t output) = 0;
  /// Adds node_values [nodes of the tree grown last] of every row's leaf to the margins of this output.
  virtual void AddLeafValues(Span<float const> node_values, std::uint32_t output) = 0;

  /// Grows one tree of vectors, of all outputs. Waits.
  /// Throws  as Grow; Unsupported if trees of vectors grow on the host only (docs/adr/0043-vector-leaves.md)
  VectorTree GrowVectors(TrainParams const& params, TreeKey key);
  /// Adds the leaf values of the tree that was grown last, one of vectors, to the margins. Without columns.
  virtual void AddVectorLeaves(VectorTree const& tree) {
    for (std::uint32_t k = 0; k < tree.outputs; ++k) AddLeafValues(tree.LeafValues(k), k);
  }

 private:
  virtual ResidentRounds& rounds() = 0;
  /// Begins one or more trees. The device decides how many grow at the same time. Abandons trees that began before.
  virtual void Begin(TrainParams const& params, std::vector<RoundTree> trees) = 0;
  /// Waits for the next of the trees begun, in their order. After an error the rest of the trees can only be abandoned.
  virtual Tree FinishNext() = 0;
  /// Does the work of GrowVectors, when no other tree is under way.
  virtual VectorTree MakeVectors(TrainParams const& params, TreeKey key);
};

/// The rounds of one trainer on its device. Not thread-safe. docs/adr/0008-rounds-on-the-device.md
class XGBGPU_API ResidentRounds {
 public:
  virtual ~ResidentRounds();

  /// Makes memory for the trainer's own rows, with `outputs` margins each.
  virtual std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs) = 0;
  /// Makes memory for the rows of another matrix, to be evaluated between rounds, and copies their values to the
  /// device. Waits.
  virtual std::unique_ptr<ResidentRows> MakeResidentRows(RowSource const& source, std::uint32_t outputs) = 0;
  /// Returns the least rows of another matrix that are worth the device. Below this the host is done with a tree before
  /// a kernel has begun.
  virtual std::uint64_t least_evaluated_rows() const { return 1001; }

  /// Keeps a tree of this output on the device, behind the trees kept before, for ResidentRows::AddTrees.
  virtual void KeepTree(Tree const& tree, std::uint32_t output) = 0;
  virtual void ForgetTrees() = 0;
  virtual std::size_t kept_trees() const = 0;

  /// Cancels the trees that were started and not asked for, because their margins are about to change.
  void Cancel() noexcept;

 private:
  friend class ResidentRows;

  /// Waits for the trees that were begun and are not finished, and forgets them.
  virtual void Abandon() noexcept = 0;

  /// Trees that were started before they are asked for.
  struct Started {
    TrainParams params;
    ResidentRows const* rows;
    std::vector<RoundTree> trees;
    std::size_t finished;  ///< number of trees that Grow has returned
  };
  std::optional<Started> started_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_RESIDENT_ROWS_H_
