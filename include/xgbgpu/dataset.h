/// Rows in the form that trees grow on.
#ifndef XGBGPU_DATASET_H_
#define XGBGPU_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "xgbgpu/api.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/memory_limits.h"
#include "xgbgpu/params.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/some_shards.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The memory of a dataset: host memory, or memory of CUDA devices.
struct Place {
  BackendKind backend{BackendKind::kHost};  ///< kAuto stands for kCuda or kHost, as CudaAvailable says
  int device{0};                            ///< first CUDA device: 0 … CudaDeviceCount() - 1
  /// The communicator of all shards. Null: this dataset holds all rows. All shards build datasets, make trainers and
  /// grow trees at the same time, with the same parameters, and get the same cuts and trees. Must outlive the dataset.
  /// With kCuda the devices of all shards with rows are connected (DevicesCanMeet).
  Collective* shards{nullptr};
  /// Number of CUDA devices that the rows are dealt to in order, 1 or more. Few rows go to fewer devices. The first
  /// device of the machine follows the last, so that one device can hold several shards. Every number gives the same
  /// bits.
  int devices{1};
  /// Limits of the training. Bins that leave too little memory for it are in pages; if the bins of one shard are, the
  /// bins of all shards are.
  MemoryLimits memory{};
  /// Subset of `shards` with at least one row; null if every shard has rows or the shards train on the host. A shard
  /// without rows has kHost, stands by, and gets the trees. Must outlive the dataset.
  SomeShards* with_rows{nullptr};
};

/// The bins, or the sorted columns, of one training matrix. A dataset is immutable. Trainers and threads share it.
///
/// Functions that make a dataset take `threads` threads of the host, 1 or more, and any number gives the same bits.
/// They throw InvalidArgument (threads, infinite values, no columns, no such device), Unsupported (kCuda where there is
/// none), OutOfDeviceMemory, DeviceError, and for bins in pages the errors of files in place.memory.cache_folder.
class XGBGPU_API Dataset {
 public:
  /// Finds the exact weighted quantiles of every column, then bins the values.
  ///
  /// In      source   any number of batches; read several times on the host, once on a device that the data fit
  ///         weights  [rows] or empty; >= 0, not NaN
  ///         max_bin  2 … kMaxBinLimit
  /// Same    in every place
  /// Cost    one radix sort per column
  /// Memory  at its peak 4 bytes (8 with weights) per stored value of the columns in flight, and the bins
  /// Throws  InvalidArgument (max_bin, weights, no rows on a device)
  static std::shared_ptr<Dataset const> Build(RowSource const& source, Span<float const> weights, int max_bin,
                                              int threads, Place place = {});

  /// Takes the bins of a source that holds bins already: every distinct value of a column is the lower end of one bin.
  /// XGBoost's QuantileDMatrix looks so through its public interface.
  static std::shared_ptr<Dataset const> FromBinEdges(RowSource const& source, int threads, Place place = {});

  /// Bins the rows by the cuts of other data, extended to the rows: min_values decrease to their values, and
  /// categorical features get bins for new categories. A QuantileDMatrix with `ref` has such bins.
  ///
  /// Cost    reads the rows twice more than Build
  /// Throws  InvalidArgument (the cuts have other columns), Unsupported (several shards)
  static std::shared_ptr<Dataset const> BuildWithCuts(RowSource const& source, Cuts const& cuts, int threads,
                                                      Place place = {});

  /// Sorts every column, for exact trees (tree_method=gpu_exact). There are no bins: a threshold may lie between any
  /// two values. The columns lie in host memory; a trainer on a device copies them there.
  ///
  /// Cost    one radix sort per column; 8 bytes per stored value, and the longest column once more for every thread
  /// Throws  InvalidArgument (a feature twice in a row), Unsupported (several shards, several devices, a limit of
  ///         memory)
  static std::shared_ptr<Dataset const> BuildSorted(RowSource const& source, int threads, Place place = {});

  /// Returns a dataset with the bins of `data` for trainings within other limits. Bins on a device move to pages if a
  /// training would take more in core. Bins in pages never go back to core. Returns `data` itself if nothing changes,
  /// as on the host.
  static std::shared_ptr<Dataset const> Within(std::shared_ptr<Dataset const> data, MemoryLimits const& limits);

  ~Dataset();
  Dataset(Dataset const&) = delete;
  Dataset& operator=(Dataset const&) = delete;

  Place const& place() const;  ///< never kAuto
  std::uint64_t rows() const;
  FeatureIndex features() const;
  std::uint64_t stored() const;  ///< values that are not missing
  std::size_t bytes() const;     ///< memory held, where the dataset lies
  int devices() const;           ///< number of CUDA devices, or shards on devices, that hold bins; 0 on the host
  bool sorted() const;           ///< made by BuildSorted
  bool in_pages() const;         ///< bins are in pages, of the host or of devices
  Cuts const& cuts() const;      ///< without features if sorted()

  /// Reads rows first … first + count - 1 back from bins on devices, or in memory of the host. The batches number the
  /// rows from 0. Each value becomes the lower end of its bin; the end lies in this bin. In the first bin of a feature
  /// it becomes a number just above min_value. A category stays itself. Missing values are not stored.
  ///
  /// Cost    copies the bins once; 12 bytes on the host for each of at most 2^21 values, or of one row
  /// Throws  Unsupported (no bins, bins of the host in pages), DeviceError
  void VisitLowerEnds(std::uint64_t first, std::uint64_t count, int threads,
                      std::function<void(RowBatch const&)> const& visit) const;

  // For the engine.
  struct Impl;
  explicit Dataset(std::unique_ptr<Impl const> impl);
  Impl const& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl const> impl_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_DATASET_H_
