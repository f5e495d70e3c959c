#include "hold_batches.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "adapt_input.h"
#include "device_arrays.h"
#include "driver/backend.h"
#include "driver/host_span.h"
#include "host/held_matrix.h"
#include "host/matrix_rows.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

namespace {

/// What a pass over the batches found.
struct Found {
  std::uint64_t rows{0};  ///< on a device
  std::size_t columns{0};
  int device{kHostMemory};
};

/// Returns nothing if the batches are for XGBoost. It stops there: a pass may be slow.
std::optional<Found> LookAt(Batches* batches) {
  Found found;
  bool is_first = true;
  batches->Reset();
  while (batches->Next()) {
    DeviceTable const* const table = batches->table();
    bool const is_one_of_host = table == nullptr && is_first && batches->arrays() != nullptr;
    bool const is_like_first = is_first || (table != nullptr && found.device != kHostMemory);
    if (!is_like_first || (table == nullptr && !is_one_of_host)) return {};
    if (table != nullptr) {
      if (is_first) found = {0, table->columns.size(), DeviceOfTable(*table)};
      found.rows += table->rows;
    }
    is_first = false;
  }
  return is_first ? std::optional<Found>{} : found;
}

/// The values of a matrix, and all else that it is made of.
struct Taken {
  std::shared_ptr<HeldRows const> rows;  ///< or null
  xgboost::MetaInfo info;
};

/// Rows, of which some columns are categories.
class TypedRows final : public RowSource {
 public:
  TypedRows(RowSource const& rows, std::vector<std::uint8_t> categorical)
      : rows_{rows}, categorical_{std::move(categorical)} {}

  std::uint64_t rows() const override { return rows_.rows(); }
  FeatureIndex features() const override { return rows_.features(); }
  Span<std::uint8_t const> categorical() const override { return categorical_; }
  std::optional<DenseValues> dense() const override { return rows_.dense(); }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { rows_.ForEachBatch(visit); }

 private:
  RowSource const& rows_;
  std::vector<std::uint8_t> categorical_;
};

/// Bins on a device, of which the values are the lower ends.
class BinnedRows final : public HeldRows {
 public:
  BinnedRows(std::shared_ptr<Dataset const> bins, int threads) : bins_{std::move(bins)}, threads_{threads} {}

  std::uint64_t rows() const override { return bins_->rows(); }
  FeatureIndex features() const override { return bins_->features(); }
  std::uint64_t present() const override { return bins_->stored(); }
  std::shared_ptr<Dataset const> bins() const override { return bins_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    VisitSome(0, rows(), threads_, visit);
  }
  void VisitSome(std::uint64_t first, std::uint64_t count, int threads,
                 std::function<void(RowBatch const&)> const& visit) const override {
    VisitLowerEnds(*bins_->device_matrix(), first, count, threads, visit);
  }
  std::unique_ptr<HeldRows> Slice(Span<std::int32_t const>, int) const override {
    throw Unsupported{"A QuantileDMatrix has no slices"};
  }

 private:
  std::shared_ptr<Dataset const> bins_;
  int threads_;
};

/// Makes bins of rows on a device, which then go. Returns the rows where there is no room for the bins, or no code for
/// the device.
std::shared_ptr<HeldRows const> Bin(std::shared_ptr<HeldRows const> rows, xgboost::MetaInfo const& info,
                                    BinsConfig const& config, int device) {
  int const threads = ThreadsOfMatrix(config.nthread);
  try {
    TypedRows const typed{*rows, CategoricalFeatures(info)};
    Place const place{BackendKind::kCuda, device};
    auto bins = Dataset::Build(typed, RowWeights(info), config.max_bin, threads, place);
    return std::make_shared<BinnedRows>(std::move(bins), threads);
  } catch (OutOfDeviceMemory const&) {
  } catch (Unsupported const&) {
  }
  return rows;
}

Taken TakeFromHost(Batches* batches, BinsConfig const& config) {
  Taken taken;
  if (!batches->Next() || batches->arrays() == nullptr) return taken;
  try {
    HostSpan span{"hold values"};
    taken.rows = HoldRows(*batches->arrays(), config.missing, ThreadsOfMatrix(config.nthread));
  } catch (InvalidArgument const&) {
    throw;
  } catch (std::exception const&) {  // no array interface, or no memory: stock code finds the same
  }
  if (taken.rows != nullptr) taken.info = std::move(*batches->info());
  return taken;
}

Taken TakeFromDevice(Batches* batches, BinsConfig const& config, Found const& found) {
  Taken taken;
  try {
    HeldDeviceRowsBuilder builder{found.device, found.rows, found.columns};
    bool is_first = true;
    while (batches->Next()) {
      if (batches->table() == nullptr) return taken;
      builder.Append(*batches->table(), config.missing);
      if (std::exchange(is_first, false)) {
        taken.info = std::move(*batches->info());
      } else {
        taken.info.Extend(*batches->info(), false, true);
      }
    }
    if (!is_first) taken.rows = builder.Finish();
  } catch (OutOfDeviceMemory const&) {  // the host may have room
  }
  return taken;
}

}  // namespace

DMatrixHandle HoldBatches(Batches* batches, BinsConfig config, std::shared_ptr<xgboost::DMatrix> ref) {
  if (!MayHoldBins(config, ref)) return nullptr;
  auto const found = LookAt(batches);
  if (!found) return nullptr;
  batches->Reset();
  Taken taken = found->device == kHostMemory ? TakeFromHost(batches, config) : TakeFromDevice(batches, config, *found);
  bool const fits =
      taken.rows != nullptr && FitsHeldBins(*taken.rows, taken.info, ref.get(), ThreadsOfMatrix(config.nthread));
  if (!fits) return nullptr;
  bool const is_binned_there = found->device != kHostMemory && ref == nullptr;
  if (is_binned_there) taken.rows = Bin(std::move(taken.rows), taken.info, config, found->device);
  batches->Reset();  // as XGBoost leaves the caller's iterator
  return new std::shared_ptr<xgboost::DMatrix>{
      std::make_shared<HeldBins>(std::move(taken.rows), std::move(taken.info), std::move(config), std::move(ref))};
}

}  // namespace xgbgpu::plugin
