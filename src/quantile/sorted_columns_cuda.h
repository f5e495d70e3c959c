/// Sorts columns of keys, or (column, key) pairs, on a device and copies back the keys for cuts. CUDA builds only.
#ifndef XGBGPU_QUANTILE_SORTED_COLUMNS_CUDA_H_
#define XGBGPU_QUANTILE_SORTED_COLUMNS_CUDA_H_

#include <cstdint>
#include <vector>

#include "cuda/device.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// The wanted keys of sorted columns.
struct CutRule {
  /// A column of at most this number of distinct values gives all of them.
  std::uint64_t most_distinct;
  /// Any other column gives the values at the ranks 1 … parts - 1 (QuantileRanks). With 0 it gives only their number.
  int parts;
};

/// A column's place in the sorted data, and facts of its values.
struct ColumnSummary {
  std::uint64_t begin;
  std::uint64_t end;            ///< end of the keys that count
  std::uint64_t stop;           ///< end of the column; from `end` to here all keys are kNoKey
  unsigned long long distinct;  ///< exact up to most_distinct; exact beyond if the rule has no parts
  std::uint32_t first;          ///< key of the smallest value, if there is one
  std::uint32_t last;

  bool empty() const { return begin == end; }
};

/// The result of one sort.
struct SortedColumns {
  std::vector<ColumnSummary> columns;
  std::vector<std::uint64_t> list_start;  ///< [columns + 1]
  std::vector<std::uint32_t> lists;

  /// Returns the distinct keys in no order, or the keys at the ranks: ascending, with repetitions, then kNoKey.
  Span<std::uint32_t> list(std::size_t column) {
    return {lists.data() + list_start[column], list_start[column + 1] - list_start[column]};
  }
};

/// A key in the stretch of sorted data that a column's summary names.
struct KeyInColumn {
  std::uint64_t begin, end;
  std::uint32_t key;
};

/// Sorts pairs. Holds device memory for `capacity` pairs.
class PairSorter {
 public:
  /// Returns the bytes a pair, without CUB's scratch (some percent).
  static std::size_t BytesPerPair(bool weighted) { return weighted ? 32 : 16; }

  PairSorter(DeviceArena* arena, std::uint64_t capacity, bool weighted);

  /// Input of the sort: column · 2^32 + key, [capacity]. A key of kNoKey belongs to its column but does not count.
  std::uint64_t* keys() { return keys_[0].data(); }
  float* weights() { return weights_[0].data(); }  ///< [capacity] with weights; nullptr without

  /// Sorts the first n pairs, of columns 0 … columns - 1. Integer weights are IntegerWeight(weight, scale). Waits.
  SortedColumns Run(std::uint64_t n, FeatureIndex columns, double scale, CutRule const& rule, cudaStream_t stream);
  /// Writes the integer weights of the data sorted last, up to and including each key. Waits.
  void WeightsUpTo(Span<KeyInColumn const> keys, Span<std::int64_t> weights, cudaStream_t stream) const;

 private:
  struct Sorted {
    std::uint64_t const* keys;
    std::uint64_t const* sums;  ///< inclusive prefix sums of weights over all columns, modulo 2^64; or nullptr
  };
  Sorted Sort(std::uint64_t n, FeatureIndex columns, double scale, cudaStream_t stream);
  void* Scratch(std::size_t bytes);

  DeviceArena* arena_;
  DeviceBuffer<std::uint64_t> keys_[2];
  DeviceBuffer<float> weights_[2];
  DeviceBuffer<std::uint64_t> sums_;
  DeviceBuffer<std::uint8_t> scratch_;
  Sorted sorted_{};  ///< of the last Run
};

/// Sorts long columns without weights one by one: half the bytes of pairs, and fewer digits. Sorts several columns side
/// by side if one does not fill the device. Holds device memory for `at_once` columns.
class KeySorter {
 public:
  /// Returns the bytes a key, without CUB's scratch.
  static std::size_t BytesPerKey() { return 8; }

  KeySorter(DeviceArena* arena, std::uint64_t rows, FeatureIndex at_once);

  /// Sorts columns of keys, [columns, rows], into other memory. Keys that are kNoKey do not count. Waits.
  SortedColumns Run(std::uint32_t const* keys, FeatureIndex columns, CutRule const& rule);
  /// PairSorter::WeightsUpTo, for values of weight 1.
  void WeightsUpTo(Span<KeyInColumn const> keys, Span<std::int64_t> weights) const;

 private:
  DeviceArena* arena_;
  std::uint64_t rows_;
  DeviceBuffer<std::uint32_t> sorted_;
  std::size_t scratch_bytes_{0};  ///< of one stream
  DeviceBuffer<std::uint8_t> scratch_;
  std::vector<Stream> streams_;
};

/// Makes pairs from columns of keys, [columns, rows]. With weights ([rows], on the device) the keys of rows of weight 0
/// become kNoKey.
void MakePairs(std::uint32_t const* keys, std::uint64_t rows, FeatureIndex columns, float const* weights,
               std::uint64_t* pairs, float* pair_weights, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_QUANTILE_SORTED_COLUMNS_CUDA_H_
