/// The common part of all builders on a CUDA device. CUDA builds only.
#ifndef XGBGPU_TREES_CUDA_CUDA_BUILDER_H_
#define XGBGPU_TREES_CUDA_CUDA_BUILDER_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backend/finished_tree.h"
#include "backend/tree_builder.h"
#include "core/work_sizes.h"
#include "cuda/device.h"
#include "cuda/timeline.h"
#include "rounds/resident_rows_cuda.h"

namespace xgbgpu {

/// Everything that does not depend on how trees grow: memory, streams, rows of rounds, leaves read back, traces. A
/// DeviceError names the sizes of the training.
class CudaBuilder : public TreeBuilder, public ResidentRounds {
 public:
  /// Copies the gradients to the device first.
  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) override;
  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const override;
  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const override;
  void Trace(std::shared_ptr<TraceFile> file) override;
  MemoryReport memory() const override;
  std::uint64_t memory_version() const override { return arena_.changes(); }

  ResidentRounds* rounds() override { return this; }
  std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs) override;
  std::unique_ptr<ResidentRows> MakeResidentRows(RowSource const& source, std::uint32_t outputs) override;
  void KeepTree(Tree const& tree, std::uint32_t output) override;
  void ForgetTrees() override;
  std::size_t kept_trees() const override { return trees_ ? trees_->size() : 0; }

  // The work of ResidentRows, on rows made below.
  virtual void Begin(TrainParams const& params, cuda::DeviceResidentRows* rows, std::vector<RoundTree> trees) = 0;
  virtual Tree FinishNext() = 0;
  virtual VectorTree GrowVectors(TrainParams const& params, cuda::DeviceResidentRows* rows, TreeKey key);
  using TreeBuilder::GrowVectors;
  virtual void AddVectorLeaves(VectorTree const& tree, cuda::DeviceResidentRows* rows) {
    rows->ResidentRows::AddVectorLeaves(tree);
  }
  virtual void ComputeGradients(cuda::DeviceResidentRows* rows, ObjectiveParams const& objective) {
    rows->DeviceResidentRows::ComputeGradients(objective);
  }
  virtual void AdaptLeaves(Tree* tree, cuda::DeviceResidentRows* rows, std::uint32_t output);
  virtual void AddLeafValues(Span<float const> node_values, cuda::DeviceResidentRows* rows, std::uint32_t output) = 0;
  virtual void ShareBounds(cuda::DeviceResidentRows* /*rows*/) {}
  virtual std::vector<double> EvaluateInGroup(cuda::DeviceResidentRows* rows, ObjectiveParams const& objective,
                                              Span<MetricParams const> metrics, TargetView const& targets, int threads,
                                              Collective* group, Span<SharedRows* const> shared) {
    return rows->ResidentRows::EvaluateInGroup(objective, metrics, targets, threads, group, shared);
  }

  // MakeResidentRows with the type of the device.
  std::unique_ptr<cuda::DeviceResidentRows> MakeRows(std::uint32_t outputs);
  std::unique_ptr<cuda::DeviceResidentRows> MakeRows(RowSource const& source, std::uint32_t outputs);
  /// Makes memory for `rows` rows, which may be rows of several devices, on the stream of rows of this use.
  enum class RowUse { kTrained, kEvaluated };
  std::unique_ptr<cuda::DeviceResidentRows> MakeRowsOfOthers(std::uint64_t rows, std::uint32_t outputs, RowUse use);

  /// From now on stages are timed; null ends that. With a timeline one tree grows at a time.
  virtual void SetTimeline(Timeline* timeline) = 0;

  /// The stream of the first tree of a round and of all other work. Behind it margins have the leaf values added last.
  Stream const& stream() const { return stream_; }
  DeviceArena const& arena() const { return arena_; }

 protected:
  /// Makes a builder for a matrix of this shape. The device is current until EndConstruction(), the last call of a
  /// derived constructor, and again after Close(), the first call of a derived destructor: members own memory of the
  /// device. `arena_text`: the arguments of the DeviceArena.
  template <typename... ArenaText>
  CudaBuilder(int device, std::uint64_t rows, FeatureIndex features, int threads, ArenaText&&... arena_text)
      : finished_{rows},
        rows_{rows},
        features_{features},
        threads_{threads},
        device_{device},
        arena_{std::forward<ArenaText>(arena_text)...} {}
  void EndConstruction() { device_.Leave(); }
  void Close() noexcept;

  /// Calls body() while the device is current.
  template <typename Body>
  decltype(auto) Run(Body&& body) const {
    auto const sizes = [&] { return WorkSizes{device_.number(), rows_, features_, arena_.bytes()}; };
    return NamingSizes(sizes, [&]() -> decltype(auto) {
      DeviceScope scope{device_.number()};
      return body();
    });
  }

  /// Moves the stages of the tree that is being finished to the trace, if there is one.
  void MoveTrace() {
    if (timeline_) timeline_->MoveTo(trace_.get());
  }
  // The tree that was finished last.
  void ForgetTree() { finished_.Forget(); }
  void SetTree(std::size_t nodes) {
    finished_.Set(nodes);
    positions_are_current_ = false;
  }
  /// Throws InvalidArgument unless a tree of `nodes` nodes has been finished.
  /// Throws InvalidArgument unless there are `size` gradients of `outputs` outputs.
  void CheckGradients(std::size_t size, std::uint32_t outputs) const { finished_.CheckGradients(size, outputs); }
  void CheckNodes(char const* call, std::size_t nodes) const { finished_.CheckNodes(call, nodes); }
  /// Finds the first bad gradient on the host, and throws an error that names its row and its value; row 0 has the
  /// number first_row. If no gradient is bad and there are `others`, throws OtherShardFailed. The device must be
  /// current.
  [[noreturn]] void ThrowNotFinite(GradientPair const* gradients, Stream const& stream, std::uint64_t first_row = 0,
                                   bool others = false) const;

  std::uint64_t rows() const { return rows_; }
  FeatureIndex features() const { return features_; }
  int threads() const { return threads_; }
  DeviceLimits const& limits() const { return limits_; }
  DeviceArena* mutable_arena() { return &arena_; }

 private:
  /// Grows a tree, waits for it, and notes that it is finished.
  virtual Tree GrowOnDevice(TrainParams const& params, cuda::DeviceGradients const& gradients, TreeKey key) = 0;
  /// Memory [rows] on the device for gradients of the next tree.
  virtual GradientPair* GradientBuffer() = 0;
  /// The leaves of all rows in the last tree, on the device; complements for rows outside the sample.
  virtual NodeIndex const* positions() const = 0;
  /// The stream on which positions() were computed, and on which their uses are enqueued.
  virtual Stream const& tree_stream() const { return stream_; }
  /// Enqueues a copy to the device. The copy is valid until the next call. The source must stay until the stream has
  /// read it.
  virtual float* UploadNodeValues(Span<float const> node_values) = 0;
  /// The stream of rows that are evaluated and of the trees kept for them.
  virtual Stream const& evaluation_stream() const { return stream_; }
  /// Waits for streams beside stream() that read rows of the training.
  virtual void WaitForReaders() const {}
  virtual StageTimer const& timer() = 0;

  NodeIndex const* HostPositions() const;
  void EndTrace();

  class OnDevice {
   public:
    explicit OnDevice(int device) : number_{device} { Enter(); }
    int number() const { return number_; }
    void Enter() { scope_.emplace(number_); }
    void Leave() { scope_.reset(); }

   private:
    int number_;
    std::optional<DeviceScope> scope_;
  };

  FinishedTree finished_;
  std::uint64_t rows_;
  FeatureIndex features_;
  int threads_;
  OnDevice device_;
  DeviceLimits limits_{CurrentDeviceLimits()};
  DeviceArena arena_;
  Stream stream_;
  std::optional<cuda::KeptTrees> trees_;
  mutable std::vector<NodeIndex> host_positions_;
  mutable bool positions_are_current_{false};
  std::shared_ptr<TraceFile> trace_;
  std::optional<Timeline> timeline_;  ///< for `trace_`
};

}  // namespace xgbgpu

#endif  // XGBGPU_TREES_CUDA_CUDA_BUILDER_H_
