/// The hot path on a CUDA device: buffers of a growing tree and the kernels of its levels, enqueued in order.
#ifndef XGBGPU_LEVEL_LEVEL_CUDA_H_
#define XGBGPU_LEVEL_LEVEL_CUDA_H_

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/recorded_graph.h"
#include "core/timeline.h"
#include "level/batch_growth.h"
#include "level/device_tree.h"
#include "level/path_growth.h"
#include "level/tree_shape.h"
#include "objective/objective_cuda.h"
#include "predict/predict_cuda.h"
#include "sample/feature_sets_cuda.h"
#include "sample/sample.h"
#include "sample/sample_room_cuda.h"
#include "split/constraints_cuda.h"

namespace xgbgpu::cuda {

/// Grows the nodes of one tree after the other on one matrix.
///
/// Two ways, one result. *Unattended*, for trees of a TreeShape whose histograms fit: the device chooses the nodes of
/// every level, the host enqueues all levels as one graph and waits once, but not for the rows' leaves; again, if the
/// tree is deeper than expected. Loss-guided trees are cut out of what was made. *Attended*, for the rest: the host
/// chooses a batch (batch_growth.h), waits for its children's splits, and chooses again.
class LevelBuilder {
 public:
  /// `arena` and `stream` must outlive it. `histogram_budget`: bytes of histograms at most.
  LevelBuilder(DeviceMatrix const& matrix, DeviceArena* arena, Stream const& stream, std::size_t histogram_budget);
  ~LevelBuilder();
  LevelBuilder(LevelBuilder const&) = delete;
  LevelBuilder& operator=(LevelBuilder const&) = delete;

  /// Starts a tree. Throws InvalidArgument (constraints on features that are not there). Gradients and their maxima are
  /// unchanged until Finish. `ahead`: see margins_are_ahead.
  void Begin(TrainParams const& params, FeatureSampler features, DeviceGradients const& gradients,
             std::uint32_t tree_number, MarginsAhead const& ahead = {}) {
    losses_.reset();
    BeginWith(params, std::move(features), gradients, tree_number, ahead);
  }
  /// The same without gradients, if ComputesGradients(params): from losses, with room exactly if rows are not sampled,
  /// and, if they are, such that all gradients would be finite. Margins, labels and weights stay where they are until
  /// Finish or Discard. all(): the gradients of all rows, of the same margins, labels and weights even if these have
  /// changed; asked for in Finish, if the tree must be grown again.
  void Begin(TrainParams const& params, FeatureSampler features, RowLosses const& losses,
             std::function<DeviceGradients()> all, std::uint32_t tree_number, MarginsAhead const& ahead) {
    losses_ = losses;
    all_gradients_ = std::move(all);
    BeginWith(params, std::move(features), {losses.room}, tree_number, ahead);
  }
  /// Instead of Finish: waits until nothing of the tree is under way but rows that walk. Without a timeline.
  void Discard() {
    if (unattended_) {
      returned_.Wait("giving up a tree");
    } else {
      stream_.Wait("giving up a tree");
    }
  }
  /// May a tree of these parameters compute its gradients itself?
  bool ComputesGradients(TrainParams const& params) const;
  void BuildRoot();
  bool SelectNodes();
  void ExpandNodes();

  struct Result {
    Span<Node const> nodes;  ///< of the tree; valid until the next Begin
    CategorySets sets;       ///< of their splits by categories; the same
    GradientFormat format;
    bool finite;  ///< false: a gradient is NaN or infinite, and the nodes mean nothing
  };
  /// Waits for the tree; rows may still look for their leaves then, on the stream.
  Result Finish();
  /// Of the finished tree: are MarginsAhead::to those before it and the leaf values that MakeTree tells? Enqueued. Else
  /// they mean nothing.
  bool margins_are_ahead() const { return walks_ahead_; }
  /// Of the tree.
  Constraints const& constraints() const { return constraints_.constraints(); }

  /// Would a tree of these parameters be grown unattended?
  bool CanRunUnattended(TrainParams const& params) const;
  /// From the next tree on kernels are fitted to this part of the device. shared: other trees grow at the same time.
  void SetShare(double part, bool shared) {
    limits_.processors = std::max(1, static_cast<int>(part * processors_));
    limits_.shared = shared;
  }

