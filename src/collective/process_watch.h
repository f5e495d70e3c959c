/// Notices the end of other processes of this machine.
#ifndef XGBGPU_COLLECTIVE_PROCESS_WATCH_H_
#define XGBGPU_COLLECTIVE_PROCESS_WATCH_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace xgbgpu {

/// Calls a function when one of some processes has ended, however it ended.
///
/// Cost  a thread that sleeps, and a file descriptor a process. A system without pidfd_open (Linux before 5.3, or a
///       filter of system calls) watches nothing.
class ProcessWatch {
 public:
  /// `processes`: in this process's namespace of numbers. gone() is called once at most, by a thread of the watch, which
  /// ends before the watch does. It throws nothing.
  ProcessWatch(std::vector<pid_t> const& processes, std::function<void()> gone);
  ~ProcessWatch();
  ProcessWatch(ProcessWatch const&) = delete;
  ProcessWatch& operator=(ProcessWatch const&) = delete;

 private:
  pid_t process_;                        ///< that has the thread
  std::vector<int> descriptors_;         ///< first the one that ends the thread, then one of each process
  std::unique_ptr<std::thread> thread_;  ///< null: nothing is watched
};

}  // namespace xgbgpu

#endif  // XGBGPU_COLLECTIVE_PROCESS_WATCH_H_
