// Walks all rows of a quantised matrix through a tree on a device.
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "partition/path_jobs.cuh"
#include "predict/near_node_ops.h"
#include "predict/walk_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = kPlanThreads;
constexpr int kResident = 8;

/// The symbols of one row of a matrix of one tile, in shared memory: the thread's own column of words.
template <int kWords>
class OwnRecord {
 public:
  __device__ OwnRecord(DeviceMatrixView const& m, std::uint32_t* words) : m_{m}, words_{words + threadIdx.x} {}
  __device__ void Load(std::uint64_t row) {
    constexpr int kPieceWords = kWords < 4 ? kWords : 4;
    using Piece = std::conditional_t<kPieceWords == 4, uint4, std::conditional_t<kPieceWords == 2, uint2, unsigned>>;
    auto const* const from = reinterpret_cast<Piece const*>(m_.records) + row * (kWords / kPieceWords);
#pragma unroll
    for (int p = 0; p < kWords / kPieceWords; ++p) {
      Piece const piece = from[p];
      std::uint32_t own[kPieceWords];
      memcpy(own, &piece, sizeof(piece));
#pragma unroll
      for (int w = 0; w < kPieceWords; ++w) words_[(p * kPieceWords + w) * kThreads] = own[w];
    }
  }
  __device__ std::uint32_t Symbol(FeatureIndex column) const {
    std::uint32_t const byte = column * m_.symbol_bytes;
    std::uint32_t const shifted = words_[byte / 4 * kThreads] >> (byte % 4 * 8);
    return m_.symbol_bytes == 1 ? shifted & 0xFFU : shifted & 0xFFFFU;
  }

 private:
  DeviceMatrixView const& m_;
  std::uint32_t* words_;
};

/// The symbols of one row of a matrix of several tiles, in device memory.
template <>
class OwnRecord<0> {
 public:
  __device__ OwnRecord(DeviceMatrixView const& m, std::uint32_t*) : m_{m} {}
  __device__ void Load(std::uint64_t row) { row_ = row; }
  __device__ std::uint32_t Symbol(FeatureIndex column) const {
    std::uint8_t const* const at = m_.records + m_.symbol_offset(column) + row_ * m_.record_bytes();
    return m_.symbol_bytes == 1 ? *at : *reinterpret_cast<std::uint16_t const*>(at);
  }

 private:
  DeviceMatrixView const& m_;
  std::uint64_t row_{0};
};

/// Nodes in a block's shared memory: the nodes that rows visit first.
constexpr NodeIndex kNearNodes = 512;

/// Returns the child of node n for a row, or kNoNode if n is a leaf. kCategories: the node may be split by categories.
template <bool kCategories, typename Record>
__device__ NodeIndex NextNode(WalkNode const& node, WalkTree const& tree, Record const& record) {
  if (node.left == kNoNode) return kNoNode;
  std::uint32_t const symbol = record.Symbol(node.split.column);
  bool const by_categories = kCategories && (node.split.family & kByCategories) != 0;
  return node.left + (GoesLeft(symbol, node.split, by_categories, tree.categories) ? 0 : 1);
}

/// Returns the last node before kNoNode in n, next(n), next(next(n)) and so on.
template <typename Next>
__device__ NodeIndex Follow(NodeIndex n, Next&& next) {
  for (NodeIndex child = next(n); child != kNoNode; child = next(n)) n = child;
  return n;
}

/// Near nodes in shared memory, in their full form.
template <bool kCategories>
struct NearNodes {
  WalkNode nodes[kNearNodes];

  __device__ void Load(WalkTree const& tree) {
    NodeIndex const near_nodes = min(tree.size(), kNearNodes);
    for (auto n = static_cast<NodeIndex>(threadIdx.x); n < near_nodes; n += kThreads) {
      nodes[n] = tree.nodes[n];
    }
  }
  template <typename Record>
  __device__ NodeIndex Next(NodeIndex n, WalkTree const& tree, Record const& record) const {
    return NextNode<kCategories>(n < kNearNodes ? nodes[n] : tree.nodes[n], tree, record);
  }
};

