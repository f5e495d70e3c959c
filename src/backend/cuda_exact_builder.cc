/// Exact trees on a device.

#include <algorithm>
#include <optional>
#include <utility>

#include "backend/backend.h"
#include "core/device.h"
#include "core/message.h"
#include "core/parallel.h"
#include "core/work_sizes.h"
#include "exact/exact_growth.h"
#include "gradient/gradient.h"
#include "objective/leaf_median.h"
#include "predict/predict.h"
#include "predict/predict_cuda.h"
#include "rounds/resident_rows_cuda.h"
#include "sample/sample.h"

namespace xgbgpu {

namespace {

constexpr std::size_t kGrain = 1 << 14;  // rows a task

class CudaExactBuilder final : public TreeBuilder, public DeviceRounds {
  /// body() on the device.
  template <typename Body>
  decltype(auto) Run(Body&& body) const {
    auto const sizes = [&] { return WorkSizes{device_, matrix_->rows, matrix_->features(), arena_.bytes()}; };
    return NamingSizes(sizes, [&]() -> decltype(auto) {
      DeviceScope scope{device_};
      return body();
    });
  }

 public:
  CudaExactBuilder(std::shared_ptr<SortedMatrix const> matrix, int device, int threads)
      : matrix_{std::move(matrix)}, threads_{threads}, device_{device} {
    DeviceScope scope{device_};
    stream_.emplace();
    growth_.emplace(matrix_, threads_, &arena_, *stream_);
  }
  ~CudaExactBuilder() override {
    std::optional<DeviceScope> scope;
    try {
      scope.emplace(device_);
    } catch (DeviceError const&) {
      // A device that has failed, or a forked process that has none: nothing is left to be freed there.
    }
    timeline_.reset();
    trees_.reset();
    gradients_ = {};
    node_values_ = {};
    growth_.reset();
    host_positions_ = {};
    stream_.reset();
  }

  void Begin(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) override {
    if (gradients.size() != matrix_->rows) {
      Throw<InvalidArgument>("There are ", gradients.size(), " gradients; allowed: one for each of the ", matrix_->rows,
                             " rows");
    }
    Run([&] {
      Reserve(&gradients_, &arena_, "gradients", matrix_->rows);
      CopyToDevice(gradients_.data(), gradients.data(), matrix_->rows, *stream_, "copying gradients");
    });
    BeginOnDevice(params, gradients_.data(), key);
  }
  void BuildRoot() override {
    Run([&] { growth_->BuildRoot(); });
  }
  bool SelectNodes() override { return growth_->SelectNodes(); }
  void ExpandNodes() override {
    Run([&] { growth_->ExpandNodes(); });
  }
  Tree Finish() override {
    ExactNodes const nodes = Run([&] { return growth_->Finish(); });
    if (timeline_) timeline_->MoveTo(trace_.get());
    Tree tree = MakeExactTree(nodes, growth_->split_params(), params_.learning_rate, growth_->constraints());
    tree_ = tree.size();
    return tree;
  }

  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const override {
    CheckFinished("LeafPositions", positions.size(), matrix_->rows);
    if (!sampled_out.empty()) CheckFinished("LeafPositions", sampled_out.size(), matrix_->rows);
    NodeIndex const* const from = HostPositions();
    ParallelChunks(threads_, positions.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        positions[i] = from[i] < 0 ? ~from[i] : from[i];
        if (!sampled_out.empty()) sampled_out[i] = from[i] < 0;
      }
    });
  }
  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const override {
    CheckFinished("AddLeafValues", node_values.size(), tree_.value_or(0));
    host::AddLeafValues({HostPositions(), static_cast<std::size_t>(matrix_->rows)}, node_values, margins, stride,
                        threads_);
  }
  void Trace(std::shared_ptr<TraceFile> file) override {
    if (file == trace_) return;
    DeviceScope scope{device_};
    if (timeline_) {  // what ran after the last tree is told, too
      growth_->timer().SetTimeline(nullptr);
      stream_->Wait("tracing");
      timeline_->Resolve();
      timeline_->MoveTo(trace_.get());
      timeline_.reset();
    }
    trace_ = std::move(file);
    if (trace_ == nullptr) return;
    timeline_.emplace(*stream_);
    growth_->timer().SetTimeline(&*timeline_);
  }
  MemoryReport memory() const override {
    MemoryReport report{arena_.bytes(), arena_.peak_bytes(), {}};
    for (auto const& part : arena_.parts()) report.parts.push_back({part.name, part.bytes});
    return report;
  }
  std::uint64_t memory_version() const override { return arena_.changes(); }

  DeviceRounds* rounds() override { return this; }
  std::unique_ptr<ResidentRows> MakeResidentRows(std::uint32_t outputs) override {
    return Run([&] {
      return std::make_unique<cuda::ResidentRows>(matrix_->rows, outputs, &arena_, *stream_, growth_->limits(),
                                                  &growth_->timer());
    });
  }
  std::unique_ptr<ResidentRows> MakeResidentRows(RowSource const& source, std::uint32_t outputs) override {
    return Run([&] {
      if (!trees_) trees_.emplace(&arena_);
      return std::make_unique<cuda::ResidentRows>(source, outputs, &*trees_, &arena_, *stream_, growth_->limits(),
                                                  &growth_->timer(), threads_);
    });
  }
  void KeepTree(Tree const& tree, std::uint32_t output) override {
    Run([&] {
      if (!trees_) trees_.emplace(&arena_);
      trees_->Add(tree, output, *stream_);
    });
  }
  void ForgetTrees() override {
    if (trees_) trees_->Clear();
  }
  std::size_t kept_trees() const override { return trees_ ? trees_->size() : 0; }

