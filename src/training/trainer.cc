#include "xgbgpu/trainer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/host_memory.h"
#include "base/message.h"
#include "exact/sorted_matrix.h"
#include "matrix/fill_matrix.h"
#include "matrix/matrix.h"
#include "matrix/paged_matrix.h"
#include "page/memory_policy.h"
#include "quantile/fit_cuts.h"
#include "quantile/quantile.h"
#include "shards/some_shards_builder.h"
#include "trees_host/hist_host.h"
#include "trees_host/training_memory.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/error.h"
#include "xgbgpu/resident_rows.h"
#include "xgbgpu/some_shards.h"

namespace xgbgpu {

namespace {

void CheckThreads(int threads) {
  if (threads < 1) Throw<InvalidArgument>("The number of threads is ", threads, "; allowed: 1 or more");
}

constexpr char kCuts[] = "quantiles of the data";

/// Returns the bytes that finding cuts on the host may take. With very few the data would be read thousands of times,
/// and then the limit would be found too small.
std::size_t CutBytes(Place const& place) {
  constexpr std::uint64_t kLeast = std::uint64_t{32} << 20;
  std::uint64_t const limit = place.memory.training_bytes;
  return limit == 0 ? 0 : std::max(limit, kLeast);
}

bool IsSharded(Place const& place) { return place.shards != nullptr && place.shards->shards() > 1; }

Collective& ShardsOf(Place const& place) { return place.shards != nullptr ? *place.shards : NoOtherShards(); }

/// With shards kAuto means the host, even if there is a device: whether all have one, their owner knows.
BackendKind Resolve(BackendKind wanted, Place const& place) {
  return IsSharded(place) && wanted == BackendKind::kAuto ? BackendKind::kHost : ResolveBackend(wanted);
}

/// Cuts and bins, as Dataset::Build makes them, or Dataset::FromBinEdges if max_bin is 0.
std::vector<std::shared_ptr<DeviceMatrix const>> BuildOnDevices(RowSource const& source, Span<float const> weights,
                                                                int max_bin, Place const& place, int threads) {
  if (place.devices == 1) return {BuildDeviceMatrix(source, weights, max_bin, place.device, threads, place.memory)};
  return BuildDeviceShards(source, weights, max_bin, OrdinalsOf(place), threads, place.memory);
}

}  // namespace

std::vector<int> OrdinalsOf(Place const& place) {
  if (place.devices < 1) Throw<InvalidArgument>("The number of devices is ", place.devices, "; allowed: 1 or more");
  int const there = std::max(1, CudaDeviceCount());
  std::vector<int> ordinals;
  ordinals.reserve(static_cast<std::size_t>(place.devices));
  for (int d = 0; d < place.devices; ++d) ordinals.push_back((place.device + d) % there);
  return ordinals;
}

Dataset::Dataset(Place place, std::unique_ptr<QuantisedMatrix> matrix, std::size_t working_bytes)
    : place_{std::move(place)},
      matrix_{std::move(matrix)},
      rows_{matrix_->rows},
      features_{matrix_->features()},
      stored_{matrix_->stored},
      bytes_{matrix_->bytes()},
      working_bytes_{working_bytes},
      cuts_{&matrix_->cuts} {}
Dataset::Dataset(Place place, std::unique_ptr<PagedMatrix> paged, std::size_t working_bytes)
    : place_{std::move(place)},
      paged_{std::move(paged)},
      rows_{paged_->whole().rows},
      features_{paged_->whole().features()},
      stored_{paged_->whole().stored},
      bytes_{paged_->whole().bytes() + paged_->store().memory_bytes()},
      working_bytes_{working_bytes},
      cuts_{&paged_->whole().cuts} {}
Dataset::Dataset(Place place, std::vector<std::shared_ptr<DeviceMatrix const>> device_shards)
    : place_{std::move(place)}, device_shards_{std::move(device_shards)} {
  for (auto const& shard : device_shards_) {
    DeviceMatrixFacts const facts = FactsOf(*shard);
    rows_ += facts.rows;
    stored_ += facts.stored;
    bytes_ += facts.bytes;
    cuts_ = facts.cuts;
  }
  features_ = cuts_->features();
}
Dataset::Dataset(Place place, std::shared_ptr<SortedMatrix const> sorted)
    : place_{std::move(place)},
      sorted_{std::move(sorted)},
      rows_{sorted_->rows},
      features_{sorted_->features()},
      bytes_{sorted_->bytes()} {}
bool Dataset::in_device_pages() const { return FactsOf(*device_matrix()).in_pages; }

void Dataset::VisitLowerEnds(std::uint64_t first, std::uint64_t count, int threads,
                             std::function<void(RowBatch const&)> const& visit) const {
  xgbgpu::VisitLowerEnds(*device_matrix(), first, count, threads, visit);
}

Dataset::~Dataset() = default;

std::shared_ptr<Dataset const> Dataset::BinOnHost(RowSource const& source, Cuts cuts, Place const& place, int threads) {
  Collective& shards = ShardsOf(place);
  return WithMemoryFor("bins of the data", [&] {
    host::MatrixPlan plan = host::PlanMatrix(source, std::move(cuts), threads, shards);
    TrainingMemory const memory = ChooseTrainingMemory(NeedsOf(plan, threads), place.memory.training_bytes, shards);
    if (!memory.in_pages) {
      std::unique_ptr<QuantisedMatrix> matrix;
      AllOrNone(shards, [&] { matrix = host::FillMatrix(source, std::move(plan), threads); });
      return std::shared_ptr<Dataset const>{new Dataset{place, std::move(matrix), memory.working_bytes}};
    }
    std::unique_ptr<PagedMatrix> paged;
    AllOrNone(shards, [&] {
      PageStore::Options options;
      options.folder = place.memory.cache_folder;
      paged = std::make_unique<PagedMatrix>(source, std::move(plan), threads, memory.page_bytes, std::move(options));
    });
    return std::shared_ptr<Dataset const>{new Dataset{place, std::move(paged), memory.working_bytes}};
  });
}

std::shared_ptr<Dataset const> Dataset::BinOwnShard(RowSource const& source, Cuts cuts, Place const& place,
                                                    int threads) {
  if (SomeShards* const with_rows = place.with_rows; with_rows != nullptr) {
    std::shared_ptr<Dataset const> own;
    with_rows->Together([&] {
      std::vector<std::shared_ptr<DeviceMatrix const>> shards{
          BuildDeviceShard(source, std::move(cuts), place.device, threads, with_rows, place.memory)};
      own.reset(new Dataset{place, std::move(shards)});
    });
    AllOrNone(with_rows->all(), [&] {
      if (own == nullptr) own.reset(new Dataset{place, host::QuantiseMatrix(source, std::move(cuts), threads), 0});
    });
    return own;
  }
  std::vector<std::shared_ptr<DeviceMatrix const>> shards{
      BuildDeviceShard(source, std::move(cuts), place.device, threads, place.shards, place.memory)};
  return std::shared_ptr<Dataset const>{new Dataset{place, std::move(shards)}};
}

std::shared_ptr<Dataset const> Dataset::Bin(RowSource const& source, Cuts cuts, Place const& place, int threads) {
  bool const on_devices = place.backend == BackendKind::kCuda || place.with_rows != nullptr;
  return on_devices ? BinOwnShard(source, std::move(cuts), place, threads)
                    : BinOnHost(source, std::move(cuts), place, threads);
}

std::shared_ptr<Dataset const> Dataset::Build(RowSource const& source, Span<float const> weights, int max_bin,
                                              int threads, Place place) {
  CheckThreads(threads);
  ValidateMaxBin(max_bin);
  place.backend = Resolve(place.backend, place);
  if (place.backend == BackendKind::kCuda && !IsSharded(place)) {
    return std::shared_ptr<Dataset const>{new Dataset{place, BuildOnDevices(source, weights, max_bin, place, threads)}};
  }
  Cuts cuts = WithMemoryFor(
      kCuts, [&] { return host::ComputeCuts(source, weights, max_bin, threads, ShardsOf(place), CutBytes(place)); });
  return Bin(source, std::move(cuts), place, threads);
}

std::shared_ptr<Dataset const> Dataset::FromBinEdges(RowSource const& source, int threads, Place place) {
  CheckThreads(threads);
  place.backend = Resolve(place.backend, place);
  if (place.backend == BackendKind::kCuda && !IsSharded(place)) {
    return std::shared_ptr<Dataset const>{new Dataset{place, BuildOnDevices(source, {}, 0, place, threads)}};
  }
  Cuts cuts =
      WithMemoryFor(kCuts, [&] { return host::CutsFromBinEdges(source, threads, ShardsOf(place), CutBytes(place)); });
  return Bin(source, std::move(cuts), place, threads);
}

std::shared_ptr<Dataset const> Dataset::BuildWithCuts(RowSource const& source, Cuts const& cuts, int threads,
                                                      Place place) {
  CheckThreads(threads);
  if (IsSharded(place)) {
    Throw<Unsupported>("The rows share the bins of other data (ref) and are in ", place.shards->shards(),
                       " shards; allowed with shards: data with bins of their own");
  }
  place.backend = Resolve(place.backend, place);
  Cuts fitting = WithMemoryFor(kCuts, [&] { return FitCuts(cuts, source, threads); });
  if (place.backend == BackendKind::kCuda) {
    std::vector<std::shared_ptr<DeviceMatrix const>> shards;
    if (place.devices == 1) {
      shards.push_back(BuildDeviceMatrix(source, std::move(fitting), place.device, threads, place.memory));
    } else {
      shards = BuildDeviceShards(source, std::move(fitting), OrdinalsOf(place), threads, place.memory);
    }
    return std::shared_ptr<Dataset const>{new Dataset{place, std::move(shards)}};
  }
  return BinOnHost(source, std::move(fitting), place, threads);
}

std::shared_ptr<Dataset const> Dataset::Within(std::shared_ptr<Dataset const> data, MemoryLimits const& limits) {
  if (data->device_shards_.empty()) return data;  // it lies on the host
  std::vector<std::shared_ptr<DeviceMatrix const>> shards;
  MemoryLimits const own = ShareOfHost(limits, data->device_shards_.size());
  for (auto const& shard : data->device_shards_) shards.push_back(DeviceMatrixWithin(shard, own));
  if (shards == data->device_shards_) return data;
  Place place = data->place_;
  place.memory = limits;
  return std::shared_ptr<Dataset const>{new Dataset{place, std::move(shards)}};
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
  place.backend = ResolveBackend(place.backend);
  auto sorted = WithMemoryFor("sorted columns of the data", [&] { return host::SortColumns(source, threads); });
  return std::shared_ptr<Dataset const>{new Dataset{place, std::move(sorted)}};
}

Trainer::Trainer(std::shared_ptr<Dataset const> data, BackendKind backend, int threads) : data_{std::move(data)} {
  CheckThreads(threads);
  Place const place = data_->place();
  if (place.backend == BackendKind::kCuda && backend == BackendKind::kHost) {
    Throw<InvalidArgument>("The backend (gpu_backend) is host, but the dataset lies on CUDA device ", place.device,
                           "; allowed: auto, cuda");
  }
  if (place.backend != BackendKind::kCuda && backend == BackendKind::kCuda && IsSharded(place)) {
    Throw<Unsupported>("The backend (gpu_backend) is cuda, but the dataset is one of ", place.shards->shards(),
                       " shards and lies on the host; allowed: auto, host");
  }
  if (data_->paged() && backend == BackendKind::kCuda) {
    Throw<Unsupported>(
        "The backend (gpu_backend) is cuda, but the dataset lies on the host, in pages "
        "(gpu_memory_limit is ",
        place.memory.training_bytes, " bytes); allowed: auto, host");
  }
  backend_ = place.backend == BackendKind::kCuda ? BackendKind::kCuda
             : data_->paged()                    ? BackendKind::kHost
                                                 : Resolve(backend, place);
  WithMemoryFor("rows and nodes of trees", [&] {
    if (data_->sorted()) {
      builder_ = backend_ == BackendKind::kHost ? MakeHostExactBuilder(data_->sorted_matrix(), threads)
                                                : MakeCudaExactBuilder(data_->sorted_matrix(), place.device, threads);
    } else if (place.with_rows != nullptr) {
      std::uint64_t const rows = data_->rows();
      Shard const shard = Shard::Place(place.shards, rows);
      builder_ = std::make_unique<SomeShardsBuilder>(place.with_rows, rows, [&] {
        Shard const own{place.with_rows, shard.first_row, shard.all_rows};
        return own.collective->shards() == 1 ? MakeCudaTreeBuilder(data_->device_matrix(), threads)
                                             : MakeGroupBuilder(data_->device_matrix(), own, threads);
      });
    } else if (backend_ == BackendKind::kHost) {
      Shard const shard = Shard::Place(&ShardsOf(place), data_->rows());
      AllOrNone(*shard.collective, [&] {
        builder_ = data_->paged() ? MakeHostTreeBuilder(data_->paged_matrix(), shard, threads, data_->working_bytes())
                                  : MakeHostTreeBuilder(data_->matrix(), shard, threads, data_->working_bytes());
      });
    } else if (IsSharded(place)) {
      builder_ = MakeGroupBuilder(data_->device_matrix(), Shard::Place(place.shards, data_->rows()), threads);
    } else {
      auto shards = data_->device_shards();
      if (shards.empty()) shards.push_back(CopyMatrixToDevice(data_->matrix(), 0, threads));
      builder_ = MakeCudaTreeBuilder(shards, threads);
    }
  });
}
Trainer::~Trainer() { Abandon(); }

Tree Trainer::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  params.Validate();
  Abandon();
  return builder_->Grow(params, gradients, key);
}

