// Grows the trees that XGBoost asks for by the round that the booster has announced.
#include "entry/updater.h"

#include <string>

#include "booster/current_round.h"
#include "errors/boundary.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

void HistUpdater::Grow(XgbGradientMatrix const& gradients, xgboost::DMatrix* data, NewTrees const& trees) {
  AtBoundary("growing trees", [&] {
    CurrentRound* const current = CurrentRound::Get();
    if (current == nullptr) {
      throw Unsupported{std::string{"The updater "} + kPublicUpdater +
                        " works in the boosters gbtree and dart, if they were made after xgboost-gpu was loaded"};
    }
    BoostingRound& round = current->round();
    for (std::size_t i = 0; i < trees.size(); ++i) {
      Tree const tree = round.Next(View(gradients), trees.size());
      HostSpan const span{"store tree"};
      trees.Store(i, tree, round.learning_rate());
      if (NewTrees::NeedPositions(round.leaves() == LeafRule::kCaller,
                                  current->has_rows() && current->cache_is_current())) {
        trees.StorePositions(i, LeafPositions(round.trainer(), View(gradients)));
      }
    }
    trainer_ = &round.trainer();
    data_ = data;
  });
}

bool HistUpdater::AddNewestLeaves(xgboost::DMatrix const* data, float* predictions, std::size_t stride) {
  return AtBoundary("updating predictions", [&] {
    CurrentRound const* const current = CurrentRound::Get();
    if (current == nullptr || !current->cache_is_current() || data != data_) return false;
    trainer_->AddLeafValues(NewestLeafValues(), predictions, stride);
    return true;
  });
}

}  // namespace xgbgpu::plugin
