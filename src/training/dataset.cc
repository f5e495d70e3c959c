// Makes datasets: cuts on the host or on devices, bins at a place, sorted columns.
#include "xgbgpu/dataset.h"

#include <utility>

#include "base/host_memory.h"
#include "base/message.h"
#include "exact/sorted_matrix.h"
#include "quantile/fit_cuts.h"
#include "quantile/quantile.h"
#include "shards/some_shards_builder.h"
#include "training/dataset_storage.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

void CheckThreads(int threads) {
  if (threads < 1) Throw<InvalidArgument>("The number of threads is ", threads, "; allowed: 1 or more");
}

std::shared_ptr<Dataset const> MakeShared(Place place, TrainingMatrix matrix) {
  return std::make_shared<Dataset const>(
      std::make_unique<Dataset::Impl const>(Dataset::Impl{std::move(place), std::move(matrix)}));
}

/// Makes the matrix of a shard where some shards have no rows. Shards with rows bin on their devices; the others get an
/// empty matrix of the host.
TrainingMatrix MakeMatrixOfSome(RowSource const& source, CutRequest const& wanted, Place const& place, int threads) {
  Cuts cuts = FindCutsOnHost(source, wanted, place, threads);
  std::optional<TrainingMatrix> matrix;
  place.with_rows->Together(
      [&] { matrix = DeviceBackend::Get().MakeShard(source, std::move(cuts), place, place.with_rows, threads); });
  AllOrNone(place.with_rows->all(), [&] {
    if (!matrix) matrix = TrainingMatrix{HostBins{host::QuantiseMatrix(source, std::move(cuts), threads), 0}};
  });
  return std::move(*matrix);
}

std::shared_ptr<Dataset const> MakeDataset(RowSource const& source, CutRequest const& wanted, Place place,
                                           int threads) {
  Backend const& backend = Backend::For(place.backend, place.shards);
  place.backend = backend.kind();
  TrainingMatrix matrix = place.with_rows != nullptr ? MakeMatrixOfSome(source, wanted, place, threads)
                                                     : backend.MakeMatrix(source, wanted, place, threads);
  return MakeShared(std::move(place), std::move(matrix));
}

}  // namespace

Dataset::Dataset(std::unique_ptr<Impl const> impl) : impl_{std::move(impl)} {}
Dataset::~Dataset() = default;

std::shared_ptr<Dataset const> Dataset::Build(RowSource const& source, Span<float const> weights, int max_bin,
                                              int threads, Place place) {
  CheckThreads(threads);
  ValidateMaxBin(max_bin);
  return MakeDataset(source, {max_bin, weights}, std::move(place), threads);
}

std::shared_ptr<Dataset const> Dataset::FromBinEdges(RowSource const& source, int threads, Place place) {
  CheckThreads(threads);
  return MakeDataset(source, {0, {}}, std::move(place), threads);
}

std::shared_ptr<Dataset const> Dataset::BuildWithCuts(RowSource const& source, Cuts const& cuts, int threads,
                                                      Place place) {
  CheckThreads(threads);
  if (IsSharded(place)) {
    Throw<Unsupported>("The rows share the bins of other data (ref) and are in ", place.shards->shards(),
                       " shards; allowed with shards: data with bins of their own");
  }
  Backend const& backend = Backend::For(place.backend);
  place.backend = backend.kind();
  Cuts fitting = WithMemoryFor("quantiles of the data", [&] { return FitCuts(cuts, source, threads); });
  TrainingMatrix matrix = backend.MakeMatrix(source, std::move(fitting), place, threads);
  return MakeShared(std::move(place), std::move(matrix));
}

std::shared_ptr<Dataset const> Dataset::BuildSorted(RowSource const& source, int threads, Place place) {
  CheckThreads(threads);
  if (IsSharded(place)) {
    Throw<Unsupported>("Exact trees (tree_method=gpu_exact) need all rows in one place, and these are in ",
                       place.shards->shards(), " shards; tree_method=gpu_hist grows trees on shards");
  }
  if (place.devices != 1) {
    Throw<Unsupported>(
        "Exact trees (tree_method=gpu_exact) need all rows in one place, and the rows are to be dealt to ",
        place.devices, " devices (n_gpus); allowed: 1. tree_method=gpu_hist trains on several");
  }
  if (place.memory.training_bytes != 0) {
    Throw<Unsupported>("Exact trees (tree_method=gpu_exact) need all columns in memory, and gpu_memory_limit is ",
                       place.memory.training_bytes,
                       " bytes; allowed: 0 (no limit). tree_method=gpu_hist trains on pages");
  }
  place.backend = Backend::For(place.backend).kind();
  auto sorted = WithMemoryFor("sorted columns of the data", [&] { return host::SortColumns(source, threads); });
  TrainingMatrix matrix{SortedColumns{std::move(sorted), place.device}};
  return MakeShared(std::move(place), std::move(matrix));
}

