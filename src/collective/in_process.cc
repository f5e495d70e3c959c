// Runs one thread for each shard and combines their numbers in memory.
#include "collective/in_process.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/message.h"
#include "core/wait.h"

namespace xgbgpu {

namespace {

/// A barrier of all threads, which a failed thread leaves.
class MeetingPoint {
 public:
  explicit MeetingPoint(int threads) : threads_{threads} {}

  void Meet() {
    std::unique_lock<std::mutex> lock{mutex_};
    if (somebody_left_) ThrowLost();  // a thread that knows of a loss counts as waiting
    if (++waiting_ == threads_) {
      waiting_ = 0;
      ++meetings_;
      changed_.notify_all();
      return;
    }
    std::uint64_t const before = meetings_;
    Wait(&changed_, &lock, [&] { return meetings_ != before || somebody_left_; });
    if (meetings_ == before) ThrowLost();
  }
  /// Leaves the barrier: no thread waits for this thread any more.
  void Leave() {
    std::lock_guard<std::mutex> const lock{mutex_};
    somebody_left_ = true;
    changed_.notify_all();
  }
  /// Restores the barrier after all threads have left or finished, and none waits.
  void Return() {
    std::lock_guard<std::mutex> const lock{mutex_};
    somebody_left_ = false;
    waiting_ = 0;
  }

 private:
  [[noreturn]] static void ThrowLost() {
    throw ShardsLost{"Another shard of the rows has stopped, so all stop; its own message says why"};
  }

  int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_{0};
  std::uint64_t meetings_{0};
  bool somebody_left_{false};
};

/// The memory through which shards see each other's arguments.
struct Group {
  explicit Group(int shards) : meeting{shards}, parts(static_cast<std::size_t>(shards)), lists(parts.size()) {}

  MeetingPoint meeting;
  std::vector<Span<Span<std::int64_t> const>> parts;  ///< [shards] arguments of Sum and Max
  std::vector<Span<std::uint32_t const>> lists;       ///< [shards] arguments of Gather
};

class ThreadShard final : public Collective {
 public:
  ThreadShard(Group* group, int shard) : group_{*group}, shard_{static_cast<std::size_t>(shard)} {}

  int shards() const override { return static_cast<int>(group_.parts.size()); }
  int shard() const override { return static_cast<int>(shard_); }

