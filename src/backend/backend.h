/// The seam between drivers and devices: all that a backend must do to grow a tree.
#ifndef XGBGPU_BACKEND_BACKEND_H_
#define XGBGPU_BACKEND_BACKEND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "matrix/matrix.h"
#include "xgbgpu/api.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/params.h"
#include "xgbgpu/process_devices.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trace.h"
#include "xgbgpu/trainer.h"
#include "xgbgpu/tree.h"

namespace xgbgpu {

class DeviceMatrix;   // matrix/device_matrix.h
struct SortedMatrix;  // exact/sorted_matrix.h
class ResidentRows;   // xgbgpu/resident_rows.h

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

/// Makes a host builder for a matrix that has all rows. trees_host/hist_host.h has the one for a shard.
std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(QuantisedMatrix const& matrix, int threads);
/// Makes a host builder of exact trees (exact/exact.h). Grow throws Unsupported for what ValidateExact refuses.
std::unique_ptr<TreeBuilder> MakeHostExactBuilder(std::shared_ptr<SortedMatrix const> matrix, int threads);

/// Returns the backend to use for `wanted`, which is never kAuto. Throws Unsupported if `wanted` is kCuda and there is
/// none.
BackendKind ResolveBackend(BackendKind wanted);

/// Returns the devices of a place, the first of them first. Throws InvalidArgument unless there are 1 or more.
std::vector<int> OrdinalsOf(Place const& place);

// A build without the CUDA backend throws Unsupported from all functions below.

/// Makes a builder on the matrix's device. The host uses `threads` threads for its part.
std::unique_ptr<TreeBuilder> MakeCudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads);
/// Makes a builder on the devices of several matrices, which are shards of one (shards/sharded_builder.h).
std::unique_ptr<TreeBuilder> MakeCudaTreeBuilder(std::vector<std::shared_ptr<DeviceMatrix const>> const& shards,
                                                 int threads);
/// Makes a builder on the device of this process, for the rows of this process. All processes of `place.collective`
/// make one at the same time (shards/group_builder.h).
std::unique_ptr<TreeBuilder> MakeGroupBuilder(std::shared_ptr<DeviceMatrix const> matrix, Shard const& place,
                                              int threads);
/// Deals `rows` rows, 1 or more, to at most so many shards, all of which have some. Returns the number of each shard's
/// first row, and `rows`. Shards begin at multiples of 2,048 rows: a block of random numbers or of a metric's sum
/// belongs to one of them.
std::vector<std::uint64_t> DealRows(std::uint64_t rows, std::size_t most_shards);

/// What datasets ask of a matrix on a device.
struct DeviceMatrixFacts {
  std::uint64_t rows;
  std::uint64_t stored;  ///< values that are not missing
  std::size_t bytes;
  Cuts const* cuts;  ///< lives as long as the matrix
  bool in_pages;
};
DeviceMatrixFacts FactsOf(DeviceMatrix const& matrix);

/// Reads rows of a matrix on a device back: matrix/lower_ends.h.
void VisitLowerEnds(DeviceMatrix const& matrix, std::uint64_t first, std::uint64_t count, int threads,
                    std::function<void(RowBatch const&)> const& visit);

/// Makes cuts and bins on a device as Dataset::Build does, or as Dataset::FromBinEdges does if max_bin is 0.
/// The bins are in pages if a training would take more than `memory` allows in core (matrix/paged_builder_cuda.h).
/// Throws InvalidArgument (no such device), Unsupported (no code for it), and what the stages throw.
std::shared_ptr<DeviceMatrix const> BuildDeviceMatrix(RowSource const& source, Span<float const> weights, int max_bin,
                                                      int device, int threads, MemoryLimits const& memory = {});

/// Bins the rows by these cuts. Throws as above.
std::shared_ptr<DeviceMatrix const> BuildDeviceMatrix(RowSource const& source, Cuts cuts, int device, int threads,
                                                      MemoryLimits const& memory = {});

/// Returns the matrix for trainings within other limits (matrix/paged_builder_cuda.h): itself, or one in pages.
std::shared_ptr<DeviceMatrix const> DeviceMatrixWithin(std::shared_ptr<DeviceMatrix const> matrix,
                                                       MemoryLimits const& limits);

/// Do what the two above do for several devices: rows are dealt to them in order (DealRows), as many as have some, and
/// all shards have the same cuts. An ordinal may come several times.
std::vector<std::shared_ptr<DeviceMatrix const>> BuildDeviceShards(RowSource const& source, Span<float const> weights,
                                                                   int max_bin, std::vector<int> const& devices,
                                                                   int threads, MemoryLimits const& memory = {});
std::vector<std::shared_ptr<DeviceMatrix const>> BuildDeviceShards(RowSource const& source, Cuts cuts,
                                                                   std::vector<int> const& devices, int threads,
                                                                   MemoryLimits const& memory = {});

/// Bins this process's rows by these cuts, which all processes of `group` have: with the layout that the rows of all
/// ask for. All call it at the same time; if one fails, all throw.
std::shared_ptr<DeviceMatrix const> BuildDeviceShard(RowSource const& source, Cuts cuts, int device, int threads,
                                                     Collective* group, MemoryLimits const& memory = {});

/// Makes a builder of exact trees on a device, to which it copies the columns.
std::unique_ptr<TreeBuilder> MakeCudaExactBuilder(std::shared_ptr<SortedMatrix const> matrix, int device, int threads);

/// Copies a matrix of the host to a device.
std::shared_ptr<DeviceMatrix const> CopyMatrixToDevice(QuantisedMatrix const& matrix, int device, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_BACKEND_H_
