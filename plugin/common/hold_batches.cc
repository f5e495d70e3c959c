#include "hold_batches.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "device_arrays.h"
#include "driver/host_span.h"
#include "host/held_matrix.h"
#include "xgbgpu/error.h"

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
  batches->Reset();  // as XGBoost leaves the caller's iterator
  return new std::shared_ptr<xgboost::DMatrix>{
      std::make_shared<HeldBins>(std::move(taken.rows), std::move(taken.info), std::move(config), std::move(ref))};
}

}  // namespace xgbgpu::plugin
