/// The build without the CUDA backend.

#include "backend/backend.h"
#include "core/message.h"

namespace xgbgpu {

bool CudaAvailable(std::string* why_not) {
  if (why_not != nullptr) *why_not = "this build of xgboost-gpu has no CUDA backend";
  return false;
}

BackendKind ResolveBackend(BackendKind wanted) {
  if (wanted == BackendKind::kCuda) {
    std::string why_not;
    CudaAvailable(&why_not);
    Throw<Unsupported>("Parameter gpu_backend is cuda, but ", why_not, "; allowed here: auto, host");
  }
  return BackendKind::kHost;
}

}  // namespace xgbgpu
