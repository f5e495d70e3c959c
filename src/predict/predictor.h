/// Stage 9 for whole models on a device, for code without CUDA.
#ifndef XGBGPU_PREDICT_PREDICTOR_H_
#define XGBGPU_PREDICT_PREDICTOR_H_

#include <cstddef>
#include <memory>

#include "predict/contributions.h"
#include "predict/forest.h"
#include "predict/interactions.h"
#include "xgbgpu/row_views.h"
#include "xgbgpu/rows.h"

namespace xgbgpu {

/// A forest on a device that predicts rows of the host. Not thread-safe.
class DevicePredictor {
 public:
  virtual ~DevicePredictor() = default;
  virtual std::size_t trees() const = 0;
  /// host::PredictMargins (forest.h) with rows streamed through the device. `threads` is for the host's work. Rows that
  /// the source skips (user_arrays/read_in_parts.h) keep their margins. Waits.
  /// Throws  as cuda::PredictMarginsStreamed; DeviceError. The margins of some rows may be final then.
  virtual void PredictMargins(RowSource const& source, std::size_t first, std::size_t last, OutputView<float> margins,
                              int threads) = 0;
  /// host::PredictLeaves in the same way.
  virtual void PredictLeaves(RowSource const& source, std::size_t first, std::size_t last, float* out, int threads) = 0;
};

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_PREDICTOR_H_
