/// The engine's front door: quantise a matrix once, then grow trees on it.
#ifndef XGBGPU_TRAINER_H_
#define XGBGPU_TRAINER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/memory_limits.h"
#include "xgbgpu/params.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

class Collective;       // include/xgbgpu/collective.h
class SomeShards;       // include/xgbgpu/some_shards.h
class DeviceMatrix;     // src/matrix/device_matrix.h
class QuantisedMatrix;  // src/matrix/matrix.h
class PagedMatrix;      // src/matrix/paged_matrix.h
class DeviceRounds;     // src/backend/backend.h
class ResidentRows;     // include/xgbgpu/resident_rows.h
struct SortedMatrix;    // src/exact/sorted_matrix.h
class TraceFile;        // include/xgbgpu/trace.h
class TreeBuilder;      // src/backend/backend.h

/// Where a dataset lies: in host memory, or on CUDA devices.
struct Place {
  BackendKind backend{BackendKind::kHost};  ///< kAuto stands for kCuda or kHost, as CudaAvailable says
  int device{0};                            ///< kCuda: 0 … CudaDeviceCount() - 1, the first of `devices`
  /// Where the shards meet of which the rows are one; null: they are all. All shards build datasets, make trainers and
  /// grow trees at the same time, with the same parameters, and get the same cuts and trees. Must outlive the dataset.
  /// kCuda: the devices of the shards that have rows have found each other (DevicesCanMeet in backend/backend.h).
  Collective* shards{nullptr};
  /// kCuda: rows are dealt to so many devices, 1 or more, in order, or to fewer if rows are few. After the last device
  /// of the machine comes its first, so that one device can hold several shards. Every number gives the same bits.
  int devices{1};
  /// Bins are in pages if the training would take more in core; those of all shards are, if one's are.
  MemoryLimits memory{};
  /// Those of `shards` that have rows, where these train on devices and some have none; else null. A shard that has none
  /// is on kHost: it stands by, and gets the trees. Must outlive the dataset.
  SomeShards* with_rows{nullptr};
};

/// Rows as bin numbers, or columns in order: built once per training matrix, immutable, shared by any number of
/// trainers and threads.
class XGBGPU_API Dataset {
 public:
  /// Exact weighted quantiles of every column, then bins.
  ///
  /// In      source   any number of batches; read several times on the host; once on a device that the data fit
  ///         weights  [rows] or empty; >= 0, not NaN
  ///         max_bin  2 … kMaxBinLimit
  ///         threads  > 0; any number gives the same bits, and so does any place
  /// Cost    one radix sort per column
  /// Memory  at its peak 4 bytes (8 with weights) per stored value of the columns in flight, and the bins
  /// Throws  InvalidArgument (max_bin, weights, no rows on a device, no columns, infinite values, device);
  ///         Unsupported (kCuda where there is none); OutOfDeviceMemory, DeviceError
  static std::shared_ptr<Dataset const> Build(RowSource const& source, Span<float const> weights, int max_bin,
                                              int threads, Place place = {});

  /// From a source that holds bins already: every distinct value of a column is the lower end of one of its bins
  /// (XGBoost's QuantileDMatrix read through its public interface).
  static std::shared_ptr<Dataset const> FromBinEdges(RowSource const& source, int threads, Place place = {});

  /// With the cuts of other data, as a QuantileDMatrix that is made with `ref` has them. They are fitted to the rows:
  /// quantile/fit_cuts.h. The rows are read twice more than by Build.
  /// Throws  as Build; InvalidArgument (other columns than those of the cuts)
  static std::shared_ptr<Dataset const> BuildWithCuts(RowSource const& source, Cuts const& cuts, int threads,
                                                      Place place = {});

  /// The bins of a dataset that lies on devices, for trainings within other limits: in pages, if a training would take
  /// more in core. Without a limit bins in core stay there, and bins in pages never go back. Returns `data` itself if
  /// nothing is to be done.
  /// Throws  as PageStore (src/page/page_store.h); OutOfDeviceMemory, DeviceError
  static std::shared_ptr<Dataset const> Within(std::shared_ptr<Dataset const> data, MemoryLimits const& limits);

  /// Every column sorted, for exact trees (tree_method gpu_exact): there are no bins, every value is a threshold's
  /// neighbour. The columns lie on the host; a trainer on a device copies them there.
  ///
  /// Cost    one radix sort per column; 8 bytes per stored value, and the longest column once more for every thread
  /// Throws  InvalidArgument (no columns, a feature twice in a row, infinite values); Unsupported (kCuda where
  ///         there is none, and shards or several devices: a threshold may lie between rows of two)
  static std::shared_ptr<Dataset const> BuildSorted(RowSource const& source, int threads, Place place = {});

  ~Dataset();
  Dataset(Dataset const&) = delete;
  Dataset& operator=(Dataset const&) = delete;

