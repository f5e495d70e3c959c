#include "driver/hist.h"

namespace xgbgpu {

Tree GrowHistTree(TreeBuilder* builder, TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  builder->Begin(params, gradients, key);
  builder->BuildRoot();
  while (builder->SelectNodes()) builder->ExpandNodes();
  return builder->Finish();
}

}  // namespace xgbgpu
