// The first and the last kernel of a tree: what it gets from the host, and what it gives back. Kernels that reach for
// pinned memory themselves do not wait for the device's copying engine.
#include <cstddef>

#include "cuda/grid.h"
#include "cuda/launch.h"
#include "growth/plan_cuda.h"
#include "split/constraint_ops.h"
#include "split/params_cuda.cuh"
#include "split/split_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;

__device__ std::uint64_t FirstItem() { return std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; }
__device__ std::uint64_t Threads() { return std::uint64_t{gridDim.x} * kThreads; }

__global__ void __launch_bounds__(kThreads)
    BeginTreeKernel(TreeSettings const* from, TreeSettings* settings, uint4* header, std::uint32_t header_pieces,
                    GradientSum* histogram, std::uint64_t cells) {
  WaitForKernelBefore();
  static_assert(sizeof(TreeSettings) % 8 == 0);
  constexpr std::uint32_t kWords = sizeof(TreeSettings) / 8;
  for (std::uint64_t i = FirstItem(); i < kWords; i += Threads()) {
    reinterpret_cast<std::uint64_t*>(settings)[i] = reinterpret_cast<std::uint64_t const*>(from)[i];
  }
  for (std::uint64_t i = FirstItem(); i < header_pieces; i += Threads()) header[i] = {0, 0, 0, 0};
  for (std::uint64_t c = FirstItem(); c < cells; c += Threads()) {
    reinterpret_cast<ulonglong2*>(histogram)[c] = {0, 0};
  }
}

/// Returns the leaf value that MakeTree gives to the node. `level_nodes`: GrowthView::level_nodes.
__device__ float LeafValue(PlanView const& plan, LevelNode const* level_nodes, SplitParams const& params,
                           NodeIndex made) {
  if (level_nodes != nullptr) return level_nodes[made].weight * plan.settings->learning_rate;
  WeightBounds const* const bounds = plan.limits.directions == nullptr ? nullptr : plan.limits.bounds + made;
  return LeafWeight(params, ToLoss(params, plan.tree.nodes[made].sum), bounds) * plan.settings->learning_rate;
}

__global__ void __launch_bounds__(kThreads)
    ReturnTreeKernel(SplitView view, GrowthView growth, uint4 const* header, std::uint32_t header_bytes,
                     NodeIndex most_nodes, float* leaf_values, uint4* to) {
  WaitForKernelBefore();
  PlanView const plan = PlanOf(view, growth);
  std::uint64_t const nodes = min(plan.tree.state->nodes, static_cast<std::uint32_t>(most_nodes));
  std::uint64_t const pieces = (header_bytes + nodes * sizeof(Node) + sizeof(uint4) - 1) / sizeof(uint4);
  for (std::uint64_t i = FirstItem(); i < pieces; i += Threads()) to[i] = header[i];
  if (leaf_values == nullptr) return;
  SplitParams const params = ParamsOf(plan.settings->split, plan.gradient->format);
  for (std::uint64_t n = FirstItem(); n < nodes; n += Threads()) {
    leaf_values[n] = LeafValue(plan, growth.level_nodes, params, static_cast<NodeIndex>(n));
  }
}

/// A node by its number in the tree, for a thread that copies it.
struct TakenNode {
  NodeIndex made, parent, left;
};

__device__ TakenNode TakeNode(PlanView const& plan, NodeIndex number) {
  GrowOrderView const& order = plan.order;
  NodeIndex const made = MadeNodeOf(number, plan.tree.nodes, order.nodes);
  NodeIndex const parent = number == 0 ? kNoNode : NumberOf(order.nodes[(number - 1) / 2]);
  return {made, parent, LeftInTree(made, order.places, plan.tree.state->level_first)};
}

