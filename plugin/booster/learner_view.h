/// XGBoost's learner as a booster sees it: model, context and stock booster.
#ifndef XGBGPU_PLUGIN_BOOSTER_LEARNER_VIEW_H_
#define XGBGPU_PLUGIN_BOOSTER_LEARNER_VIEW_H_

#include <xgboost/gbm.h>
#include <xgboost/json.h>
#include <xgboost/learner.h>

#include <cstdint>
#include <vector>

#include "xgb/types.h"
#include "xgbgpu/base_margins.h"
#include "xgbgpu/model_view.h"

namespace xgbgpu::plugin {

enum class BoosterKind : std::uint8_t { kGBTree, kDart };

/// Reads the learner's model as it is at the time of the call. It owns nothing.
class LearnerView {
 public:
  /// `stock`, `model` and `ctx` must outlive it.
  LearnerView(BoosterKind kind, xgboost::GradientBooster* stock, xgboost::LearnerModelParam const* model,
              XgbContext const* ctx)
      : kind_{kind}, stock_{stock}, model_{model}, ctx_{ctx} {}

  /// Returns true if the stock booster is of the class dart, which XGBoost 3.3 and newer do not have.
  bool is_dart() const { return kind_ == BoosterKind::kDart; }
  /// Returns true if rounds may drop trees. They change the weights of older trees, so margins are made anew.
  bool drops_trees() const { return is_dart() || gbtree_drops_trees_; }
  /// Notes whether a gbtree drops trees, or has weights of trees from when it did: stock code then goes on to draw.
  void SetDropsTrees(bool drops) { gbtree_drops_trees_ = drops; }
  xgboost::GradientBooster* stock() const { return stock_; }
  XgbContext const* context() const { return ctx_; }
  int threads() const { return ctx_->Threads(); }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(ctx_->seed); }

  std::uint32_t rounds() const { return static_cast<std::uint32_t>(stock_->BoostedRounds()); }
  FeatureIndex features() const { return static_cast<FeatureIndex>(model_->num_feature); }
  std::uint32_t outputs() const { return model_->num_output_group; }
  /// Returns true if the trees have a vector in each leaf. A saved model lacks the parameter multi_strategy.
  bool has_vector_leaves() const { return has_vector_leaves_ || HasVectorLeaves(*model_); }
  /// Returns true if the next trees have vectors: multi_strategy says so, and there are several outputs.
  bool grows_vector_leaves() const { return HasVectorLeaves(*model_) && outputs() > 1; }
  /// Notes whether loaded or sliced trees, or trees that are about to grow, have a vector in each leaf.
  void SetVectorLeaves(bool have_one) { has_vector_leaves_ = have_one; }
  /// The margins of a row before the first tree: [outputs], or [1] for all of them.
  std::vector<float> base_scores() const { return BaseScores(*model_); }
  /// Returns the margins before the first tree of the rows that `info` describes.
  BaseMargins BaseMarginsFor(xgboost::MetaInfo const& info) const;
  /// Returns the number of trees of each output in a round (num_parallel_tree). Cost: a saved configuration.
  std::int64_t TreesPerOutput() const;
  /// Returns the model for the engine's predictions.
  ModelView Model() const;

  /// Returns the version of cached margins after `rounds` rounds. Stock code never uses the cache where trees are
  /// dropped: it gives a dart its last round, and newer ones 0.
  std::uint32_t CacheVersion(std::uint32_t rounds) const { return is_dart() ? rounds - 1 : drops_trees() ? 0 : rounds; }
  /// Returns the part of a saved configuration that describes the gbtree.
  xgboost::Json& GBTreeSection(xgboost::Json* config) const { return is_dart() ? (*config)["gbtree"] : *config; }

 private:
  BoosterKind kind_;
  xgboost::GradientBooster* stock_;
  xgboost::LearnerModelParam const* model_;
  XgbContext const* ctx_;
  bool has_vector_leaves_{false};
  bool gbtree_drops_trees_{false};
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_LEARNER_VIEW_H_
