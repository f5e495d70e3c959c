// Asks XGBoost's dart for weights and columns by watching it predict tree by tree.
#include "booster/stock_dart.h"

#include <omp.h>

#include <numeric>

#include "base/parallel.h"
#include "booster/stand_in.h"
#include "xgb/predictor.h"

namespace xgbgpu::plugin {

namespace {

/// Finds weights: every tree predicts 1, and the prediction begins at 0 for each tree, so that it becomes the weight.
class Probe final : public TreeWatch {
 public:
  /// Writes the weights of the trees that are predicted to `weights`, at the numbers of the trees.
  explicit Probe(std::vector<float>* weights) : TreeWatch{OneRow()}, weights_{weights} {}

  bool Predicts(std::uint32_t tree, xgboost::HostDeviceVector<float>* predictions) override {
    Settle();
    tree_ = tree;
    is_open_ = true;
    predictions->Fill(1.0f);
    out_.predictions.Fill(0.0f);
    return false;
  }
  /// Must be called after the last tree.
  void Settle() {
    if (!is_open_) return;
    is_open_ = false;
    if (weights_->size() <= tree_) weights_->resize(tree_ + std::size_t{1});
    auto const& sums = out_.predictions.ConstHostVector();  // one for each output; those of the others are 0
    (*weights_)[tree_] = std::accumulate(sums.cbegin(), sums.cend(), 0.0f);
  }
  XgbCache* out() { return &out_; }

 private:
  std::vector<float>* weights_;
  XgbCache out_;
  std::uint32_t tree_{0};
  bool is_open_{false};
};

/// Keeps parallel loops on this thread while it is alive. Stock code has such a loop over the single row for every
/// tree, and waking other threads takes longer than all the rest. Several threads may predict with one dart, so its
/// learner keeps its number of threads, which OneThread would change.
class SerialLoops {
 public:
  SerialLoops() : levels_{omp_get_max_active_levels()} { omp_set_max_active_levels(0); }
  ~SerialLoops() { omp_set_max_active_levels(levels_); }
  SerialLoops(SerialLoops const&) = delete;
  SerialLoops& operator=(SerialLoops const&) = delete;

 private:
  int levels_;
};

/// Records columns: what every tree adds to a prediction.
class Recorder final : public TreeWatch {
 public:
  Recorder(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first, LeafColumns* columns)
      : TreeWatch{data},
        model_{model},
        threads_{threads},
        missing_{model.trees - first * model.per_round()},
        columns_{columns} {
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
    ParallelChunks(threads_, column_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) column_[row] = values[row * model_.outputs + output];
    });
    columns_->AddColumn(column_, output);
  }

  /// The prediction is the base: no tree has been added to it.
  void Begin() {
    columns_->BeginColumns(out_.predictions.ConstHostVector());
    Reserve();
  }
  XgbCache* out() { return &out_; }
  bool has_room() const { return has_room_; }

 private:
  void Reserve() { has_room_ = columns_->ReserveColumns(missing_); }

  DartShape const& model_;
  int threads_;
  std::size_t missing_;
  LeafColumns* columns_;
  XgbCache out_;
  std::vector<float> column_;
  bool has_room_{true};
};

/// Leaves out the trees of weight 0.
class Filter final : public TreeWatch {
 public:
  Filter(std::vector<float> const& weights, xgboost::DMatrix* data) : TreeWatch{data}, weights_{weights} {}
  /// A tree that is not predicted adds 0, times its weight.
  bool Predicts(std::uint32_t tree, xgboost::HostDeviceVector<float>* /*predictions*/) override {
    return tree >= weights_.size() || weights_[tree] != 0;
  }

 private:
  std::vector<float> const& weights_;
};

}  // namespace

void StockDart::AskWeights(bool draws, std::uint32_t first, std::uint32_t last, std::vector<float>* weights) {
  SerialLoops const scope;
  Probe probe{weights};
  dart_->PredictBatch(OneRow(), probe.out(), draws, first, last);
  probe.Settle();
}

bool StockDart::Record(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first,
                       LeafColumns* columns) {
  Recorder recorder{model, threads, data, first, columns};
  if (!recorder.has_room()) return false;
  dart_->PredictBatch(data, recorder.out(), false, first, model.rounds);
  if (model.trees == 0) recorder.Begin();
  return recorder.has_room();
}

void StockDart::PredictWithout(std::vector<float> const& weights, xgboost::DMatrix* data, XgbCache* out,
                               unsigned layer_begin, unsigned layer_end) {
  Filter filter{weights, data};
  dart_->PredictBatch(data, out, false, layer_begin, layer_end);
}

}  // namespace xgbgpu::plugin
