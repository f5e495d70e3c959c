// The backend of the host: bins in memory or in pages, and trees on them.
#include <memory>
#include <utility>

#include "backend/backend.h"
#include "base/host_memory.h"
#include "matrix/fill_matrix.h"
#include "trees_host/exact_host.h"
#include "trees_host/hist_host.h"
#include "trees_host/training_memory.h"

namespace xgbgpu {

namespace {

class HostBackend final : public Backend {
 public:
  BackendKind kind() const override { return BackendKind::kHost; }

  TrainingMatrix MakeMatrix(RowSource const& source, CutRequest const& wanted, Place const& place,
                            int threads) const override {
    return MakeMatrix(source, FindCutsOnHost(source, wanted, place, threads), place, threads);
  }

  TrainingMatrix MakeMatrix(RowSource const& source, Cuts cuts, Place const& place, int threads) const override {
    Collective& shards = ShardsOf(place);
    return WithMemoryFor("bins of the data", [&] {
      host::MatrixPlan plan = host::PlanMatrix(source, std::move(cuts), threads, shards);
      TrainingMemory const memory = ChooseTrainingMemory(NeedsOf(plan, threads), place.memory.training_bytes, shards);
      if (!memory.in_pages) {
        std::shared_ptr<QuantisedMatrix const> matrix;
        AllOrNone(shards, [&] { matrix = host::FillMatrix(source, std::move(plan), threads); });
        return TrainingMatrix{HostBins{std::move(matrix), memory.working_bytes}};
      }
      std::shared_ptr<PagedMatrix const> pages;
      AllOrNone(shards, [&] {
        PageStore::Options options;
        options.folder = place.memory.cache_folder;
        pages = std::make_shared<PagedMatrix const>(source, std::move(plan), threads, memory.page_bytes,
                                                    std::move(options));
      });
      return TrainingMatrix{HostPages{std::move(pages), memory.working_bytes}};
    });
  }

  /// The limits decided when the matrix was made.
  std::optional<TrainingMatrix> MatrixWithin(TrainingMatrix const&, MemoryLimits const&) const override { return {}; }

  std::unique_ptr<TreeBuilder> MakeBuilder(TrainingMatrix const& matrix, Shard const& shard,
                                           int threads) const override {
    if (auto const* const sorted = std::get_if<SortedColumns>(&matrix.form)) {
      return MakeHostExactBuilder(sorted->matrix, threads);
    }
    std::unique_ptr<TreeBuilder> builder;
    AllOrNone(*shard.collective, [&] {
      if (auto const* const pages = std::get_if<HostPages>(&matrix.form)) {
        builder = MakeHostTreeBuilder(*pages->matrix, shard, threads, pages->working_bytes);
      } else {
        auto const& bins = std::get<HostBins>(matrix.form);
        builder = MakeHostTreeBuilder(*bins.matrix, shard, threads, bins.working_bytes);
      }
    });
    return builder;
  }
};

}  // namespace

Backend& Backend::Host() {
  static HostBackend host;
  return host;
}

}  // namespace xgbgpu
