// The CUDA backend of a build without CUDA: the reason for which there is none.
#include "backend/backend.h"

namespace xgbgpu {

DeviceBackend* DeviceBackend::OfBuild(std::string* why_not) {
  if (why_not != nullptr) *why_not = "this build of xgboost-gpu has no CUDA backend";
  return nullptr;
}

}  // namespace xgbgpu
