/// The backends: where matrices lie, trees grow, and whole models predict.
#ifndef XGBGPU_BACKEND_BACKEND_H_
#define XGBGPU_BACKEND_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/host_cuts.h"
#include "backend/training_matrix.h"
#include "backend/tree_builder.h"
#include "predict/predictor.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/dataset.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/encode.h"
#include "xgbgpu/memory_limits.h"
#include "xgbgpu/process_devices.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

class DeviceArrays;  // backend/device_arrays.h
class DeviceBackend;

/// Makes matrices and tree builders in one kind of memory. All backends give the same bits.
/// docs/adr/0001-backend-interface.md
///
/// Any number of threads may call a backend at the same time.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Returns the backend of the host, which every build has.
  static Backend& Host();
  /// Returns the CUDA backend. Null, with the reason, in a build without CUDA and where no device can be used. Starts
  /// the CUDA driver.
  static DeviceBackend* Cuda(std::string* why_not = nullptr);
  /// Returns the backend for `wanted`. kAuto stands for CUDA where a device can be used. With several shards kAuto
  /// stands for the host: only the owner of the shards knows whether each has a device.
  ///
  /// Throws  Unsupported, with the reason (kCuda where Cuda() is null)
  static Backend& For(BackendKind wanted, Collective const* shards = nullptr);

  virtual BackendKind kind() const = 0;

  /// Finds cuts and bins of the rows at `place`, as Dataset::Build and Dataset::FromBinEdges say. If the place has
  /// several shards, all shards call it at the same time.
  ///
  /// Throws  InvalidArgument (the rows, no such device), Unsupported (no code for the device), errors of the stages
  virtual TrainingMatrix MakeMatrix(RowSource const& source, CutRequest const& wanted, Place const& place,
                                    int threads) const = 0;
  /// Bins the rows by cuts that fit them.
  virtual TrainingMatrix MakeMatrix(RowSource const& source, Cuts cuts, Place const& place, int threads) const = 0;
  /// Returns `matrix`, made by this backend, in a form for trainings within other limits. Returns nothing if its form
  /// fits them already.
  virtual std::optional<TrainingMatrix> MatrixWithin(TrainingMatrix const& matrix,
                                                     MemoryLimits const& limits) const = 0;

  /// Makes a builder on the rows of `shard`. All shards make one at the same time.
  ///
  /// In      matrix   this backend's, sorted columns, or, for CUDA, bins in host memory, which are copied to device 0
  ///         threads  of the host
  /// Throws  OutOfHostMemory, OutOfDeviceMemory, DeviceError
  virtual std::unique_ptr<TreeBuilder> MakeBuilder(TrainingMatrix const& matrix, Shard const& shard,
                                                   int threads) const = 0;
};

/// The backend of CUDA devices. It also declares work that the host does by other code. All calls throw DeviceError and
/// OutOfDeviceMemory.
class DeviceBackend : public Backend {
 public:
  /// Returns the CUDA backend of this build; null, with the reason, if there is none. Starts nothing.
  static DeviceBackend* OfBuild(std::string* why_not = nullptr);
  /// Returns the CUDA backend of this build. Starts nothing. Throws Unsupported in a build without it.
  static DeviceBackend& Get();

  // Devices. xgbgpu/devices.h has the contracts.

  /// Returns the reason why no device can be used; empty if a device can be used.
  virtual std::string WhyNotUsable() const = 0;
  virtual int CountDevices() const = 0;
  virtual std::vector<CudaDevice> Devices() const = 0;
  virtual std::vector<std::string> Architectures() const = 0;
  virtual bool IsInUse() const = 0;

  // Rows.

  /// Bins the rows of this process on place.device. All processes of `group` pass the same cuts. The rows of all
  /// processes decide the layout. All processes call it at the same time; if one fails, all throw.
  virtual TrainingMatrix MakeShard(RowSource const& source, Cuts cuts, Place const& place, Collective* group,
                                   int threads) const = 0;
  /// Reads bins back as rows of values: matrix/lower_ends.h.
  virtual void VisitLowerEnds(DeviceBins const& bins, std::uint64_t first, std::uint64_t count, int threads,
                              std::function<void(RowBatch const&)> const& visit) const = 0;
  virtual DeviceArrays const& arrays() const = 0;

  // Predictions.

  virtual std::unique_ptr<DevicePredictor> MakePredictor(Forest const& forest, int device) const = 0;
  /// Does the work of host::PredictContributions (predict/contributions.h) with rows streamed through a device. Writes
  /// nothing for rows that the source passes over (user_arrays/read_in_parts.h). After an error the contributions of
  /// some rows may have been written.
  virtual void PredictContributions(RowSource const& source, PathForest const& forest, std::size_t first,
                                    std::size_t last, bool approximate, ContributionsView out, int device,
                                    int threads) const = 0;
  /// Does the work of host::PredictInteractions (predict/interactions.h) in the same way.
  virtual void PredictInteractions(RowSource const& source, PathForest const& forest, std::size_t first,
                                   std::size_t last, InteractionsView out, int device, int threads) const = 0;

  // Groups of processes. xgbgpu/process_devices.h has the contracts.

  virtual WorkerPlace PlaceOf(Collective* group, int devices) const = 0;
  virtual bool CanMeet(Collective* group, int device, std::string* why_not) const = 0;
  virtual void Forget(Collective const* group) const = 0;
  virtual std::string Nccl(std::string* why_not) const = 0;

  // Categories as numbers. xgbgpu/encode.h has the contracts.

  virtual void OrderTargets(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                            double const* priors, StatisticsView statistics, CategoryTotals totals,
                            int device) const = 0;
  virtual std::uint32_t NumberKeys(Span<std::uint64_t const> keys, std::uint32_t* codes, int device) const = 0;
};

/// Returns the devices of a place, place.device first. Throws InvalidArgument unless place.devices is 1 or more.
std::vector<int> OrdinalsOf(Place const& place);

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_BACKEND_H_
