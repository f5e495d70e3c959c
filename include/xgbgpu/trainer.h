/// Trees on a dataset.
#ifndef XGBGPU_TRAINER_H_
#define XGBGPU_TRAINER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "xgbgpu/api.h"
#include "xgbgpu/dataset.h"
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

/// Grows trees on one dataset. Not thread-safe; independent trainers may run at the same time.
///
/// All calls hold on every backend. They throw OutOfHostMemory, and on a device OutOfDeviceMemory and DeviceError.
class XGBGPU_API Trainer {
 public:
  /// Trains where the dataset lies. With kCuda, and with kAuto if a device can be used, a dataset in host memory is
  /// copied to the first device, unless it is in pages or one of several shards.
  ///
  /// In      backend  kAuto, kCuda for a dataset on a device; kAuto, kHost, kCuda for a dataset on the host
  ///         threads  of the host, 1 or more; any number gives the same bits
  /// Throws  InvalidArgument (threads; kHost for a dataset on a device); Unsupported (kCuda where there is none, and
  ///         for pages and shards in host memory)
  Trainer(std::shared_ptr<Dataset const> data, BackendKind backend, int threads);
  ~Trainer();
  Trainer(Trainer const&) = delete;
  Trainer& operator=(Trainer const&) = delete;

  /// Grows one tree on `gradients` [rows], finite, in host memory. Cancels trees that were started on resident rows.
  /// After an error the trainer can be used as if Grow had not been called, but it has no last tree.
  /// Throws  InvalidArgument (parameters, wrong size, NaN or infinite gradient: row and value are named)
  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key);

  /// Grows one tree of vectors on `gradients` [rows, outputs], finite, in host memory: one split of a node serves all
  /// outputs, and its gain is the sum of their gains. min_child_weight counts for the mean of their hessians. Otherwise
  /// as Grow. docs/adr/0043-vector-leaves.md
  /// Throws  as Grow; Unsupported on a device, for exact trees, and for grow_policy kSymmetric and samples by gradients
  VectorTree GrowVectors(TrainParams const& params, Span<GradientPair const> gradients, std::uint32_t outputs,
                         TreeKey key);

  /// Writes the leaf of the last tree that every training row falls into, sampled or not.
  /// Out     positions    [rows]
  ///         sampled_out  [rows] or empty: 1 where the row was not in the tree's sample
  /// Throws  InvalidArgument (wrong size, no last tree)
  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const;

  /// margins[i * stride] += node_values[leaf of row i in the last tree], in host memory; one float addition a row.
  /// Throws  InvalidArgument (wrong size, no last tree)
  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const;

  /// Writes the time of every stage of every tree to `file` from now on; null ends that. Cancels started trees. Trees
  /// grow more slowly meanwhile: stages are timed one by one.
  void Trace(std::shared_ptr<TraceFile> file);

  MemoryReport memory() const;
  /// Returns a number that changes with the answer of memory(). Cost: a few instructions.
  std::uint64_t memory_version() const;
  /// Returns true if the devices of several shards have lost each other. No tree can be grown then, and all shards make
  /// new trainers.
  bool lost() const;

  Dataset const& data() const;
  BackendKind backend() const;  ///< never kAuto
  /// Returns the rounds with rows on the trainer's device. They live as long as the trainer. Null if margins stay in
  /// host memory: on the host, and in a group of processes if some have no rows or their devices differ in kind.
  ResidentRounds* rounds() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_TRAINER_H_
