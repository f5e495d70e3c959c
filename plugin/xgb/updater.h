/// The base of our tree updater: TreeUpdater as each series of XGBoost declares it, in neutral words.
#ifndef XGBGPU_PLUGIN_XGB_UPDATER_H_
#define XGBGPU_PLUGIN_XGB_UPDATER_H_

#include <xgboost/tree_updater.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "xgb/adapt_tree.h"
#include "xgb/types.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/types.h"
#include "xgbgpu/vector_tree.h"

namespace xgbgpu::plugin {

/// The trees that XGBoost asks for at once: one, or num_parallel_tree. Each is a new tree of one node.
class NewTrees {
 public:
  using Positions = xgboost::common::Span<xgboost::HostDeviceVector<xgboost::bst_node_t>>;

  NewTrees(std::vector<xgboost::RegTree*> const& trees, Positions positions) : trees_{trees}, positions_{positions} {}

  std::size_t size() const { return trees_.size(); }
  /// Returns how many numbers each leaf of the trees has.
  std::uint32_t outputs() const { return NumbersInLeaf(*trees_.front()); }
  /// Stores tree number `i`, grown with this learning rate.
  void Store(std::size_t i, Tree const& tree, float learning_rate) const;
  /// Stores a tree of vectors, where trees have several outputs().
  void Store(std::size_t i, VectorTree const& tree) const;
  /// Returns true if XGBoost needs the leaf of each row of the trees. `objective_sets_leaves`: the objective sets their
  /// leaf values. `margins_are_cached`: XGBoost has margins of the rows, and adds the trees to them.
  static bool NeedPositions(bool XGBGPU_BEFORE_304(objective_sets_leaves), bool XGBGPU_SINCE_304(margins_are_cached)) {
    XGBGPU_BEFORE_304(return objective_sets_leaves;)
    XGBGPU_SINCE_304(return margins_are_cached;)
  }
  /// Stores the leaf of each row in tree number `i`.
  void StorePositions(std::size_t i, std::vector<NodeIndex> positions) const;

 private:
  std::vector<xgboost::RegTree*> const& trees_;
  Positions positions_;
};

/// Grows trees when XGBoost asks for them. Parameters, and hence the configuration, are the booster's business.
class XgbUpdater : public xgboost::TreeUpdater {
 public:
  /// `name`: that of the registry.
  XgbUpdater(char const* name, XgbContext const* ctx) : TreeUpdater{ctx}, name_{name} {}

  char const* Name() const final { return name_; }
  XGBGPU_BEFORE_304(bool HasNodePosition() const final { return true; })
  void Configure(xgboost::Args const&) final {}
  void LoadConfig(xgboost::Json const&) final {}
  void SaveConfig(xgboost::Json*) const final {}
  void Update(XGBGPU_SINCE_300(xgboost::tree::TrainParam const*, ) XgbGradients* gradients, xgboost::DMatrix* data,
              NewTrees::Positions out_position, std::vector<xgboost::RegTree*> const& trees) final {
    newest_ = nullptr;
    Grow(MatrixOf(*gradients), data, NewTrees{trees, out_position});
    newest_ = trees.back();
  }
  XGBGPU_BEFORE_302(bool UpdatePredictionCache(xgboost::DMatrix const* data, XgbMarginView margins)
                        final { return AddNewest(data, margins); })
  XGBGPU_SINCE_302(XGBGPU_BEFORE_304(bool UpdatePredictionCache(xgboost::DMatrix const* data, NewTrees::Positions,
                                                                XgbMarginView margins)
                                         final { return AddNewest(data, margins); }))

 protected:
  /// Grows the trees from `gradients`, [rows], or [rows, outputs] for trees of vectors.
  virtual void Grow(XgbGradientMatrix const& gradients, xgboost::DMatrix* data, NewTrees const& trees) = 0;
  /// Adds the current leaf values of the newest tree to the predictions of its training matrix. Predictions are
  /// `stride` floats apart; predictions of a tree of vectors are consecutive. Returns false if XGBoost is to predict
  /// anew.
  virtual bool AddNewestLeaves(xgboost::DMatrix const* data, float* predictions, std::size_t stride) = 0;
  /// Returns the current leaf values of the newest tree, as added to the margin; 0 for inner nodes.
  std::vector<float> NewestLeafValues() const;

 private:
  bool AddNewest(xgboost::DMatrix const* data, XgbMarginView margins);

  char const* name_;
  xgboost::RegTree const* newest_{nullptr};  ///< valid from Update to UpdatePredictionCache
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_UPDATER_H_
