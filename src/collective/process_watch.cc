// Waits for the descriptors of processes, which the system makes readable when a process ends.
#include "collective/process_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace xgbgpu {

namespace {

// Since Linux 5.3, with the same number on all processors.
constexpr long kPidfdOpen = 434;

/// Waits for the first descriptor that can be read. Returns false if it is the one that ends the watch.
bool IsProcessGone(std::vector<int> const& descriptors) {
  std::vector<pollfd> waited;
  for (int const descriptor : descriptors) waited.push_back({descriptor, POLLIN, 0});
  int found;
  do {
    found = poll(waited.data(), waited.size(), -1);
  } while (found < 0 && errno == EINTR);
  return found > 0 && waited.front().revents == 0;
}

}  // namespace

ProcessWatch::ProcessWatch(std::vector<pid_t> const& processes, std::function<void()> gone) : process_{getpid()} {
  descriptors_.push_back(eventfd(0, EFD_CLOEXEC));
  bool is_gone = false;
  for (pid_t const process : processes) {
    int const descriptor = static_cast<int>(syscall(kPidfdOpen, process, 0));
    is_gone = is_gone || (descriptor < 0 && errno == ESRCH);
    if (descriptor >= 0) descriptors_.push_back(descriptor);
  }
  if (is_gone) gone();
  if (is_gone || descriptors_.front() < 0 || descriptors_.size() == 1) return;
  auto const watch = [descriptors = descriptors_, gone = std::move(gone)] {
    if (IsProcessGone(descriptors)) gone();
  };
  try {
    thread_ = std::make_unique<std::thread>(watch);
  } catch (std::system_error const&) {
    // No thread can be started, and no process is watched.
  }
}

ProcessWatch::~ProcessWatch() {
  if (getpid() != process_) {
    static_cast<void>(thread_.release());  // a forked process has no threads of its parent
  } else if (thread_ != nullptr) {
    eventfd_write(descriptors_.front(), 1);
    thread_->join();
  }
  for (int const descriptor : descriptors_) {
    if (descriptor >= 0) close(descriptor);
  }
}

}  // namespace xgbgpu
