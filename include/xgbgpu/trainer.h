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
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trace.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/tree_key.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

class DeviceRounds;  // src/backend/tree_builder.h
class ResidentRows;  // include/xgbgpu/resident_rows.h
class TreeBuilder;   // src/backend/tree_builder.h

/// Grows trees on one dataset. Not thread-safe; independent trainers may run at the same time.
class XGBGPU_API Trainer {
 public:
  /// A dataset on a device trains there: `backend` is kAuto or kCuda. One on the host trains there with kHost, or with
  /// kAuto where no device is usable; else it is copied to the first device.
  /// Throws Unsupported for a backend this build or machine does not have; InvalidArgument
  /// for kHost and a dataset on a device. One in pages trains on the host with kAuto, too; Unsupported for kCuda.
  Trainer(std::shared_ptr<Dataset const> data, BackendKind backend, int threads);
  ~Trainer();
  Trainer(Trainer const&) = delete;
  Trainer& operator=(Trainer const&) = delete;

  /// Grows one tree on `gradients` ([rows], finite).
  /// After an error the trainer can be used as if Grow had not been called, but it has no last tree.
  /// Throws InvalidArgument (parameters, wrong size, NaN or infinite gradient: row and value are named)
  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key);

  /// The leaf of the last tree that every training row falls into, sampled or not.
  /// Out  positions  [rows]; `sampled_out`, if not empty, [rows]: 1 where the row was not in the tree's sample
  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const;

  /// margins[i * stride] += node_values[leaf of row i in the last tree]; one float addition per row.
  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const;

  /// Margins, labels and gradients of the training rows, kept where the trainer trains; `outputs` margins a row. Null
  /// on the host backend. Must not outlive the trainer.
  std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs);
  /// Margins and labels of the rows of another matrix, to be evaluated between rounds. Their raw values are copied to
  /// the device. AddTrees adds trees that were kept; the caller takes care that it adds each only once. Null on the
  /// host backend.
  std::unique_ptr<ResidentRows> MakeResidentRows(RowSource const& source, std::uint32_t outputs);
  /// Keeps a tree on the device for these rows, which see trees in the order of KeepTree. Only where MakeResidentRows
  /// is not null.
  void KeepTree(Tree const& tree, std::uint32_t output);
  void ForgetTrees();
  std::size_t kept_trees() const;
  /// Grows one tree on the gradients that `rows` computed last, of this output. `rows` is of this trainer. Gradients
  /// serve until the margins or targets of `rows` change, or, with StartSpeculative, for all trees that were started:
  /// throws InvalidArgument if they are asked for later, and a tree on a sample had left it at those of its rows.
  Tree Grow(TrainParams const& params, ResidentRows* rows, std::uint32_t output, TreeKey key);
  /// Starts trees, at least one, for the Grows with the same arguments that come next, in this order. A device grows
  /// several at the same time where it can. Leaf values may be added to the margins in between; if another Grow comes
  /// instead, what is left of them is abandoned: nothing of it ever shows. Does nothing if just these trees are
  /// started.
  void StartSpeculative(TrainParams const& params, ResidentRows* rows, std::vector<RoundTree> const& trees);
  /// Cancels speculative trees, because their margins are about to change.
  void Abandon();
  /// After an objective with adaptive leaves (kAbsoluteError, src/objective/leaf_median.h): sets the leaves of the last
  /// tree, `tree`, from the margins that the gradients of `rows` were computed of. Waits.
  /// Throws InvalidArgument if the last gradients were another objective's, or a leaf would be NaN.
  void AdaptLeaves(Tree* tree, ResidentRows* rows);
  void AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output);

  /// From now on tells `file` when every stage of every tree ran; null ends that. Trees are grown more slowly
  /// meanwhile: stages are timed one by one.
  void Trace(std::shared_ptr<TraceFile> file);
  MemoryReport memory() const;
  /// The number changes whenever the answer of memory() does. Cost: a few instructions.
  std::uint64_t memory_version() const;
  /// Have the devices of several shards lost each other, so that no tree can be grown any more? All shards then make new
  /// trainers.
  bool lost() const;

  Dataset const& data() const { return *data_; }
  BackendKind backend() const { return backend_; }  ///< kHost or kCuda, never kAuto
  bool keeps_rows() const;                          ///< is MakeResidentRows not null?

 private:
  /// Throws Unsupported if trees grow on the host.
  DeviceRounds& Rounds() const;

  std::shared_ptr<Dataset const> data_;
  BackendKind backend_;
  std::unique_ptr<TreeBuilder> builder_;

  /// Trees that were started before they are asked for.
  struct SpeculativeTrees {
    TrainParams params;
    ResidentRows const* rows;
    std::vector<RoundTree> trees;
    std::size_t finished;  ///< how many of them Grow has returned
  };
  std::unique_ptr<SpeculativeTrees> speculative_;
  std::shared_ptr<TraceFile> trace_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_TRAINER_H_
