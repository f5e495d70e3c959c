// Makes a QuantileDMatrix of batches: of one batch on the host, or of all batches on a GPU.
#include "matrix/hold_batches.h"

#include <xgboost/logging.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/message.h"
#include "data/device_arrays.h"
#include "matrix/adapt_input.h"
#include "matrix/held_matrix.h"
#include "matrix/matrix_rows.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"
#include "xgbgpu/streamed_rows.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

namespace {

/// Findings of a first pass over the batches.
struct Found {
  StreamShape shape{kHostMemory, 0, {}};  ///< of batches on a device; a batch on the host has none
  xgboost::MetaInfo info{};               ///< labels, weights and all else but the values of all batches on a device

  bool on_device() const { return shape.device != kHostMemory; }
};

/// Returns nothing if the batches are for XGBoost. It stops as soon as that is known, because a pass may be slow.
std::optional<Found> LookAt(Batches* batches) {
  Found found;
  bool is_first = true;
  batches->Reset();
  while (batches->Next()) {
    DeviceTable const* const table = batches->table();
    bool const is_one_of_host = table == nullptr && is_first && batches->arrays() != nullptr;
    bool const is_like_first = is_first || (table != nullptr && found.on_device());
    if (!is_like_first || (table == nullptr && !is_one_of_host)) return {};
    if (table != nullptr) {
      auto const features = static_cast<FeatureIndex>(table->columns.size());
      if (is_first) {
        found.shape.device = DeviceOfTable(*table);
        found.shape.features = features;
        found.info = batches->TakeInfo();
      } else if (features != found.shape.features) {
        Throw<InvalidArgument>("Batch ", found.shape.table_rows.size(), " on a GPU has ", features,
                               " columns; batch 0 has ", found.shape.features, "; allowed: as many in every batch");
      } else {
        found.info.Extend(*batches->info(), false, true);
      }
      found.shape.table_rows.push_back(table->rows);
    }
    is_first = false;
  }
  if (is_first) return {};
  found.info.num_row_ = found.shape.rows();
  return found;
}

/// Rows with types of columns: some columns are categories.
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

/// Bins as rows. A value is the lower end of its bin.
class BinnedRows final : public HeldRows {
 public:
  BinnedRows(std::shared_ptr<Dataset const> bins, int threads)
      : rows_{bins->rows()},
        features_{bins->features()},
        present_{bins->stored()},
        threads_{threads},
        bins_{std::move(bins)} {}

  std::uint64_t rows() const override { return rows_; }
  FeatureIndex features() const override { return features_; }
  std::uint64_t present() const override { return present_; }
  std::shared_ptr<Dataset const> bins() const override {
    std::lock_guard<std::mutex> const lock{mutex_};
    return bins_;
  }
  std::shared_ptr<Dataset const> BinsWithin(MemoryLimits const& limits) const override {
    std::lock_guard<std::mutex> const lock{mutex_};
    auto within = Dataset::Within(bins_, limits);
    if (!bins_->in_pages()) bins_ = within;
    return within;
  }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    VisitSome(0, rows(), threads_, visit);
  }
  void VisitSome(std::uint64_t first, std::uint64_t count, int threads,
                 std::function<void(RowBatch const&)> const& visit) const override {
    bins()->VisitLowerEnds(first, count, threads, visit);
  }
  std::unique_ptr<HeldRows> Slice(Span<std::int32_t const>, int) const override {
    throw Unsupported{"A QuantileDMatrix has no slices"};
  }

 private:
  std::uint64_t rows_;
  FeatureIndex features_;
  std::uint64_t present_;
  int threads_;
  mutable std::mutex mutex_;  ///< of the bins, which may be moved to pages
  mutable std::shared_ptr<Dataset const> bins_;
};

/// The batches of a caller. While the caller runs, the device is current that was current when this was made.
class BatchTables final : public TableStream {
 public:
  explicit BatchTables(Batches* batches) : batches_{batches} {}

  void Restart() override {
    device_.Call([&] { batches_->Reset(); });
  }
  DeviceTable const* Next() override {
    bool more = false;
    device_.Call([&] { more = batches_->Next(); });
    if (!more) return nullptr;
    if (batches_->table() != nullptr) return batches_->table();
    throw InvalidArgument{
        "A batch that was on a GPU in the first pass over an iterator is on the host now; allowed: an iterator that "
        "gives the same batches in every pass"};
  }

 private:
  Batches* batches_;
  CallersDevice device_;
};

/// Arguments and findings that a matrix of batches on a device is made of.
struct Plan {
  BinsConfig const& config;
  Found const& found;
  std::shared_ptr<xgboost::DMatrix> const& ref;

  int threads() const { return ThreadsOfMatrix(config.nthread); }
  bool Fits(RowSource const& rows) const { return FitsHeldBins(rows, found.info, ref.get(), threads()); }
  /// Makes bins of the rows, by the cuts of `ref` if there is one.
  std::shared_ptr<HeldRows const> Bin(RowSource const& rows) const {
    Place const place{BackendKind::kCuda, found.shape.device};
    auto bins = ref == nullptr ? Dataset::Build(rows, RowWeights(found.info), config.max_bin, threads(), place)
                               : BuildWithBinsOf(ref, rows, threads(), place);
    return std::make_shared<BinnedRows>(std::move(bins), threads());
  }
};

