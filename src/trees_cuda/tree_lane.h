/// One tree at a time, on one stream of a CUDA device. docs/adr/0009-trees-in-lanes.md
#ifndef XGBGPU_TREES_CUDA_TREE_LANE_H_
#define XGBGPU_TREES_CUDA_TREE_LANE_H_

#include <functional>
#include <memory>

#include "cuda/device.h"
#include "sample/sample.h"
#include "trees_cuda/hist_tree_cuda.h"

namespace xgbgpu {

/// Returns the bytes that the histograms of one tree may take, from the free memory of the current device.
std::size_t HistogramBudget();

/// Owns the stream and the memory of one growing tree. The device must be current.
class TreeLane {
 public:
  /// The lane is on `stream`, or on a stream of its own if that is null. The other arguments are cuda::TreeParts'.
  TreeLane(DeviceMatrix const& matrix, cuda::PageStream* pages, cuda::ColumnLists* lists,
           cuda::DeviceShard const& shard, DeviceArena* arena, Stream const* stream, std::size_t histogram_budget);

  Stream const& stream() const { return stream_; }
  cuda::HistTree& tree() { return tree_; }

  /// Memory for gradients [rows] that trees of this lane may be begun with.
  GradientPair* GradientBuffer();
  /// Starts a tree, and enqueues all of it if it is device-driven (cuda::HistTree).
  void Begin(TrainParams const& params, cuda::DeviceGradients const& gradients, std::uint32_t tree_number,
             cuda::SpeculativeMargins const& speculative = {});
  /// Starts a tree that computes its gradients itself; gradients().pairs is nullptr then.
  void Begin(TrainParams const& params, cuda::RowLosses const& losses, std::function<cuda::DeviceGradients()> all,
             std::uint32_t tree_number, cuda::SpeculativeMargins const& speculative);
  /// Grows every level of a host-driven tree; a device-driven one has them enqueued.
  void GrowLevels();
  cuda::DeviceGradients const& gradients() const { return gradients_; }  ///< gradients of the last tree

  /// Enqueues a copy to the device. The copy is valid until the next call.
  float* UploadNodeValues(Span<float const> node_values);
  /// margins[i * stride] += node_values[leaf of row i in the tree of `leaves`, on this stream], enqueued; margins are
  /// on the device. If `order` is not null: after its last Record, and recorded there.
  void AddLeafValues(cuda::TreeLeaves const& leaves, Span<float const> node_values, float* margins, std::size_t stride,
                     DeviceLimits const& limits, Event const* order);

 private:
  cuda::TreeRequest Request(TrainParams const& params, std::uint32_t tree_number) const;

  DeviceMatrix const& matrix_;
  DeviceArena* arena_;
  std::unique_ptr<Stream const> own_stream_;
  Stream const& stream_;
  DeviceBuffer<GradientPair> gradient_buffer_;
  DeviceBuffer<float> node_values_;
  PinnedBuffer<float> host_node_values_;
  Event uploaded_;  ///< marks the end of the last copy from the pinned memory
  cuda::DeviceGradients gradients_;
  cuda::HistTree tree_;  ///< is destroyed first, and then waits for the stream
};

}  // namespace xgbgpu

#endif  // XGBGPU_TREES_CUDA_TREE_LANE_H_
