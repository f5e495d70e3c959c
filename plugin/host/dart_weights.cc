#include "dart_weights.h"

#include <omp.h>
#include <xgboost/predictor.h>

#include <algorithm>
#include <numeric>

#include "predictor.h"
#include "stand_in.h"

namespace xgbgpu::plugin {

namespace {

/// Every tree predicts 1. What that adds to the prediction, which begins at 0 for each tree, is its weight.
class Probe final : public TreeWatch {
 public:
  /// Weights of the trees that are predicted go to `weights`, by their numbers.
  explicit Probe(std::vector<float>* weights) : TreeWatch{OneRow()}, weights_{weights} {}

  bool Predicts(std::uint32_t tree, xgboost::HostDeviceVector<float>* predictions) override {
    Settle();
    tree_ = tree;
    is_open_ = true;
    predictions->Fill(1.0f);
    out_.predictions.Fill(0.0f);
    return false;
  }
  /// After the last tree.
  void Settle() {
    if (!is_open_) return;
    is_open_ = false;
    if (weights_->size() <= tree_) weights_->resize(tree_ + std::size_t{1});
    auto const& sums = out_.predictions.ConstHostVector();  // one for each output; those of the others are 0
    (*weights_)[tree_] = std::accumulate(sums.cbegin(), sums.cend(), 0.0f);
  }
  xgboost::PredictionCacheEntry* out() { return &out_; }

 private:
  std::vector<float>* weights_;
  xgboost::PredictionCacheEntry out_;
  std::uint32_t tree_{0};
  bool is_open_{false};
};

/// While alive, loops that this thread would share out run on it alone: stock code has one over the single row for
/// every tree, and waking other threads takes longer than all the rest.
class OneThread {
 public:
  OneThread() : levels_{omp_get_max_active_levels()} { omp_set_max_active_levels(0); }
  ~OneThread() { omp_set_max_active_levels(levels_); }
  OneThread(OneThread const&) = delete;
  OneThread& operator=(OneThread const&) = delete;

 private:
  int levels_;
};

void Ask(xgboost::GradientBooster* dart, bool training, std::uint32_t first, std::uint32_t last,
         std::vector<float>* weights) {
  OneThread const scope;
  Probe probe{weights};
  dart->PredictBatch(OneRow(), probe.out(), training, first, last);
  probe.Settle();
}

}  // namespace

std::vector<float> const& DartWeights::all() {
  if (!knows_all_) {
    all_.clear();
    if (dart_->BoostedRounds() > 0) Ask(dart_, false, 0, 0, &all_);
    knows_all_ = true;
  }
  return all_;
}

void DartWeights::Draw() {
  std::size_t const trees = all().size();
  drew_none_ = false;
  drawn_.clear();
  Ask(dart_, true, 0, 0, &drawn_);
  drawn_.resize(trees);
  drew_none_ = drawn_ == all_;
}

void DartWeights::RoundIsOver(std::uint32_t rounds) {
  knows_all_ = knows_all_ && drew_none_;
  if (knows_all_) Ask(dart_, false, rounds - 1, rounds, &all_);
}

void DartWeights::Forget() {
  knows_all_ = false;
  drew_none_ = false;
}

}  // namespace xgbgpu::plugin
