#include "driver/hist.h"

namespace xgbgpu {

Tree GrowHistTree(TreeBuilder* builder, TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  builder->Begin(params, gradients, key);
  GrowLevels(builder);
  return builder->Finish();
}

void GrowLevels(TreeBuilder* builder) {
  builder->BuildRoot();
  while (builder->SelectNodes()) builder->ExpandNodes();
}

}  // namespace xgbgpu
