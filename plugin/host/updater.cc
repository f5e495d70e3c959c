#include "updater.h"

#include <utility>

#include "adapt_input.h"
#include "adapt_tree.h"
#include "boundary.h"
#include "host_span.h"
#include "round.h"
#include "rounds/resident_rows.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// All trees of a round whose gradients and margins are on a device. What the device does next, it does while the host
/// stores them.
void GrowAll(Round* round, TrainParams const& params, std::size_t per_output) {
  Trainer& trainer = *round->trainer;
  auto const trees = TreesOfRound(round->iteration, round->rows->outputs(), per_output);
  trainer.StartAhead(params, round->rows, trees);
  for (auto const& [output, key] : trees) {
    HostSpan const span{"tree"};
    round->grown.push_back(trainer.Grow(params, round->rows, output, key));
    Tree& tree = round->grown.back();
    if (round->adapts_leaves) trainer.AdaptLeaves(&tree, round->rows);
    trainer.AddLeafValues(tree.leaf_value, round->rows, output);
    if (round->keeps_trees) trainer.KeepTree(tree, output);
  }
  if (round->look_ahead) round->look_ahead(params, per_output);
}

}  // namespace

void HistUpdater::Update(xgboost::HostDeviceVector<xgboost::GradientPair>* gradients, xgboost::DMatrix* data,
                         xgboost::common::Span<xgboost::HostDeviceVector<xgboost::bst_node_t>> out_position,
                         std::vector<xgboost::RegTree*> const& trees) {
  AtBoundary("growing trees", [&] {
    tree_ = nullptr;
    Round* const round = Round::Current();
    if (round == nullptr) {
      throw Unsupported{std::string{"The updater "} + kPublicUpdater +
                        " works in the boosters gbtree and dart, if they were made after xgboost-gpu was loaded"};
    }
    Trainer& trainer = *round->trainer;
    TrainParams params = round->params;
    params.learning_rate /= static_cast<float>(trees.size());
    for (std::size_t i = 0; i < trees.size(); ++i) {
      Tree tree;
      if (round->rows != nullptr) {
        if (round->trees == 0) GrowAll(round, params, trees.size());
        tree = std::move(round->grown.at(round->trees));
      } else {
        HostSpan const span{"tree"};
        tree = trainer.Grow(params, View(*gradients), {round->iteration, round->trees});
        if (round->keep_leaves) round->keep_leaves(tree.leaf_value, round->outputs);
        if (round->keeps_trees) trainer.KeepTree(tree, round->outputs);
      }
      HostSpan const span{"store tree"};
      ++round->trees;
      CopyTree(tree, params.learning_rate, trees[i]);
      if (round->changes_leaves && round->rows == nullptr) {
        std::vector<NodeIndex> positions = LeafPositions(trainer, View(*gradients));
        if (round->adapts_leaves) {
          AdaptLeaves(positions, data->Info(), round->margins, ctx_->Threads(), trees[i]);
        } else {
          out_position[i].HostVector() = std::move(positions);
        }
      }
    }
    ++round->outputs;
    trainer_ = &trainer;
    data_ = data;
    tree_ = trees.back();
  });
}

bool HistUpdater::UpdatePredictionCache(xgboost::DMatrix const* data, xgboost::linalg::VectorView<float> predictions) {
  return AtBoundary("updating predictions", [&] {
    Round const* const round = Round::Current();
    if (round == nullptr || !round->cache_is_current || tree_ == nullptr || data != data_) return false;
    trainer_->AddLeafValues(LeafValues(*tree_), &predictions(0), predictions.Stride(0));
    tree_ = nullptr;
    return true;
  });
}

}  // namespace xgbgpu::plugin
