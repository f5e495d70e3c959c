/// Constraints on a device: tables of the features, and the limits of a growing tree's nodes.
#ifndef XGBGPU_SPLIT_CONSTRAINTS_CUDA_H_
#define XGBGPU_SPLIT_CONSTRAINTS_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "cuda/device.h"
#include "split/constraints.h"

namespace xgbgpu::cuda {

/// A view of constraints and NodeLimits (split/constraints.h). Nodes have the numbers of the device's order.
struct NodeLimitsView {
  std::int8_t const* directions;          ///< [features]; nullptr without monotone constraints
  WeightBounds* bounds;                   ///< [nodes] with monotone constraints
  std::uint32_t const* sets_of_features;  ///< [features, set_words]
  std::uint32_t* sets;                    ///< [nodes, set_words] interaction sets of all nodes but the root
  std::uint32_t set_words;                ///< 0 without interaction constraints

  friend bool operator==(NodeLimitsView const& one, NodeLimitsView const& other) {
    auto const fields = [](NodeLimitsView const& view) {
      auto const& [a, b, c, d, e] = view;  // does not compile unless there is a name for every member
      return std::tie(a, b, c, d, e);
    };
    return fields(one) == fields(other);
  }
};

/// Owns the tables of constraints and the limits of one growing tree. Takes no memory without constraints.
class DeviceConstraints {
 public:
  /// Sets the constraints of later trees, and makes room for `nodes` nodes. If the memory grows, limits are lost.
  /// Copies tables only if they have changed, and then waits.
  void Set(Constraints constraints, std::size_t nodes, DeviceArena* arena, Stream const& stream);
  /// Makes room for `nodes` nodes, and keeps the limits of the first `used`.
  void Extend(std::size_t used, std::size_t nodes, DeviceArena* arena, Stream const& stream);

  Constraints const& constraints() const { return constraints_; }
  NodeLimitsView View() const;

 private:
  Constraints constraints_;  ///< equal to the device's
  DeviceBuffer<std::int8_t> directions_;
  DeviceBuffer<std::uint32_t> sets_of_features_;
  DeviceBuffer<WeightBounds> bounds_;
  DeviceBuffer<std::uint32_t> sets_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_CONSTRAINTS_CUDA_H_
