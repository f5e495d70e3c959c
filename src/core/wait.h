/// Waits for a condition, with functions that every libstdc++ from GCC 11 on has.
#ifndef XGBGPU_CORE_WAIT_H_
#define XGBGPU_CORE_WAIT_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace xgbgpu {

/// Does the work of changed->wait(*lock, done). That function is in libstdc++ from GCC 12 on. A wheel for
/// manylinux_2_34 has only GCC 11's libstdc++. A wait with a limit is code of the header.
template <typename Done>
void Wait(std::condition_variable* changed, std::unique_lock<std::mutex>* lock, Done const& done) {
  while (!changed->wait_for(*lock, std::chrono::hours{1}, done)) {
  }
}

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_WAIT_H_
