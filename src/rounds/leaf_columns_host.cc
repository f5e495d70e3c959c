// Leaf columns in the memory of the host.
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/message.h"
#include "base/parallel.h"
#include "rounds/check_margins.h"
#include "rounds/column_sums.h"
#include "xgbgpu/error.h"
#include "xgbgpu/leaf_columns.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kGrain = 1 << 12;  // rows per task, whose margins stay in the first cache

/// Columns may take a quarter of the memory that is free.
constexpr std::size_t kShareOfFree = 4;

std::size_t FreeMemory() {
  long const pages = sysconf(_SC_AVPHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages < 0 || bytes < 0 ? 0 : static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes);
}

class Columns final : public FillableColumns {
 public:
  Columns(std::uint64_t rows, std::uint32_t outputs, int threads) : rows_{rows}, outputs_{outputs}, threads_{threads} {}

  std::uint64_t rows() const override { return rows_; }
  std::uint32_t outputs() const override { return outputs_; }

  void BeginColumns(Span<float const> base) override {
    CheckMargins(base.size(), rows_, outputs_);
    EndColumns();
    base_.assign(base.begin(), base.end());
    margins_ = base_;
    has_columns_ = true;
  }
  void EndColumns() override {
    has_columns_ = false;
    columns_ = {};
    base_ = margins_ = applied_ = {};
  }
  bool has_columns() const override { return has_columns_; }
  std::size_t columns() const override { return columns_.size(); }

  bool ReserveColumns(std::size_t more) override {
    if (rows_ * sizeof(float) * more > FreeMemory() / kShareOfFree) return false;
    columns_.reserve(columns_.size() + more);
    return true;
  }
  Span<float> NextColumn(std::uint32_t output) override {
    columns_.push_back({std::vector<float>(rows_), output});
    auto& values = columns_.back().values;
    return {values.data(), values.size()};
  }
  void AddColumn(Span<float const> values, std::uint32_t output) override {
    if (values.size() != rows_) {
      Throw<InvalidArgument>("There are ", values.size(), " leaf values; allowed: one for each of the ", rows_,
                             " rows");
    }
    auto const to = NextColumn(output);
    std::copy(values.begin(), values.end(), to.begin());
  }

  void WeighColumns(Span<float const> weights) override {
    CheckColumnWeights(weights.size(), columns_.size());
    std::size_t const first = FirstColumnToAdd(weights, applied_);
    if (first != applied_.size()) margins_ = base_;
    applied_.assign(weights.begin(), weights.end());
    if (first == weights.size()) return;
    ParallelChunks(threads_, rows_, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = first; c < columns_.size(); ++c) {
        float const weight = applied_[c];
        if (weight == 0) continue;
        auto const& [values, output] = columns_[c];
        for (std::size_t row = begin; row < end; ++row) margins_[row * outputs_ + output] += values[row] * weight;
      }
    });
  }
  void CopyMargins(Span<float> margins) const override {
    CheckMargins(margins.size(), rows_, outputs_);
    ParallelChunks(threads_, margins_.size(), 16 * kGrain, [&](std::size_t begin, std::size_t end) {
      std::copy(margins_.begin() + begin, margins_.begin() + end, margins.begin() + begin);
    });
  }

 private:
  struct Column {
    std::vector<float> values;
    std::uint32_t output;
  };

  std::uint64_t rows_;
  std::uint32_t outputs_;
  int threads_;
  bool has_columns_{false};
  std::vector<float> base_, margins_;  ///< row-major
  std::vector<Column> columns_;
  std::vector<float> applied_;  ///< weights of the columns that are in margins_
};

}  // namespace

std::unique_ptr<FillableColumns> MakeLeafColumns(std::uint64_t rows, std::uint32_t outputs, int threads) {
  return std::make_unique<Columns>(rows, outputs, threads);
}

}  // namespace xgbgpu::host
