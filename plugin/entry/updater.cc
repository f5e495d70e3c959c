#include "entry/updater.h"

#include <string>

#include "booster/current_round.h"
#include "errors/boundary.h"
#include "xgb/adapt_tree.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

void HistUpdater::Update(XgbGradients* gradients, xgboost::DMatrix* data,
                         xgboost::common::Span<xgboost::HostDeviceVector<xgboost::bst_node_t>> out_position,
                         std::vector<xgboost::RegTree*> const& trees) {
  AtBoundary("growing trees", [&] {
    tree_ = nullptr;
    CurrentRound* const current = CurrentRound::Get();
    if (current == nullptr) {
      throw Unsupported{std::string{"The updater "} + kPublicUpdater +
                        " works in the boosters gbtree and dart, if they were made after xgboost-gpu was loaded"};
    }
    BoostingRound& round = current->round();
    for (std::size_t i = 0; i < trees.size(); ++i) {
      Tree const tree = round.Next(View(*gradients), trees.size());
      HostSpan const span{"store tree"};
      CopyTree(tree, round.learning_rate(), trees[i]);
      if (round.leaves() == LeafRule::kHost) {
        out_position[i].HostVector() = LeafPositions(round.trainer(), View(*gradients));
      }
    }
    trainer_ = &round.trainer();
    data_ = data;
    tree_ = trees.back();
  });
}

bool HistUpdater::UpdatePredictionCache(xgboost::DMatrix const* data, xgboost::linalg::VectorView<float> predictions) {
  return AtBoundary("updating predictions", [&] {
    CurrentRound const* const current = CurrentRound::Get();
    if (current == nullptr || !current->cache_is_current() || tree_ == nullptr || data != data_) return false;
    trainer_->AddLeafValues(LeafValues(*tree_), &predictions(0), predictions.Stride(0));
    tree_ = nullptr;
    return true;
  });
}

}  // namespace xgbgpu::plugin
