/// Random data, and row sources that hand it out.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_DATA_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_DATA_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "reference/matrix.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::testing {

/// Rows in memory, handed out in batches of `batch_rows` rows (0: all at once).
class MemorySource final : public RowSource {
 public:
  MemorySource(std::vector<std::vector<Entry>> rows, FeatureIndex features, std::size_t batch_rows = 0)
      : rows_{std::move(rows)}, features_{features}, batch_rows_{batch_rows} {}
  /// Missing values are not stored.
  explicit MemorySource(reference::Values const& values, std::size_t batch_rows = 0);

  std::uint64_t rows() const override { return rows_.size(); }
  FeatureIndex features() const override { return features_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override;

  Span<std::uint8_t const> categorical() const override { return categorical_; }

  std::vector<std::vector<Entry>>& data() { return rows_; }
  /// [features], or empty.
  void SetCategorical(std::vector<std::uint8_t> categorical) { categorical_ = std::move(categorical); }

 private:
  std::vector<std::vector<Entry>> rows_;
  FeatureIndex features_;
  std::size_t batch_rows_;
  std::vector<std::uint8_t> categorical_;
};

/// Counts how often the rows of another source are read as batches.
class ReadSource final : public RowSource {
 public:
  explicit ReadSource(RowSource const& rows) : rows_{rows} {}

  std::uint64_t rows() const override { return rows_.rows(); }
  FeatureIndex features() const override { return rows_.features(); }
  Span<std::uint8_t const> categorical() const override { return rows_.categorical(); }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    ++passes_;
    rows_.ForEachBatch(visit);
  }
  int passes() const { return passes_; }

 private:
  RowSource const& rows_;
  mutable int passes_{0};
};

/// Shows one array as several, of `most_rows` rows or fewer. Those of the host are overwritten after their visit.
class ArraysSource final : public RowSource {
 public:
  /// `whole` has one array, and must outlive this.
  ArraysSource(RowSource const& whole, std::uint64_t most_rows) : whole_{whole}, most_rows_{most_rows} {}

  std::uint64_t rows() const override { return whole_.rows(); }
  FeatureIndex features() const override { return whole_.features(); }
  Span<std::uint8_t const> categorical() const override { return whole_.categorical(); }
  std::optional<DenseValues> arrays() const override;
  void ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const override;
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { whole_.ForEachBatch(visit); }
  int passes() const { return passes_; }  ///< over the arrays

 private:
  RowSource const& whole_;
  std::uint64_t most_rows_;
  mutable int passes_{0};
};

/// Random numbers that are the same on every platform, which those of the standard's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_{seed} {}

  std::uint64_t Bits() { return engine_(); }
  std::size_t Below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  /// Returns a multiple of 2^-24 in [0, 1).
  float Uniform() { return static_cast<float>(engine_() >> 40) * 0x1p-24f; }
  float Between(float low, float high) { return low + (high - low) * Uniform(); }

 private:
  std::mt19937_64 engine_;
};

/// What random data look like.
struct DataShape {
  std::size_t rows;
  std::size_t features;
  double missing{0.0};    ///< share of missing values
  std::size_t levels{0};  ///< distinct values of a column; 0: as many as rows
};

reference::Values RandomValues(DataShape const& shape, std::uint64_t seed);

/// Replaces the present values of a column by random categories below `levels`, more of the small ones, and adds to
/// each row's gradient what its category says.
void MakeCategories(reference::Values* values, std::size_t feature, std::size_t levels, std::uint64_t seed,
                    std::vector<GradientPair>* gradients);

/// Returns gradients in (-1, 1) and hessians in (0, 1]. They depend on the first columns: there is something to learn.
std::vector<GradientPair> RandomGradients(reference::Values const& values, std::uint64_t seed);

/// Returns an empty text if f() throws E with a text that contains all of `parts`, else a text that says what is wrong.
template <typename E, typename F>
std::string WhatIsWrong(F&& f, std::vector<std::string> const& parts) {
  try {
    f();
  } catch (E const& e) {
    std::string const text = e.what();
    for (auto const& part : parts) {
      if (text.find(part) == std::string::npos) return "no '" + part + "' in '" + text + "'";
    }
    return "";
  }
  return "nothing was thrown";
}

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_DATA_H_