std::shared_ptr<HeldRows const> TakeFromHost(Batches* batches, BinsConfig const& config,
                                             std::shared_ptr<xgboost::DMatrix> const& ref, xgboost::MetaInfo* info) {
  batches->Reset();
  if (!batches->Next() || batches->arrays() == nullptr) return nullptr;
  std::shared_ptr<HeldRows const> rows;
  int const threads = ThreadsOfMatrix(config.nthread);
  try {
    HostSpan span{"hold values"};
    rows = HoldRows(*batches->arrays(), config.missing, threads);
  } catch (InvalidArgument const&) {
    throw;
  } catch (std::exception const&) {  // no array interface, or no memory: stock code finds the same
  }
  if (rows == nullptr) return nullptr;
  *info = batches->TakeInfo();
  return FitsHeldBins(*rows, *info, ref.get(), threads) ? rows : nullptr;
}

/// Copies the values of all batches to rows on their device. Without `ref` bins are made of them, and they go.
std::shared_ptr<HeldRows const> TakeFromDevice(Batches* batches, Plan const& plan) {
  std::shared_ptr<HeldRows const> rows;
  try {
    StreamShape const& shape = plan.found.shape;
    HeldDeviceRowsBuilder builder{shape.device, shape.rows(), shape.features};
    batches->Reset();
    while (batches->Next()) {
      if (batches->table() == nullptr) return nullptr;
      builder.Append(*batches->table(), plan.config.missing);
    }
    rows = builder.Finish();
  } catch (OutOfDeviceMemory const&) {  // the host may have room
  }
  if (rows == nullptr || !plan.Fits(*rows)) return nullptr;
  if (plan.ref != nullptr) return rows;
  try {
    return plan.Bin(TypedRows{*rows, CategoricalFeatures(plan.found.info)});
  } catch (OutOfDeviceMemory const&) {  // no room for the bins
  } catch (Unsupported const&) {        // no code for the device
  }
  return rows;
}

/// Makes bins of batches that are never there all at once. Null where there is no code for the device, or no room.
std::shared_ptr<HeldRows const> Stream(Batches* batches, Plan const& plan, StreamPolicy const& policy) {
  BatchTables tables{batches};
  StreamedRows const rows{&tables, plan.found.shape, plan.config.missing, CategoricalFeatures(plan.found.info), policy};
  try {
    CheckRoomForStream(plan.found.shape, policy);
    return plan.Fits(rows) ? plan.Bin(rows) : nullptr;
  } catch (OutOfDeviceMemory const& error) {
    LOG(WARNING) << "xgboost-gpu: batches on a GPU are binned on the host: " << error.what();
  } catch (Unsupported const&) {
  }
  return nullptr;
}

}  // namespace

DMatrixHandle HoldBatches(Batches* batches, BinsConfig config, std::shared_ptr<xgboost::DMatrix> ref,
                          StreamPolicy const& policy) {
  if (!MayHoldBins(config, ref)) return nullptr;
  auto found = LookAt(batches);
  if (!found) return nullptr;
  Plan const plan{config, *found, ref};
  auto rows = !found->on_device()                ? TakeFromHost(batches, config, ref, &found->info)
              : MustStream(found->shape, policy) ? Stream(batches, plan, policy)
                                                 : TakeFromDevice(batches, plan);
  if (rows == nullptr) return nullptr;
  batches->Reset();  // as XGBoost leaves the caller's iterator
  return new std::shared_ptr<xgboost::DMatrix>{
      std::make_shared<HeldBins>(std::move(rows), std::move(found->info), std::move(config), std::move(ref))};
}

void HoldBesideBins(Batches* batches, BinsConfig config, std::shared_ptr<xgboost::DMatrix> ref, DMatrixHandle made) {
  auto& matrix = *static_cast<std::shared_ptr<xgboost::DMatrix>*>(made);
  if (!MayHoldBins(config, ref)) return;
  std::shared_ptr<HeldRows const> rows = batches->TakeRecorded();
  // The columns of another worker's rows may be more.
  bool const fits = rows != nullptr && rows->rows() == matrix->Info().num_row_ &&
                    FitsHeldBins(*rows, matrix->Info(), nullptr, ThreadsOfMatrix(config.nthread));
  if (fits) matrix = std::make_shared<HeldBins>(std::move(rows), matrix, std::move(config), std::move(ref));
}

DMatrixHandle BinAtOnce(Batches* batches, BinsConfig config, Place const& place) {
  if (XGCommunicatorGetWorldSize() > 1) return nullptr;
  if (!MayHoldBins(config, nullptr)) return nullptr;
  batches->Reset();
  if (!batches->Next() || batches->arrays() == nullptr) return nullptr;
  int const threads = ThreadsOfMatrix(config.nthread);
  HostSpan span{"bin values"};
  auto const rows = ViewRows(*batches->arrays(), config.missing, threads);
  if (rows == nullptr || !FitsHeldBins(*rows, *batches->info(), nullptr, threads)) return nullptr;
  xgboost::MetaInfo info = batches->TakeInfo();
  auto bins =
      Dataset::Build(TypedRows{*rows, CategoricalFeatures(info)}, RowWeights(info), config.max_bin, threads, place);
  LOG(INFO) << "xgboost-gpu: the array of " << rows->rows() << " rows and " << rows->features()
            << " columns is binned where it lies";
  batches->Reset();
  return new std::shared_ptr<xgboost::DMatrix>{std::make_shared<HeldBins>(
      std::make_shared<BinnedRows>(std::move(bins), threads), std::move(info), std::move(config), nullptr)};
}

}  // namespace xgbgpu::plugin
