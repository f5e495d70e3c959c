#include "updater.h"

#include "adapt_input.h"
#include "adapt_tree.h"
#include "boundary.h"
#include "round.h"
#include "rounds/resident_rows.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// While the host stores a tree, a device may grow the next: of this round, or the first of the round to come.
void StartNext(Round const& round, TrainParams const& params, bool is_last_of_output) {
  if (round.rows == nullptr || !round.starts_ahead) return;
  std::uint32_t const output = round.outputs + (is_last_of_output ? 1 : 0);
  if (output < round.rows->outputs()) {
    round.trainer->StartAhead(params, round.rows, output, {round.iteration, round.trees});
  } else if (round.look_ahead) {
    round.look_ahead(params);
  }
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
      TreeKey const key{round->iteration, round->trees};
      Tree const tree = round->rows != nullptr ? trainer.Grow(params, round->rows, round->outputs, key)
                                               : trainer.Grow(params, View(*gradients), key);
      if (round->rows != nullptr) trainer.AddLeafValues(tree.leaf_value, round->rows, round->outputs);
      if (round->keeps_trees) trainer.KeepTree(tree, round->outputs);
      ++round->trees;
      StartNext(*round, params, i + 1 == trees.size());
      CopyTree(tree, trees[i]);
      if (round->wants_positions) CopyPositions(trainer, &out_position[i]);
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
