// Uploads gradients, reads leaf positions back, makes rows of rounds, and ends traces.
#include "trees_cuda/cuda_builder.h"

#include <utility>
#include <vector>

#include "backend/copy_positions.h"
#include "base/message.h"
#include "cuda/long_copies.h"
#include "gradient/gradient.h"
#include "objective/leaf_quantile.h"
#include "predict/predict.h"

namespace xgbgpu {

namespace {

/// Rows that know the builder that grows trees on them.
class BuilderRows final : public cuda::DeviceResidentRows {
 public:
  template <typename... Args>
  explicit BuilderRows(CudaBuilder* builder, Args&&... args)
      : DeviceResidentRows{std::forward<Args>(args)...}, builder_{*builder} {}

  void ComputeGradients(ObjectiveParams const& objective) override { builder_.ComputeGradients(this, objective); }
  void AdaptLeaves(Tree* tree, std::uint32_t output) override { builder_.AdaptLeaves(tree, this, output); }
  void AddLeafValues(Span<float const> node_values, std::uint32_t output) override {
    builder_.AddLeafValues(node_values, this, output);
  }
  void AddVectorLeaves(VectorTree const& tree) override { builder_.AddVectorLeaves(tree, this); }
  void ShareBounds() override { builder_.ShareBounds(this); }
  std::vector<double> EvaluateInGroup(ObjectiveParams const& objective, Span<MetricParams const> metrics,
                                      TargetView const& targets, int threads, Collective* group,
                                      Span<SharedRows* const> shared) override {
    return builder_.EvaluateInGroup(this, objective, metrics, targets, threads, group, shared);
  }

 private:
  ResidentRounds& rounds() override { return builder_; }
  void Begin(TrainParams const& params, std::vector<RoundTree> trees) override {
    builder_.Begin(params, this, std::move(trees));
  }
  Tree FinishNext() override { return builder_.FinishNext(); }
  VectorTree MakeVectors(TrainParams const& params, TreeKey key) override {
    return builder_.GrowVectors(params, this, key);
  }

  CudaBuilder& builder_;
};

}  // namespace

void CudaBuilder::Close() noexcept {
  try {
    device_.Enter();
    EndTrace();
  } catch (DeviceError const&) {
    // A device that has failed, or a forked process that has none: nothing is left to be freed there.
  }
}

Tree CudaBuilder::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  finished_.CheckGradients(gradients.size());
  ForgetTree();
  GradientPair* const buffer = Run([&] {
    GradientPair* const to = GradientBuffer();
    CopyLongToDevice(to, gradients.data(), rows_ * sizeof(GradientPair), threads_, stream_, "copying gradients");
    return to;
  });
  return GrowOnDevice(params, {buffer}, key);
}

VectorTree CudaBuilder::GrowVectors(TrainParams const& params, cuda::DeviceResidentRows* rows, TreeKey key) {
  return GrowVectors(params, {}, rows->outputs(), key);  // of a builder that has none
}

void CudaBuilder::ThrowNotFinite(GradientPair const* gradients, Stream const& stream, std::uint64_t first_row,
                                 bool others) const {
  std::vector<GradientPair> copy(rows_);
  CopyLongToHost(copy.data(), gradients, rows_ * sizeof(GradientPair), threads_, stream, "reading gradients");
  host::LargestGradients(copy, threads_, NoOtherShards(), first_row);
  if (others) throw OtherShardFailed{"A gradient in another shard of the rows is NaN or infinite"};
  Throw<DeviceError>(
      "The device found a gradient that is NaN or infinite, the host found none: its memory may be faulty");
}

NodeIndex const* CudaBuilder::HostPositions() const {
  if (positions_are_current_) return host_positions_.data();
  Run([&] {
    host_positions_.resize(rows_);
    CopyLongToHost(host_positions_.data(), positions(), rows_ * sizeof(NodeIndex), threads_, tree_stream(),
                   "reading leaf positions");
  });
  positions_are_current_ = true;
  return host_positions_.data();
}

