// Enables the access of devices to the memory of each other.
#include "cuda/peer_access.h"

#include "cuda/device.h"

namespace xgbgpu {

bool EnablePeerAccess(int peer) {
  constexpr char const* kWhat = "connecting devices";
  int here = 0, can = 0;
  CheckCuda(cudaGetDevice(&here), kWhat);
  if (here == peer) return true;
  CheckCuda(cudaDeviceCanAccessPeer(&can, here, peer), kWhat);
  if (can == 0) return false;
  cudaError_t const status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaSuccess) return true;
  if (status == cudaErrorPeerAccessAlreadyEnabled || status == cudaErrorTooManyPeers) {
    cudaGetLastError();  // it must not show up again at the next call
    return status == cudaErrorPeerAccessAlreadyEnabled;
  }
  CheckCuda(status, kWhat);
  return false;
}

}  // namespace xgbgpu
