/// Trees where some shards have no rows. docs/adr/0021-several-devices.md
#ifndef XGBGPU_SHARDS_SOME_SHARDS_BUILDER_H_
#define XGBGPU_SHARDS_SOME_SHARDS_BUILDER_H_

#include <functional>
#include <memory>

#include "backend/finished_tree.h"
#include "backend/tree_builder.h"
#include "base/stage_timer.h"
#include "xgbgpu/some_shards.h"

namespace xgbgpu {

/// Shards with rows grow trees with builders of their own. Shards without rows stand by and get the trees.
///
/// All shards make the same calls of the constructor, of Grow and of GrowVectors at the same time. If one shard fails,
/// all throw. A shard that stands by throws OtherShardFailed, with the number and the words of the failed shard.
///
/// Memory  a shard that stands by holds nothing
/// Cost    beside the own builder's: the cost of SomeShards for each of its calls; ToWords of the tree, twice, up and
///         down the tree of workers
class SomeShardsBuilder final : public TreeBuilder {
 public:
  /// make() makes the builder of a shard with rows. `rows`: of this shard. `with_rows`: the collective of that builder.
  SomeShardsBuilder(SomeShards* with_rows, std::uint64_t rows,
                    std::function<std::unique_ptr<TreeBuilder>()> const& make);

  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) override;
  VectorTree GrowVectors(TrainParams const& params, Span<GradientPair const> gradients, std::uint32_t outputs,
                         TreeKey key) override;
  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const override;
  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const override;
  void Trace(std::shared_ptr<TraceFile> file) override;
  MemoryReport memory() const override { return own_ ? own_->memory() : MemoryReport{}; }
  std::uint64_t memory_version() const override { return own_ ? own_->memory_version() : 0; }
  bool lost() const override { return own_ != nullptr && own_->lost(); }

 private:
  template <typename AnyTree, typename F>
  AnyTree GrowInAll(F&& grow);

  SomeShards& with_rows_;
  std::unique_ptr<TreeBuilder> own_;  ///< null: this shard has no rows
  FinishedTree finished_;
  std::shared_ptr<TraceFile> trace_;
  HostStageTimer timer_;  ///< of a shard without rows
};

}  // namespace xgbgpu

#endif  // XGBGPU_SHARDS_SOME_SHARDS_BUILDER_H_
