#include "backend/cuda_tree_builder.h"

#include <algorithm>
#include <utility>

#include "core/message.h"
#include "core/parallel.h"
#include "gradient/gradient.h"
#include "predict/predict.h"
#include "predict/predict_cuda.h"
#include "tree/leaf.h"

namespace xgbgpu {

namespace {
constexpr std::size_t kGrain = 1 << 14;  // rows per task
}

CudaTreeBuilder::CudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads)
    : matrix_{std::move(matrix)}, threads_{threads}, device_{matrix_->device}, level_{*matrix_, &arena_, stream_} {
  device_.Leave();
}

CudaTreeBuilder::~CudaTreeBuilder() {
  try {
    device_.Enter();
  } catch (DeviceError const&) {
    // A device that has failed, or a forked process that has none: nothing is left to be freed there.
  }
}

void CudaTreeBuilder::Begin(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  std::size_t const rows = matrix_->view.rows;
  if (gradients.size() != rows) {
    Throw<InvalidArgument>("There are ", gradients.size(), " gradients; allowed: one for each of the ", rows, " rows");
  }
  tree_.reset();
  Run([&] {
    if (gradients_.size() == 0) gradients_ = {&arena_, "gradients", rows};
    CopyToDevice(gradients_.data(), gradients.data(), rows, stream_, "copying gradients");
  });
  BeginOnDevice(params, gradients_.data(), key);
}

void CudaTreeBuilder::BeginOnDevice(TrainParams const& params, GradientPair const* gradients, TreeKey key) {
  ProfilerRange range{"xgbgpu tree"};
  tree_.reset();
  positions_are_current_ = false;
  train_ = params;
  used_gradients_ = gradients;
  std::uint32_t const tree = TreeNumber(key);
  features_.emplace(params, matrix_->view.features, tree);
  Run([&] { level_.Begin(params, *features_, gradients, tree); });
}

void CudaTreeBuilder::BuildRoot() {
  Run([&] { level_.BuildRoot(); });
}

bool CudaTreeBuilder::SelectNodes() { return level_.SelectNodes(); }

void CudaTreeBuilder::ExpandNodes() {
  Run([&] { level_.ExpandNodes(); });
}

Tree CudaTreeBuilder::Finish() {
  auto const result = Run([&] {
    auto finished = level_.Finish();
    if (timeline_) timeline_->AppendTo(trace_file_);
    if (!finished.finite) ThrowNotFinite();
    return finished;
  });
  Tree tree = MakeTree(result.nodes, matrix_->cuts, SplitParams{train_, result.format}, train_.learning_rate);
  tree_ = tree.size();
  return tree;
}

/// The host names the row and its value.
void CudaTreeBuilder::ThrowNotFinite() {
  std::vector<GradientPair> gradients(matrix_->view.rows);
  CopyToHost(gradients.data(), used_gradients_, gradients.size(), stream_, "reading gradients");
  stream_.Wait("reading gradients");
  host::ChooseGradientFormat(gradients, threads_);
  Throw<DeviceError>(
      "The device found a gradient that is NaN or infinite, the host found none: its memory may be faulty");
}

NodeIndex const* CudaTreeBuilder::HostPositions() const {
  if (positions_are_current_) return host_positions_.data();
  Run([&] {
    std::size_t const rows = matrix_->view.rows;
    if (host_positions_.size() == 0) host_positions_ = PinnedBuffer<NodeIndex>{rows};
    CopyToHost(host_positions_.data(), level_.positions(), rows, stream_, "reading leaf positions");
    stream_.Wait("reading leaf positions");
  });
  positions_are_current_ = true;
  return host_positions_.data();
}

void CudaTreeBuilder::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  CheckFinished("LeafPositions", positions.size(), matrix_->view.rows);
  if (!sampled_out.empty()) CheckFinished("LeafPositions", sampled_out.size(), matrix_->view.rows);
  NodeIndex const* const from = HostPositions();
  ParallelChunks(threads_, positions.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      positions[i] = from[i] < 0 ? ~from[i] : from[i];
      if (!sampled_out.empty()) sampled_out[i] = from[i] < 0;
    }
  });
}