  /// From the next tree on stages are timed; nullptr ends that.
  void SetTimeline(Timeline* timeline) { timer_.SetTimeline(timeline); }
  bool has_timeline() const { return timer_.timeline() != nullptr; }
  /// For work beside trees on the same stream.
  StageTimer const& timer() const { return timer_; }

  /// Leaf of every row in the finished tree, complement for rows outside the sample; [rows] on the device. Enqueued.
  NodeIndex const* positions() const;
  /// margins[i · stride] += node_values[leaf of row i in the finished tree]; both on the device. Enqueued, fitted to
  /// `limits`.
  void AddLeafValues(float const* node_values, float* margins, std::size_t stride, DeviceLimits const& limits) const;

 private:
  void BeginWith(TrainParams const& params, FeatureSampler features, DeviceGradients const& gradients,
                 std::uint32_t tree_number, MarginsAhead const& ahead);
  bool CanUsePaths() const;
  void StartTree(Constraints constraints);
  bool IsCut() const { return unattended_ && shape_.cut; }
  void ReserveCut(std::size_t nodes);
  /// Is the tree cut out by the host, so that walks and positions have the numbers of nodes as they were made?
  bool IsCutLate() const { return IsCut() && !shape_.ordered; }
  Span<Node const> TakeTree(Span<Node const> returned);
  void RenumberPositions() const;
  float const* SpreadValues(float const* node_values) const;
  /// New memory is cleared: structures are read whole, their padding too.
  template <typename T>
  void ReserveCleared(DeviceBuffer<T>* buffer, char const* part, std::size_t size) {
    if (!Reserve(buffer, arena_, part, size)) return;
    graph_.Drop();
    FillBytes(buffer->data(), 0, buffer->size(), stream_, "clearing new memory");
  }
  /// What is recorded is dropped if reserve() says that memory is another now, or fails on its way.
  template <typename F>
  void DropIfOther(F&& reserve) {
    try {
      if (reserve()) graph_.Drop();
    } catch (OutOfDeviceMemory const&) {
      graph_.Drop();
      throw;
    }
  }
  void ReserveUnattended();
  void ReservePaths();
  void ReserveLists();
  void ReserveAttended();
  void ReserveSample(std::uint32_t room);
  void EnqueueStart();
  void EnqueueSample();
  bool MakeRoomForTree();
  void UseAllGradients();
  void EnqueueTree();
  void EnqueueLevels(int first, int end);
  void EnqueueListLevels(int first, int end);
  int LikelyLevels();
  void WaitForTree();
  bool GrowOn();
  void GrowAttended();
  void EnqueueUnsampled(Node const* nodes);
  void RunUnattended();
  void LaunchTree();
  void EnqueueWalk();
  void LearnBack(std::size_t first, std::size_t n);
  void EnqueuePositions();
  DeviceTree View() const;
  void ReportBytes(Span<Node const> nodes);
  SampleView Sample() const;
  WalkTree WalkOfTree() const;
  void WriteLeaves() const;
  bool Sampled() const { return params_.SamplesRows(); }
  /// Do gradients decide which rows are in the sample, and are divided by the chance?
  bool Weighted() const { return Sampled() && params_.sampling_method != SamplingMethod::kUniform; }
  /// Does the tree grow on a copy of the sample's rows?
  bool CopiesSample() const { return by_paths_ && Sampled(); }
  /// Are rows' leaves noted when somebody asks? Nobody may: margins are advanced on the way.
  bool WalksLate() const { return CopiesSample() || walks_ahead_; }
  std::size_t HistogramBytes() const { return matrix_.view.cells * sizeof(GradientSum); }

  DeviceMatrix const& matrix_;
  DeviceArena* arena_;
  Stream const& stream_;
  std::size_t histogram_budget_;
  DeviceLimits limits_;
  int processors_;  ///< of the whole device
  std::vector<SplitGroup> groups_;
  std::vector<WarpGroup> warp_groups_;
  LevelBounds bounds_{1, 1};

