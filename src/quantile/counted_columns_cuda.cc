// Counts sort keys on a device, pass by pass.
#include "quantile/counted_columns_cuda.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "quantile/columns_cuda.h"
#include "quantile/key_counts_cuda.h"
#include "quantile/pair_upload_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr char const* kCounting = "counting values";
constexpr std::size_t kEndKeys = 4, kEndSums = 3;  // values of a column in EndsView
constexpr std::size_t kEndBytes = kEndKeys * sizeof(std::uint32_t) + kEndSums * sizeof(unsigned long long);

/// Weight: unsigned long long, or std::uint32_t if every value counts 1.
template <typename Weight>
class DeviceKeyCounter final : public KeyCounter {
 public:
  DeviceKeyCounter(RowSource const& source, KeyCounting const& how, DeviceArena* arena)
      : source_{source}, how_{how}, arena_{arena} {
    if (how.as_rows) {
      rows_.emplace(source, how.threads);
    } else {
      pairs_.emplace(source, how.weights, how.threads);
    }
  }

  std::size_t most_prefixes(KeyDigit digit) const override {
    FeatureIndex const features = std::max(FeatureIndex{1}, source_.features());
    std::size_t const upload = rows_ ? rows_->device_bytes(features) + how_.weights.size() * sizeof(float)
                                     : pairs_->most_pairs() * (sizeof(std::uint64_t) + sizeof(float));
    std::size_t const ends = digit.IsFirst() ? rings(features) * kEndBytes : 0;
    std::size_t const prefix = digit.counters() * sizeof(Weight) + 2 * sizeof(std::uint32_t) + ends;
    std::size_t const left = how_.memory_bytes - std::min(how_.memory_bytes, upload);
    return std::max<std::size_t>(1, std::max(left, how_.least_counter_bytes) / prefix);
  }
  void Count(KeyDigit digit, Span<CountedPrefix const> prefixes) override {
    PrefixTable const table{prefixes};
    columns_ = table.columns();
    start_ = Upload(arena_, "counted prefixes", table.start.data(), table.start.size());
    bits_ = Upload(arena_, "counted prefixes", table.bits.data(), table.bits.size());
    view_ = {digit, start_.data(), bits_.data()};
    ClearSums(prefixes.size() * digit.counters());
    ColumnRange const range{table.first, table.first + columns_, source_.features()};
    if (rows_) {
      if (weights_.size() != how_.weights.size()) {
        weights_ = Upload(arena_, "weights", how_.weights.data(), how_.weights.size());
      }
      rows_->Run(range, arena_, [&](ArrayPiece const& piece, std::size_t ring, cudaStream_t stream) {
        float const* const weights = how_.weights.empty() ? nullptr : weights_.data() + piece.first_row;
        CountRows(piece, {weights, how_.scale}, CountsOf(ring), stream);
      });
    } else {
      Reserve(&keys_, arena_, "pairs on their way", pairs_->most_pairs());
      Reserve(&pair_weights_, arena_, "pairs on their way", how_.weights.empty() ? 0 : pairs_->most_pairs());
      pairs_->Run(range, [&](PairPiece const& piece) {
        CopyPairs(piece, keys_.data(), pair_weights_.data(), pairs_->stream());
        CountPairs(keys_.data(), piece.n, {pair_weights_.data(), how_.scale}, CountsOf(0), pairs_->stream());
      });
    }
  }
  void Read(std::uint64_t first, Span<std::int64_t> counts) override {
    constexpr std::size_t kGrain = 1 << 16;
    if (copied_.size() < counts.size()) {
      copied_ = {};  // frees the old memory first
      copied_ = PinnedBuffer<Weight>{counts.size()};
    }
    CopyToHost(copied_.data(), counters_.data() + first, counts.size(), stream_, kCounting);
    stream_.Wait(kCounting);
    ParallelChunks(how_.threads, counts.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) counts[i] = static_cast<std::int64_t>(copied_[i]);
    });
  }
  std::vector<KeyEnds> Ends() override {
    std::vector<std::uint32_t> keys(end_keys_.size());
    std::vector<unsigned long long> sums(end_sums_.size());
    CopyToHost(keys.data(), end_keys_.data(), keys.size(), stream_, kCounting);
    CopyToHost(sums.data(), end_sums_.data(), sums.size(), stream_, kCounting);
    stream_.Wait(kCounting);
    std::vector<KeyEnds> ends(columns_);
    for (std::size_t ring = 0; ring < rings(columns_); ++ring) {
      EndsView const own = EndsOf(ring, keys.data(), sums.data());
      for (std::size_t c = 0; c < columns_; ++c) {
        KeyEnds other;
        other.values = own.values[c];
        other.first = own.first[c];
        other.last = own.last[c];
        other.first_weight = static_cast<std::int64_t>(own.first_weight[c]);
        other.last_weight = static_cast<std::int64_t>(own.last_weight[c]);
        ends[c].Join(other);
      }
    }
    return ends;
  }

 private:
  std::size_t rings(FeatureIndex columns) const { return rows_ ? rows_->rings(columns) : 1; }

  void ClearSums(std::size_t counters) {
    Reserve(&counters_, arena_, "counters", counters);
    FillBytes(counters_.data(), 0, counters, stream_, kCounting);
    if (view_.digit.IsFirst()) {
      end_keys_ = {};
      end_sums_ = {};
      end_keys_ = {arena_, "ends of columns", rings(columns_) * kEndKeys * columns_};
      end_sums_ = {arena_, "ends of columns", rings(columns_) * kEndSums * columns_};
      FillBytes(end_sums_.data(), 0, end_sums_.size(), stream_, kCounting);
      for (std::size_t ring = 0; ring < rings(columns_); ++ring) {
        EndsView const ends = EndsOf(ring, end_keys_.data(), end_sums_.data());
        for (std::uint32_t* const none : {ends.first, ends.weighed_first}) {
          FillBytes(none, 0xFF, columns_, stream_, kCounting);  // kNoKey
        }
        for (std::uint32_t* const none : {ends.last, ends.weighed_last})
          FillBytes(none, 0, columns_, stream_, kCounting);
      }
    }
    stream_.Wait(kCounting);
  }
  EndsView EndsOf(std::size_t ring, std::uint32_t* keys, unsigned long long* sums) const {
    std::size_t const n = columns_;
    keys += ring * kEndKeys * n;
    sums += ring * kEndSums * n;
    return {keys, keys + n, keys + 2 * n, keys + 3 * n, sums, sums + n, sums + 2 * n};
  }

  KeyCountsView<Weight> CountsOf(std::size_t ring) const {
    return {columns_, view_, counters_.data(), EndsOf(ring, end_keys_.data(), end_sums_.data())};
  }

  RowSource const& source_;
  KeyCounting how_;
  DeviceArena* arena_;
  Stream stream_;
  FeatureIndex columns_{0};  ///< of the current pass
  PrefixView view_{};
  DeviceBuffer<std::uint32_t> start_, bits_;  ///< of view_
  DeviceBuffer<Weight> counters_;
  DeviceBuffer<std::uint32_t> end_keys_;       ///< [rings][kEndKeys][columns]
  DeviceBuffer<unsigned long long> end_sums_;  ///< [rings][kEndSums][columns]
  PinnedBuffer<Weight> copied_;
  DeviceBuffer<float> weights_;  ///< of all rows, for rows_
  DeviceBuffer<std::uint64_t> keys_;
  DeviceBuffer<float> pair_weights_;
  // Work enqueued on their streams uses the buffers above.
  std::optional<RowUpload> rows_;
  std::optional<PairUpload> pairs_;
};

}  // namespace

std::unique_ptr<KeyCounter> MakeKeyCounter(RowSource const& source, KeyCounting const& how, DeviceArena* arena) {
  if (how.weights.empty()) return std::make_unique<DeviceKeyCounter<std::uint32_t>>(source, how, arena);
  return std::make_unique<DeviceKeyCounter<unsigned long long>>(source, how, arena);
}

}  // namespace xgbgpu::cuda