void CudaTreeBuilder::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  CheckFinished("AddLeafValues", node_values.size(), tree_.value_or(0));
  host::AddLeafValues({HostPositions(), static_cast<std::size_t>(matrix_->view.rows)}, node_values, margins, stride,
                      threads_);
}

void CudaTreeBuilder::AddLeafValuesOnDevice(Span<float const> node_values, float* margins, std::size_t stride) {
  CheckFinished("AddLeafValues", node_values.size(), tree_.value_or(0));
  Run([&] {
    if (node_values_.size() < node_values.size()) {
      host_node_values_ = PinnedBuffer<float>{2 * node_values.size()};
      node_values_ = {};
      node_values_ = {&arena_, "nodes", 2 * node_values.size()};
    }
    stream_.Wait("adding leaf values");  // the last copy from the pinned buffer
    std::copy(node_values.begin(), node_values.end(), host_node_values_.data());
    CopyToDevice(node_values_.data(), host_node_values_.data(), node_values.size(), stream_, "adding leaf values");
    cuda::AddLeafValues(level_.positions(), matrix_->view.rows, node_values_.data(), margins, stride, level_.limits(),
                        stream_);
  });
}

std::unique_ptr<ResidentRows> CudaTreeBuilder::MakeResidentRows(std::uint32_t outputs) {
  return Run([&] {
    return std::make_unique<cuda::ResidentRows>(matrix_->view.rows, outputs, &arena_, stream_, level_.limits());
  });
}

std::unique_ptr<ResidentRows> CudaTreeBuilder::MakeResidentRows(RowSource const& source, std::uint32_t outputs) {
  return Run([&] {
    if (!trees_) trees_.emplace(&arena_);
    return std::make_unique<cuda::ResidentRows>(source, outputs, &*trees_, &arena_, stream_, level_.limits(), threads_);
  });
}

void CudaTreeBuilder::KeepTree(Tree const& tree, std::uint32_t output) {
  Run([&] {
    if (!trees_) trees_.emplace(&arena_);
    trees_->Add(tree, output, stream_);
  });
}

void CudaTreeBuilder::ForgetTrees() {
  if (trees_) trees_->Clear();
}

void CudaTreeBuilder::Begin(TrainParams const& params, ResidentRows* rows, std::uint32_t output, TreeKey key) {
  BeginOnDevice(params, static_cast<cuda::ResidentRows*>(rows)->gradients(output), key);
}

void CudaTreeBuilder::AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output) {
  AddLeafValuesOnDevice(node_values, static_cast<cuda::ResidentRows*>(rows)->margins(output), 1);
}

void CudaTreeBuilder::Trace(std::string const& file) {
  if (file == trace_file_) return;
  DeviceScope scope{matrix_->device};
  level_.SetTimeline(nullptr);
  timeline_.reset();
  trace_file_.clear();
  if (file.empty()) return;
  timeline_.emplace(stream_);
  try {
    timeline_->AppendTo(file);
  } catch (...) {
    timeline_.reset();
    throw;
  }
  trace_file_ = file;
  level_.SetTimeline(&*timeline_);
}

MemoryReport CudaTreeBuilder::memory() const {
  MemoryReport report{arena_.bytes(), arena_.peak_bytes(), {}};
  for (auto const& part : arena_.parts()) report.parts.push_back({part.name, part.bytes});
  return report;
}

void CudaTreeBuilder::CheckFinished(char const* call, std::size_t size, std::size_t wanted) const {
  if (!tree_) Throw<InvalidArgument>(call, ": no tree has been grown");
  if (size != wanted) Throw<InvalidArgument>(call, ": array of ", size, " elements; allowed: ", wanted);
}

std::unique_ptr<TreeBuilder> MakeCudaTreeBuilder(std::shared_ptr<DeviceMatrix const> matrix, int threads) {
  auto const sizes = [&] { return WorkSizes{matrix->device, matrix->view.rows, matrix->view.features, 0}; };
  return NamingSizes(sizes, [&] { return std::make_unique<CudaTreeBuilder>(matrix, threads); });
}

}  // namespace xgbgpu