__global__ void __launch_bounds__(kThreads)
    ReturnOrderedTreeKernel(SplitView view, GrowthView growth, uint4 const* header, std::uint32_t header_pieces,
                            TreeNumbers numbers, NodeIndex most_nodes, float* leaf_values, uint4* to) {
  WaitForKernelBefore();
  PlanView const plan = PlanOf(view, growth);
  constexpr std::uint32_t kPieces = sizeof(Node) / sizeof(uint4);
  static_assert(sizeof(Node) % sizeof(uint4) == 0 && kPieces > 2 && offsetof(Node, parent) == 0 &&
                offsetof(Node, left) == 4);
  LevelState const& state = *plan.tree.state;
  auto const nodes = min(2 * state.ordered + 1, static_cast<std::uint32_t>(most_nodes));
  for (std::uint64_t i = FirstItem(); i < header_pieces; i += Threads()) to[i] = header[i];
  for (std::uint64_t i = FirstItem(); i < std::uint64_t{nodes} * kPieces; i += Threads()) {
    auto const number = static_cast<NodeIndex>(i / kPieces);
    TakenNode const node = TakeNode(plan, number);
    uint4 piece = reinterpret_cast<uint4 const*>(plan.tree.nodes + node.made)[i % kPieces];
    if (i % kPieces == 0) {
      piece.x = static_cast<unsigned>(node.parent);
      piece.y = static_cast<unsigned>(node.left);
    }
    to[header_pieces + i] = piece;
    if (i % kPieces == 1 && numbers.paths.walk != nullptr) {
      WalkNode walk = plan.paths.walk[node.made];
      walk.left = node.left;
      numbers.paths.walk[number] = walk;
    }
    if (i % kPieces == 2 && leaf_values != nullptr)
      leaf_values[number] = LeafValue(plan, nullptr, ParamsOf(plan.settings->split, plan.gradient->format), node.made);
  }
  auto const number_of = [&](NodeIndex made) { return NumberAtOrAbove(made, plan.tree.nodes, plan.order.places); };
  for (std::uint64_t g = FirstItem(); g < numbers.paths.starts; g += Threads()) {
    NodeIndex const made = numbers.paths.starts_of[g];  // it is of a former tree where this one has fewer groups
    numbers.paths.start_nodes[g] = static_cast<std::uint32_t>(made) < state.nodes ? number_of(made) : 0;
  }
  if (numbers.leaf_of_node == nullptr) return;
  for (std::uint64_t n = FirstItem(); n < state.nodes; n += Threads()) {
    numbers.leaf_of_node[n] = number_of(static_cast<NodeIndex>(n));
  }
}

/// Returns the number of 16-byte pieces that are returned at most.
std::uint64_t PiecesOf(TreeReturn const& way) {
  std::uint64_t const bytes = way.from.header_bytes + static_cast<std::uint64_t>(way.most_nodes) * sizeof(Node);
  return bytes / sizeof(uint4);
}

}  // namespace

void BeginTree(TreeStart const& start, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("starting a tree", BeginTreeKernel, Blocks(start.cells, kThreads, limits, kResident), kThreads, 0, limits,
             stream, start.from, start.settings, reinterpret_cast<uint4*>(start.memory.data),
             start.memory.header_bytes / static_cast<std::uint32_t>(sizeof(uint4)), start.histogram, start.cells);
}

void ReturnTree(SplitView const& view, GrowthView const& growth, TreeReturn const& way, DeviceLimits const& limits,
                cudaStream_t stream) {
  LaunchNext("reading the tree", ReturnTreeKernel, Blocks(PiecesOf(way), kThreads, limits, kResident), kThreads, 0,
             limits, stream, view, growth, reinterpret_cast<uint4 const*>(way.from.data), way.from.header_bytes,
             way.most_nodes, way.leaf_values, reinterpret_cast<uint4*>(way.to));
}

void ReturnOrderedTree(SplitView const& view, GrowthView const& growth, TreeNumbers const& numbers,
                       TreeReturn const& way, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("reading the tree", ReturnOrderedTreeKernel, Blocks(PiecesOf(way), kThreads, limits, kResident), kThreads,
             0, limits, stream, view, growth, reinterpret_cast<uint4 const*>(way.from.data),
             way.from.header_bytes / static_cast<std::uint32_t>(sizeof(uint4)), numbers, way.most_nodes,
             way.leaf_values, reinterpret_cast<uint4*>(way.to));
}

}  // namespace xgbgpu::cuda
