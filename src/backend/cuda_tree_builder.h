/// The CUDA backend, for callers that have gradients and margins on the device.
#ifndef XGBGPU_BACKEND_CUDA_TREE_BUILDER_H_
#define XGBGPU_BACKEND_CUDA_TREE_BUILDER_H_

#include <memory>
#include <optional>
#include <vector>

#include "backend/backend.h"
#include "backend/lane_policy.h"
#include "backend/tree_lane.h"
#include "core/device.h"
#include "core/work_sizes.h"
#include "matrix/device_matrix.h"
#include "rounds/resident_rows_cuda.h"

namespace xgbgpu {

/// Forwards to the stages' CUDA implementations. Everything on the device lives in one arena. A DeviceError names the
/// sizes of the training.
class CudaTreeBuilder final : public TreeBuilder, public DeviceRounds {
 public:
  CudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads, LanePolicy const& lanes = {});
  ~CudaTreeBuilder() override;

  /// Gradients on the host: copied to the device first.
  void Begin(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) override;
  /// Gradients [rows] on the device, 16-byte aligned, unchanged until Finish.
  void BeginOnDevice(TrainParams const& params, GradientPair const* gradients, TreeKey key);
  void BuildRoot() override;
  bool SelectNodes() override;
  void ExpandNodes() override;
  Tree Finish() override;

  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const override;
  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const override;
  /// Margins on the device: enqueued on stream(), not waited for.
  void AddLeafValuesOnDevice(Span<float const> node_values, float* margins, std::size_t stride);
  void Trace(std::shared_ptr<TraceFile> file) override;
  MemoryReport memory() const override;
  std::uint64_t memory_version() const override { return arena_.changes(); }

  DeviceRounds* rounds() override { return this; }
  std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs) override;
  std::unique_ptr<ResidentRows> MakeResidentRows(RowSource const& source, std::uint32_t outputs) override;
  void KeepTree(Tree const& tree, std::uint32_t output) override;
  void ForgetTrees() override;
  std::size_t kept_trees() const override { return trees_ ? trees_->size() : 0; }
  void Begin(TrainParams const& params, ResidentRows* rows, std::vector<RoundTree> trees) override;
  Tree FinishNext() override;
  void Abandon() noexcept override;
  void AdaptLeaves(Tree* tree, ResidentRows* rows) override;
  void AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output) override;

  /// See cuda::LevelBuilder. With a timeline trees grow one after the other.
  void SetTimeline(Timeline* timeline) { lanes_[0]->level().SetTimeline(timeline); }

  /// Of the first lane, and of all that is not a tree. Margins are ready here once leaf values were added.
  Stream const& stream() const { return stream_; }
  DeviceArena const& arena() const { return arena_; }

 private:
  NodeIndex const* HostPositions() const;
  void CheckFinished(char const* call, std::size_t size, std::size_t wanted) const;
  [[noreturn]] void ThrowNotFinite(TreeLane const& lane);
  Tree FinishIn(TreeLane* lane);
  std::uint32_t LanesFor(std::size_t trees) const;
  bool HasRoomForLane() const;
  void BeginLanes();
  void BeginTree();
  bool KeepOneLane();
  void EndTrace();
  StageTimer const& timer() const { return lanes_[0]->level().timer(); }

  /// body() on the matrix's device.
  template <typename Body>
  decltype(auto) Run(Body&& body) const {
    auto const sizes = [&] {
      return WorkSizes{matrix_->device, matrix_->view.rows, matrix_->view.features, arena_.bytes()};
    };
    return NamingSizes(sizes, [&]() -> decltype(auto) {
      DeviceScope scope{matrix_->device};
      return body();
    });
  }

  /// Device memory belongs to a device, also while members are made and destroyed.
  class OnDevice {
   public:
    explicit OnDevice(int device) : device_{device} { Enter(); }
    void Enter() { scope_.emplace(device_); }
    void Leave() { scope_.reset(); }

   private:
    int device_;
    std::optional<DeviceScope> scope_;
  };

  /// Trees of a round, in lanes: tree i grows in lane (i - restarted) modulo `lanes`.
  struct Round {
    cuda::ResidentRows* rows;
    std::vector<RoundTree> trees;
    std::size_t restarted, begun, finished;
    std::uint32_t lanes;
  };

  std::shared_ptr<DeviceMatrix const> matrix_;
  int threads_;
  LanePolicy policy_;
  OnDevice device_;
  DeviceLimits limits_{CurrentDeviceLimits()};
  std::size_t histogram_budget_{HistogramBudget()};
  DeviceArena arena_{"Training on the GPU"};
  Stream stream_;
  /// Of rows of evaluation and the trees kept for them, which share nothing with the training: metrics need not wait
  /// for a tree that was started ahead. The host waits for metrics before it asks for that tree: they go first.
  Stream evaluation_stream_{true};
  Event ready_;                                   ///< the gradients of the round
  Event added_;                                   ///< the leaf values added last
  std::vector<std::unique_ptr<TreeLane>> lanes_;  ///< the first is on stream_
  TreeLane* last_;                                ///< where a tree was finished last
  Round round_{};
  std::optional<cuda::KeptTrees> trees_;
  mutable PinnedBuffer<NodeIndex> host_positions_;
  mutable bool positions_are_current_{false};
  TrainParams train_;
  std::shared_ptr<TraceFile> trace_;
  std::optional<Timeline> timeline_;  ///< for `trace_`
  std::optional<std::size_t> tree_;   ///< nodes of the last tree, if it was finished
};

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_CUDA_TREE_BUILDER_H_