std::unique_ptr<ResidentRows> Trainer::MakeResidentRows(std::uint32_t outputs) {
  DeviceRounds* const rounds = builder_->rounds();
  return rounds == nullptr ? nullptr : rounds->MakeResidentRows(outputs);
}

std::unique_ptr<ResidentRows> Trainer::MakeResidentRows(RowSource const& source, std::uint32_t outputs) {
  DeviceRounds* const rounds = builder_->rounds();
  return rounds == nullptr ? nullptr : rounds->MakeResidentRows(source, outputs);
}

bool Trainer::keeps_rows() const { return builder_->rounds() != nullptr; }

DeviceRounds& Trainer::Rounds() const {
  DeviceRounds* const rounds = builder_->rounds();
  if (rounds == nullptr) Throw<Unsupported>("Rows and trees are kept on a device only, and this trainer has none");
  return *rounds;
}

void Trainer::KeepTree(Tree const& tree, std::uint32_t output) { Rounds().KeepTree(tree, output); }
void Trainer::ForgetTrees() { Rounds().ForgetTrees(); }
std::size_t Trainer::kept_trees() const { return Rounds().kept_trees(); }

Tree Trainer::Grow(TrainParams const& params, ResidentRows* rows, std::uint32_t output, TreeKey key) {
  RoundTree const wanted{output, key};
  bool const started = speculative_ != nullptr && speculative_->rows == rows && speculative_->params == params &&
                       speculative_->trees[speculative_->finished] == wanted;
  if (!started) StartSpeculative(params, rows, {wanted});
  try {
    Tree tree = Rounds().FinishNext();
    if (++speculative_->finished == speculative_->trees.size()) speculative_.reset();
    return tree;
  } catch (...) {
    Abandon();
    throw;
  }
}

