/// Memory of the order that loss-guided growth on a device keeps (grow_order_ops.h).
#ifndef XGBGPU_GROWTH_GROW_ORDER_WORKSPACE_CUDA_H_
#define XGBGPU_GROWTH_GROW_ORDER_WORKSPACE_CUDA_H_

#include <algorithm>
#include <cstddef>

#include "cuda/cleared_workspace.h"
#include "growth/plan_cuda.h"
#include "tree/tree_shape.h"

namespace xgbgpu::cuda {

class GrowOrderWorkspace {
 public:
  explicit GrowOrderWorkspace(ClearedWorkspace* workspace) : workspace_{workspace} {}

  /// Makes room for the order of a tree of this shape. At most `nodes` nodes are made. The next tree has an order if
  /// shape.ordered.
  void Reserve(TreeShape const& shape, std::size_t nodes) {
    used_ = shape.ordered;
    if (!used_) return;
    most_ = shape.most_splits;
    workspace_->Reserve(&order_, "nodes", std::max(1U, most_));
    workspace_->Reserve(&places_, "nodes", nodes);
    workspace_->Reserve(&free_slots_, "nodes", shape.WidestNodes());
  }
  /// The next tree has no order.
  void Leave() { used_ = false; }
  GrowOrderView View() const {
    if (!used_) return {};
    return {order_.data(), most_, places_.data(), free_slots_.data()};
  }

 private:
  ClearedWorkspace* workspace_;
  bool used_{false};
  std::uint32_t most_{0};
  DeviceBuffer<OrderedNode> order_;
  DeviceBuffer<std::uint32_t> places_;
  DeviceBuffer<std::int32_t> free_slots_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GROWTH_GROW_ORDER_WORKSPACE_CUDA_H_
