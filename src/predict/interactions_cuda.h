/// Interactions of features on a CUDA device. CUDA builds only. interactions.h defines the results.
#ifndef XGBGPU_PREDICT_INTERACTIONS_CUDA_H_
#define XGBGPU_PREDICT_INTERACTIONS_CUDA_H_

#include <cstddef>
#include <cstdint>

#include "cuda/device.h"
#include "predict/contributions_cuda.h"
#include "predict/interactions.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// Returns the doubles of scratch for `rows` rows: about twice the size of the results at most.
std::size_t InteractionScratch(std::uint64_t rows, std::uint32_t outputs, FeatureIndex tested);

/// Writes interactions of dense rows by exact paths. `out` and `scratch` are on the device. Enqueues one kernel with
/// one thread for each row and output. Sums are in device memory, a warp's side by side.
void PredictInteractions(RawView const& tiles, DevicePaths const& paths, InteractionsView const& out, double* scratch,
                         cudaStream_t stream);

/// host::PredictInteractions with rows streamed through the device in blocks (row_stream_cuda.h). `out` is on the host.
/// Waits.
///
/// Throws  InvalidArgument (as the host), OutOfDeviceMemory. The interactions of some rows may be written then.
void PredictInteractionsStreamed(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                                 InteractionsView out, int device, int threads);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_INTERACTIONS_CUDA_H_
