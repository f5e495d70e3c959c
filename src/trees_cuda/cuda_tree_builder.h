/// Trees of histograms on a CUDA device, for rounds with gradients and margins on the device.
#ifndef XGBGPU_TREES_CUDA_CUDA_TREE_BUILDER_H_
#define XGBGPU_TREES_CUDA_CUDA_TREE_BUILDER_H_

#include <memory>
#include <vector>

#include "matrix/device_matrix.h"
#include "trees_cuda/cuda_builder.h"
#include "trees_cuda/lane_policy.h"
#include "trees_cuda/tree_lane.h"
#include "trees_cuda/vector_trees_cuda.h"

namespace xgbgpu {

/// Grows the trees of a round at the same time, in lanes.
class CudaTreeBuilder : public CudaBuilder {
 public:
  CudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads, LanePolicy const& lanes = {});
  /// Makes the builder of one of several devices. All builders are made at the same time, and grow the same trees at
  /// the same time. A builder that cannot go on throws. Its caller must then end the wait of the other devices
  /// (collective/peer_devices_cuda.h). With other devices nothing is tried again with less memory.
  CudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, cuda::DeviceShard const& shard, int threads);
  ~CudaTreeBuilder() override;

  using CudaBuilder::AddLeafValues;

  /// Margins on the device: enqueued on stream(), not waited for.
  void AddLeafValuesOnDevice(Span<float const> node_values, float* margins, std::size_t stride);

  void Begin(TrainParams const& params, cuda::DeviceResidentRows* rows, std::vector<RoundTree> trees) override;
  Tree FinishNext() override;
  void Abandon() noexcept override;
  /// Throws Unsupported for a matrix in pages.
  VectorTree GrowVectors(TrainParams const& params, Span<GradientPair const> gradients, std::uint32_t outputs,
                         TreeKey key) override;
  VectorTree GrowVectors(TrainParams const& params, cuda::DeviceResidentRows* rows, TreeKey key) override;
  void AddVectorLeaves(VectorTree const& tree, cuda::DeviceResidentRows* rows) override;
  void AddLeafValues(Span<float const> node_values, cuda::DeviceResidentRows* rows, std::uint32_t output) override;

  /// The leaves of all rows in the tree that was finished last, on the device; complements for rows outside its sample.
  /// Enqueued on LastStream().
  NodeIndex const* PositionsOnDevice() const {
    return Run([&] { return positions(); });
  }
  cudaStream_t LastStream() const { return last_->stream(); }

  /// cuda::HistTree::deals_features
  bool deals_features() const { return lanes_[0]->tree().deals_features(); }
  /// Times the tree of the first lane from now on, as cuda::HistTree::SetTimeline says.
  void SetTimeline(Timeline* timeline) override {
    lanes_[0]->tree().SetTimeline(timeline);
    if (vectors_) vectors_->SetTimeline(timeline);
  }
  MemoryReport memory() const override;
  std::uint64_t memory_version() const override;

 private:
  Tree GrowOnDevice(TrainParams const& params, cuda::DeviceGradients const& gradients, TreeKey key) override;
  GradientPair* GradientBuffer() override { return lanes_[0]->GradientBuffer(); }
  cuda::TreeLeaves const& last_leaves() const { return last_is_vector_ ? vectors_->leaves() : last_->tree().leaves(); }
  NodeIndex const* positions() const override { return last_leaves().positions(); }
  Stream const& tree_stream() const override { return last_->stream(); }
  float* UploadNodeValues(Span<float const> node_values) override { return last_->UploadNodeValues(node_values); }
  Stream const& evaluation_stream() const override { return evaluation_stream_; }
  void WaitForReaders() const override;
  StageTimer const& timer() override { return lanes_[0]->tree().timer(); }

  CudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, cuda::DeviceShard const& shard, int threads,
                  LanePolicy const& lanes);

  Tree FinishIn(TreeLane* lane);
  void BeginVectors(TrainParams const& params, std::uint32_t outputs);
  VectorTree GrowVectorsOn(TrainParams const& params, cuda::VectorGradients const& gradients, TreeKey key);
  std::uint32_t LanesFor(std::size_t trees) const;
  bool HasRoomForLane() const;
  void BeginLanes();
  cuda::DeviceGradients GradientsOf(RoundTree const& tree, TreeLane* lane);
  void BeginTree();
  void GrowInPages(std::size_t first_lane, std::size_t end_lane);
  bool KeepOneLane();
  bool MakeRoom();

  /// Trees of a round, in lanes: tree i grows in lane (i - restarted) modulo `lanes`.
  struct Round {
    cuda::DeviceResidentRows* rows;
    std::vector<RoundTree> trees;
    std::size_t restarted, begun, finished;
    std::uint32_t lanes;
  };

  std::shared_ptr<DeviceMatrix const> matrix_;
  cuda::DeviceShard shard_;
  LanePolicy policy_;
  std::size_t histogram_budget_;
  /// The stream of rows that are evaluated, with the trees kept for them. They share nothing with the training, so
  /// metrics do not wait for a speculative tree. Their kernels go first, because the host waits for metrics before it
  /// asks for that tree.
  Stream evaluation_stream_{true};
  std::unique_ptr<cuda::PageStream> pages_;       ///< of the matrix, on stream(); null: it is in core
  cuda::ColumnLists lists_;                       ///< of the matrix, for trees of any lane
  Event ready_;                                   ///< the gradients of the round
  Event added_;                                   ///< the leaf values added last
  std::vector<std::unique_ptr<TreeLane>> lanes_;  ///< the first is on stream()
  TreeLane* last_;                                ///< where a tree was finished last; of vectors: the first
  std::unique_ptr<cuda::VectorTrees> vectors_;    ///< null: no tree of vectors has been asked for
  bool last_is_vector_{false};                    ///< of the tree that was finished last
  Round round_{};
  /// Leaf values of the tree that was finished last, if its rows may take the speculative margins. Otherwise empty.
  std::vector<float> speculative_values_;
  cuda::DeviceResidentRows const* speculative_rows_{nullptr};
  TrainParams train_;
};

/// Makes a builder on the matrix's device. `threads` are for the host's part. A DeviceError names the sizes of the
/// data.
std::unique_ptr<TreeBuilder> MakeCudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_TREES_CUDA_CUDA_TREE_BUILDER_H_
