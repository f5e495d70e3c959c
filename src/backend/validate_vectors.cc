// Refuses parameters of trees of vectors.
#include "backend/validate_vectors.h"

#include "base/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

void ValidateVectors(TrainParams const& params) {
  if (params.SamplesRows() && params.sampling_method != SamplingMethod::kUniform) {
    Throw<Unsupported>("Parameter sampling_method is '",
                       params.sampling_method == SamplingMethod::kGoss ? "goss" : "gradient_based",
                       "', which trees of vectors (multi_strategy=multi_output_tree) do not have; allowed with them: "
                       "uniform");
  }
}

}  // namespace xgbgpu
