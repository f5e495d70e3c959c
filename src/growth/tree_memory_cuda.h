/// Memory of the nodes of a tree that grows on a device, and the tree's copies to the device and back.
#ifndef XGBGPU_GROWTH_TREE_MEMORY_CUDA_H_
#define XGBGPU_GROWTH_TREE_MEMORY_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cuda/cleared_workspace.h"
#include "growth/plan_cuda.h"
#include "growth/tree_settings.h"
#include "sample/sample_cuda.h"
#include "tree/growing_tree.h"

namespace xgbgpu::cuda {

/// Counters that are cleared before a tree and read after it. They lie in front of the nodes: one copy brings both.
struct alignas(256) TreeHeader {
  GradientState gradient;
  LevelState state;
  SampleState sample;
};

/// Holds a header with nodes behind it, families and settings on the device, and a copy of header and nodes in pinned
/// memory.
class TreeMemory {
 public:
  explicit TreeMemory(ClearedWorkspace* workspace) : workspace_{workspace} {
    settings_ = {workspace->arena(), "state", 1};
  }

  /// Makes room for `nodes` nodes and the `families` of a level on the device, and for `returned` nodes on the host.
  void Reserve(std::size_t nodes, std::size_t families, std::size_t returned) {
    workspace_->Reserve(&memory_, "nodes", Bytes(nodes));
    workspace_->Reserve(&families_, "nodes", families);
    if (host_memory_.size() >= Bytes(returned)) return;
    workspace_->Note([&] {
      host_memory_ = {};
      host_memory_ = PinnedBuffer<std::uint8_t>{Bytes(returned)};
      return true;
    });
  }
  /// Makes room for `nodes` nodes on the device; the first `kept` stay. Waits if there was less.
  void Extend(std::size_t nodes, std::size_t kept) {
    if (node_capacity() >= nodes) return;
    workspace_->Note([&] {
      return Enlarge(&memory_, workspace_->arena(), "nodes", Bytes(kept), Bytes(2 * nodes), workspace_->stream());
    });
  }
  std::size_t node_capacity() const { return (memory_.size() - sizeof(TreeHeader)) / sizeof(Node); }

  // On the device.
  TreeHeader* header() const { return HeaderOf(memory_.data()); }
  Node* nodes() const { return NodesOf(memory_.data()); }
  TreeSettings* settings() const { return settings_.data(); }
  GrowingTree View() const { return {nodes(), families_.data(), &header()->state}; }

  /// Sets the settings that Begin sends. A recording of Begin sends the settings of the last Tell before its start.
  void Tell(TreeSettings const& settings) { host_settings_[0] = settings; }
  /// Enqueues the tree's beginning: the settings go to the device, the header and `cells` cells of histograms are
  /// cleared.
  void Begin(DeviceHistograms const& histograms, std::uint64_t cells, DeviceLimits const& limits) const {
    BeginTree({host_settings_.data(), settings_.data(), Whole(), histograms.sums, cells}, limits, workspace_->stream());
  }
  /// Enqueues the tree's way back: header and nodes, at most `most_nodes`, to the host. `leaf_values` and `numbers`: as
  /// for ReturnTree and ReturnOrderedTree.
  void Return(SplitView const& view, GrowthView const& growth, NodeIndex most_nodes, float* leaf_values,
              TreeNumbers const& numbers, DeviceLimits const& limits) const {
    TreeReturn const way{Whole(), most_nodes, leaf_values, host_memory_.data()};
    if (growth.order.nodes != nullptr) {
      ReturnOrderedTree(view, growth, numbers, way, limits, workspace_->stream());
    } else {
      ReturnTree(view, growth, way, limits, workspace_->stream());
    }
  }
  /// Enqueues the way back of the header alone.
  void ReturnHeader() const {
    CopyToHost(host_memory_.data(), memory_.data(), sizeof(TreeHeader), workspace_->stream(), "reading the tree");
  }
  /// Copies `n` nodes from `first` on to the beginning of returned_nodes(), and waits.
  void ReadNodes(std::size_t first, std::size_t n) const {
    CopyToHost(returned_nodes(), nodes() + first, n, workspace_->stream(), "reading splits");
    workspace_->stream().Wait("looking for splits");
  }
  // Results. They are valid once the stream has been waited for.
  TreeHeader const& returned() const { return *HeaderOf(host_memory_.data()); }
  Node* returned_nodes() const { return NodesOf(host_memory_.data()); }

 private:
  static TreeHeader* HeaderOf(std::uint8_t* memory) { return reinterpret_cast<TreeHeader*>(memory); }
  static Node* NodesOf(std::uint8_t* memory) { return reinterpret_cast<Node*>(memory + sizeof(TreeHeader)); }
  static std::size_t Bytes(std::size_t nodes) { return sizeof(TreeHeader) + nodes * sizeof(Node); }
  TreeBytes Whole() const { return {memory_.data(), sizeof(TreeHeader)}; }

  ClearedWorkspace* workspace_;
  DeviceBuffer<std::uint8_t> memory_;
  DeviceBuffer<Family> families_;
  DeviceBuffer<TreeSettings> settings_;
  PinnedBuffer<TreeSettings> host_settings_{1};
  PinnedBuffer<std::uint8_t> host_memory_;  ///< header and nodes, as in memory_
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GROWTH_TREE_MEMORY_CUDA_H_
