/// The part of recording leaf columns that all series of XGBoost share. docs/adr/0015-dart-rounds.md
#ifndef XGBGPU_PLUGIN_BOOSTER_COLUMN_RECORDER_H_
#define XGBGPU_PLUGIN_BOOSTER_COLUMN_RECORDER_H_

#include <xgboost/data.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "xgb/predictor.h"
#include "xgbgpu/dart.h"

namespace xgbgpu::plugin {

/// Records what every tree of a dart adds to a prediction. A derived class answers the requests for trees.
class ColumnRecorder : public TreeWatch {
 public:
  /// `first`: the first round to record.
  ColumnRecorder(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first, LeafColumns* columns)
      : TreeWatch{data},
        model_{model},
        threads_{threads},
        missing_{model.trees - first * model.per_round()},
        columns_{columns} {
    if (first != 0) Reserve();
  }

  /// Begins with `base` [rows, outputs], a prediction to which no tree has been added.
  void Begin(std::vector<float> const& base) {
    columns_->BeginColumns(base);
    Reserve();
  }
  bool has_room() const { return has_room_; }

 protected:
  DartShape const& model() const { return model_; }
  /// Adds the column of `tree`. `values`: [rows, outputs], the predictions of that tree alone.
  void Add(std::uint32_t tree, std::vector<float> const& values) {
    std::uint32_t const output = model_.OutputOf(tree);
    if (model_.outputs == 1) return columns_->AddColumn(values, output);
    constexpr std::size_t kGrain = 1 << 14;
    column_.resize(columns_->rows());
    ParallelChunks(threads_, column_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) column_[row] = values[row * model_.outputs + output];
    });
    columns_->AddColumn(column_, output);
  }

 private:
  void Reserve() { has_room_ = columns_->ReserveColumns(missing_); }

  DartShape const& model_;
  int threads_;
  std::size_t missing_;
  LeafColumns* columns_;
  std::vector<float> column_;
  bool has_room_{true};
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_COLUMN_RECORDER_H_
