// Margins, targets and gradients of rows that stay on a device between rounds.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/float_bits.h"
#include "base/message.h"
#include "base/stages.h"
#include "cuda/block_totals.cuh"
#include "cuda/grid.h"
#include "cuda/long_copies.h"
#include "gradient/gradient_ops.h"
#include "objective/objective_ops.h"
#include "objective/position_bias_ops.h"
#include "rounds/check_margins.h"
#include "rounds/resident_rows_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;

/// Returns the magnitude with the given bits, or infinity for bits of NaN. Bits and magnitudes have the same order.
double MagnitudeOf(std::uint32_t bits) {
  if (bits >= kNotFiniteBits) return std::numeric_limits<double>::infinity();
  return static_cast<double>(FloatFromBits(bits));
}

/// Returns the largest magnitude of a few values, or infinity if one is NaN.
double Largest(Span<float const> values) {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < values.size(); ++i) most = std::max(most, MagnitudeBits(values[i]));
  return MagnitudeOf(most);
}

/// Raises *most to the bits of the largest magnitude.
__global__ void __launch_bounds__(kThreads) LargestKernel(float const* values, std::uint64_t n, std::uint32_t* most) {
  std::uint32_t own = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * kThreads) {
    own = max(own, MagnitudeBits(values[i]));
  }
  own = WarpMax(own);
  if (threadIdx.x % 32 == 0) atomicMax(most, own);
}

__global__ void __launch_bounds__(kThreads) FillKernel(float* values, std::uint64_t n, float value) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * kThreads) {
    values[i] = value;
  }
}

__global__ void __launch_bounds__(kThreads) CopyOutputs(OutputView<float const> from, OutputView<float> to) {
  std::uint64_t const n = from.rows * from.outputs;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * kThreads) {
    auto const output = static_cast<std::uint32_t>(i % from.outputs);
    to.at(i / from.outputs, output) = from.at(i / from.outputs, output);
  }
}

/// Returns the most rows of a ranking group; 0 without groups.
std::uint32_t LargestGroup(TargetView const& targets) {
  std::uint32_t largest = 0;
  for (std::uint32_t g = 0; g < targets.groups; ++g) {
    largest = std::max(largest, targets.group_ptr[g + 1] - targets.group_ptr[g]);
  }
  return largest;
}

}  // namespace

DeviceResidentRows::DeviceResidentRows(std::uint64_t rows, std::uint32_t outputs, DeviceArena* arena,
                                       Stream const& stream, DeviceLimits const& limits, StageTimer const* timer,
                                       int threads, std::function<void()> wait_for_readers)
    : rows_{rows},
      outputs_{outputs},
      arena_{arena},
      stream_{stream},
      limits_{limits},
      timer_{timer},
      threads_{threads},
      wait_for_readers_{std::move(wait_for_readers)},
      metrics_{arena},
      scratch_{arena},
      quantiles_{arena} {
  DeviceScope scope{limits_.device};
  margins_ = {arena_, "margins", outputs_ * stride()};
  largest_ = {arena_, "margins", 1};
}

DeviceResidentRows::DeviceResidentRows(RowSource const& source, std::uint32_t outputs, KeptTrees const* trees,
                                       DeviceArena* arena, Stream const& stream, DeviceLimits const& limits,
                                       StageTimer const* timer, int threads)
    : DeviceResidentRows{source.rows(), outputs, arena, stream, limits, timer, threads} {
  DeviceScope scope{limits_.device};
  values_.emplace(source, arena_, stream_, threads);
  trees_ = trees;
}

DeviceResidentRows::~DeviceResidentRows() {
  try {
    DeviceScope scope{limits_.device};
    // A wait for the whole device would spoil what another thread, of this library or not, is recording.
    stream_.Wait("freeing rows");
    if (wait_for_readers_) wait_for_readers_();
    for (auto* buffer : {&margins_, &speculative_margins_, &labels_, &weights_, &lower_, &upper_, &predictions_})
      *buffer = {};
    largest_ = {};
    columns_.reset();
    gradients_ = {};
    group_ptr_ = {};
    values_.reset();
    metrics_ = MetricScratch{arena_};
    scratch_ = ObjectiveScratch{arena_};
    times_ = {};
    residuals_ = {};
    quantiles_ = LeafQuantileScratch{arena_};
  } catch (DeviceError const&) {
    // The device has failed, and nothing is left to be freed there.
  }
}

