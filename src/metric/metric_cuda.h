/// Metrics on a CUDA device, with the host's bits.
#ifndef XGBGPU_METRIC_METRIC_CUDA_H_
#define XGBGPU_METRIC_METRIC_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "cuda/device.h"
#include "metric/metric_sum.h"
#include "metric/shard_items.h"
#include "xgbgpu/metric.h"

namespace xgbgpu::cuda {

/// Device memory of evaluations, reused by later ones. It grows as needed. The arena must outlive it. Bytes:
/// element-wise metrics 24 for each 2048 labels; auc and aucpr 32 a row, rankings up to 28 (aucpr 44), and the scratch
/// of CUB's radix sort; cox-nloglik 8 a row.
class MetricScratch {
 public:
  enum Part {
    kBlockSums,
    kResult,
    kKeys,
    kSortedKeys,
    kRows,
    kSortedRows,
    kRowsByLabel,
    kPoints,
    kGroupValues,
    kSort,
    kParts
  };

  explicit MetricScratch(DeviceArena* arena) : arena_{arena} {}

  bool may_count{true};  ///< EvaluateCountedArea has met only rows that it serves; later rows are likely alike

  /// Makes room for n elements. The contents are lost if it grows.
  template <typename T>
  T* At(Part part, std::size_t n) {
    Reserve(&parts_[part], arena_, "metrics", n * sizeof(T));
    return reinterpret_cast<T*>(parts_[part].data());
  }
  /// Returns a counter that is 0 between kernels (for cuda/grid.h's IsLastBlock).
  std::uint32_t* Finished(Stream const& stream);
  /// Copies n elements from the device, and waits for the stream.
  template <typename T>
  T const* Fetch(T const* from, std::size_t n, Stream const& stream, char const* what) {
    if (host_.size() < n * sizeof(T)) host_ = PinnedBuffer<std::uint8_t>{n * sizeof(T)};
    T* const to = reinterpret_cast<T*>(host_.data());
    CopyToHost(to, from, n, stream, what);
    stream.Wait(what);
    return to;
  }

 private:
  DeviceArena* arena_;
  DeviceBuffer<std::uint8_t> parts_[kParts];
  DeviceBuffer<std::uint32_t> finished_;
  PinnedBuffer<std::uint8_t> host_;
};

/// host::Evaluate with arrays of any layout on the device. Waits for the stream.
/// Cost: one kernel and one small copy; for auc and aucpr a sort and three or four kernels for each output; for
/// cox-nloglik three kernels.
double Evaluate(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

/// Does the work of MetricShard::Sum for rows on the device; `values` are in host memory. Waits.
void SumShardItems(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                   ShardItems const& items, MetricSum* values, MetricScratch* scratch, DeviceLimits const& limits,
                   Stream const& stream);

/// Replaces words by their sums over all devices: most words are not zero on one device at most, and no sum overflows.
/// The number of words is a multiple of 4, and the words are aligned to 16 bytes. Enqueued.
using GatherWords = std::function<void(std::uint32_t* words, std::uint64_t n, cudaStream_t stream)>;

/// Takes the memory of an EvaluateCountedArea over this number of rows of all devices.
void ReserveCountedArea(std::uint64_t all_rows, std::uint32_t outputs, MetricScratch* scratch, Stream const& stream);

/// EvaluateCountedArea of rows on several devices. This device has the rows from `first_row` on. Every device gets all
/// rows: 4 bytes a row, and as much for the sort. Waits.
std::optional<double> EvaluateCountedArea(Metric metric, TargetView const& targets, OutputView<float const> predictions,
                                          std::uint64_t first_row, std::uint64_t all_rows, GatherWords const& gather,
                                          MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

/// host::EvaluateArea on the device.
double EvaluateArea(Metric metric, TargetView const& targets, OutputView<float const> predictions,
                    MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

/// host::EvaluateCox on the device. Needs targets.by_time.
double EvaluateCox(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                   MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

/// EvaluateArea for labels 0 and 1 (or classes), no weights and non-negative predictions: sorts fewer bytes and looks
/// up no row. Returns nothing if the rows are different, which shows at the end only.
std::optional<double> EvaluateCountedArea(Metric metric, TargetView const& targets, OutputView<float const> predictions,
                                          MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

/// host::EvaluateRanking on the device.
double EvaluateRanking(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                       MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_METRIC_METRIC_CUDA_H_
