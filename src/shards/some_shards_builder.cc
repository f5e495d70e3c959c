// Grows trees where rows are, and sends them to the shards without rows.
#include "shards/some_shards_builder.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/stages.h"
#include "tree/tree_words.h"

namespace xgbgpu {

SomeShardsBuilder::SomeShardsBuilder(SomeShards* with_rows, std::uint64_t rows,
                                     std::function<std::unique_ptr<TreeBuilder>()> const& make)
    : with_rows_{*with_rows}, finished_{rows} {
  with_rows_.Together([&] { own_ = make(); });
}

/// Returns the tree that grow() makes in shards with rows, in all shards.
template <typename AnyTree, typename F>
AnyTree SomeShardsBuilder::GrowInAll(F&& grow) {
  finished_.Forget();
  AnyTree tree;
  std::vector<std::uint32_t> words;
  auto const together = [&] {
    with_rows_.Together([&] {
      tree = grow();
      if (with_rows_.shard() == 0) words = ToWords(tree);
    });
    auto const all = with_rows_.all().Gather(Span<std::uint32_t const>{words});
    if (with_rows_.stands_by()) OfWords(all[static_cast<std::size_t>(with_rows_.members()[0])], &tree);
  };
  timer_.BeginTree();
  own_ != nullptr ? together() : timer_.Run(kExchange, 0, together);
  return tree;
}

Tree SomeShardsBuilder::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  Tree tree = GrowInAll<Tree>([&] { return own_->Grow(params, gradients, key); });
  finished_.Set(tree.size());
  return tree;
}

VectorTree SomeShardsBuilder::GrowVectors(TrainParams const& params, Span<GradientPair const> gradients,
                                          std::uint32_t outputs, TreeKey key) {
  VectorTree tree = GrowInAll<VectorTree>([&] { return own_->GrowVectors(params, gradients, outputs, key); });
  finished_.Set(tree.shape.size());
  return tree;
}

void SomeShardsBuilder::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  finished_.CheckPositions(positions, sampled_out);
  if (own_ != nullptr) own_->LeafPositions(positions, sampled_out);
}

void SomeShardsBuilder::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  finished_.CheckNodes("AddLeafValues", node_values.size());
  if (own_ != nullptr) own_->AddLeafValues(node_values, margins, stride);
}

void SomeShardsBuilder::Trace(std::shared_ptr<TraceFile> file) {
  if (own_ != nullptr) {
    own_->Trace(std::move(file));
    return;
  }
  trace_ = std::move(file);
  timer_.SetFile(trace_.get());
}

}  // namespace xgbgpu