void DeviceResidentRows::SetMargins(Span<float const> margins) {
  CheckMargins(margins.size(), rows_, outputs_);
  EndColumns();  // BeginColumns calls this: the old columns go before the new ones need memory
  DeviceScope scope{limits_.device};
  ForgetMargins();
  bounds_are_shared_ = false;
  most_margin_ = std::numeric_limits<double>::infinity();
  if (outputs_ == 1) {
    CopyLongToDevice(margins_.data(), margins.data(), rows_ * sizeof(float), threads_, stream_, "copying margins");
    most_margin_ = LargestOf(margins_.data(), rows_);
    return;
  }
  DeviceBuffer<float> row_major{arena_, "copy of margins", margins.size()};
  CopyLongToDevice(row_major.data(), margins.data(), row_major.bytes(), threads_, stream_, "copying margins");
  CopyOutputs<<<Blocks(margins.size(), kThreads, limits_, kResident), kThreads, 0, stream_>>>(
      RowMajor<float const>(row_major.data(), rows_, outputs_), View(margins_.data()));
  CheckLaunch("copying margins");
  most_margin_ = LargestOf(row_major.data(), row_major.size());
}

void DeviceResidentRows::SetEqualMargins(Span<float const> margins) {
  EndColumns();
  DeviceScope scope{limits_.device};
  ForgetMargins();
  bounds_are_shared_ = false;
  most_margin_ = Largest(margins);
  std::size_t const size = margins_.size() / margins.size();  // of one output, or of all
  for (std::size_t i = 0; i < margins.size(); ++i) {
    FillKernel<<<Blocks(size, kThreads, limits_, kResident), kThreads, 0, stream_>>>(margins_.data() + i * size, size,
                                                                                     margins[i]);
  }
  CheckLaunch("filling margins");
  stream_.Wait("filling margins");
}

double DeviceResidentRows::LargestOf(float const* values, std::size_t n) const {
  FillBytes(largest_.data(), 0, 1, stream_, "looking for the largest value");
  if (n != 0) {
    LargestKernel<<<Blocks(n, kThreads, limits_, kResident), kThreads, 0, stream_>>>(values, n, largest_.data());
    CheckLaunch("looking for the largest value");
  }
  std::uint32_t bits = 0;
  CopyToHost(&bits, largest_.data(), 1, stream_, "looking for the largest value");
  stream_.Wait("looking for the largest value");
  return MagnitudeOf(bits);
}

void DeviceResidentRows::CopyMargins(Span<float> margins) const {
  CheckMargins(margins.size(), rows_, outputs_);
  DeviceScope scope{limits_.device};
  if (outputs_ == 1) {
    CopyLongToHost(margins.data(), margins_.data(), rows_ * sizeof(float), threads_, stream_, "copying margins");
    return;
  }
  DeviceBuffer<float> row_major{arena_, "copy of margins", margins.size()};
  CopyOutputs<<<Blocks(margins.size(), kThreads, limits_, kResident), kThreads, 0, stream_>>>(
      View<float const>(margins_.data()), RowMajor(row_major.data(), rows_, outputs_));
  CheckLaunch("copying margins");
  CopyLongToHost(margins.data(), row_major.data(), row_major.bytes(), threads_, stream_, "copying margins");
}

void DeviceResidentRows::BeginColumns(Span<float const> base) {
  SetMargins(base);
  DeviceScope scope{limits_.device};
  columns_.emplace(View<float const>(margins_.data()), arena_, limits_, stream_);
}

void DeviceResidentRows::EndColumns() {
  if (!columns_) return;
  DeviceScope scope{limits_.device};
  stream_.Wait("freeing columns");
  columns_.reset();
}

bool DeviceResidentRows::ReserveColumns(std::size_t more) {
  DeviceScope scope{limits_.device};
  return columns_->Reserve(more);
}

void DeviceResidentRows::AddColumn(Span<float const> values, std::uint32_t output) {
  if (values.size() != rows_) {
    Throw<InvalidArgument>("There are ", values.size(), " leaf values; allowed: one for each of the ", rows_, " rows");
  }
  DeviceScope scope{limits_.device};
  CopyLongToDevice(columns_->Next(output, stream_), values.data(), rows_ * sizeof(float), threads_, stream_,
                   "copying leaf values");
}

