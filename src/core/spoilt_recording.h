/// Recordings of kernels that fail when a test wants it.
#ifndef XGBGPU_CORE_SPOILT_RECORDING_H_
#define XGBGPU_CORE_SPOILT_RECORDING_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace xgbgpu {

/// For tests: the next n recordings of kernels into a graph fail as if another thread had waited for the device
/// meanwhile, the first from its beginning on, the second at its end, and so on in turn; n = 0 ends that. Returns how
/// many have failed so since the last call.
std::int64_t SpoilRecordings(std::int64_t n);

/// For whoever records: spoils what is recorded on `stream`, if it is to be, from the beginning or at the end.
class RecordingSpoiler {
 public:
  explicit RecordingSpoiler(cudaStream_t stream);
  void AtEnd() const;
  /// The recording has failed.
  void Failed() const;

 private:
  cudaStream_t stream_;
  std::int64_t number_;  ///< of those that are spoilt, from 0; negative: it is not
};

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_SPOILT_RECORDING_H_