  Place place() const { return place_; }  ///< never kAuto
  std::uint64_t rows() const { return rows_; }
  FeatureIndex features() const { return features_; }
  std::uint64_t stored() const { return stored_; }    ///< values that are not missing; only if not sorted()
  bool sorted() const { return sorted_ != nullptr; }  ///< made by BuildSorted
  std::size_t bytes() const { return bytes_; }        ///< memory held, where the dataset lies
  Cuts const& cuts() const { return *cuts_; }         ///< only if not sorted()
  /// Only if it lies on the host and is neither sorted() nor paged().
  QuantisedMatrix const& matrix() const { return *matrix_; }
  bool paged() const { return paged_ != nullptr; }              ///< on the host, with bins in pages on disk
  PagedMatrix const& paged_matrix() const { return *paged_; }   ///< only if paged()
  std::size_t working_bytes() const { return working_bytes_; }  ///< that a trainer on the host may take
  /// Those of consecutive rows, one on each device; empty if the dataset lies on the host or is sorted().
  std::vector<std::shared_ptr<DeviceMatrix const>> const& device_shards() const { return device_shards_; }
  /// Returns the only one; null if there is none, or there are several.
  std::shared_ptr<DeviceMatrix const> device_matrix() const {
    return device_shards_.size() == 1 ? device_shards_[0] : nullptr;
  }
  /// True if it lies on one device with bins in pages.
  bool in_device_pages() const;
  /// Calls visit(batch) for `count` rows from `first` on, read back from the one device where the dataset lies. The value
  /// of a bin is its lower end.
  /// Throws  as VisitLowerEnds in src/matrix/lower_ends.h
  void VisitLowerEnds(std::uint64_t first, std::uint64_t count, int threads,
                      std::function<void(RowBatch const&)> const& visit) const;
  /// Null unless sorted().
  std::shared_ptr<SortedMatrix const> const& sorted_matrix() const { return sorted_; }

 private:
  /// Makes the dataset of rows on the host, or of a shard of them on its device.
  static std::shared_ptr<Dataset const> Bin(RowSource const& source, Cuts cuts, Place const& place, int threads);
  /// Makes the dataset of this process's rows on its device, or, if it has none and others do, an empty one. The other
  /// shards are at place.shards.
  static std::shared_ptr<Dataset const> BinOwnShard(RowSource const& source, Cuts cuts, Place const& place,
                                                    int threads);
  /// Makes the dataset of rows on the host, in core or in pages.
  static std::shared_ptr<Dataset const> BinOnHost(RowSource const& source, Cuts cuts, Place const& place, int threads);

  Dataset(Place place, std::unique_ptr<QuantisedMatrix> matrix, std::size_t working_bytes);
  Dataset(Place place, std::unique_ptr<PagedMatrix> paged, std::size_t working_bytes);
  Dataset(Place place, std::vector<std::shared_ptr<DeviceMatrix const>> device_shards);
  Dataset(Place place, std::shared_ptr<SortedMatrix const> sorted);

  Place place_;
  std::unique_ptr<QuantisedMatrix const> matrix_;  // exactly one of these four is there
  std::unique_ptr<PagedMatrix const> paged_;
  std::vector<std::shared_ptr<DeviceMatrix const>> device_shards_;
  std::shared_ptr<SortedMatrix const> sorted_;
  std::uint64_t rows_{0};
  FeatureIndex features_{0};
  std::uint64_t stored_{0};
  std::size_t bytes_{0};
  std::size_t working_bytes_{0};
  Cuts const* cuts_{nullptr};  ///< those of the matrix; null if sorted()
};

/// Which tree of a training this is. With the seed, all that randomness depends on.
struct TreeKey {
  std::uint32_t iteration{0};  ///< boosting round, counted over continuations
  std::uint32_t index{0};      ///< tree inside the round: class × num_parallel_tree + tree
};
inline bool operator==(TreeKey a, TreeKey b) { return a.iteration == b.iteration && a.index == b.index; }

/// A tree that is grown on the gradients of one output of resident rows.
struct RoundTree {
  std::uint32_t output;
  TreeKey key;
};
inline bool operator==(RoundTree const& a, RoundTree const& b) { return a.output == b.output && a.key == b.key; }

/// Memory that a trainer holds where it trains, beside its dataset.
struct MemoryReport {
  struct Part {
    std::string name;
    std::size_t bytes;
  };
  /// Bins that are not in core.
  struct Pages {
    std::size_t count{0};         ///< 0: the bins are in core
    std::size_t on_device{0};     ///< of these, pages that stay where the training takes place
    std::size_t memory_bytes{0};  ///< of host memory
    std::size_t file_bytes{0};
    std::uint64_t copied_bytes{0};  ///< to where the training takes place, so far
  };
  std::size_t bytes{0};
  std::size_t peak_bytes{0};
  std::vector<Part> parts;  ///< what `bytes` are for
  Pages pages;
};

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

/// True if this build has the CUDA backend and a device that it has code for; `why_not` (optional) gets the reason
/// else. Starts the CUDA driver in this process: processes forked from then on cannot use CUDA.
XGBGPU_API bool CudaAvailable(std::string* why_not = nullptr);

/// CUDA devices that this process sees; 0 where CudaAvailable is false.
XGBGPU_API int CudaDeviceCount();

/// Has this process had memory of a CUDA device, so that its next use need not wait for the driver? A process that was
/// forked since has not.
XGBGPU_API bool CudaIsInUse();

}  // namespace xgbgpu

#endif  // XGBGPU_TRAINER_H_
