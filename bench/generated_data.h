/// Data for benchmarks: normal features as entries and as an array, a label with interactions, logistic gradients.
#ifndef XGBGPU_BENCH_GENERATED_DATA_H_
#define XGBGPU_BENCH_GENERATED_DATA_H_

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "xgbgpu/array_source.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::bench {

/// `rows` × `features` standard normal values, each stored with probability `density`.
class GeneratedRows final : public RowSource {
 public:
  GeneratedRows(std::uint64_t rows, FeatureIndex features, double density) : features_{features}, offsets_{0} {
    std::mt19937_64 random{1};
    std::normal_distribution<float> normal;
    std::bernoulli_distribution stored{density};
    for (std::uint64_t r = 0; r < rows; ++r) {
      float label = normal(random);
      for (FeatureIndex f = 0; f < features; ++f) {
        array_.push_back(std::numeric_limits<float>::quiet_NaN());
        if (density < 1.0 && !stored(random)) continue;
        float const x = normal(random);
        array_.back() = x;
        entries_.push_back({f, x});
        label += f < 3 ? x : (f < 6 ? 0.5f * x * x : 0.0f);
      }
      offsets_.push_back(entries_.size());
      gradients_.push_back(label > 1.0f ? GradientPair{-0.7f, 0.21f} : GradientPair{0.3f, 0.21f});
    }
  }

  std::uint64_t rows() const override { return offsets_.size() - 1; }
  FeatureIndex features() const override { return features_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    visit({0, offsets_, entries_});
  }
  std::uint64_t stored() const { return entries_.size(); }
  /// Returns rows as an array of floats, which this object owns.
  ArraySource array(int threads) const { return {DenseValues{array_.data()}, rows(), features_, threads}; }
  /// Gradients of the logistic loss at a margin that predicts 0.3 everywhere.
  std::vector<GradientPair> const& gradients() const { return gradients_; }

 private:
  FeatureIndex features_;
  std::vector<std::uint64_t> offsets_;
  std::vector<Entry> entries_;
  std::vector<float> array_;  ///< [rows, features], NaN where nothing is stored
  std::vector<GradientPair> gradients_;
};

}  // namespace xgbgpu::bench

#endif  // XGBGPU_BENCH_GENERATED_DATA_H_