  void Sum(Span<Span<std::int64_t> const> parts) override {
    Combine(parts, [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  void Max(Span<std::int64_t> values) override {
    Span<std::int64_t> const part{values};
    Combine({&part, 1}, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }
  std::vector<std::vector<std::uint32_t>> Gather(Span<std::uint32_t const> own) override {
    group_.lists[shard_] = own;
    group_.meeting.Meet();
    std::vector<std::vector<std::uint32_t>> all;
    for (Span<std::uint32_t const> const list : group_.lists) all.emplace_back(list.begin(), list.end());
    group_.meeting.Meet();
    return all;
  }

 private:
  /// Each shard combines its share of the elements and gives the result to all shards.
  template <typename F>
  void Combine(Span<Span<std::int64_t> const> parts, F&& combine) {
    group_.parts[shard_] = parts;
    group_.meeting.Meet();
    CheckShapes();
    std::size_t size = 0;
    for (Span<std::int64_t> const part : parts) size += part.size();
    std::size_t const begin = size * shard_ / group_.parts.size(), end = size * (shard_ + 1) / group_.parts.size();
    std::size_t before = 0;  // number of elements in earlier parts
    for (std::size_t p = 0; p < parts.size(); ++p) {
      std::size_t const first = std::max(begin, before), last = std::min(end, before + parts[p].size());
      if (first < last) CombinePart(p, first - before, last - before, combine);
      before += parts[p].size();
    }
    group_.meeting.Meet();
  }

  template <typename F>
  void CombinePart(std::size_t part, std::size_t first, std::size_t last, F&& combine) {
    std::int64_t* const all = group_.parts[0][part].data();
    for (std::size_t s = 1; s < group_.parts.size(); ++s) {
      std::int64_t const* const own = group_.parts[s][part].data();
      for (std::size_t i = first; i < last; ++i) all[i] = combine(all[i], own[i]);
    }
    for (std::size_t s = 1; s < group_.parts.size(); ++s) {
      std::copy(all + first, all + last, group_.parts[s][part].data() + first);
    }
  }

  /// Compares the shapes of all shards. All shards find the same, so all throw or none.
  void CheckShapes() const {
    auto const same_size = [](Span<std::int64_t> a, Span<std::int64_t> b) { return a.size() == b.size(); };
    for (auto const& parts : group_.parts) {
      auto const& first = group_.parts[0];
      if (!std::equal(parts.begin(), parts.end(), first.begin(), first.end(), same_size)) {
        throw Error{"The shards of the rows do not add up the same things: their data or parameters differ"};
      }
    }
  }

  Group& group_;
  std::size_t shard_;
};

/// Keeps each thread's exception, and selects the exception to rethrow.
class Failures {
 public:
  explicit Failures(std::size_t threads) : failed_(threads), told_(threads) {}

  /// Called in a handler.
  void Note(std::size_t thread, bool of_another) { (of_another ? told_ : failed_)[thread] = std::current_exception(); }
  /// Rethrows the error of the first thread that failed itself, otherwise of the first thread that failed.
  void Throw() const {
    for (auto const& errors : {failed_, told_}) {
      for (std::exception_ptr const& error : errors) {
        if (error) std::rethrow_exception(error);
      }
    }
  }

 private:
  std::vector<std::exception_ptr> failed_, told_;
};

/// Calls work() for a shard. Returns false if work has thrown; notes the exception then.
template <typename F>
bool RunOne(Failures* failures, std::size_t shard, F&& work) {
  try {
    work();
    return true;
  } catch (OtherShardFailed const&) {
    failures->Note(shard, true);
  } catch (...) {  // any type: rethrown unchanged
    failures->Note(shard, false);
  }
  return false;
}

/// Starts another thread. Throws Error.
template <typename F>
void StartThread(std::vector<std::thread>* threads, F&& run) {
  try {
    threads->emplace_back(std::forward<F>(run));
  } catch (std::system_error const& error) {
    Throw<Error>("Thread ", threads->size() + 1, " of a group cannot be started: ", error.what());
  }
}

}  // namespace

void RunShards(int shards, std::function<void(Collective&)> const& work) {
  if (shards < 1) Throw<InvalidArgument>("The number of shards is ", shards, "; allowed: 1 or more");
  Group group{shards};
  Failures failures{static_cast<std::size_t>(shards)};
  std::vector<std::thread> threads;
  auto const run = [&](int s) {
    RunOne(&failures, static_cast<std::size_t>(s), [&] {
      ThreadShard collective{&group, s};
      work(collective);
    });
    group.meeting.Leave();
  };
  bool const started = RunOne(&failures, static_cast<std::size_t>(shards) - 1, [&] {
    for (int s = 0; s < shards; ++s) StartThread(&threads, [&, s] { run(s); });
  });
  if (!started) group.meeting.Leave();  // running threads do not wait for missing ones
  for (std::thread& thread : threads) thread.join();
  failures.Throw();
}

/// State that the threads and their caller share.
struct ShardThreads::State {
  explicit State(int shards) : group{shards} {
    for (int s = 0; s < shards; ++s) collectives.push_back(std::make_unique<ThreadShard>(&group, s));
  }

  Group group;
  std::vector<std::unique_ptr<ThreadShard>> collectives;
  std::vector<std::thread> threads;  ///< of all shards but the first, which the caller serves

  std::mutex mutex;
  std::condition_variable changed;
  std::function<void(int)> const* job{nullptr};
  std::atomic<std::uint64_t> jobs_begun{0};
  std::atomic<int> busy{0};  ///< threads that have not finished the last job
  std::atomic<bool> ended{false};
  Failures* failures{nullptr};
  std::function<void()> on_failure;
  pid_t process{getpid()};

  /// Ends the idle threads.
  void End() {
    {
      std::lock_guard<std::mutex> const lock{mutex};
      ended = true;
      changed.notify_all();
    }
    for (std::thread& thread : threads) thread.join();
  }
  void RunOwn(int shard) {
    bool const done = RunOne(failures, static_cast<std::size_t>(shard), [&] { (*job)(shard); });
    group.meeting.Leave();  // no thread waits for a thread that has ended
    if (!done && on_failure) on_failure();
  }
  /// Waits until done(). Spins first: jobs follow each other quickly, and a sleeping thread would be late.
  template <typename F>
  void WaitUntil(std::unique_lock<std::mutex>* lock, F&& done) {
    constexpr auto kAwake = std::chrono::microseconds{50};
    lock->unlock();
    auto const end = std::chrono::steady_clock::now() + kAwake;
    while (!done() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    lock->lock();
    Wait(&changed, lock, done);
  }
  void Live(int shard) {
    std::uint64_t seen = 0;
    std::unique_lock<std::mutex> lock{mutex};
    for (;;) {
      WaitUntil(&lock, [&] { return ended || jobs_begun != seen; });
      if (ended) return;
      seen = jobs_begun;
      lock.unlock();
      RunOwn(shard);
      lock.lock();
      if (--busy == 0) changed.notify_all();
    }
  }
};

ShardThreads::ShardThreads(int shards, std::function<void()> on_failure) : state_{new State{shards}} {
  state_->on_failure = std::move(on_failure);
  try {
    for (int s = 1; s < shards; ++s) StartThread(&state_->threads, [state = state_.get(), s] { state->Live(s); });
  } catch (...) {
    state_->End();
    throw;
  }
}

ShardThreads::~ShardThreads() {
  if (getpid() != state_->process) {
    // A forked process has no threads of its parent, and the condition waits for them before it is destroyed.
    static_cast<void>(state_.release());
    return;
  }
  state_->End();
}

int ShardThreads::shards() const { return static_cast<int>(state_->collectives.size()); }

Collective* ShardThreads::of(int shard) const { return state_->collectives[static_cast<std::size_t>(shard)].get(); }

void ShardThreads::Run(std::function<void(int)> const& job) {
  Failures failures{state_->collectives.size()};
  {
    std::lock_guard<std::mutex> const lock{state_->mutex};
    state_->failures = &failures;
    state_->job = &job;
    state_->busy = shards() - 1;
    ++state_->jobs_begun;
    state_->changed.notify_all();
  }
  state_->RunOwn(0);
  std::unique_lock<std::mutex> lock{state_->mutex};
  state_->WaitUntil(&lock, [&] { return state_->busy == 0; });
  state_->group.meeting.Return();
  failures.Throw();
}

}  // namespace xgbgpu
