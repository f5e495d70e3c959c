// Copies targets, margins and gradients between rows on different devices.

#include <algorithm>

#include "cuda/device.h"
#include "cuda/long_copies.h"
#include "rounds/resident_rows_cuda.h"

namespace xgbgpu::cuda {

namespace {

/// Makes later work on `after` wait for the work that is on `before`, a stream of `device`.
void Follow(int device, cudaStream_t before, cudaStream_t after) {
  DeviceScope const scope{device};
  Event const event;  // it may go before it has come
  event.Record(before);
  event.HoldUp(after);
}

template <typename T>
void CopyBetween(T* to, int to_device, T const* from, int from_device, std::size_t n, cudaStream_t stream) {
  CheckCuda(cudaMemcpyPeerAsync(to, to_device, from, from_device, n * sizeof(T), stream), "copying between devices");
}

void Append(DeviceBuffer<float> const& from, std::vector<float>* to, int threads, Stream const& stream) {
  std::size_t const before = to->size();
  to->resize(before + from.size());
  CopyLongToHost(to->data() + before, from.data(), from.bytes(), threads, stream, "reading labels and weights");
}

}  // namespace

TargetView TargetCopy::View() const {
  auto const data = [](std::vector<float> const& values) { return values.empty() ? nullptr : values.data(); };
  TargetView view;
  view.labels = data(labels);
  view.label_columns = label_columns;
  view.weights = data(weights);
  view.lower = data(lower);
  view.upper = data(upper);
  return view;
}

void DeviceResidentRows::RaiseLargest(DeviceResidentRows const& other) {
  most_margin_ = std::max(most_margin_, other.most_margin_);
  most_label_ = std::max(most_label_, other.most_label_);
  most_weight_ = std::max(most_weight_, other.most_weight_);
}

void DeviceResidentRows::AppendTargets(TargetCopy* copy) const {
  DeviceScope const scope{limits_.device};
  copy->label_columns = targets_.label_columns;
  Append(labels_, &copy->labels, threads_, stream_);
  Append(weights_, &copy->weights, threads_, stream_);
  Append(lower_, &copy->lower, threads_, stream_);
  Append(upper_, &copy->upper, threads_, stream_);
}

void DeviceResidentRows::TakeMargins(DeviceResidentRows* part, std::uint64_t first) {
  DeviceScope const scope{limits_.device};
  ForgetMargins();
  most_margin_ = std::max(most_margin_, part->most_margin_);
  Follow(part->limits_.device, part->stream_, stream_);
  for (std::uint32_t output = 0; output < outputs_; ++output) {
    CopyBetween(margins_.data() + output * stride() + first, limits_.device,
                part->margins_.data() + output * part->stride(), part->limits_.device, part->rows_, stream_);
  }
  Follow(limits_.device, stream_, part->stream_);
}

void DeviceResidentRows::TakeGradients(DeviceResidentRows* whole, std::uint64_t first) {
  DeviceScope const scope{limits_.device};
  ReserveGradientPairs();
  Follow(whole->limits_.device, whole->stream_, stream_);
  for (std::uint32_t output = 0; output < outputs_; ++output) {
    CopyBetween(gradients_.data() + output * stride(), limits_.device, whole->gradients(output).pairs + first,
                whole->limits_.device, rows_, stream_);
  }
  Follow(limits_.device, stream_, whole->stream_);
  maxima_ = nullptr;
  residuals_ = {};
  state_ = Gradients::kComputed;
}

void DeviceResidentRows::QuantileLeavesOf(std::vector<std::unique_ptr<DeviceResidentRows>> const& parts,
                                          std::uint32_t output, std::vector<NodeIndex const*> const& positions,
                                          std::vector<cudaStream_t> const& streams, Span<float> node_values) {
  DeviceScope const scope{limits_.device};
  Reserve(&residuals_, arena_, "residuals", rows_);
  DeviceBuffer<NodeIndex> const all_positions{arena_, "positions", rows_};
  DeviceBuffer<float> const values{arena_, "nodes", node_values.size()};
  CopyToDevice(values.data(), node_values.data(), node_values.size(), stream_, "copying leaf values");
  std::uint64_t first = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    DeviceResidentRows const& part = *parts[p];
    part.CheckHasResiduals();
    alphas_ = {part.alphas_.at(output)};
    Follow(part.limits_.device, streams[p], stream_);
    Follow(part.limits_.device, part.stream_, stream_);
    CopyBetween(residuals_.data() + first, limits_.device, part.residuals_.data() + output * part.stride(),
                part.limits_.device, part.rows_, stream_);
    CopyBetween(all_positions.data() + first, limits_.device, positions[p], part.limits_.device, part.rows_, stream_);
    first += part.rows_;
  }
  QuantileLeaves(0, all_positions.data(), values.data(), node_values.size(), stream_);
  CopyToHost(node_values.data(), values.data(), node_values.size(), stream_, "reading quantiles");
  stream_.Wait("reading quantiles");
}

}  // namespace xgbgpu::cuda