  TrainParams params_;
  std::optional<FeatureSampler> features_;
  DeviceGradients gradients_;
  std::optional<RowLosses> losses_;  ///< instead of gradients
  std::function<DeviceGradients()> all_gradients_;
  std::uint32_t tree_number_{0};
  bool unattended_{false};
  bool by_paths_{false};
  MarginsAhead ahead_;
  bool walks_ahead_{false};      ///< do rows walk to `ahead_` as soon as the tree is there?
  TreeShape shape_;              ///< unattended
  int enqueued_levels_{0};       ///< unattended
  int likely_levels_{0};         ///< of open trees; 0: there was none yet
  int shallow_trees_{0};         ///< in a row: see LevelPolicy
  bool too_deep_{false};         ///< an open tree was deeper than may be, and the next may be: they grow attended
  int level_{0};                 ///< levels, or attended batches, expanded so far
  std::uint32_t used_slots_{0};  ///< of histograms
  std::size_t batch_{0};         ///< attended: families of one batch at most
  BatchGrowth growth_;
  StageTimer timer_;
  PathGrowth paths_;
  DeviceConstraints constraints_;
  CategorySetRoom categories_;
  DeviceFeatureSets feature_sets_;
  SampleRoom sample_room_;

  /// What a recorded tree depends on, beside the buffers: when these change, or a buffer does, it is recorded again.
  struct GraphKey {
    int max_depth, levels;
    bool ordered;
    std::uint32_t open;  ///< 1 + nodes that may be split; 0: it is not
    bool sampled, weighted, by_paths, walks_ahead, shared;
    FeatureSetsView features;
    std::uint32_t sample_room, slots;
    GradientPair const* gradients;
    GradientMaxima const* maxima;
    bool computes;  ///< gradients, with what follows
    ObjectiveParams objective;
    float const *labels, *weights;
    int processors;
    NodeLimitsView limits;
  };
  RecordedGraph graph_;
  GraphKey graph_key_{};

  /// What is cleared before a tree and read after it, in front of the nodes: one copy brings both.
  struct alignas(256) Header {
    GradientState gradient;
    LevelState state;
    SampleState sample;
  };
  /// Memory of a header and of nodes after it, on the device or in pinned memory.
  static Header* HeaderOf(std::uint8_t* memory) { return reinterpret_cast<Header*>(memory); }
  static Node* NodesOf(std::uint8_t* memory) { return reinterpret_cast<Node*>(memory + sizeof(Header)); }
  static std::size_t TreeBytes(std::size_t nodes) { return sizeof(Header) + nodes * sizeof(Node); }
  std::size_t NodeRoom() const { return (tree_memory_.size() - sizeof(Header)) / sizeof(Node); }

  DeviceBuffer<std::uint8_t> tree_memory_;
  DeviceBuffer<TreeSettings> settings_;
  DeviceBuffer<Family> families_;
  DeviceBuffer<MoveJob> move_jobs_;
  DeviceBuffer<SumJob> sum_jobs_;
  DeviceBuffer<RowRecord> lists_[2];
  DeviceBuffer<GradientMaxima> maxima_before_;  ///< EarlyGradients::maxima_before
  DeviceBuffer<NodeIndex> positions_;
  DeviceBuffer<float> leaf_values_;  ///< if the tree walks ahead
  DeviceBuffer<GradientSum> histograms_;
  DeviceBuffer<SplitGroup> group_array_;
  DeviceBuffer<WarpGroup> warp_group_array_;
  DeviceBuffer<SplitCandidate> candidates_;
  DeviceBuffer<OrderedNode> order_;           ///< with an order: see GrowOrderView
  DeviceBuffer<std::uint32_t> order_places_;  ///< the same
  DeviceBuffer<std::int32_t> free_slots_;     ///< the same
  std::vector<NodeIndex> leaf_numbers_;       ///< IsCutLate: see BatchGrowth::LeafNumbers
  DeviceBuffer<NodeIndex> leaf_of_node_;      ///< these; or see TreeNumbers
  DeviceBuffer<float> values_of_nodes_;       ///< IsCutLate, WalksLate
  DeviceBuffer<Node> tree_nodes_;             ///< attended: the finished tree, for rows outside the sample
  PinnedBuffer<TreeSettings> host_settings_{1};
  PinnedBuffer<Family> host_families_;      ///< attended: of a batch
  PinnedBuffer<std::uint8_t> host_memory_;  ///< as tree_memory_
  Event returned_;                          ///< unattended: what is there is the tree
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_LEVEL_LEVEL_CUDA_H_