  /// One after the other: a level of one tree fills the device.
  void Begin(TrainParams const& params, ResidentRows* rows, std::vector<RoundTree> trees) override {
    ValidateExact(params);
    params_ = params;
    rows_ = static_cast<cuda::ResidentRows*>(rows);
    waiting_ = std::move(trees);
    std::reverse(waiting_.begin(), waiting_.end());
  }
  Tree FinishNext() override {
    RoundTree const next = waiting_.back();
    waiting_.pop_back();
    BeginOnDevice(params_, rows_->gradients(next.output), next.key);
    BuildRoot();
    while (SelectNodes()) ExpandNodes();
    return Finish();
  }
  void Abandon() noexcept override {
    waiting_.clear();
    tree_.reset();
  }
  void AdaptLeaves(Tree* tree, ResidentRows* rows) override {
    CheckFinished("AdaptLeaves", tree->size(), tree_.value_or(0));
    Run([&] {
      Reserve(&node_values_, &arena_, "nodes", tree->size());
      CopyToDevice(node_values_.data(), tree->leaf_value.data(), tree->size(), *stream_, "reading medians");
      static_cast<cuda::ResidentRows*>(rows)->MedianLeaves(growth_->positions(), node_values_.data(), tree->size(),
                                                           *stream_);
      CopyToHost(tree->leaf_value.data(), node_values_.data(), tree->size(), *stream_, "reading medians");
      stream_->Wait("reading medians");
    });
    CheckMedians(tree->leaf_value);
  }
  void AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output) override {
    CheckFinished("AddLeafValues", node_values.size(), tree_.value_or(0));
    Run([&] {
      Reserve(&node_values_, &arena_, "nodes", node_values.size());
      CopyToDevice(node_values_.data(), node_values.data(), node_values.size(), *stream_, "adding leaf values");
      cuda::AddLeafValues(growth_->positions(), matrix_->rows, node_values_.data(),
                          static_cast<cuda::ResidentRows*>(rows)->margins(output), 1, growth_->limits(), *stream_);
      stream_->Wait("adding leaf values");  // the values' source may go
    });
  }

 private:
  void BeginOnDevice(TrainParams const& params, GradientPair const* gradients, TreeKey key) {
    tree_.reset();
    positions_are_current_ = false;
    params_ = params;
    features_.emplace(params, matrix_->features(), TreeNumber(key));
    bool const finite = Run([&] { return growth_->Begin(params, *features_, gradients, TreeNumber(key)); });
    if (!finite) ThrowNotFinite(gradients);
  }

  /// The host names the row and its value.
  [[noreturn]] void ThrowNotFinite(GradientPair const* on_device) {
    std::vector<GradientPair> gradients(matrix_->rows);
    Run([&] {
      CopyToHost(gradients.data(), on_device, gradients.size(), *stream_, "reading gradients");
      stream_->Wait("reading gradients");
    });
    host::ChooseGradientFormat(gradients, threads_);
    Throw<DeviceError>(
        "The device found a gradient that is NaN or infinite, the host found none: its memory may be faulty");
  }

  NodeIndex const* HostPositions() const {
    if (positions_are_current_) return host_positions_.data();
    Run([&] {
      if (host_positions_.size() == 0) host_positions_ = PinnedBuffer<NodeIndex>{matrix_->rows};
      CopyToHost(host_positions_.data(), growth_->positions(), matrix_->rows, *stream_, "reading leaf positions");
      stream_->Wait("reading leaf positions");
    });
    positions_are_current_ = true;
    return host_positions_.data();
  }

  void CheckFinished(char const* call, std::size_t size, std::size_t wanted) const {
    if (!tree_) Throw<InvalidArgument>(call, ": no tree has been grown");
    if (size != wanted) Throw<InvalidArgument>(call, ": array of ", size, " elements; allowed: ", wanted);
  }

  std::shared_ptr<SortedMatrix const> matrix_;
  int threads_;
  int device_;
  DeviceArena arena_{"Training exact trees on the GPU"};
  std::optional<Stream> stream_;
  std::optional<cuda::ExactGrowth> growth_;
  std::optional<cuda::KeptTrees> trees_;
  DeviceBuffer<GradientPair> gradients_;
  DeviceBuffer<float> node_values_;
  mutable PinnedBuffer<NodeIndex> host_positions_;
  mutable bool positions_are_current_{false};
  std::shared_ptr<TraceFile> trace_;
  std::optional<Timeline> timeline_;  ///< for `trace_`
  TrainParams params_;
  cuda::ResidentRows* rows_{nullptr};
  std::vector<RoundTree> waiting_;  ///< of a round, the next one last
  std::optional<FeatureSampler> features_;
  std::optional<std::size_t> tree_;  ///< nodes of the last tree, if it was finished
};

}  // namespace

std::unique_ptr<TreeBuilder> MakeCudaExactBuilder(std::shared_ptr<SortedMatrix const> matrix, int device, int threads) {
  auto const sizes = [&] { return WorkSizes{device, matrix->rows, matrix->features(), 0}; };
  return NamingSizes(sizes, [&] { return std::make_unique<CudaExactBuilder>(matrix, device, threads); });
}

}  // namespace xgbgpu
