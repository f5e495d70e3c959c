/// Metrics on a CUDA device: the host's numbers, bit for bit.
#ifndef XGBGPU_METRIC_METRIC_CUDA_H_
#define XGBGPU_METRIC_METRIC_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cuda/device.h"
#include "xgbgpu/metric.h"

namespace xgbgpu::cuda {

/// Device memory of evaluations, one after another. It grows with what is asked for and is kept. The arena must outlive
/// it. Bytes: element-wise 24 for each 2048 labels; auc and aucpr 32 a row, rankings up to 28 (aucpr 44),
/// and what cub's radix sort wants; cox-nloglik 8 a row.
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

  bool may_count{true};  ///< EvaluateCountedArea has not met other rows yet; later ones are likely to be such, too

  /// Makes room for n elements. The contents are lost if there was less.
  template <typename T>
  T* At(Part part, std::size_t n) {
    Reserve(&parts_[part], arena_, "metrics", n * sizeof(T));
    return reinterpret_cast<T*>(parts_[part].data());
  }
  /// Returns a counter that is 0 between kernels (cuda/grid.h's IsLastBlock).
  std::uint32_t* Finished(Stream const& stream);
  /// Copies n elements from the device, and waits for all of the stream.
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

/// Does what host::Evaluate does, and waits for the stream. Every array is on the device, whatever its layout.
/// Cost: one kernel and one small copy; for auc and aucpr a sort and three or four kernels for each
/// output; for cox-nloglik three.
double Evaluate(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

/// Does what host::EvaluateArea does.
double EvaluateArea(Metric metric, TargetView const& targets, OutputView<float const> predictions,
                    MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

/// Does what host::EvaluateCox does. It needs targets.by_time.
double EvaluateCox(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                   MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

/// Does what EvaluateArea does for labels 0 and 1 (or classes), no weights and predictions of 0 and larger: fewer bytes
/// are sorted, and no row is looked up. Returns nothing if the rows are not so, which is seen at the end only.
std::optional<double> EvaluateCountedArea(Metric metric, TargetView const& targets, OutputView<float const> predictions,
                                          MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

/// Does what host::EvaluateRanking does.
double EvaluateRanking(MetricParams const& params, TargetView const& targets, OutputView<float const> predictions,
                       MetricScratch* scratch, DeviceLimits const& limits, Stream const& stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_METRIC_METRIC_CUDA_H_