void Trainer::StartSpeculative(TrainParams const& params, ResidentRows* rows, std::vector<RoundTree> const& trees) {
  if (speculative_ != nullptr && speculative_->finished == 0 && speculative_->rows == rows &&
      speculative_->params == params && speculative_->trees == trees) {
    return;
  }
  params.Validate();
  Abandon();
  speculative_ = std::make_unique<SpeculativeTrees>(SpeculativeTrees{params, rows, trees, 0});
  try {
    Rounds().Begin(params, rows, trees);
  } catch (...) {
    Abandon();
    throw;
  }
}

void Trainer::Abandon() {
  if (speculative_ == nullptr) return;
  speculative_.reset();
  if (DeviceRounds* const rounds = builder_->rounds()) rounds->Abandon();
}

void Trainer::AdaptLeaves(Tree* tree, ResidentRows* rows) { Rounds().AdaptLeaves(tree, rows); }

void Trainer::AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output) {
  Rounds().AddLeafValues(node_values, rows, output);
}

void Trainer::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  builder_->LeafPositions(positions, sampled_out);
}

void Trainer::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  builder_->AddLeafValues(node_values, margins, stride);
}

void Trainer::Trace(std::shared_ptr<TraceFile> file) {
  if (file == trace_) return;
  Abandon();
  trace_ = file;
  builder_->Trace(std::move(file));
}

MemoryReport Trainer::memory() const { return builder_->memory(); }
std::uint64_t Trainer::memory_version() const { return builder_->memory_version(); }
bool Trainer::lost() const { return builder_->lost(); }

}  // namespace xgbgpu
