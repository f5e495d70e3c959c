// Brings the gradients of all rows into the format of a tree.
#include "trees_cuda/tree_gradients_cuda.h"

#include "objective/quantise_losses_cuda.h"

namespace xgbgpu::cuda {

void TreeGradients::EnqueueFormat(TreeDraw const* draw, std::uint8_t* paths, NarrowGradient* narrow,
                                  GradientState* state) const {
  if (losses_) {
    QuantiseLosses(device_.shard, draw, paths, *losses_, EarlyOfAll(narrow), state, device_.limits, device_.stream);
  } else {
    ChooseGradientFormat(gradients_, device_.shard, draw, state, device_.limits, device_.stream);
  }
}

}  // namespace xgbgpu::cuda
