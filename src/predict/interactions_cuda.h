/// Interactions of features on a CUDA device. CUDA builds only. The contract of the results is in interactions.h.
#ifndef XGBGPU_PREDICT_INTERACTIONS_CUDA_H_
#define XGBGPU_PREDICT_INTERACTIONS_CUDA_H_

#include <cstddef>
#include <cstdint>

#include "cuda/device.h"
#include "predict/contributions_cuda.h"
#include "predict/interactions.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// Doubles that PredictInteractions needs for so many rows: at most twice the room of the results, about.
std::size_t InteractionScratch(std::uint64_t rows, std::uint32_t outputs, FeatureIndex tested);

/// Writes interactions of dense rows by exact paths; `out` and `scratch` are on the device. Enqueues one kernel, of one
/// thread for each row and output, whose sums lie in device memory, those of a warp side by side.
void PredictInteractions(RawView const& tiles, DevicePaths const& paths, InteractionsView const& out, double* scratch,
                         cudaStream_t stream);

/// Does what host::PredictInteractions does: `out` is on the host, and rows are streamed through the device in blocks
/// (row_stream_cuda.h). Waits.
///
/// Throws  InvalidArgument (as the host), OutOfDeviceMemory. Interactions of some rows may then be there already.
void PredictInteractionsStreamed(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                                 InteractionsView out, int device, int threads);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_INTERACTIONS_CUDA_H_
