/// Leaf columns (rounds/leaf_columns.h) of the trees that stock code predicts.
#ifndef XGBGPU_PLUGIN_DART_COLUMNS_H_
#define XGBGPU_PLUGIN_DART_COLUMNS_H_

#include <xgboost/data.h>
#include <xgboost/gbm.h>

#include <cstdint>
#include <vector>

#include "rounds/leaf_columns.h"

namespace xgbgpu::plugin {

/// A stock dart, and how its trees are arranged.
struct DartTrees {
  xgboost::GradientBooster* dart;
  std::uint32_t rounds;
  std::size_t trees;
  std::uint32_t outputs;
  int threads;

  bool IsEven() const { return rounds == 0 ? trees == 0 : trees % (std::size_t{rounds} * outputs) == 0; }
  std::size_t per_round() const { return rounds == 0 ? outputs : trees / rounds; }
  /// Trees of a round are those of an output one after the other.
  std::uint32_t OutputOf(std::size_t tree) const {
    return static_cast<std::uint32_t>(tree % per_round() / (per_round() / outputs));
  }
};

/// Stock code predicts the trees of rounds `first` … for `data`, and they become columns; from round 0 on with all that
/// belongs to columns. One pass over the rows for each tree, on the host. False if there is no room; some columns may
/// have been added.
bool RecordColumns(DartTrees const& model, xgboost::DMatrix* data, std::uint32_t first, LeafColumns* columns);

/// What stock code predicts with the trees of weight 0 left out: a prediction with training=True, for trees that were
/// drawn already. One weight for each tree.
void PredictWithout(std::vector<float> const& weights, xgboost::GradientBooster* dart, xgboost::DMatrix* data,
                    xgboost::PredictionCacheEntry* out, unsigned layer_begin, unsigned layer_end);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DART_COLUMNS_H_
