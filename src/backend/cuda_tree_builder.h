/// The CUDA backend, for callers that have gradients and margins on the device.
#ifndef XGBGPU_BACKEND_CUDA_TREE_BUILDER_H_
#define XGBGPU_BACKEND_CUDA_TREE_BUILDER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "core/device.h"
#include "core/work_sizes.h"
#include "level/level_cuda.h"
#include "matrix/device_matrix.h"
#include "rounds/resident_rows_cuda.h"

namespace xgbgpu {

/// Forwards to the stages' CUDA implementations. Everything on the device lives in one arena. A DeviceError names the
/// sizes of the training.
class CudaTreeBuilder final : public TreeBuilder, public DeviceRounds {
 public:
  CudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads);
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
  void Trace(std::string const& file) override;
  MemoryReport memory() const override;

  DeviceRounds* rounds() override { return this; }
  std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs) override;
  std::unique_ptr<ResidentRows> MakeResidentRows(RowSource const& source, std::uint32_t outputs) override;
  void KeepTree(Tree const& tree, std::uint32_t output) override;
  void ForgetTrees() override;
  std::size_t kept_trees() const override { return trees_ ? trees_->size() : 0; }
  void Begin(TrainParams const& params, ResidentRows* rows, std::uint32_t output, TreeKey key) override;
  void AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output) override;

  /// See cuda::LevelBuilder.
  void SetTimeline(Timeline* timeline) { level_.SetTimeline(timeline); }

  Stream const& stream() const { return stream_; }
  DeviceArena const& arena() const { return arena_; }

 private:
  NodeIndex const* HostPositions() const;
  void CheckFinished(char const* call, std::size_t size, std::size_t wanted) const;
  [[noreturn]] void ThrowNotFinite();

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

  std::shared_ptr<DeviceMatrix const> matrix_;
  int threads_;
  OnDevice device_;
  DeviceArena arena_{"Training on the GPU"};
  Stream stream_;
  cuda::LevelBuilder level_;
  DeviceBuffer<GradientPair> gradients_;
  std::optional<cuda::KeptTrees> trees_;
  DeviceBuffer<float> node_values_;
  PinnedBuffer<float> host_node_values_;
  mutable PinnedBuffer<NodeIndex> host_positions_;
  mutable bool positions_are_current_{false};
  TrainParams train_;
  GradientPair const* used_gradients_{nullptr};  ///< on the device
  std::string trace_file_;
  std::optional<Timeline> timeline_;  ///< of `trace_file_`
  std::optional<FeatureSampler> features_;
  std::optional<std::size_t> tree_;  ///< nodes of the last tree, if it was finished
};

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_CUDA_TREE_BUILDER_H_