std::shared_ptr<Dataset const> Dataset::Within(std::shared_ptr<Dataset const> data, MemoryLimits const& limits) {
  auto const& [place, matrix] = data->impl();
  if (data->devices() == 0) return data;
  std::optional<TrainingMatrix> within = DeviceBackend::Get().MatrixWithin(matrix, limits);
  if (!within) return data;
  Place moved = place;
  moved.memory = limits;
  return MakeShared(std::move(moved), std::move(*within));
}

Place const& Dataset::place() const { return impl_->place; }
std::uint64_t Dataset::rows() const { return impl_->matrix.facts.rows; }
FeatureIndex Dataset::features() const { return impl_->matrix.facts.features; }
std::uint64_t Dataset::stored() const { return impl_->matrix.facts.stored; }
std::size_t Dataset::bytes() const { return impl_->matrix.facts.bytes; }
bool Dataset::sorted() const { return std::holds_alternative<SortedColumns>(impl_->matrix.form); }
bool Dataset::in_pages() const { return impl_->matrix.facts.in_pages; }

int Dataset::devices() const {
  auto const* const bins = std::get_if<DeviceBins>(&impl_->matrix.form);
  return bins == nullptr ? 0 : static_cast<int>(bins->shards.size());
}

Cuts const& Dataset::cuts() const {
  static Cuts const kNone;
  return sorted() ? kNone : *impl_->matrix.facts.cuts;
}

void Dataset::VisitLowerEnds(std::uint64_t first, std::uint64_t count, int threads,
                             std::function<void(RowBatch const&)> const& visit) const {
  if (auto const* const bins = std::get_if<HostBins>(&impl_->matrix.form)) {
    host::VisitLowerEnds(*bins->matrix, first, count, threads, visit);
    return;
  }
  auto const* const bins = std::get_if<DeviceBins>(&impl_->matrix.form);
  if (bins == nullptr) throw Unsupported{"The dataset has no bins in memory that could be read back"};
  DeviceBackend::Get().VisitLowerEnds(*bins, first, count, threads, visit);
}

Backend& BackendOf(Dataset const& data, BackendKind wanted) {
  Place const& place = data.place();
  if (place.backend == BackendKind::kCuda) {
    if (wanted != BackendKind::kHost) return DeviceBackend::Get();
    Throw<InvalidArgument>("The backend (gpu_backend) is host, but the dataset lies on CUDA device ", place.device,
                           "; allowed: auto, cuda");
  }
  if (wanted == BackendKind::kCuda && IsSharded(place)) {
    Throw<Unsupported>("The backend (gpu_backend) is cuda, but the dataset is one of ", place.shards->shards(),
                       " shards and lies on the host; allowed: auto, host");
  }
  if (wanted == BackendKind::kCuda && data.in_pages()) {
    Throw<Unsupported>(
        "The backend (gpu_backend) is cuda, but the dataset lies on the host, in pages "
        "(gpu_memory_limit is ",
        place.memory.training_bytes, " bytes); allowed: auto, host");
  }
  return data.in_pages() ? Backend::Host() : Backend::For(wanted, place.shards);
}

std::unique_ptr<TreeBuilder> MakeBuilder(Dataset const& data, Backend const& backend, int threads) {
  auto const& [place, matrix] = data.impl();
  Shard const shard = Shard::Place(&ShardsOf(place), data.rows());
  if (place.with_rows == nullptr) return backend.MakeBuilder(matrix, shard, threads);
  TrainingMatrix const& own = matrix;
  Shard const of_some{place.with_rows, shard.first_row, shard.all_rows};
  return std::make_unique<SomeShardsBuilder>(place.with_rows, data.rows(),
                                             [&] { return backend.MakeBuilder(own, of_some, threads); });
}

}  // namespace xgbgpu
