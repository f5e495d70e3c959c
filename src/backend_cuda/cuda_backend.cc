// The backend of CUDA devices.
#include <algorithm>
#include <utility>

#include "backend/backend.h"
#include "backend_cuda/cuda_devices.h"
#include "backend_cuda/device_matrices.h"
#include "collective/nccl_devices_cuda.h"
#include "cuda/device.h"
#include "encode/encode_cuda.h"
#include "matrix/lower_ends.h"
#include "page/memory_policy.h"
#include "predict/contributions_cuda.h"
#include "predict/interactions_cuda.h"
#include "predict/predictor_cuda.h"
#include "shards/group_builder.h"
#include "shards/group_devices.h"
#include "shards/sharded_builder.h"
#include "trees_cuda/cuda_exact_builder.h"
#include "trees_cuda/cuda_tree_builder.h"
#include "user_arrays/device_arrays_cuda.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

TrainingMatrix MatrixOf(DeviceMatrices shards) {
  MatrixFacts facts;
  for (auto const& shard : shards) {
    facts.rows += shard->view.rows;
    facts.stored += shard->stored;
    facts.bytes += shard->arena.bytes();
    facts.in_pages = shard->pages != nullptr;
    facts.cuts = &shard->cuts;
  }
  facts.features = facts.cuts->features();
  return TrainingMatrix{DeviceBins{std::move(shards)}, facts};
}

class CudaBackend final : public DeviceBackend {
 public:
  BackendKind kind() const override { return BackendKind::kCuda; }

  std::string WhyNotUsable() const override { return cuda::WhyNotUsable(); }
  int CountDevices() const override {
    std::string why_not;
    return cuda::CountDevices(&why_not);
  }
  std::vector<CudaDevice> Devices() const override { return cuda::ListDevices(); }
  std::vector<std::string> Architectures() const override { return cuda::CompiledArchitectures(); }
  bool IsInUse() const override { return DeviceIsInUse(); }

  TrainingMatrix MakeMatrix(RowSource const& source, CutRequest const& wanted, Place const& place,
                            int threads) const override {
    if (IsSharded(place)) {
      // Within a limit of memory the host finds the cuts.
      std::shared_ptr<DeviceMatrix const> built;
      if (!place.shards->AnyOf(place.memory.training_bytes != 0)) {
        built = BuildDeviceShard(source, wanted, place.device, threads, place.shards, place.memory);
      }
      if (built != nullptr) return MatrixOf({built});
      return MakeShard(source, FindCutsOnHost(source, wanted, place, threads), place, place.shards, threads);
    }
    if (place.devices != 1)
      return MatrixOf(BuildDeviceShards(source, wanted, OrdinalsOf(place), threads, place.memory));
    return MatrixOf({BuildDeviceMatrix(source, wanted, place.device, threads, place.memory)});
  }

  TrainingMatrix MakeMatrix(RowSource const& source, Cuts cuts, Place const& place, int threads) const override {
    if (IsSharded(place)) return MakeShard(source, std::move(cuts), place, place.shards, threads);
    if (place.devices != 1) return MatrixOf(BuildDeviceShards(source, cuts, OrdinalsOf(place), threads, place.memory));
    return MatrixOf({BuildDeviceMatrix(source, std::move(cuts), place.device, threads, place.memory)});
  }

  TrainingMatrix MakeShard(RowSource const& source, Cuts cuts, Place const& place, Collective* group,
                           int threads) const override {
    return MatrixOf({BuildDeviceShard(source, std::move(cuts), place.device, threads, group, place.memory)});
  }

  std::optional<TrainingMatrix> MatrixWithin(TrainingMatrix const& matrix, MemoryLimits const& limits) const override {
    DeviceMatrices const& shards = std::get<DeviceBins>(matrix.form).shards;
    MemoryLimits const own = ShareOfHost(limits, shards.size());
    DeviceMatrices within;
    for (auto const& shard : shards) within.push_back(DeviceMatrixWithin(shard, own));
    if (within == shards) return {};
    return MatrixOf(std::move(within));
  }

  std::unique_ptr<TreeBuilder> MakeBuilder(TrainingMatrix const& matrix, Shard const& shard,
                                           int threads) const override {
    if (auto const* const sorted = std::get_if<SortedColumns>(&matrix.form)) {
      return MakeCudaExactBuilder(sorted->matrix, sorted->device, threads);
    }
    if (auto const* const bins = std::get_if<HostBins>(&matrix.form)) {
      return MakeCudaTreeBuilder(CopyMatrixToDevice(*bins->matrix, 0, threads), threads);
    }
    DeviceMatrices const& shards = std::get<DeviceBins>(matrix.form).shards;
    if (shard.collective->shards() > 1) return GroupBuilder::Make(shards[0], shard, threads);
    if (shards.size() > 1) return std::make_unique<ShardedBuilder>(shards, threads);
    return MakeCudaTreeBuilder(shards[0], threads);
  }

  void VisitLowerEnds(DeviceBins const& bins, std::uint64_t first, std::uint64_t count, int threads,
                      std::function<void(RowBatch const&)> const& visit) const override {
    std::uint64_t begin = 0, visited = 0;
    for (auto const& shard : bins.shards) {
      std::uint64_t const end = begin + shard->view.rows;
      std::uint64_t const from = std::max(first, begin), to = std::min(first + count, end);
      if (from < to) {
        cuda::VisitLowerEnds(*shard, from - begin, to - from, threads, [&](RowBatch batch) {
          batch.first_row += visited;
          visit(batch);
        });
        visited += to - from;
      }
      begin = end;
    }
  }
  DeviceArrays const& arrays() const override { return cuda::Arrays(); }

  std::unique_ptr<DevicePredictor> MakePredictor(Forest const& forest, int device) const override {
    return cuda::MakePredictor(forest, device);
  }
  void PredictContributions(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                            bool approximate, ContributionsView out, int device, int threads) const override {
    cuda::PredictContributionsStreamed(source, forest, first, last, approximate, out, device, threads);
  }
  void PredictInteractions(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                           InteractionsView out, int device, int threads) const override {
    cuda::PredictInteractionsStreamed(source, forest, first, last, out, device, threads);
  }

  WorkerPlace PlaceOf(Collective* group, int devices) const override { return GroupDevices::PlaceOf(group, devices); }
  bool CanMeet(Collective* group, int device, std::string* why_not) const override {
    try {
      GroupDevices::Of(group, device);
      return true;
    } catch (ShardsLost const&) {
      throw;
    } catch (Error const& error) {
      *why_not = error.what();
      return false;
    }
  }
  void Forget(Collective const* group) const override { GroupDevices::Forget(group); }
  std::string Nccl(std::string* why_not) const override {
    try {
      cuda::NcclLibrary const& library = cuda::LoadNccl();
      return library.VersionText() + " from " + library.path;
    } catch (Unsupported const& error) {
      *why_not = error.what();
      return {};
    }
  }

  void OrderTargets(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                    double const* priors, StatisticsView statistics, CategoryTotals totals, int device) const override {
    cuda::OrderTargets(columns, order, rule, priors, statistics, totals, device);
  }
  std::uint32_t NumberKeys(Span<std::uint64_t const> keys, std::uint32_t* codes, int device) const override {
    return cuda::NumberKeys(keys, codes, device);
  }
};

}  // namespace

DeviceBackend* DeviceBackend::OfBuild(std::string* /*why_not*/) {
  static CudaBackend cuda;
  return &cuda;
}

}  // namespace xgbgpu
