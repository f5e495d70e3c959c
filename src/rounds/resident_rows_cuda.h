/// Stage R on a CUDA device: margins, targets and gradients that stay there from one round to the next.
#ifndef XGBGPU_ROUNDS_RESIDENT_ROWS_CUDA_H_
#define XGBGPU_ROUNDS_RESIDENT_ROWS_CUDA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "collective/collective_cuda.h"
#include "cuda/device.h"
#include "cuda/timeline.h"
#include "gradient/vector_gradients_cuda.h"
#include "metric/metric_cuda.h"
#include "objective/leaf_quantile_cuda.h"
#include "objective/objective_cuda.h"
#include "predict/forest_cuda.h"
#include "predict/predict_cuda.h"
#include "predict/raw_matrix_cuda.h"
#include "rounds/leaf_columns_cuda.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/resident_rows.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// The trees grown last, for rows of other data than the training's.
class KeptTrees {
 public:
  explicit KeptTrees(DeviceArena* arena) : on_device_{arena} {}

  void Add(Tree const& tree, std::uint32_t output, cudaStream_t stream);
  void Clear();
  std::size_t size() const { return on_device_.trees(); }
  DeviceForest const& forest() const { return on_device_; }
  std::uint32_t output(std::size_t tree) const { return outputs_[tree]; }

 private:
  std::vector<std::uint32_t> outputs_;  ///< output of each tree
  DeviceForest on_device_;
};

/// Targets of the rows of several devices, read back.
struct TargetCopy {
  std::vector<float> labels, weights, lower, upper;
  std::uint32_t label_columns{1};

  TargetView View() const;
};

/// Arrays are output-major; every output begins at a multiple of 128 bytes, as kernels that read vectors need.
class DeviceResidentRows : public xgbgpu::ResidentRows {
 public:
  /// `arena`, `stream` and `timer` must outlive it; the arena's device is `limits.device`. wait_for_readers() waits for
  /// other streams that read the rows. It is called before the rows are freed. `threads` is the most threads of the
  /// host that copy at a time.
  DeviceResidentRows(std::uint64_t rows, std::uint32_t outputs, DeviceArena* arena, Stream const& stream,
                     DeviceLimits const& limits, StageTimer const* timer, int threads,
                     std::function<void()> wait_for_readers = {});
  /// Makes rows of evaluation. Copies their values to the device. `trees` must outlive the rows, too. Waits.
  DeviceResidentRows(RowSource const& source, std::uint32_t outputs, KeptTrees const* trees, DeviceArena* arena,
                     Stream const& stream, DeviceLimits const& limits, StageTimer const* timer, int threads);
  ~DeviceResidentRows() override;

  std::uint64_t rows() const override { return rows_; }
  std::uint32_t outputs() const override { return outputs_; }
  void SetMargins(Span<float const> margins) override;
  void SetEqualMargins(Span<float const> margins) override;
  void CopyMargins(Span<float> margins) const override;
  void BeginColumns(Span<float const> base) override;
  void EndColumns() override;
  bool has_columns() const override { return columns_.has_value(); }
  std::size_t columns() const override { return columns_->columns(); }
  bool ReserveColumns(std::size_t more) override;
  void AddColumn(Span<float const> values, std::uint32_t output) override;
  void WeighColumns(Span<float const> weights) override;
  void SetTargets(TargetView const& targets) override;
  void ComputeGradients(ObjectiveParams const& objective) override;
  std::vector<std::int64_t> PositionLosses(std::size_t positions) override;
  void AddTrees(std::size_t first, std::size_t last) override;
  double Evaluate(ObjectiveParams const& objective, MetricParams const& metric) override;
  void ReservePredictions() override;
  void ReserveGradients(ObjectiveParams const& objective) override;
  bool ReserveShared(SharedRows const& shared) override;
  bool bounds_are_shared() const override { return bounds_are_shared_; }

