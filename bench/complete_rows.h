/// Large dense data for benchmarks of what devices are given, made by all threads.
#ifndef XGBGPU_BENCH_COMPLETE_ROWS_H_
#define XGBGPU_BENCH_COMPLETE_ROWS_H_

#include <cstdint>
#include <functional>

#include "base/buffer.h"
#include "base/parallel.h"
#include "core/random.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::bench {

/// Complete rows of numbers of 20 bits, as a DMatrix holds them: one batch of entries.
class CompleteRows final : public RowSource {
 public:
  /// levels: features 0, 3, 6 … are categories below it, if it is not 0.
  CompleteRows(std::uint64_t rows, FeatureIndex features, int threads, std::uint32_t levels = 0)
      : features_{features}, offsets_(rows + 1), entries_(rows * features) {
    constexpr std::size_t kGrain = 1 << 12;
    ParallelChunks(threads, rows + 1, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) offsets_[r] = r * features;
    });
    ParallelChunks(threads, rows, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        for (FeatureIndex f = 0; f < features; ++f) {
          RandomStream const stream{1, RandomPurpose::kRounding, f, 0};
          std::uint32_t const word = stream.Word(static_cast<std::uint32_t>(r)) >> 12;
          bool const category = levels != 0 && f % 3 == 0;
          entries_[r * features + f] = {f,
                                        category ? static_cast<float>(word % levels) : static_cast<float>(word) - 3e5f};
        }
      }
    });
  }

  std::uint64_t rows() const override { return offsets_.size() - 1; }
  FeatureIndex features() const override { return features_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    visit({0, {offsets_.data(), offsets_.size()}, {entries_.data(), entries_.size()}});
  }
  double values() const { return static_cast<double>(entries_.size()); }

 private:
  FeatureIndex features_;
  Buffer<std::uint64_t> offsets_;
  Buffer<Entry> entries_;
};

}  // namespace xgbgpu::bench

#endif  // XGBGPU_BENCH_COMPLETE_ROWS_H_