void DeviceResidentRows::WeighColumns(Span<float const> weights) {
  DeviceScope scope{limits_.device};
  bool changed = false;
  timer_->Run(values_ ? kEvaluation : kMargins, kNoLevel, [&] {
    changed = columns_->Weigh(weights, View(margins_.data()), stream_);
    if (values_ && timer_->timeline() != nullptr) stream_.Wait("tracing");  // the timeline times another stream
  });
  if (!changed) return;
  ForgetMargins();
  most_margin_ = std::numeric_limits<double>::infinity();
}

template <typename T>
T const* DeviceResidentRows::Put(DeviceBuffer<T>* buffer, char const* part, T const* from, std::size_t n) {
  if (from == nullptr) {
    *buffer = {};
    return nullptr;
  }
  if (buffer->size() != n) {
    *buffer = {};
    *buffer = {arena_, part, n};
  }
  CopyLongToDevice(buffer->data(), from, buffer->bytes(), threads_, stream_, "copying labels and weights");
  return buffer->data();
}

void DeviceResidentRows::SetTargets(TargetView const& targets) {
  DeviceScope scope{limits_.device};
  KeepGradients();
  bounds_are_shared_ = false;
  TargetView on_device = targets;
  targets_ = {};  // if memory is short for the new ones, nothing may point to the old
  on_device.by_time = {};
  on_device.labels = Put(&labels_, "labels", targets.labels, rows_ * targets.label_columns);
  on_device.weights = Put(&weights_, "weights", targets.weights, targets.groups != 0 ? targets.groups : rows_);
  most_label_ = targets.labels == nullptr ? 0 : LargestOf(labels_.data(), labels_.size());
  most_weight_ = targets.weights == nullptr ? 1 : LargestOf(weights_.data(), weights_.size());
  on_device.lower = Put(&lower_, "labels", targets.lower, rows_);
  on_device.upper = Put(&upper_, "labels", targets.upper, rows_);
  scratch_.ranking.largest_group = LargestGroup(targets);
  on_device.group_ptr = Put(&group_ptr_, "groups", targets.group_ptr, std::size_t{targets.groups} + 1);
  targets_ = on_device;
}

void DeviceResidentRows::SortByTime() {
  if (targets_.by_time.rows != nullptr) return;
  times_ = {};  // the old order goes before the new one needs memory
  times_ = SortTimes(targets_.labels, rows_, arena_, limits_, stream_);
  targets_.by_time = times_.view();
}

void DeviceResidentRows::KeepGradients() {
  try {
    if (state_ == Gradients::kDeferred || state_ == Gradients::kLent) ComputeAll(deferred_);
  } catch (OutOfDeviceMemory const&) {
    state_ = Gradients::kGone;  // this caller needs no gradients: a caller that asks for them gets the error
  }
  if (state_ == Gradients::kSpent) state_ = Gradients::kGone;
}

void DeviceResidentRows::ForgetMargins() {
  KeepGradients();
  ++version_;
  predictions_of_.reset();
  speculative_is_valid_ = false;
}

bool DeviceResidentRows::CanDefer(ObjectiveParams const& objective) const {
  bool has_loss = false;
  VisitLoss(objective, [&](auto) { has_loss = true; });
  return has_loss && !AdaptsLeaves(objective.kind) && outputs_ == 1 && !columns_ && timer_->timeline() == nullptr;
}

bool DeviceResidentRows::AreFinite(ObjectiveParams const& objective) const {
  bool const is_bounded = objective.kind == Objective::kSquaredError || objective.kind == Objective::kLogistic ||
                          objective.kind == Objective::kLogitRaw;
  // |gradient| and |hessian| of these are at most (|margin| + |label| + 1) · weight, and roundings add little: below
  // 1e37 they are finite.
  constexpr double kMost = 1e37;
  return is_bounded && (most_margin_ + most_label_ + 1) * std::max(1.0, most_weight_) *
                               std::max(1.0, Largest({&objective.scale_pos_weight, 1})) <=
                           kMost;
}

