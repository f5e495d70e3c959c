#include "dart_columns.h"

#include <xgboost/predictor.h>

#include "core/parallel.h"
#include "predictor.h"

namespace xgbgpu::plugin {

namespace {

class Recorder final : public TreeWatch {
 public:
  Recorder(DartTrees const& model, xgboost::DMatrix* data, std::uint32_t first, LeafColumns* columns)
      : TreeWatch{data}, model_{model}, missing_{model.trees - first * model.per_round()}, columns_{columns} {
    if (first != 0) Reserve();
  }

  bool Predicts(std::uint32_t tree, xgboost::HostDeviceVector<float>* /*predictions*/) override {
    if (tree == 0) Begin();
    return has_room_;
  }
  void Predicted(std::uint32_t tree, xgboost::HostDeviceVector<float> const& predictions) override {
    std::vector<float> const& values = predictions.ConstHostVector();
    std::uint32_t const output = model_.OutputOf(tree);
    if (model_.outputs == 1) {
      columns_->AddColumn(values, output);
      return;
    }
    constexpr std::size_t kGrain = 1 << 14;
    column_.resize(columns_->rows());
    ParallelChunks(model_.threads, column_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) column_[row] = values[row * model_.outputs + output];
    });
    columns_->AddColumn(column_, output);
  }

  /// The prediction is the base: no tree has been added to it.
  void Begin() {
    columns_->BeginColumns(out_.predictions.ConstHostVector());
    Reserve();
  }
  xgboost::PredictionCacheEntry* out() { return &out_; }
  bool has_room() const { return has_room_; }

 private:
  void Reserve() { has_room_ = columns_->ReserveColumns(missing_); }

  DartTrees const& model_;
  std::size_t missing_;
  LeafColumns* columns_;
  xgboost::PredictionCacheEntry out_;
  std::vector<float> column_;
  bool has_room_{true};
};

class Filter final : public TreeWatch {
 public:
  Filter(std::vector<float> const& weights, xgboost::DMatrix* data) : TreeWatch{data}, weights_{weights} {}
  /// What is not predicted stays 0, and is added with the tree's weight.
  bool Predicts(std::uint32_t tree, xgboost::HostDeviceVector<float>* /*predictions*/) override {
    return tree >= weights_.size() || weights_[tree] != 0;
  }

 private:
  std::vector<float> const& weights_;
};

}  // namespace

bool RecordColumns(DartTrees const& model, xgboost::DMatrix* data, std::uint32_t first, LeafColumns* columns) {
  Recorder recorder{model, data, first, columns};
  if (!recorder.has_room()) return false;
  model.dart->PredictBatch(data, recorder.out(), false, first, model.rounds);
  if (model.trees == 0) recorder.Begin();
  return recorder.has_room();
}

void PredictWithout(std::vector<float> const& weights, xgboost::GradientBooster* dart, xgboost::DMatrix* data,
                    xgboost::PredictionCacheEntry* out, unsigned layer_begin, unsigned layer_end) {
  Filter filter{weights, data};
  dart->PredictBatch(data, out, false, layer_begin, layer_end);
}

}  // namespace xgbgpu::plugin
