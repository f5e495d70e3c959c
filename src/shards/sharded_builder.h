/// Trees on a matrix with rows on several CUDA devices of this process. CUDA builds only.
/// docs/adr/0021-several-devices.md
#ifndef XGBGPU_SHARDS_SHARDED_BUILDER_H_
#define XGBGPU_SHARDS_SHARDED_BUILDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backend/finished_tree.h"
#include "collective/in_process.h"
#include "collective/peer_devices_cuda.h"
#include "shards/sharded_rows.h"
#include "trees_cuda/cuda_tree_builder.h"

namespace xgbgpu {

/// One builder for each device. The builders grow the same trees at the same time, in a thread each, and add up the
/// sums of their rows. Calls that only enqueue are made by the thread of the caller, device after device.
///
/// Builders of a process take turns, tree by tree.
///
/// If a device fails, the other devices stop waiting for it. Its error is thrown, and the builder is as it was before
/// the call.
class ShardedBuilder final : public TreeBuilder, public ResidentRounds {
 public:
  /// `shards` have consecutive rows, the same cuts, and cells that are numbered alike. `patience`: seconds that one
  /// device may keep the other devices waiting. `least_shared_bytes`: another number in tests.
  ShardedBuilder(std::vector<std::shared_ptr<DeviceMatrix const>> const& shards, int threads, double patience = 120,
                 std::size_t least_shared_bytes = CollectivePolicy{}.least_shared_bytes);
  ~ShardedBuilder() override;

  /// Tells whether each device searches a share of the features (split/split_shares.h).
  bool deals_features() const { return builders_[0]->deals_features(); }

  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) override;
  VectorTree GrowVectors(TrainParams const& params, Span<GradientPair const> gradients, std::uint32_t outputs,
                         TreeKey key) override;
  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const override;
  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const override;
  /// The first device writes `file`. Each further device writes a file of its own beside it: NAME.gpu1 and so on.
  void Trace(std::shared_ptr<TraceFile> file) override;
  MemoryReport memory() const override;
  std::uint64_t memory_version() const override;
  ResidentRounds* rounds() override { return this; }

  std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs) override;
  std::unique_ptr<ResidentRows> MakeResidentRows(RowSource const& source, std::uint32_t outputs) override;
  void KeepTree(Tree const& tree, std::uint32_t output) override;
  void ForgetTrees() override;
  std::size_t kept_trees() const override { return builders_[0]->kept_trees(); }

 private:
  class Turn;
  class Rows;

  void Abandon() noexcept override;

  // The work of Rows.
  void Begin(TrainParams const& params, ShardedRows* rows, std::vector<RoundTree> trees);
  Tree FinishNext();
  void AdaptLeaves(Tree* tree, ShardedRows* rows, std::uint32_t output);
  void AddLeafValues(Span<float const> node_values, ShardedRows* rows, std::uint32_t output);
  VectorTree GrowVectors(TrainParams const& params, ShardedRows* rows, TreeKey key);
  void AddVectorLeaves(VectorTree const& tree, ShardedRows* rows);

  template <typename F>
  VectorTree GrowVectorsInAll(F&& grow);
  std::uint64_t RowsOf(std::size_t shard) const { return first_[shard + 1] - first_[shard]; }
  void RunAll(std::function<void(std::size_t)> const& work);
  void BeginRest();
  bool GiveUpSpeculative();

  /// Trees that were begun and are not finished.
  struct Round {
    TrainParams params;
    ShardedRows* rows;
    std::vector<RoundTree> trees;
    std::size_t finished;
  };

  std::vector<std::uint64_t> first_;  ///< [shards + 1] number of each shard's first row, and of all rows
  FinishedTree finished_;
  std::vector<int> devices_;  ///< [shards]
  cuda::PeerDevices peers_;
  ShardThreads threads_;
  std::vector<std::unique_ptr<CudaTreeBuilder>> builders_;
  Round round_{};
};

}  // namespace xgbgpu

#endif  // XGBGPU_SHARDS_SHARDED_BUILDER_H_