/// Returns the first node of a row's walk.
__device__ NodeIndex FirstNode(WalkTree const& tree, std::uint64_t row) {
  std::uint8_t const group = tree.start != nullptr ? tree.start[row] : kDeadPath;
  return group != kDeadPath ? tree.start_nodes[group] : 0;
}

/// Calls leave(row, leaf, leave.Fetch(row)) for every row of the matrix. kWords: words of a record; 0 for several
/// tiles. kCategories: some nodes may be split by categories.
template <int kWords, bool kCategories, typename Leave>
__global__ void __launch_bounds__(kThreads) WalkAllKernel(DeviceMatrixView matrix, WalkTree tree, Leave leave) {
  __shared__ NearNodes<kCategories> near_nodes;
  __shared__ std::uint32_t words[kWords == 0 ? 1 : kWords * kThreads];
  WaitForKernelBefore();
  if (!tree.finished()) return;
  near_nodes.Load(tree);
  __syncthreads();
  OwnRecord<kWords> record{matrix, words};
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; row < matrix.rows; row += step) {
    record.Load(row);
    auto const fetched = leave.Fetch(row);  // in flight during the walk
    NodeIndex const first = FirstNode(tree, row);
    leave(row, Follow(first, [&](NodeIndex n) { return near_nodes.Next(n, tree, record); }), fetched);
  }
}

/// The near nodes of a matrix of one tile with symbols of one byte, without categories, and the block's records. In
/// shared memory.
template <int kWords>
struct ByteWalk {
  static constexpr int kUntested = 4;  ///< steps between two tests whether all rows of the warp are in leaves
  static_assert(kThreads == 1 << (NearNode::kWordShift - 2));

  NearNode nodes[NearNode::kNodes];
  std::uint32_t words[kWords * kThreads];

  __device__ NodeIndex Next(NodeIndex n) const {
    NearNode const node = nodes[n];
    std::uint8_t const symbol = reinterpret_cast<std::uint8_t const*>(words)[node.Place() | threadIdx.x * 4];
    return static_cast<NodeIndex>(node.Next(symbol));
  }
  /// Returns the node after `steps` steps of the thread's record from the root. Whole warps call it.
  __device__ NodeIndex Walk(int steps) const {
    NodeIndex n = 0;
    for (; steps >= kUntested; steps -= kUntested) {
      NodeIndex before = n;
#pragma unroll
      for (int i = 0; i < kUntested; ++i) {
        before = n;
        n = Next(n);
      }
      if (!__any_sync(kAllLanes, n != before)) return n;
    }
#pragma unroll 1
    for (; steps > 0; --steps) n = Next(n);
    return n;
  }
};

/// Calls leave(row, leaf, leave.Fetch(row)) for matrices that NearNode serves, from the root. kWords: words of a
/// record.
template <int kWords, typename Leave>
__global__ void __launch_bounds__(kThreads, kProcessorThreads / kThreads)
    WalkBytesKernel(DeviceMatrixView matrix, WalkTree tree, Leave leave) {
  __shared__ ByteWalk<kWords> walk;
  WaitForKernelBefore();
  if (!tree.finished()) return;
  NodeIndex const size = tree.size(), near_nodes = min(size, static_cast<NodeIndex>(NearNode::kNodes));
  int const steps = tree.DepthOfFirst(near_nodes);
  for (auto n = static_cast<NodeIndex>(threadIdx.x); n < near_nodes; n += kThreads) {
    walk.nodes[n] = NearNode::Make(n, tree.nodes[n]);
  }
  __syncthreads();
  OwnRecord<kWords> record{matrix, walk.words};
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads; first < matrix.rows; first += step) {
    bool const in = first + threadIdx.x < matrix.rows;
    std::uint64_t const row = in ? first + threadIdx.x : matrix.rows - 1;
    record.Load(row);
    auto const fetched = leave.Fetch(row);  // in flight during the walk
    NodeIndex leaf = walk.Walk(steps);
    if (size > near_nodes) {
      leaf = Follow(leaf, [&](NodeIndex n) { return NextNode<false>(tree.nodes[n], tree, record); });
    }
    if (in) leave(row, leaf, fetched);
  }
}