  /// Returns the array [rows] on the device for the leaf values of the next tree, a tree of this output: margins, or a
  /// new column. The tree adds `leaf_values` on `stream`.
  float* LeafTarget(std::uint32_t output, Span<float const> leaf_values, cudaStream_t stream);
  /// Returns the margins of all outputs, for the leaf values of a tree of vectors.
  OutputView<float> VectorTarget(Span<float const> leaf_values);
  /// Returns the margins to which a tree's leaf values may be added ahead. Returns none for several outputs, columns,
  /// adaptive leaves, or without memory.
  SpeculativeMargins BeginSpeculative();
  /// The speculative margins, written since BeginSpeculative with `leaf_values`, become the margins. Returns false, and
  /// keeps the margins, if they have changed meanwhile.
  bool TakeSpeculative(Span<float const> leaf_values);
  /// Frees the memory that BeginSpeculative took, and takes none any more. Returns false if it had taken none. Waits.
  bool GiveUpSpeculative();
  /// Returns the gradients of one output that the last ComputeGradients asked for. Throws InvalidArgument if a tree has
  /// done with losses(), and margins or targets have changed since.
  DeviceGradients gradients(std::uint32_t output);
  /// Returns the gradients of all outputs, as gradients() does of one.
  VectorGradients vector_gradients() { return {gradients(0).pairs, rows_, stride(), outputs_}; }
  /// Returns the losses from which a tree computes gradients until EndLosses. Returns nothing if the gradients of all
  /// rows exist, or must exist because the tree would compute gradients of a sample only. If margins or targets change
  /// before EndLosses, gradients() still returns gradients of the old ones.
  std::optional<RowLosses> losses(bool of_sample);
  /// Says that the tree will compute no more gradients.
  void EndLosses() {
    if (state_ == Gradients::kLent) state_ = Gradients::kSpent;
  }
  /// Calls cuda::QuantileLeaves on `stream`, with the residuals of the margins that the gradients were computed from.
  /// Throws InvalidArgument if the gradients are of an objective without adaptive leaves. Wait for `stream` before the
  /// next call.
  void QuantileLeaves(std::uint32_t output, NodeIndex const* positions, float* node_values, std::size_t nodes,
                      cudaStream_t stream);

  // For rows of several processes. All processes make each call at the same time. (rows_between_processes_cuda.cc)

  /// From now on ComputeGradients of an objective with HasScale, and QuantileLeaves, are of the rows of all `devices`.
  /// All processes make each of the two calls at the same time. With QuantileLeaves no process has weights.
  void JoinDevices(DeviceCollective* devices) { devices_ = devices; }
  /// Replaces bounds of margins, labels and weights by the largest of all processes.
  void ShareBoundsOver(Collective* group);
  /// Does the work of EvaluateInGroup. `gather` combines words of the devices of all processes.
  std::vector<double> EvaluateOver(ObjectiveParams const& objective, Span<MetricParams const> metrics,
                                   TargetView const& targets, Collective* group, GatherWords const& gather,
                                   Span<SharedRows* const> shared);

  // For rows on several devices. One device has all rows, each device has a part. (rows_between_devices_cuda.cc)

  /// Raises the bounds of margins, labels and weights to the bounds of `other`, if they are larger.
  void RaiseLargest(DeviceResidentRows const& other);
  /// Appends labels, weights and bounds to `copy`. The targets have no groups. Waits.
  void AppendTargets(TargetCopy* copy) const;
  /// A number that changes with the margins.
  std::uint64_t version() const { return version_; }
  /// Overwrites margins of the rows from `first` on with the margins of `part`. Enqueued; `part` changes them later.
  void TakeMargins(DeviceResidentRows* part, std::uint64_t first);
  /// Overwrites gradients with the gradients of `whole` from row `first` on. Enqueued; `whole` changes them later.
  void TakeGradients(DeviceResidentRows* whole, std::uint64_t first);
  /// Does the work of QuantileLeaves for all rows. The parts have residuals and positions: positions[p] are on the
  /// device of part p, computed on streams[p]. `node_values` are on the host. Waits.
  void QuantileLeavesOf(std::vector<std::unique_ptr<DeviceResidentRows>> const& parts, std::uint32_t output,
                        std::vector<NodeIndex const*> const& positions, std::vector<cudaStream_t> const& streams,
                        Span<float> node_values);

