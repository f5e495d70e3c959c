// Since XGBoost 3.3 a dart is a gbtree that asks its predictor for all trees at once, with weights.
#include <xgboost/json.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "booster/column_recorder.h"
#include "booster/stand_in.h"
#include "booster/stock_dart.h"
#include "models/model_forest.h"
#include "xgb/predictor.h"
#include "xgb/version.h"

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

/// The weights that XGBoost 3.4 gives after a round that has dropped `dropped` trees (its rule, with its roundings).
struct RoundWeights {
  float factor;  ///< of a dropped tree
  float of_new;

  RoundWeights(xgboost::GradientBooster const& dart, std::size_t dropped) : factor{1}, of_new{1} {
    if (dropped == 0) return;
    xgboost::Json config{xgboost::Object{}};
    dart.SaveConfig(&config);
    auto const text = [&](char const* section, char const* name) {
      return xgboost::get<xgboost::String const>(config[section][name]);
    };
    float const eta = std::strtof(text("tree_train_param", "learning_rate").c_str(), nullptr);
    if (text("dart_train_param", "normalize_type") == "forest") {
      factor = of_new = static_cast<float>(1.0 / (1.0 + static_cast<double>(eta)));
      return;
    }
    float const sum = static_cast<float>(dropped) + eta;
    factor = static_cast<float>(static_cast<double>(dropped) / static_cast<double>(sum));
    of_new = static_cast<float>(1.0 / static_cast<double>(sum));
  }
};

/// Finds the weights after a round from the weights before it and the trees that it dropped. It has stock code predict
/// one row by each tree whose weight has changed. Weights are found only if stock code predicts each of the
/// trees so by its own weights, too: another release may have another rule.
class Successor final : public TreeWatch {
 public:
  /// `before`: of all trees when the round began. `drawn`: the same, 0 for a dropped tree.
  Successor(xgboost::GradientBooster const& dart, std::vector<float> const& before, std::vector<float> const& drawn)
      : TreeWatch{OneRow()}, dart_{dart}, before_{before}, drawn_{drawn} {}

  void Answer(TreeRequest const& request, Predict const& predict) override {
    bool const is_of_round = before_.size() == drawn_.size() && before_.size() < request.last;
    if (!is_of_round || std::count(before_.cbegin(), before_.cend(), 0.0f) != 0) return;
    auto const dropped = static_cast<std::size_t>(std::count(drawn_.cbegin(), drawn_.cend(), 0.0f));
    RoundWeights const weights{dart_, dropped};
    std::vector<float> next = before_;
    next.resize(request.last, weights.of_new);
    std::vector<float> const ones(request.last, 1.0f);
    auto const predicts = [&](std::uint32_t tree, std::vector<float> const* by) {
      XgbCache out;
      out.predictions.Resize(request.out->predictions.Size(), 0.0f);
      predict({tree, tree + 1, by, &out});
      auto const& all = out.predictions.ConstHostVector();  // other outputs are 0
      return std::accumulate(all.cbegin(), all.cend(), 0.0f);
    };
    for (std::uint32_t tree = 0; tree < request.last; ++tree) {
      bool const is_new = tree >= before_.size();
      if (!is_new && drawn_[tree] != 0.0f) continue;
      if (!is_new) next[tree] *= weights.factor;
      float const leaf = predicts(tree, &ones);
      if (leaf == 0.0f || predicts(tree, nullptr) != next[tree] * leaf) return;
    }
    found_ = std::move(next);
  }
  /// The weights of all trees; empty: not found.
  std::vector<float> const& found() const { return found_; }

 private:
  xgboost::GradientBooster const& dart_;
  std::vector<float> const& before_;
  std::vector<float> const& drawn_;
  std::vector<float> found_;
};

/// Records columns: what every tree predicts with the weight 1.
class Recorder final : public ColumnRecorder {
 public:
  using ColumnRecorder::ColumnRecorder;

  void Answer(TreeRequest const& request, Predict const& predict) override {
    if (request.first == 0) Begin(request.out->predictions.ConstHostVector());
    std::vector<float> const ones(model().trees, 1.0f);
    XgbCache of_tree;
    of_tree.predictions.Resize(request.out->predictions.Size());
    for (std::uint32_t tree = request.first; tree < request.last && has_room(); ++tree) {
      of_tree.predictions.Fill(0.0f);
      predict({tree, tree + 1, &ones, &of_tree});
      Add(tree, of_tree.predictions.ConstHostVector());
    }
  }
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

/// Asks the dart for a prediction of a matrix of one row by the trees of rounds first … last - 1, which a watch answers.
void AskForOneRow(xgboost::GradientBooster* dart, bool draws, std::uint32_t first, std::uint32_t last) {
  SerialLoops const scope;
  XgbCache out;
  dart->PredictBatch(OneRow(), &out, draws, static_cast<xgboost::bst_layer_t>(first),
                     static_cast<xgboost::bst_layer_t>(last));
}

}  // namespace

void StockDart::AskWeights(std::uint32_t first, std::uint32_t last, std::vector<float>* weights) {
  std::vector<float> found;
  if (kSeries < 304) {
    Probe probe;
    AskForOneRow(dart_, false, first, last);
    found = probe.weights();
  } else {
    Successor successor{*dart_, *weights, drawn_};
    AskForOneRow(dart_, false, first, last);
    found = successor.found();
  }
  *weights = found.empty() ? TreeWeights(*dart_) : std::move(found);
}

std::vector<float> StockDart::Draw(std::function<std::vector<float> const&()> const& all) {
  {
    Probe probe;
    AskForOneRow(dart_, true, 0, 0);
    drawn_ = probe.weights();
  }
  if (drawn_.empty()) drawn_ = all();  // XGBoost 3.4 says weights only if it drops trees
  return drawn_;
}

bool StockDart::Record(DartShape const& model, int threads, xgboost::DMatrix* data, std::uint32_t first,
                       LeafColumns* columns) {
  Recorder recorder{model, threads, data, first, columns};
  if (!recorder.has_room()) return false;
  XgbCache out;
  dart_->PredictBatch(data, &out, false, static_cast<xgboost::bst_layer_t>(first),
                      static_cast<xgboost::bst_layer_t>(model.rounds));
  if (model.trees == 0) recorder.Begin(out.predictions.ConstHostVector());
  return recorder.has_room();
}

void StockDart::PredictWithout(std::vector<float> const& weights, xgboost::DMatrix* data, XgbCache* out,
                               unsigned layer_begin, unsigned layer_end) {
  Reweigher reweigher{weights, data};
  dart_->PredictBatch(data, out, false, static_cast<xgboost::bst_layer_t>(layer_begin),
                      static_cast<xgboost::bst_layer_t>(layer_end));
}

}  // namespace xgbgpu::plugin
