/// Models that come from elsewhere, or go there.
#include <xgboost/generic_parameters.h>

#include "booster.h"
#include "boundary.h"

namespace xgbgpu::plugin {

void Booster::LoadModel(xgboost::Json const& in) {
  AtBoundary("loading a model", [&] { loaded_.CheckTrees(in, ctx_->Threads()); });
  ModelIsReplaced();
  ObjectiveMayChange();
  inner_->LoadModel(in);
}

void Booster::CheckOutputs() const {
  AtBoundary("using a model", [&] { loaded_.CheckOutputs(model_->num_output_group); });
}

void Booster::Slice(std::int32_t layer_begin, std::int32_t layer_end, std::int32_t step, xgboost::GradientBooster* out,
                    bool* out_of_bound) const {
  CheckOutputs();
  auto* const decorated = dynamic_cast<Booster*>(out);
  if (decorated != nullptr) decorated->ModelIsReplaced();
  inner_->Slice(layer_begin, layer_end, step, decorated == nullptr ? out : decorated->inner_.get(), out_of_bound);
}

}  // namespace xgbgpu::plugin