std::optional<RowLosses> DeviceResidentRows::losses(bool of_sample) {
  if (state_ == Gradients::kComputed || state_ == Gradients::kGone) return std::nullopt;
  if (of_sample && !AreFinite(deferred_)) return std::nullopt;
  if (!of_sample) ReserveGradientPairs();
  state_ = Gradients::kLent;
  ObjectiveParams objective = deferred_;
  objective.iteration = 0;
  objective.seed = 0;
  return RowLosses{objective, margins_.data(), targets_.labels, targets_.weights,
                   of_sample ? nullptr : gradients_.data()};
}

void DeviceResidentRows::ReserveGradientPairs() {
  if (gradients_.size() == 0) gradients_ = {arena_, "gradients", outputs_ * stride()};
}

void DeviceResidentRows::ReserveGradients(ObjectiveParams const& objective) {
  if (!HasScale(objective.kind) && !AdaptsLeaves(objective.kind)) return;
  DeviceScope const scope{limits_.device};
  ReserveGradientPairs();
  if (HasScale(objective.kind)) return scratch_.smooth.ReserveFor(outputs_);
  Reserve(&residuals_, arena_, "residuals", outputs_ * stride());
  quantiles_.ReserveFor(rows_, targets_.weights != nullptr);
}

DeviceGradients DeviceResidentRows::gradients(std::uint32_t output) {
  if (state_ == Gradients::kGone) {
    Throw<InvalidArgument>(
        "Gradients: margins or labels have changed since a tree was grown on them; compute them again");
  }
  if (state_ != Gradients::kComputed) ComputeAll(deferred_);
  return {gradients_.data() + output * stride(), maxima_};
}

void DeviceResidentRows::ComputeGradients(ObjectiveParams const& objective) {
  if (!CanDefer(objective)) return ComputeAll(objective);
  deferred_ = objective;
  state_ = Gradients::kDeferred;
  residuals_ = {};
}

std::vector<std::int64_t> DeviceResidentRows::PositionLosses(std::size_t positions) {
  DeviceScope const scope{limits_.device};
  std::vector<std::int64_t> losses(kLossesOfPosition * positions);
  CopyToHost(losses.data(), scratch_.ranking.losses.data(), losses.size(), stream_, "reading losses of ranking");
  stream_.Wait("reading losses of ranking");
  return losses;
}

void DeviceResidentRows::ComputeAll(ObjectiveParams const& objective) {
  DeviceScope scope{limits_.device};
  if (objective.kind == Objective::kCox) SortByTime();
  ReserveGradientPairs();
  timer_->Run(kObjective, kNoLevel, [&] {
    maxima_ = cuda::ComputeGradients(objective, targets_, View<float const>(margins_.data()), View(gradients_.data()),
                                     limits_, stream_, &scratch_, devices_);
  });
  if (AdaptsLeaves(objective.kind)) {
    // When the second tree of a forest asks for residuals, the margins will have moved on.
    Reserve(&residuals_, arena_, "residuals", outputs_ * stride());
    for (std::uint32_t k = 0; k < outputs_; ++k) {
      ComputeResiduals(targets_.labels, margins_.data() + k * stride(), rows_, residuals_.data() + k * stride(),
                       limits_, stream_);
    }
    alphas_ = objective.kind == Objective::kQuantile ? objective.alphas : std::vector<float>{0.5f};
  } else {
    residuals_ = {};
  }
  state_ = Gradients::kComputed;
}

void DeviceResidentRows::CheckHasResiduals() const {
  if (residuals_.size() != 0) return;
  throw InvalidArgument{"AdaptLeaves: the gradients are not those of reg:absoluteerror or reg:quantileerror"};
}

void DeviceResidentRows::QuantileLeaves(std::uint32_t output, NodeIndex const* positions, float* node_values,
                                        std::size_t nodes, cudaStream_t stream) {
  CheckHasResiduals();
  DeviceScope scope{limits_.device};
  cuda::QuantileLeaves(positions, residuals_.data() + output * stride(), targets_.weights, alphas_.at(output), rows_,
                       node_values, nodes, &quantiles_, limits_, stream, devices_);
}

