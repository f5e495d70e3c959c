// Deals slots of histograms to the nodes of a symmetric tree's level.
#include "trees_cuda/level_slots_cuda.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/message.h"
#include "split/built_child_ops.h"
#include "xgbgpu/error.h"

namespace xgbgpu::cuda {

std::uint64_t LevelSlots::Wanted(int levels, std::uint64_t rows) {
  return levels < 2 ? 1 : 2 * std::min(std::uint64_t{1} << (levels - 2), rows);
}

void LevelSlots::Begin(SymmetricTree const& tree, std::uint32_t slots, std::uint64_t bytes) {
  all_ = slots;
  bytes_ = bytes;
  slots_.assign(tree.active().size(), 0);
  FreeUnused();
}

/// Lists the slots that no node has, in descending order.
void LevelSlots::FreeUnused() {
  std::vector<bool> used(all_);
  for (std::int32_t const slot : slots_) used[static_cast<std::size_t>(slot)] = true;
  free_.clear();
  for (std::size_t slot = used.size(); slot-- > 0;) {
    if (!used[slot]) free_.push_back(static_cast<std::int32_t>(slot));
  }
}

std::vector<Family> const& LevelSlots::Plan(SymmetricTree const& tree, std::vector<NodeIndex> const& parents,
                                            bool is_last) {
  if (!is_last && free_.size() < parents.size()) {
    std::uint64_t const bytes = 2 * parents.size() * bytes_, most = all_ * bytes_;
    Throw<OutOfDeviceMemory>("Parameter grow_policy is 'symmetric', and level ", tree.depth(), " of a tree needs ",
                             bytes, " bytes for the histograms of its nodes, but there is room for ", most,
                             "; allowed: a smaller max_depth or max_bin, or gpu_backend=host");
  }
  std::vector<std::int32_t> const of_parents = std::exchange(slots_, {});
  families_.clear();
  for (std::size_t i = 0; i < parents.size(); ++i) {
    auto const node = [&](NodeIndex n) -> Node const& { return tree.nodes()[static_cast<std::size_t>(n)]; };
    Family family{};
    family.parent = parents[i];
    family.left = node(parents[i]).left;
    family.subtract = 1;
    Node const &left = node(family.left), &right = node(family.left + 1);
    family.left_is_built = LeftIsBuilt(left.sum, right.sum) ? 1 : 0;
    if (!is_last) {  // else no row is summed, and the first slot stands for all
      family.built_slot = free_.back();
      family.sibling_slot = of_parents[i];
      free_.pop_back();
      bool const left_is_built = family.left_is_built != 0;
      if (left.sum.hess > 0) slots_.push_back(left_is_built ? family.built_slot : family.sibling_slot);
      if (right.sum.hess > 0) slots_.push_back(left_is_built ? family.sibling_slot : family.built_slot);
    }
    families_.push_back(family);
  }
  if (!is_last) FreeUnused();
  return families_;
}

}  // namespace xgbgpu::cuda
