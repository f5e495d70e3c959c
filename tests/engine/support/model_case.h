/// A model that is trained by the engine's rounds, as a host would train it, without any host.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_MODEL_CASE_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_MODEL_CASE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "predict/forest.h"
#include "support/data.h"
#include "support/given_trees.h"
#include "support/grow.h"
#include "xgbgpu/boosting_round.h"
#include "xgbgpu/dataset_cache.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/training_pool.h"

namespace xgbgpu::testing {

/// Rows with labels and an owner, as a host has them.
class OwnedData {
 public:
  OwnedData(reference::Values values, std::uint32_t classes, std::uint64_t seed)
      : values_{std::move(values)}, source_{values_} {
    Random random{seed};
    for (std::size_t row = 0; row < values_.rows; ++row) {
      float const signal = std::max(-1.0f, std::min(1.0f, values_(row, 0) - values_(row, 1)));
      bool const known = signal == signal;  // a value may be missing
      labels_.push_back(classes > 1 ? static_cast<float>(random.Below(classes))
                                    : (known && signal > 0 ? 1.0f : 0.0f) + 0.25f * random.Uniform());
    }
  }

  DataKey key() const { return DataKey{owner_}; }
  void Die() { owner_.reset(); }
  std::uint64_t rows() const { return values_.rows; }
  RowSource const& source() const { return source_; }
  reference::Values const& values() const { return values_; }
  std::vector<float>& labels() { return labels_; }
  TargetView targets() const {
    TargetView view;
    view.labels = labels_.data();
    return view;
  }
  /// Asks for the data quantised in `place`.
  DatasetRequest Request(Place place, int max_bin = 256) const {
    DatasetRequest request{};
    request.key = key();
    request.max_bin = max_bin;
    request.place = place;
    request.make = [this, max_bin, place] { return Dataset::Build(source_, {}, max_bin, 2, place); };
    return request;
  }

 private:
  std::shared_ptr<int> owner_{std::make_shared<int>()};
  reference::Values values_;
  MemorySource source_;
  std::vector<float> labels_;
};

/// What the rounds of a model are made with.
struct ModelOptions {
  ObjectiveParams objective{Objective::kSquaredError};
  std::uint32_t outputs{1};
  std::size_t per_output{1};  ///< trees of each output and round
  bool speculates{true};
  TrainParams params{};
};

/// A model and its training. Margins are kept where it is trained: with resident rows on a device, or in a vector.
class ModelCase {
 public:
  ModelCase(OwnedData* data, BackendKind kind, ModelOptions options = {})
      : data_{*data}, kind_{kind}, options_{std::move(options)}, margins_(data->rows() * options_.outputs, 0.5f) {}

  Training& training() { return pool_.Get(data_.Request({kind_, 0}), 2); }
  TrainingPool& pool() { return pool_; }
  std::uint32_t rounds() const { return rounds_; }
  std::vector<Tree> const& trees() const { return trees_; }
  std::uint32_t OutputOf(std::size_t tree) const {
    return static_cast<std::uint32_t>(tree % (options_.outputs * options_.per_output) / options_.per_output);
  }

  /// Trains one round. `keeps`: its trees are kept for rows that are evaluated.
  void Round(bool keeps = false) {
    Training& training = this->training();
    ObjectiveParams objective = options_.objective;
    objective.iteration = rounds_;
    TargetMark const mark = TargetMark::Of(data_.targets(), data_.rows(), objective.kind, {}, 2);
    training.Check(objective, data_.targets(), mark, options_.outputs);
    LeafRule const rule = objective.kind == Objective::kAbsoluteError ? LeafRule::kMedians
                          : objective.kind == Objective::kQuantile    ? LeafRule::kQuantiles
                                                                      : LeafRule::kSums;
    RoundOrder order{options_.params, rounds_, rule, keeps};
    if (kind_ == BackendKind::kHost) {
      std::vector<GradientPair> gradients(margins_.size());
      host::ComputeGradients(objective, data_.targets(),
                             RowMajor<float const>(margins_.data(), data_.rows(), options_.outputs),
                             RowMajor(gradients.data(), data_.rows(), options_.outputs), 2);
      HostRound round{&training, order, {data_.labels(), {}, margins_, objective.alphas}};
      std::vector<float> next = margins_;
      Grow(&round, &gradients, [&](Tree const& tree, std::uint32_t output) {
        training.trainer->AddLeafValues(tree.leaf_value, next.data() + output, options_.outputs);
      });
      margins_ = std::move(next);
    } else {
      if (training.own.rounds != rounds_) training.SetMargins(margins_, options_.outputs, rounds_);
      training.ComputeGradients(objective, data_.targets(), mark);
      ResidentRound round{&training, order, objective, mark, options_.speculates};
      Grow(&round, nullptr, [](Tree const&, std::uint32_t) {});
    }
  }

  std::vector<float> Margins() {
    if (kind_ == BackendKind::kHost) return margins_;
    std::vector<float> margins(margins_.size());
    training().own.rows->CopyMargins(margins);
    return margins;
  }

  /// Returns margins of other rows, by the engine's predictor on the host.
  std::vector<float> Predict(OwnedData const& data) const {
    Forest forest;
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      Tree const& tree = trees_[i];
      std::vector<NodeIndex> right(tree.size(), kNoNode);
      std::vector<float> value = tree.threshold;
      for (std::size_t n = 0; n < tree.size(); ++n) {
        if (tree.IsLeaf(static_cast<NodeIndex>(n))) {
          value[n] = tree.leaf_value[n];
        } else {
          right[n] = tree.left[n] + 1;
        }
      }
      forest.Add({tree.left, right, tree.feature, value, tree.default_left}, OutputOf(i));
    }
    std::vector<float> margins(data.rows() * options_.outputs, 0.5f);
    host::PredictMargins(data.source(), forest, 0, forest.trees(),
                         RowMajor(margins.data(), data.rows(), options_.outputs), 2);
    return margins;
  }

 private:
  void Grow(BoostingRound* round, std::vector<GradientPair> const* gradients,
            std::function<void(Tree const&, std::uint32_t)> const& grown) {
    std::vector<GradientPair> of_output(gradients == nullptr ? 0 : data_.rows());
    for (std::uint32_t output = 0; output < options_.outputs; ++output) {
      for (std::size_t row = 0; row < of_output.size(); ++row) {
        of_output[row] = (*gradients)[row * options_.outputs + output];
      }
      for (std::size_t i = 0; i < options_.per_output; ++i) {
        trees_.push_back(round->Next(of_output, options_.per_output));
        grown(trees_.back(), output);
      }
    }
    round->End(++rounds_);
  }

  OwnedData& data_;
  BackendKind kind_;
  ModelOptions options_;
  TrainingPool pool_;
  std::vector<float> margins_;
  std::vector<Tree> trees_;
  std::uint32_t rounds_{0};
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_MODEL_CASE_H_
