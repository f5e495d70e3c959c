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

/// Makes a predictor on a CUDA device. Throws Unsupported, DeviceError, OutOfDeviceMemory.
std::unique_ptr<DevicePredictor> MakeDevicePredictor(Forest const& forest, int device);

/// Does what host::PredictContributions (contributions.h) does, with rows streamed through a CUDA device. Nothing is
/// written for rows that the source passes over (user_arrays/read_in_parts.h). Throws the
/// same, and Unsupported, DeviceError, OutOfDeviceMemory; contributions of some rows may then be there already.
void PredictContributionsOnDevice(RowSource const& source, PathForest const& forest, std::size_t first,
                                  std::size_t last, bool approximate, ContributionsView out, int device, int threads);

/// Does what host::PredictInteractions (interactions.h) does, in the same way.
void PredictInteractionsOnDevice(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                                 InteractionsView out, int device, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICT_PREDICTOR_H_