 private:
  class OwnShard;

  void CheckHasResiduals() const;
  std::size_t stride() const { return (rows_ + 31) / 32 * 32; }
  template <typename T>
  OutputView<T> View(T* data) const {
    return {data, rows_, outputs_, 1, stride()};
  }
  template <typename T>
  T const* Put(DeviceBuffer<T>* buffer, char const* part, T const* from, std::size_t n);
  /// Takes memory to count areas over `all_rows` rows. Returns false if there is too little.
  bool ReserveArea(std::uint64_t all_rows);
  /// Returns the largest magnitude of n values on the device, or infinity if one is NaN. Waits.
  double LargestOf(float const* values, std::size_t n) const;
  /// Completes targets_.
  void SortByTime();
  enum class Gradients {
    kComputed,  ///< the gradients of all rows are there
    kDeferred,  ///< gradients have not been needed yet
    kLent,      ///< a tree computes the gradients that it needs, and may still want the rest
    kSpent,     ///< a tree has computed the gradients that it needed
    kGone       ///< a tree has computed the gradients that it needed, and margins or targets have changed since
  };

  /// Must be called before margins or targets change: it computes gradients that may still be asked for.
  void KeepGradients();
  /// Must be called before margins change.
  void ForgetMargins();
  /// Tells whether gradients may be left to trees.
  bool CanDefer(ObjectiveParams const& objective) const;
  /// Tells whether gradients are certainly finite in all rows. If a tree needs few gradients, all others stay
  /// unchecked.
  bool AreFinite(ObjectiveParams const& objective) const;
  void ReserveGradientPairs();
  /// Returns the predictions that the objective makes of the margins, on the device.
  OutputView<float const> Predictions(ObjectiveParams const& objective);
  void ComputeAll(ObjectiveParams const& objective);

  std::uint64_t rows_;
  std::uint32_t outputs_;
  DeviceArena* arena_;
  Stream const& stream_;
  DeviceLimits limits_;
  StageTimer const* timer_;
  int threads_;
  std::function<void()> wait_for_readers_;
  DeviceBuffer<float> margins_;
  DeviceBuffer<std::uint32_t> largest_;  ///< for LargestOf: memory that came and went would wait for the device
  DeviceBuffer<float> speculative_margins_;
  bool speculative_is_valid_{false};  ///< true if they may become the margins
  bool can_speculate_{true};          ///< false: there was no memory for them
  std::optional<ColumnStore> columns_;
  DeviceBuffer<GradientPair> gradients_;
  GradientMaxima const* maxima_{nullptr};  ///< of the gradients of one output; nullptr: not known
  DeviceBuffer<float> labels_, weights_, lower_, upper_;
  DeviceBuffer<std::uint32_t> group_ptr_;
  TargetView targets_;  ///< on the device
  // Upper bounds of magnitudes; infinite if a value is NaN, or no bound is known.
  double most_margin_{0}, most_label_{0}, most_weight_{0};
  bool bounds_are_shared_{false};
  Gradients state_{Gradients::kComputed};
  ObjectiveParams deferred_{};  ///< of gradients that are not computed
  SortedTimes times_;           ///< of the labels, once they are asked for
  std::optional<RawMatrix> values_;
  KeptTrees const* trees_{nullptr};
  DeviceBuffer<float> predictions_;
  std::optional<ObjectiveParams> predictions_of_;  ///< nothing: not of the current margins
  std::uint64_t version_{0};                       ///< how often margins were about to change
  MetricScratch metrics_;
  ObjectiveScratch scratch_;
  DeviceBuffer<float> residuals_;  ///< of the gradients, if their objective has adaptive leaves; else empty
  std::vector<float> alphas_;      ///< of the residuals: [outputs]
  LeafQuantileScratch quantiles_;
  DeviceCollective* devices_{NoOtherDevices::Instance()};
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_ROUNDS_RESIDENT_ROWS_CUDA_H_
