// Tests that the end of another process is noticed, and nothing else.
#include "collective/process_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace xgbgpu::testing {
namespace {

/// A process that does nothing.
class Idle {
 public:
  Idle() : number_{fork()} {
    if (number_ == 0) {
      for (;;) pause();
    }
  }
  ~Idle() { End(); }

  pid_t number() const { return number_; }
  void End() {
    if (std::exchange(has_ended_, true)) return;
    kill(number_, SIGKILL);
    waitpid(number_, nullptr, 0);
  }

 private:
  pid_t number_;
  bool has_ended_{false};
};

bool BecomesTrue(std::atomic<bool> const& word) {
  for (int i = 0; i < 1000 && !word; ++i) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  return word;
}

TEST(ProcessWatchTest, CallsWhenOneProcessIsKilled) {
  Idle stays, goes;
  std::atomic<bool> gone{false};
  ProcessWatch const watch{{stays.number(), goes.number()}, [&] { gone = true; }};
  std::this_thread::sleep_for(std::chrono::milliseconds{100});
  EXPECT_FALSE(gone);
  goes.End();
  EXPECT_TRUE(BecomesTrue(gone));
}

TEST(ProcessWatchTest, CallsForAProcessThatHasEnded) {
  Idle goes;
  goes.End();
  std::atomic<bool> gone{false};
  ProcessWatch const watch{{goes.number()}, [&] { gone = true; }};
  EXPECT_TRUE(gone);
}

TEST(ProcessWatchTest, EndsBeforeTheProcesses) {
  Idle stays;
  std::atomic<bool> gone{false};
  {
    ProcessWatch const watch{{stays.number()}, [&] { gone = true; }};
  }
  {
    ProcessWatch const watch{{}, [&] { gone = true; }};
  }
  stays.End();
  std::this_thread::sleep_for(std::chrono::milliseconds{100});
  EXPECT_FALSE(gone);
}

TEST(ProcessWatchTest, EndsInAForkedProcess) {
  Idle stays;
  auto watch = std::make_unique<ProcessWatch>(std::vector<pid_t>{stays.number()}, [] {});
  pid_t const child = fork();
  if (child == 0) {
    watch.reset();
    _exit(7);
  }
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; i < 1000 && ended == 0; ++i) {
    ended = waitpid(child, &status, WNOHANG);
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  EXPECT_TRUE(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  if (ended == 0) kill(child, SIGKILL);
}

}  // namespace
}  // namespace xgbgpu::testing
