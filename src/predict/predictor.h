/// Stage 9 for whole models where a device predicts, as code without CUDA sees it.
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

/// A forest on a device, which rows of the host are predicted with. Not thread-safe.
class DevicePredictor {
 public:
  virtual ~DevicePredictor() = default;
  virtual std::size_t trees() const = 0;
  /// Does what host::PredictMargins (forest.h) does; rows are streamed through the device. `threads` are for what the
  /// host does. Rows that the source passes over (user_arrays/read_in_parts.h) keep their margins. Waits.
  /// Throws  as cuda::PredictMarginsStreamed; DeviceError. Margins of some rows may then be final and others not.
  virtual void PredictMargins(RowSource const& source, std::size_t first, std::size_t last, OutputView<float> margins,
                              int threads) = 0;
  /// Does what host::PredictLeaves does, in the same way.
  virtual void PredictLeaves(RowSource const& source, std::size_t first, std::size_t last, float* out, int threads) = 0;
};

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_PREDICTOR_H_
