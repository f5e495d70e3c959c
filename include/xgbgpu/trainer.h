/// Trees on a dataset.
#ifndef XGBGPU_TRAINER_H_
#define XGBGPU_TRAINER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/dataset.h"
#include "xgbgpu/memory_report.h"
#include "xgbgpu/params.h"
#include "xgbgpu/resident_rows.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trace.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/tree_key.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Grows trees on one dataset. Not thread-safe; independent trainers may run at the same time.
class XGBGPU_API Trainer {
 public:
  /// A dataset on a device trains there. A dataset on the host trains on the host with kHost, or with kAuto where no
  /// device is usable. Otherwise its bins are copied to the first device. Bins in pages on the host train on the host.
  ///
  /// Throws  InvalidArgument (kHost for a dataset on a device), Unsupported (a backend that this build or machine does
  ///         not have, kCuda for pages on the host)
  Trainer(std::shared_ptr<Dataset const> data, BackendKind backend, int threads);
  ~Trainer();
  Trainer(Trainer const&) = delete;
  Trainer& operator=(Trainer const&) = delete;

  /// Grows one tree on `gradients` [rows], finite. An error leaves the trainer as it was, but without a last tree.
  ///
  /// Throws  InvalidArgument (parameters, size, a gradient that is not finite: names row and value)
  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key);

  /// Finds the leaf of each training row in the last tree.
  ///
  /// Out  positions    [rows]
  ///      sampled_out  [rows] or empty: 1 where the row was not in the sample of the tree
  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const;

  /// Adds node_values[leaf of row i in the last tree] to margins[i * stride]: one float addition a row.
  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const;

  /// Makes margins, labels and gradients of the training rows on the device, with `outputs` margins a row. Null on the
  /// host. The rows must not outlive the trainer.
  std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs);
  /// Makes margins and labels of the rows of another matrix, for evaluation between rounds. Copies their values to the
  /// device. The caller adds each kept tree once (ResidentRows::AddTrees). Null on the host.
  std::unique_ptr<ResidentRows> MakeResidentRows(RowSource const& source, std::uint32_t outputs);
  /// Keeps a tree on the device for resident rows, in the order of the calls. Throws Unsupported on the host.
  void KeepTree(Tree const& tree, std::uint32_t output);
  void ForgetTrees();
  std::size_t kept_trees() const;
  /// Grows one tree on the gradients of `output` that `rows`, which this trainer made, computed last. Gradients are
  /// valid until margins or targets of `rows` change, or for all trees of StartSpeculative.
  ///
  /// Throws  InvalidArgument (stale gradients after a tree on a sample), Unsupported on the host
  Tree Grow(TrainParams const& params, ResidentRows* rows, std::uint32_t output, TreeKey key);
  /// Starts one or more trees for the next calls of Grow with the same arguments, in this order. A device grows several
  /// trees at the same time. Leaf values may be added to margins in between. A different Grow cancels the trees that
  /// are left. Does nothing if the same trees are started already.
  void StartSpeculative(TrainParams const& params, ResidentRows* rows, std::vector<RoundTree> const& trees);
  /// Cancels speculative trees, because their margins are about to change.
  void Abandon();
  /// Sets the leaves of the last tree, `tree`, to medians of residuals (kAbsoluteError). The residuals are of the
  /// margins from which `rows` computed gradients last. Waits.
  ///
  /// Throws  InvalidArgument (gradients of another objective, a leaf would be NaN)
  void AdaptLeaves(Tree* tree, ResidentRows* rows);
  void AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output);

  /// Writes the times of all stages of trees to `file` from now on; null ends it. Timed trees grow more slowly, because
  /// stages run one by one.
  void Trace(std::shared_ptr<TraceFile> file);
  MemoryReport memory() const;
  /// Returns a number that changes whenever memory() does. Cost: a few instructions.
  std::uint64_t memory_version() const;
  /// Returns true if the devices of several shards have lost their connections. All shards then make new trainers.
  bool lost() const;

  Dataset const& data() const;
  BackendKind backend() const;  ///< kHost or kCuda, never kAuto
  bool keeps_rows() const;      ///< true if MakeResidentRows makes rows

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_TRAINER_H_