void CudaBuilder::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  finished_.CheckPositions(positions, sampled_out);
  NodeIndex const* const from = HostPositions();
  CopyPositions(positions, sampled_out, threads_, [&](std::size_t row) { return from[row]; });
}

void CudaBuilder::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  CheckNodes("AddLeafValues", node_values.size());
  host::AddLeafValues({HostPositions(), static_cast<std::size_t>(rows_)}, node_values, margins, stride, threads_);
}

std::unique_ptr<ResidentRows> CudaBuilder::MakeResidentRows(std::uint32_t outputs) { return MakeRows(outputs); }
std::unique_ptr<ResidentRows> CudaBuilder::MakeResidentRows(RowSource const& source, std::uint32_t outputs) {
  return MakeRows(source, outputs);
}

std::unique_ptr<cuda::DeviceResidentRows> CudaBuilder::MakeRows(std::uint32_t outputs) {
  return MakeRowsOfOthers(rows_, outputs, RowUse::kTrained);
}

std::unique_ptr<cuda::DeviceResidentRows> CudaBuilder::MakeRowsOfOthers(std::uint64_t rows, std::uint32_t outputs,
                                                                        RowUse use) {
  Stream const& stream = use == RowUse::kTrained ? stream_ : evaluation_stream();
  return Run([&] {
    return std::make_unique<BuilderRows>(this, rows, outputs, &arena_, stream, limits_, &timer(), threads_,
                                         [this] { WaitForReaders(); });
  });
}

std::unique_ptr<cuda::DeviceResidentRows> CudaBuilder::MakeRows(RowSource const& source, std::uint32_t outputs) {
  return Run([&] {
    if (!trees_) trees_.emplace(&arena_);
    return std::make_unique<BuilderRows>(this, source, outputs, &*trees_, &arena_, evaluation_stream(), limits_,
                                         &timer(), threads_);
  });
}

void CudaBuilder::KeepTree(Tree const& tree, std::uint32_t output) {
  Run([&] {
    if (!trees_) trees_.emplace(&arena_);
    trees_->Add(tree, output, evaluation_stream());
  });
}

void CudaBuilder::ForgetTrees() {
  if (trees_) trees_->Clear();
}

void CudaBuilder::AdaptLeaves(Tree* tree, cuda::DeviceResidentRows* rows, std::uint32_t output) {
  CheckNodes("AdaptLeaves", tree->size());
  Run([&] {
    // On the tree's stream, which has waited for the residuals as for the gradients.
    float* const values = UploadNodeValues(tree->leaf_value);
    rows->QuantileLeaves(output, positions(), values, tree->size(), tree_stream());
    CopyToHost(tree->leaf_value.data(), values, tree->size(), tree_stream(), "reading quantiles");
    tree_stream().Wait("reading quantiles");
  });
  CheckQuantiles(tree->leaf_value);
}

void CudaBuilder::Trace(std::shared_ptr<TraceFile> file) {
  if (file == trace_) return;
  DeviceScope scope{device_.number()};
  EndTrace();
  if (file == nullptr) return;
  timeline_.emplace(stream_);
  trace_ = std::move(file);
  SetTimeline(&*timeline_);
}

/// The trace gets what ran after the last tree, too.
void CudaBuilder::EndTrace() {
  if (!timeline_) return;
  SetTimeline(nullptr);
  stream_.Wait("tracing");
  timeline_->Resolve();
  timeline_->MoveTo(trace_.get());
  timeline_.reset();
  trace_.reset();
}

MemoryReport CudaBuilder::memory() const {
  MemoryReport report{arena_.bytes(), arena_.peak_bytes(), {}, {}};
  for (auto const& part : arena_.parts()) report.parts.push_back({part.name, part.bytes});
  return report;
}

}  // namespace xgbgpu
