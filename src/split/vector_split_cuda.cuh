/// Shared code of the searches of trees of vectors on a device: the work for a node, and the gain of a division.
#ifndef XGBGPU_SPLIT_VECTOR_SPLIT_CUDA_CUH_
#define XGBGPU_SPLIT_VECTOR_SPLIT_CUDA_CUH_

#include "split/group_split_cuda.cuh"
#include "split/vector_cells.cuh"
#include "split/vector_ops.h"
#include "split/vector_split_cuda.h"

namespace xgbgpu::cuda {

/// A child of a family and its histogram.
struct VectorChild {
  NodeIndex node;
  std::int64_t* sums;
  bool subtracts;                ///< `sums` are the parent's: the built child's must be subtracted
  std::uint32_t const* allowed;  ///< features; nullptr: all
};

/// Returns child `child` of all families: the built child of a family, then its sibling.
__device__ inline VectorChild ChildOf(VectorSplitView const& view, std::uint32_t child) {
  Family const& family = view.of.tree.families[child / 2];
  bool const second = child % 2 != 0;
  auto const sums = [&](std::int32_t slot) { return reinterpret_cast<std::int64_t*>(view.of.histograms.slot(slot)); };
  VectorChild own{};
  own.node = second ? family.sibling() : family.built();
  own.sums = sums(second ? family.sibling_slot : family.built_slot);
  own.subtracts = second && family.subtract != 0;
  own.allowed = view.of.features.of_nodes == nullptr
                    ? nullptr
                    : view.of.features.of_nodes +
                          std::uint64_t{child / 2 * 2 + (own.node != family.left ? 1 : 0)} * view.of.features.apart;
  return own;
}

__device__ inline SplitParams ParamsOf(VectorSplitView const& view, std::uint32_t output) {
  SplitParams params = view.params;
  OutputUnits const units = view.units[output];
  params.grad_unit = units.grad;
  params.hess_unit = units.hess;
  return params;
}

/// The formulas of a tree. Formulas without reg_alpha and max_delta_step are shorter, and give the same bits.
enum class Formulas { kPlain, kAll, kMonotone };

/// Returns NodeGain.
template <Formulas kFormulas>
__device__ double GainOfOutput(SplitParams const& p, LossSum s) {
  if constexpr (kFormulas == Formulas::kPlain) {
    return s.hess <= 0.0 ? 0.0 : s.grad * s.grad / (s.hess + p.reg_lambda);
  } else {
    return NodeGain(p, s);
  }
}

/// A division of a node, output by output: VectorSplitFinder::GainOf.
template <Formulas kFormulas>
struct Division {
  SideHessians hessians{0.0, 0.0};
  double gain{0.0};

  __device__ void Add(SplitParams const& p, LossSum left, LossSum right, WeightBounds const* bounds, int direction) {
    hessians.left += left.hess;
    hessians.right += right.hess;
    if constexpr (kFormulas == Formulas::kMonotone) {
      SideWeights const w = OrderedWeights(p, left, right, *bounds, direction);
      gain += LimitedGain(p, left, static_cast<double>(w.left)) + LimitedGain(p, right, static_cast<double>(w.right));
    } else {
      gain += GainOfOutput<kFormulas>(p, left) + GainOfOutput<kFormulas>(p, right);
    }
  }
  __device__ float Gain(VectorSplitView const& view, double node_gain) const {
    if (!IsHeavyEnough(hessians, static_cast<double>(view.cells.outputs), view.min_child_weight)) return 0.0f;
    return FiniteGain(gain - node_gain);
  }
};

/// Returns true if the node of a child may be split by a feature.
__device__ inline bool MaySplitBy(VectorSplitView const& view, VectorChild const& child, FeatureIndex f) {
  return IsIn(view.of.features.of_tree, f) && IsIn(child.allowed, f) && MayMeetAt(view.of, child.node, f);
}

__device__ inline bool IsCategorical(VectorSplitView const& view, FeatureIndex f) {
  return view.categories.is_categorical != nullptr && view.categories.is_categorical[f] != 0;
}

/// The feature of a best candidate, and the candidate's number in the order of the feature's 2 · bins.
struct OfBest {
  FeatureIndex feature;
  std::uint32_t number;

  __device__ OfBest(DeviceMatrixView const& m, unsigned long long key) {
    std::uint32_t const order = 0xFFFFFFFFU - static_cast<std::uint32_t>(key);
    feature = RangeOf(m.features, order, [&](std::uint32_t i) { return 2 * m.cut_ptr[i]; });
    number = order - 2 * m.cut_ptr[feature];
  }
};

/// Writes the best split of a child from its key. hessians: of the two sides, in no unit. One thread calls it.
__device__ inline void WriteBest(VectorSplitView const& view, NodeIndex node, unsigned long long key,
                                 SplitCandidate best, unsigned long long const* hessians) {
  best.gain = GainOf(key);
  best.left.hess = static_cast<std::int64_t>(hessians[0]);
  best.right.hess = static_cast<std::int64_t>(hessians[1]);
  StoreWhole(&view.of.tree.nodes[node].split, best);
}

/// Returns the formulas of the view's tree.
inline Formulas FormulasOf(VectorSplitView const& view) {
  if (view.directions != nullptr) return Formulas::kMonotone;
  bool const plain = view.params.reg_alpha == 0.0 && view.params.max_delta_step == 0.0;
  return plain ? Formulas::kPlain : Formulas::kAll;
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_SPLIT_VECTOR_SPLIT_CUDA_CUH_
