// Predicts margins and leaves of rows streamed through a device.
#include <algorithm>

#include "base/parallel.h"
#include "predict/forest_cuda.h"
#include "predict/level_forest_cuda.h"
#include "predict/row_stream_cuda.h"

namespace xgbgpu::cuda {

namespace {

/// A range of a forest's trees, for rows of the host.
template <typename AnyForest>
struct StreamedTrees {
  AnyForest const& forest;
  std::size_t first;
  std::size_t last;
  DeviceLimits limits;
};

template <typename AnyForest>
class MarginJob final : public RowJob {
 public:
  MarginJob(FeatureIndex features, StreamedTrees<AnyForest> const& trees, OutputView<float> margins, int threads)
      : RowJob{features, margins.outputs, threads}, trees_{trees}, margins_{margins} {}

  bool NeedsDense() const override { return false; }
  bool Fill(std::uint64_t first_row, std::uint64_t rows, float* results) const override {
    ForEach(rows, [&](std::size_t i, std::uint32_t o) { results[o * rows + i] = margins_.at(first_row + i, o); });
    return true;
  }
  void Enqueue(RawView const& rows, float* results, double*, cudaStream_t stream) const override {
    PredictMargins(rows, trees_.forest, trees_.first, trees_.last, OutputMajor(results, rows.rows, margins_.outputs),
                   trees_.limits, stream);
  }
  void Take(std::uint64_t first_row, std::uint64_t rows, float const* results) const override {
    ForEach(rows, [&](std::size_t i, std::uint32_t o) { margins_.at(first_row + i, o) = results[o * rows + i]; });
  }

 private:
  template <typename F>
  void ForEach(std::uint64_t rows, F&& f) const {
    constexpr std::size_t kGrain = 1 << 12;  // values per task: they lie in a cache
    std::size_t const grain = std::max<std::size_t>(1, kGrain / margins_.outputs);
    ParallelChunks(threads(), rows, grain, [&](std::size_t begin, std::size_t end) {
      for (std::uint32_t o = 0; o < margins_.outputs; ++o) {
        for (std::size_t i = begin; i < end; ++i) f(i, o);
      }
    });
  }

  StreamedTrees<AnyForest> trees_;
  OutputView<float> margins_;
};

class LeafJob final : public RowMajorJob {
 public:
  LeafJob(FeatureIndex features, StreamedTrees<DeviceForest> const& trees, float* out, int threads)
      : RowMajorJob{features, trees.last - trees.first, out, threads}, trees_{trees} {}

  bool NeedsDense() const override { return false; }
  void Enqueue(RawView const& rows, float* results, double*, cudaStream_t stream) const override {
    PredictLeaves(rows, trees_.forest, trees_.first, trees_.last, results, trees_.limits, stream);
  }

 private:
  StreamedTrees<DeviceForest> trees_;
};

/// Kernels run after `after`, if that is not null.
template <typename AnyForest>
void StreamMargins(RowSource const& source, AnyForest const& forest, std::size_t first_tree, std::size_t last_tree,
                   OutputView<float> margins, int device, int threads, RowStream* rows, Event const* after) {
  CheckTreeRange(first_tree, last_tree, forest.trees());
  CheckMargins(margins, source.rows(), forest.outputs());
  if (first_tree == last_tree) return;
  DeviceScope const scope{device};
  StreamedTrees<AnyForest> const trees{forest, first_tree, last_tree, CurrentDeviceLimits()};
  RowStream own;
  (rows != nullptr ? rows : &own)->Run(source, MarginJob<AnyForest>{source.features(), trees, margins, threads}, after);
}

}  // namespace

void PredictMarginsStreamed(RowSource const& source, DeviceForest const* forest, std::size_t first_tree,
                            std::size_t last_tree, OutputView<float> margins, int device, int threads,
                            RowStream* rows) {
  StreamMargins(source, *forest, first_tree, last_tree, margins, device, threads, rows, &forest->arrived());
}

void PredictMarginsStreamed(RowSource const& source, DeviceLevelForest const* forest, std::size_t first_tree,
                            std::size_t last_tree, OutputView<float> margins, int device, int threads,
                            RowStream* rows) {
  StreamMargins(source, *forest, first_tree, last_tree, margins, device, threads, rows, nullptr);
}

void PredictLeavesStreamed(RowSource const& source, DeviceForest const* forest, std::size_t first_tree,
                           std::size_t last_tree, float* out, int device, int threads, RowStream* rows) {
  CheckTreeRange(first_tree, last_tree, forest->trees());
  if (first_tree == last_tree) return;
  DeviceScope const scope{device};
  StreamedTrees<DeviceForest> const trees{*forest, first_tree, last_tree, CurrentDeviceLimits()};
  RowStream own;
  (rows != nullptr ? rows : &own)->Run(source, LeafJob{source.features(), trees, out, threads}, &forest->arrived());
}

}  // namespace xgbgpu::cuda
