/// A tree's first and last kernel: what it gets from the host, and what it gives back. Kernels that reach for pinned
/// memory themselves do not wait for the device's copying engine.
#include "core/grid.h"
#include "core/launch.h"
#include "level/device_tree.h"

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

__global__ void __launch_bounds__(kThreads) ReturnTreeKernel(uint4 const* header, std::uint32_t header_bytes,
                                                             LevelState const* state, NodeIndex most_nodes, uint4* to) {
  WaitForKernelBefore();
  std::uint64_t const nodes = min(state->nodes, static_cast<std::uint32_t>(most_nodes));
  std::uint64_t const pieces = (header_bytes + nodes * sizeof(Node) + sizeof(uint4) - 1) / sizeof(uint4);
  for (std::uint64_t i = FirstItem(); i < pieces; i += Threads()) to[i] = header[i];
}

}  // namespace

void BeginTree(TreeSettings const* from, TreeSettings* settings, TreeMemory const& memory, GradientSum* histogram,
               std::uint64_t cells, DeviceLimits const& limits, cudaStream_t stream) {
  LaunchNext("starting a tree", BeginTreeKernel, Blocks(cells, kThreads, limits, kResident), kThreads, 0, limits,
             stream, from, settings, reinterpret_cast<uint4*>(memory.data),
             memory.header_bytes / static_cast<std::uint32_t>(sizeof(uint4)), histogram, cells);
}

void ReturnTree(TreeMemory const& memory, LevelState const* state, NodeIndex most_nodes, std::uint8_t* to,
                DeviceLimits const& limits, cudaStream_t stream) {
  std::uint64_t const bytes = memory.header_bytes + static_cast<std::uint64_t>(most_nodes) * sizeof(Node);
  LaunchNext("reading the tree", ReturnTreeKernel, Blocks(bytes / sizeof(uint4), kThreads, limits, kResident), kThreads,
             0, limits, stream, reinterpret_cast<uint4 const*>(memory.data), memory.header_bytes, state, most_nodes,
             reinterpret_cast<uint4*>(to));
}

}  // namespace xgbgpu::cuda
