// Leaf columns on a device, and the kernels that add and weigh them.
#include <algorithm>

#include "cuda/grid.h"
#include "rounds/column_sums.h"
#include "rounds/leaf_columns_cuda.h"
#include "rounds/leaf_columns_policy.h"
#include "xgbgpu/error.h"
#include "xgbgpu/leaf_columns.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;

/// The columns of one output that a kernel adds, in order. The kernel gets this by value.
struct Weighted {
  static constexpr int kMost = 64;
  float4 const* values[kMost];
  float weights[kMost];
  int count;
};

/// Does to = from + w0 c0 + w1 c1 + …; `to` may be `from`. Every row is summed by itself; a thread takes four.
__global__ void __launch_bounds__(kThreads)
    AddColumns(Weighted const columns, float4 const* from, float4* to, std::uint64_t n) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * kThreads) {
    float4 sum = from[i];
    for (int c = 0; c < columns.count; ++c) {
      float4 const value = columns.values[c][i];
      float const weight = columns.weights[c];
      sum.x += value.x * weight;
      sum.y += value.y * weight;
      sum.z += value.z * weight;
      sum.w += value.w * weight;
    }
    to[i] = sum;
  }
}

}  // namespace

ColumnStore::ColumnStore(OutputView<float const> base, DeviceArena* arena, DeviceLimits const& limits,
                         cudaStream_t stream)
    : arena_{arena},
      limits_{limits},
      stride_{base.output_stride},
      base_{arena, "leaf columns", base.outputs * base.output_stride} {
  // Kernels read whole vectors, so that floats past the last row are cleared, too.
  FillBytes(base_.data(), 0, base_.size(), stream, "clearing margins");
  for (std::uint32_t output = 0; output < base.outputs; ++output) {
    CheckCuda(cudaMemcpyAsync(base_.data() + output * stride_, base.data + output * stride_, base.rows * sizeof(float),
                              cudaMemcpyDeviceToDevice, stream),
              "copying margins");
  }
}

std::size_t ColumnStore::room() const { return blocks_.size() * kLeafColumnsPolicy.block - columns(); }

float* ColumnStore::column(std::size_t number) const {
  return blocks_[number / kLeafColumnsPolicy.block].data() + number % kLeafColumnsPolicy.block * stride_;
}

void ColumnStore::AddBlock() { blocks_.emplace_back(arena_, "leaf columns", kLeafColumnsPolicy.block * stride_); }

bool ColumnStore::Reserve(std::size_t more) {
  if (more <= room()) return true;
  constexpr std::size_t kBlock = kLeafColumnsPolicy.block;
  std::size_t const wanted = (more - room() + kBlock - 1) / kBlock;
  std::size_t const blocks_before = blocks_.size();
  DeviceMemory const memory = CurrentMemory();
  double const bytes = static_cast<double>(wanted) * static_cast<double>(kBlock * stride_ * sizeof(float));
  double const spare = kLeafColumnsPolicy.least_free * static_cast<double>(memory.total);
  if (static_cast<double>(memory.free) < bytes + spare) return false;
  try {
    while (blocks_.size() < blocks_before + wanted) AddBlock();
    return true;
  } catch (OutOfDeviceMemory const&) {  // others took it meanwhile
    blocks_.resize(blocks_before);
    return false;
  }
}

float* ColumnStore::Next(std::uint32_t output, cudaStream_t stream) {
  if (room() == 0) AddBlock();
  float* const values = column(columns());
  FillBytes(values, 0, stride_, stream, "clearing a column");
  outputs_.push_back(output);
  return values;
}

void ColumnStore::Add(std::size_t first, std::uint32_t output, float const* from, float* margins,
                      cudaStream_t stream) const {
  Weighted batch{};
  std::uint64_t const n = stride_ / 4;
  bool changed = false;
  auto const launch = [&] {
    AddColumns<<<Blocks(n, kThreads, limits_, kResident), kThreads, 0, stream>>>(
        batch, reinterpret_cast<float4 const*>(changed ? margins : from), reinterpret_cast<float4*>(margins), n);
    CheckLaunch("weighing trees");
    batch.count = 0;
    changed = true;
  };
  for (std::size_t c = first; c < columns(); ++c) {
    if (outputs_[c] != output || applied_[c] == 0) continue;
    batch.values[batch.count] = reinterpret_cast<float4 const*>(column(c));
    batch.weights[batch.count] = applied_[c];
    if (++batch.count == Weighted::kMost) launch();
  }
  if (batch.count != 0 || (!changed && from != margins)) launch();
}

bool ColumnStore::Weigh(Span<float const> weights, OutputView<float> margins, cudaStream_t stream) {
  CheckColumnWeights(weights.size(), columns());
  std::size_t const first = FirstColumnToAdd(weights, applied_);
  bool const is_new = first != applied_.size() || first != columns();
  applied_.assign(weights.begin(), weights.end());
  if (!is_new) return false;
  for (std::uint32_t output = 0; output < margins.outputs; ++output) {
    float* const to = margins.data + output * stride_;
    Add(first, output, first != 0 ? to : base_.data() + output * stride_, to, stream);
  }
  return true;
}

}  // namespace xgbgpu::cuda