struct AddValue {
  float const* node_values;
  float const* from;
  float* to;
  std::size_t stride;
  __device__ float Fetch(std::uint64_t row) const { return from[row * stride]; }
  __device__ void operator()(std::uint64_t row, NodeIndex leaf, float margin) const {
    to[row * stride] = margin + node_values[leaf];
  }
};

template <bool kComplement>
struct WritePosition {
  NodeIndex* positions;
  __device__ NodeIndex Fetch(std::uint64_t) const { return 0; }
  __device__ void operator()(std::uint64_t row, NodeIndex leaf, NodeIndex) const {
    positions[row] = kComplement ? ~leaf : leaf;
  }
};

template <typename Leave>
void WalkAll(DeviceMatrixView const& matrix, WalkTree const& tree, Leave const& leave, DeviceLimits const& limits,
             cudaStream_t stream) {
  unsigned const blocks = Blocks(matrix.rows, kThreads, limits, kResident);
  bool const categories = tree.categories.sets != nullptr;
  auto const launch = [&](auto words) {
    constexpr int kWords = decltype(words)::value;
    auto* kernel = categories ? WalkAllKernel<kWords, true, Leave> : WalkAllKernel<kWords, false, Leave>;
    if constexpr (kWords != 0) {
      if (WalksInBytes(matrix, categories)) kernel = WalkBytesKernel<kWords, Leave>;
    }
    LaunchNext("looking for the leaves of rows", kernel, blocks, kThreads, 0, limits, stream, matrix, tree, leave);
  };
  if (matrix.tiles > 1) {
    launch(std::integral_constant<int, 0>{});
  } else {
    switch (matrix.record_bytes()) {
      case 32:
        launch(std::integral_constant<int, 8>{});
        break;
      case 16:
        launch(std::integral_constant<int, 4>{});
        break;
      case 8:
        launch(std::integral_constant<int, 2>{});
        break;
      default:
        launch(std::integral_constant<int, 1>{});
    }
  }
}

__global__ void __launch_bounds__(kThreads) MarkSampledKernel(SampleView sample, NodeIndex* positions) {
  std::uint32_t const rows = sample.size();
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < rows;
       i += std::uint64_t{gridDim.x} * kThreads) {
    RowIndex const row = sample.rows[i].row;
    positions[row] = ~positions[row];
  }
}

}  // namespace

void AddLeavesOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, float const* node_values, float const* from,
                    float* to, std::size_t stride, DeviceLimits const& limits, cudaStream_t stream) {
  WalkAll(matrix, tree, AddValue{node_values, from, to, stride}, limits, stream);
}

void WriteLeavesOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, NodeIndex* positions,
                      DeviceLimits const& limits, cudaStream_t stream) {
  WalkAll(matrix, tree, WritePosition<false>{positions}, limits, stream);
}

void WriteComplementsOfAll(DeviceMatrixView const& matrix, WalkTree const& tree, NodeIndex* positions,
                           DeviceLimits const& limits, cudaStream_t stream) {
  WalkAll(matrix, tree, WritePosition<true>{positions}, limits, stream);
}

void MarkSampled(SampleView const& sample, NodeIndex* positions, DeviceLimits const& limits, cudaStream_t stream) {
  MarkSampledKernel<<<Blocks(sample.capacity, kThreads, limits, kResident), kThreads, 0, stream>>>(sample, positions);
  CheckLaunch("telling sampled rows from others");
}

}  // namespace xgbgpu::cuda
