/// Loops over host threads. Every result is a function of the loop index alone, so the number of threads never shows.
#ifndef XGBGPU_BASE_PARALLEL_H_
#define XGBGPU_BASE_PARALLEL_H_

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>

namespace xgbgpu {

/// Keeps the first exception of a parallel region. OpenMP would end the process if an exception left a thread.
class ExceptionCatcher {
 public:
  template <typename F>
  void Run(F&& f) noexcept {
    try {
      f();
    } catch (...) {  // any type: Rethrow throws it unchanged
      std::lock_guard<std::mutex> const lock{mutex_};
      if (!first_) first_ = std::current_exception();
    }
  }
  void Rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

/// Calls f(task, thread) for task in [0, tasks), handed out one by one; thread < threads. For tasks of uneven size. The
/// team always has `threads` threads. For a smaller team GCC's runtime would end the other threads and start new ones
/// for the next loop.
template <typename F>
void ParallelTasks(int threads, std::size_t tasks, F&& f) {
  if (threads <= 1 || tasks <= 1) {
    for (std::size_t i = 0; i < tasks; ++i) f(i, 0);
    return;
  }
  ExceptionCatcher catcher;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::size_t i = 0; i < tasks; ++i) {
    catcher.Run([&] { f(i, omp_get_thread_num()); });
  }
  catcher.Rethrow();
}

/// Calls f(begin, end) over [0, n) in chunks of `grain` (the last chunk is shorter). For even work on long arrays.
template <typename F>
void ParallelChunks(int threads, std::size_t n, std::size_t grain, F&& f) {
  std::size_t const chunks = (n + grain - 1) / grain;
  ParallelTasks(threads, chunks, [&](std::size_t c, int) { f(c * grain, std::min(n, (c + 1) * grain)); });
}

/// Returns a grain for ParallelChunks that write `n` items of `bytes` each to new memory. If several threads touch a
/// new huge page at the same time, the system clears one for each thread. So a chunk has several pages, as far as every
/// thread gets chunks.
inline std::size_t GrainOfNewMemory(std::size_t n, std::size_t bytes, int threads) {
  constexpr std::size_t kLeastBytes = std::size_t{1} << 19, kMostBytes = std::size_t{1} << 24, kChunksOfThread = 4;
  std::size_t const chunks = kChunksOfThread * static_cast<std::size_t>(std::max(1, threads));
  std::size_t const least = kLeastBytes / bytes, most = kMostBytes / bytes;
  return std::max<std::size_t>(1, std::clamp(n / chunks, least, most));
}

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_PARALLEL_H_
