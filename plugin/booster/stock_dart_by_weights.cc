// Since XGBoost 3.3 a dart is a gbtree that asks its predictor for all trees at once, with weights.
#include "booster/stand_in.h"
#include "booster/stock_dart.h"
#include "models/model_forest.h"
#include "xgb/predictor.h"

namespace xgbgpu::plugin {

namespace {

/// Takes the weights of a request, and predicts nothing.
class Probe final : public TreeWatch {
 public:
  Probe() : TreeWatch{OneRow()} {}

  void Answer(TreeRequest const& request, Predict const& /*predict*/) override {
    if (request.weights == nullptr) return;
    weights_.assign(request.weights->cbegin(), request.weights->cbegin() + request.last);  // an update adds to the list
  }
  /// The weights of all trees up to the last one asked for; empty: stock code did not say.
  std::vector<float> const& weights() const { return weights_; }

 private:
  std::vector<float> weights_;
};

/// Records columns: what every tree predicts with the weight 1.
class Recorder final : public TreeWatch {
 public:
  Recorder(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first, LeafColumns* columns)
      : TreeWatch{data},
        model_{model},
        threads_{threads},
        missing_{model.trees - first * model.per_round()},
        unit_weights_(model.trees, 1.0f),
        columns_{columns} {
    if (first != 0) Reserve();
  }

  void Answer(TreeRequest const& request, Predict const& predict) override {
    if (request.first == 0) Begin(*request.out);
    XgbCache of_tree;
    of_tree.predictions.Resize(request.out->predictions.Size());
    for (std::uint32_t tree = request.first; tree < request.last && has_room_; ++tree) {
      of_tree.predictions.Fill(0.0f);
      predict({tree, tree + 1, &unit_weights_, &of_tree});
      AddColumnOf(tree, of_tree.predictions.ConstHostVector(), model_, threads_, columns_);
    }
  }

  /// `base`: a prediction to which no tree has been added.
  void Begin(XgbCache const& base) {
    columns_->BeginColumns(base.predictions.ConstHostVector());
    Reserve();
  }
  bool has_room() const { return has_room_; }

 private:
  void Reserve() { has_room_ = columns_->ReserveColumns(missing_); }

  DartShape const& model_;
  int threads_;
  std::size_t missing_;
  std::vector<float> unit_weights_;
  LeafColumns* columns_;
  bool has_room_{true};
};

/// Has trees predicted with other weights.
class Reweigher final : public TreeWatch {
 public:
  Reweigher(std::vector<float> const& weights, xgboost::DMatrix* data) : TreeWatch{data}, weights_{weights} {}

  void Answer(TreeRequest const& request, Predict const& predict) override {
    predict({request.first, request.last, &weights_, request.out});
  }

 private:
  std::vector<float> const& weights_;
};

/// Returns the weights that the dart hands to its predictor; empty: none.
std::vector<float> WeightsOfRequest(xgboost::GradientBooster* dart, bool draws, std::uint32_t first,
                                    std::uint32_t last) {
  XgbCache out;
  Probe probe;
  dart->PredictBatch(OneRow(), &out, draws, static_cast<xgboost::bst_layer_t>(first),
                     static_cast<xgboost::bst_layer_t>(last));
  return probe.weights();
}

}  // namespace

void StockDart::AskWeights(std::uint32_t first, std::uint32_t last, std::vector<float>* weights) {
  *weights = WeightsOfRequest(dart_, false, first, last);
  if (weights->empty()) *weights = TreeWeights(*dart_);  // XGBoost 3.4 says weights only if it drops trees
}

std::vector<float> StockDart::Draw(std::function<std::vector<float> const&()> const& all) {
  std::vector<float> weights = WeightsOfRequest(dart_, true, 0, 0);
  return weights.empty() ? all() : weights;
}

bool StockDart::Record(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first,
                       LeafColumns* columns) {
  Recorder recorder{model, threads, data, first, columns};
  if (!recorder.has_room()) return false;
  XgbCache out;
  dart_->PredictBatch(data, &out, false, static_cast<xgboost::bst_layer_t>(first),
                      static_cast<xgboost::bst_layer_t>(model.rounds));
  if (model.trees == 0) recorder.Begin(out);
  return recorder.has_room();
}

void StockDart::PredictWithout(std::vector<float> const& weights, xgboost::DMatrix* data, XgbCache* out,
                               unsigned layer_begin, unsigned layer_end) {
  Reweigher reweigher{weights, data};
  dart_->PredictBatch(data, out, false, static_cast<xgboost::bst_layer_t>(layer_begin),
                      static_cast<xgboost::bst_layer_t>(layer_end));
}

}  // namespace xgbgpu::plugin
