// Enables the access of devices to the memory of each other.
#include "cuda/peer_access.h"

#include <mutex>
#include <set>
#include <utility>

#include "cuda/device.h"

namespace xgbgpu {

namespace {

/// Remembers which devices this process has connected: CUDA does not tell, and takes a second request for an error.
class ConnectedDevices {
 public:
  bool Has(int device, int peer) {
    std::lock_guard<std::mutex> const lock{mutex_};
    return pairs_.count({device, peer}) != 0;
  }
  void Add(int device, int peer) {
    std::lock_guard<std::mutex> const lock{mutex_};
    pairs_.emplace(device, peer);
  }

 private:
  std::mutex mutex_;
  std::set<std::pair<int, int>> pairs_;
};

ConnectedDevices& Connected() {
  static auto* const kConnected = new ConnectedDevices;  // never freed: threads may still train at exit
  return *kConnected;
}

}  // namespace

bool EnablePeerAccess(int peer) {
  constexpr char const* kWhat = "connecting devices";
  int here = 0, can = 0;
  CheckCuda(cudaGetDevice(&here), kWhat);
  if (here == peer || Connected().Has(here, peer)) return true;
  CheckCuda(cudaDeviceCanAccessPeer(&can, here, peer), kWhat);
  if (can == 0) return false;
  cudaError_t const status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaErrorTooManyPeers) {
    cudaGetLastError();  // it must not show up again at the next call
    return false;
  }
  // Another library of the process may have connected them.
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
  } else {
    CheckCuda(status, kWhat);
  }
  Connected().Add(here, peer);
  return true;
}

}  // namespace xgbgpu
