#include "backend/cuda_builder.h"

#include <vector>

#include "core/message.h"
#include "core/parallel.h"
#include "gradient/gradient.h"
#include "objective/leaf_median.h"
#include "predict/predict.h"

namespace xgbgpu {

namespace {
constexpr std::size_t kGrain = 1 << 14;  // rows per task
}

void CudaBuilder::Close() noexcept {
  try {
    device_.Enter();
    EndTrace();
  } catch (DeviceError const&) {
    // A device that has failed, or a forked process that has none: nothing is left to be freed there.
  }
}

void CudaBuilder::Begin(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  if (gradients.size() != rows_) {
    Throw<InvalidArgument>("There are ", gradients.size(), " gradients; allowed: one for each of the ", rows_, " rows");
  }
  ForgetTree();
  GradientPair* const room = Run([&] {
    GradientPair* const to = GradientRoom();
    CopyToDevice(to, gradients.data(), rows_, stream_, "copying gradients");
    return to;
  });
  BeginOnDevice(params, room, key);
}

void CudaBuilder::ThrowNotFinite(GradientPair const* gradients, Stream const& stream) const {
  std::vector<GradientPair> copy(rows_);
  CopyToHost(copy.data(), gradients, copy.size(), stream, "reading gradients");
  stream.Wait("reading gradients");
  host::ChooseGradientFormat(copy, threads_);
  Throw<DeviceError>(
      "The device found a gradient that is NaN or infinite, the host found none: its memory may be faulty");
}

NodeIndex const* CudaBuilder::HostPositions() const {
  if (positions_are_current_) return host_positions_.data();
  Run([&] {
    if (host_positions_.size() == 0) host_positions_ = PinnedBuffer<NodeIndex>{rows_};
    CopyToHost(host_positions_.data(), positions(), rows_, tree_stream(), "reading leaf positions");
    tree_stream().Wait("reading leaf positions");
  });
  positions_are_current_ = true;
  return host_positions_.data();
}

void CudaBuilder::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  CheckFinished("LeafPositions", positions.size(), rows_);
  if (!sampled_out.empty()) CheckFinished("LeafPositions", sampled_out.size(), rows_);
  NodeIndex const* const from = HostPositions();
  ParallelChunks(threads_, positions.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      positions[i] = from[i] < 0 ? ~from[i] : from[i];
      if (!sampled_out.empty()) sampled_out[i] = from[i] < 0;
    }
  });
}

void CudaBuilder::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  CheckNodes("AddLeafValues", node_values.size());
  host::AddLeafValues({HostPositions(), static_cast<std::size_t>(rows_)}, node_values, margins, stride, threads_);
}

std::unique_ptr<ResidentRows> CudaBuilder::MakeResidentRows(std::uint32_t outputs) {
  return Run([&] {
    return std::make_unique<cuda::ResidentRows>(rows_, outputs, &arena_, stream_, limits_, &timer(),
                                                [this] { WaitForReaders(); });
  });
}

std::unique_ptr<ResidentRows> CudaBuilder::MakeResidentRows(RowSource const& source, std::uint32_t outputs) {
  return Run([&] {
    if (!trees_) trees_.emplace(&arena_);
    return std::make_unique<cuda::ResidentRows>(source, outputs, &*trees_, &arena_, evaluation_stream(), limits_,
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

void CudaBuilder::AdaptLeaves(Tree* tree, ResidentRows* rows) {
  CheckNodes("AdaptLeaves", tree->size());
  Run([&] {
    // On the tree's stream, which has waited for the residuals as for the gradients.
    float* const values = UploadNodeValues(tree->leaf_value);
    static_cast<cuda::ResidentRows*>(rows)->MedianLeaves(positions(), values, tree->size(), tree_stream());
    CopyToHost(tree->leaf_value.data(), values, tree->size(), tree_stream(), "reading medians");
    tree_stream().Wait("reading medians");
  });
  CheckMedians(tree->leaf_value);
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

/// What ran after the last tree is told, too.
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
  MemoryReport report{arena_.bytes(), arena_.peak_bytes(), {}};
  for (auto const& part : arena_.parts()) report.parts.push_back({part.name, part.bytes});
  return report;
}

void CudaBuilder::CheckFinished(char const* call, std::size_t size, std::size_t wanted) const {
  if (!tree_) Throw<InvalidArgument>(call, ": no tree has been grown");
  if (size != wanted) Throw<InvalidArgument>(call, ": array of ", size, " elements; allowed: ", wanted);
}

}  // namespace xgbgpu
