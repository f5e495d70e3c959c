// Before XGBoost 3.3 a dart asks its predictor for one tree after the other, and multiplies by the weight itself.
#include <numeric>

#include "booster/column_recorder.h"
#include "booster/stand_in.h"
#include "booster/stock_dart.h"
#include "xgb/predictor.h"

namespace xgbgpu::plugin {

namespace {

/// Finds weights: every tree predicts 1, and the dart's prediction begins at 0 for each tree, so that it becomes the
/// weight.
class Probe final : public TreeWatch {
 public:
  /// Writes the weights of the trees that are predicted to `weights`, at the numbers of the trees.
  explicit Probe(std::vector<float>* weights) : TreeWatch{OneRow()}, weights_{weights} {}

  void Answer(TreeRequest const& request, Predict const& /*predict*/) override {
    Settle();
    tree_ = request.first;
    is_open_ = true;
    request.out->predictions.Fill(1.0f);
    out_.predictions.Fill(0.0f);
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

/// Records columns: what every tree adds to a prediction.
class Recorder final : public ColumnRecorder {
 public:
  using ColumnRecorder::ColumnRecorder;

  void Answer(TreeRequest const& request, Predict const& predict) override {
    if (request.first == 0) Begin(out_.predictions.ConstHostVector());  // no tree has been added to it
    if (!has_room()) return;
    predict(request);
    Add(request.first, request.out->predictions.ConstHostVector());
  }
  XgbCache* out() { return &out_; }

 private:
  XgbCache out_;
};

/// Leaves out the trees of weight 0.
class Filter final : public TreeWatch {
 public:
  Filter(std::vector<float> const& weights, xgboost::DMatrix* data) : TreeWatch{data}, weights_{weights} {}
  /// A tree that is not predicted adds 0, times its weight.
  void Answer(TreeRequest const& request, Predict const& predict) override {
    if (request.first >= weights_.size() || weights_[request.first] != 0) predict(request);
  }

 private:
  std::vector<float> const& weights_;
};

}  // namespace

void StockDart::AskWeights(std::uint32_t first, std::uint32_t last, std::vector<float>* weights) {
  if (last == 0) weights->clear();
  SerialLoops const scope;
  Probe probe{weights};
  dart_->PredictBatch(OneRow(), probe.out(), false, first, last);
  probe.Settle();
}

std::vector<float> StockDart::Draw(std::function<std::vector<float> const&()> const& all) {
  std::size_t const trees = all().size();
  SerialLoops const scope;
  std::vector<float> weights;
  Probe probe{&weights};
  dart_->PredictBatch(OneRow(), probe.out(), true, 0, 0);
  probe.Settle();
  weights.resize(trees);  // the last trees may be dropped
  return weights;
}

bool StockDart::Record(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first,
                       LeafColumns* columns) {
  Recorder recorder{model, threads, data, first, columns};
  if (!recorder.has_room()) return false;
  dart_->PredictBatch(data, recorder.out(), false, first, model.rounds);
  if (model.trees == 0) recorder.Begin(recorder.out()->predictions.ConstHostVector());
  return recorder.has_room();
}

void StockDart::PredictWithout(std::vector<float> const& weights, xgboost::DMatrix* data, XgbCache* out,
                               unsigned layer_begin, unsigned layer_end) {
  Filter filter{weights, data};
  dart_->PredictBatch(data, out, false, layer_begin, layer_end);
}

}  // namespace xgbgpu::plugin
