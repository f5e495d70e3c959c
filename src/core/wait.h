/// Waits for a condition, with functions that every libstdc++ from GCC 11 on has.
#ifndef XGBGPU_CORE_WAIT_H_
#define XGBGPU_CORE_WAIT_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace xgbgpu {

/// Does what changed->wait(*lock, done) does. That function is in libstdc++ from GCC 12 on, and a wheel for
/// manylinux_2_34 must do with GCC 11's. A wait with a limit is code of the header.
template <typename Done>
void Wait(std::condition_variable* changed, std::unique_lock<std::mutex>* lock, Done const& done) {
  while (!changed->wait_for(*lock, std::chrono::hours{1}, done)) {
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_WAIT_H_
