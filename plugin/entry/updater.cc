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
    vectors_ = {};
    for (std::size_t i = 0; i < trees.size(); ++i) {
      if (trees.outputs() > 1) {
        vectors_ = round.NextVectors(View(gradients), trees.outputs(), trees.size());
        HostSpan const span{"store tree"};
        trees.Store(i, vectors_);
      } else {
        Tree const tree = round.Next(View(gradients), trees.size());
        HostSpan const span{"store tree"};
        trees.Store(i, tree, round.learning_rate());
      }
      if (NewTrees::NeedPositions(round.leaves() == LeafRule::kCaller,
                                  current->has_rows() && current->cache_is_current())) {
        // Objectives, which look at hessians, set no leaves of vectors.
        bool const of_vectors = vectors_.outputs != 0;
        trees.StorePositions(i,
                             LeafPositions(round.trainer(), of_vectors ? Span<GradientPair const>{} : View(gradients)));
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
    if (vectors_.outputs == 0) trainer_->AddLeafValues(NewestLeafValues(), predictions, stride);
    for (std::uint32_t k = 0; k < vectors_.outputs; ++k) {
      trainer_->AddLeafValues(vectors_.LeafValues(k), predictions + k, stride);
    }
    return true;
  });
}

}  // namespace xgbgpu::plugin