SpeculativeMargins DeviceResidentRows::BeginSpeculative() {
  speculative_is_valid_ = false;
  if (outputs_ != 1 || columns_ || residuals_.size() != 0 || !can_speculate_) return {};
  try {
    if (speculative_margins_.size() == 0) speculative_margins_ = {arena_, "margins", margins_.size()};
  } catch (OutOfDeviceMemory const&) {
    can_speculate_ = false;
    return {};
  }
  speculative_is_valid_ = true;
  return {margins_.data(), speculative_margins_.data()};
}

bool DeviceResidentRows::TakeSpeculative(Span<float const> leaf_values) {
  if (!speculative_is_valid_) return false;
  ForgetMargins();
  most_margin_ += Largest(leaf_values);
  std::swap(margins_, speculative_margins_);
  return true;
}

bool DeviceResidentRows::GiveUpSpeculative() {
  if (speculative_margins_.size() == 0) return false;
  stream_.Wait("freeing margins");
  speculative_margins_ = {};
  speculative_is_valid_ = can_speculate_ = false;
  return true;
}

float* DeviceResidentRows::LeafTarget(std::uint32_t output, Span<float const> leaf_values, cudaStream_t stream) {
  if (columns_) return columns_->Next(output, stream);
  ForgetMargins();
  most_margin_ += Largest(leaf_values);
  return margins_.data() + output * stride();
}

OutputView<float> DeviceResidentRows::VectorTarget(Span<float const> leaf_values) {
  ForgetMargins();
  most_margin_ += Largest(leaf_values);
  return View(margins_.data());
}

void DeviceResidentRows::AddTrees(std::size_t first, std::size_t last) {
  DeviceScope scope{limits_.device};
  ForgetMargins();
  most_margin_ = std::numeric_limits<double>::infinity();
  timer_->Run(kEvaluation, kNoLevel, [&] {
    if (!columns_) PredictMargins(*values_, trees_->forest(), first, last, View(margins_.data()), limits_, stream_);
    for (std::size_t tree = first; columns_ && tree < last; ++tree) {
      // The outputs of this view all lie in one column, so that the tree's own is written there.
      OutputView<float> const column{columns_->Next(trees_->output(tree), stream_), rows_, outputs_, 1, 0};
      PredictMargins(*values_, trees_->forest(), tree, tree + 1, column, limits_, stream_);
    }
    if (timer_->timeline() != nullptr) stream_.Wait("tracing");  // the timeline times another stream
  });
}

void DeviceResidentRows::ReservePredictions() {
  DeviceScope scope{limits_.device};
  if (predictions_.size() == 0) predictions_ = {arena_, "predictions", outputs_ * stride()};
}

OutputView<float const> DeviceResidentRows::Predictions(ObjectiveParams const& objective) {
  if (!(predictions_of_ == objective)) {
    ReservePredictions();
    Transform(objective, View<float const>(margins_.data()), View(predictions_.data()), limits_, stream_);
    predictions_of_ = objective;
  }
  return View<float const>(predictions_.data());
}

double DeviceResidentRows::Evaluate(ObjectiveParams const& objective, MetricParams const& metric) {
  DeviceScope scope{limits_.device};
  if (metric.kind == Metric::kCoxNloglik) SortByTime();
  double value = 0;
  timer_->Run(kMetric, kNoLevel, [&] {
    OutputView<float const> const predictions = Predictions(objective);
    value = cuda::Evaluate(metric, targets_, predictions, &metrics_, limits_, stream_);
  });
  return value;
}

void KeptTrees::Add(Tree const& tree, std::uint32_t output, cudaStream_t stream) {
  std::vector<NodeIndex> right(tree.size(), kNoNode);
  std::vector<float> values(tree.threshold);
  for (std::size_t n = 0; n < tree.size(); ++n) {
    bool const leaf = tree.left[n] == kNoNode;
    if (leaf) values[n] = tree.leaf_value[n];
    if (!leaf) right[n] = tree.left[n] + 1;
  }
  Forest forest;
  forest.Add({tree.left, right, tree.feature, values, tree.default_left, tree.category_ptr, tree.category_bits},
             output);
  on_device_.Append(forest, 0, 1, stream);
  outputs_.push_back(output);
}

void KeptTrees::Clear() {
  on_device_.Clear();
  outputs_.clear();
}

}  // namespace xgbgpu::cuda
