// Sends sums and maxima through XGBoost's communicator.
#include "group/process_group.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <xgboost/c_api.h>
#include <xgboost/logging.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/message.h"
#include "call/call_state.h"
#include "xgb/communicator.h"
#include "xgbgpu/process_devices.h"

namespace xgbgpu::plugin {

namespace {

/// While it is alive, writing to a connection that the other side has closed is an error of the call, and does not end
/// the process: XGBoost's sockets raise SIGPIPE, which Python ignores and other programs may not.
class NoBrokenPipes {
 public:
  NoBrokenPipes() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipes() {
    timespec const now{0, 0};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipes(NoBrokenPipes const&) = delete;
  NoBrokenPipes& operator=(NoBrokenPipes const&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

/// Returns what went wrong in XGBoost's own code, without the list of its functions that it adds.
std::string WhatXgboostSays() {
  std::string text = XGBGetLastError();
  text = text.substr(0, text.find("\nStack trace"));
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// Returns a number for the end of a message of `n` integers. By it workers notice that one of them has sent another
/// message, of stock code for instance. The sum over 100,000 workers fits an integer.
std::int64_t MarkOf(std::size_t n, Reduction reduction) {
  constexpr std::int64_t kOfOurs = 0x786762;
  constexpr int kBits = 20;
  static_assert(kMostReduced <= 1 << kBits);
  return ((kOfOurs << 2 | static_cast<std::int64_t>(reduction)) << kBits) + static_cast<std::int64_t>(n);
}

}  // namespace

ProcessGroup* ProcessGroup::OfThisThread() {
  ProcessGroup*& current = CallState::OfThisThread().group;
  int const workers = XGCommunicatorGetWorldSize();
  if (workers <= 1) {
    current = nullptr;
    return nullptr;
  }
  int const rank = XGCommunicatorGetRank();
  if (current != nullptr && current->workers_ == workers && current->rank_ == rank) return current;
  // A data set may outlive its group. It names the group by its address, so groups are kept and no address comes twice.
  static std::mutex mutex;
  static auto* const kGroups = new std::vector<std::unique_ptr<ProcessGroup>>;
  std::lock_guard<std::mutex> const lock{mutex};
  kGroups->push_back(std::unique_ptr<ProcessGroup>{new ProcessGroup{rank, workers}});
  return current = kGroups->back().get();
}

bool ProcessGroup::HasEntered() { return CallState::OfThisThread().has_entered_group; }

void ProcessGroup::Enter(std::chrono::seconds limit, std::function<void()> const& enter) {
  Leaves();
  auto const sockets = kHasRabit ? OpenSockets() : std::nullopt;
  NoBrokenPipes const no_broken_pipes;  // newer communicators write from a thread that they start now
  enter();
  CallState::OfThisThread().has_entered_group = true;
  if (sockets) Watch(*sockets, limit);
}

bool ProcessGroup::Leaves() {
  CallState& state = CallState::OfThisThread();
  ProcessGroup* const group = std::exchange(state.group, nullptr);
  state.has_entered_group = false;
  state.link_watch.reset();
  if (group == nullptr) return false;
  ForgetDevices(group);
  for (auto const& some : group->some_) ForgetDevices(some.get());
  return !group->failure_.empty();
}

void ProcessGroup::Watch(std::vector<ino_t> const& sockets, std::chrono::seconds limit) noexcept {
  try {
    CallState::OfThisThread().link_watch = std::make_shared<LinkWatch>(sockets, limit);
  } catch (std::exception const&) {  // no memory, no thread: the group works as well, but no thread ends a stalled call
  }
}

void ProcessGroup::CheckMaySpeak() const {
  if (!failure_.empty()) throw ShardsLost{failure_};
  if (thread_ != std::this_thread::get_id()) {
    Throw<Error>("A thread that is not the one that entered the process group trains for it; allowed: that one");
  }
  if (CallState::OfThisThread().group != this) {
    Throw<Error>("A training of a process group goes on after the group has ended; allowed: to begin a new training");
  }
}

void ProcessGroup::Lose(std::string const& why) {
  failure_ =
      "worker " + std::to_string(rank_) + " of " + std::to_string(workers_) +
      " does not reach the others any more. Either one of them has left or died; a worker that trains fewer "
      "rounds leaves early. Or one was silent for " +
      kTimeLimit +
      " seconds; a worker with a stock tree_method, with another kind of matrix or with a metric of its own waits "
      "for other messages. " +
      why;
  throw ShardsLost{failure_};
}

void ProcessGroup::Combine(Span<Span<std::int64_t> const> parts, Reduction reduction) {
  CheckMaySpeak();
  NoBrokenPipes const no_broken_pipes;
  std::size_t left = 0;
  for (Span<std::int64_t> const part : parts) left += part.size();
  // Two positions walk through the parts: the next number to send, and the place of the next result.
  std::size_t from = 0, from_at = 0, to = 0, to_at = 0;
  auto const walk = [&](std::size_t n, std::size_t* part, std::size_t* at, auto&& copy) {
    for (std::size_t done = 0; done < n;) {
      std::size_t const here = std::min(n - done, parts[*part].size() - *at);
      copy(parts[*part].data() + *at, done, here);
      done += here;
      *at += here;
      if (*at == parts[*part].size()) {
        ++*part;
        *at = 0;
      }
    }
  };
  while (left > 0) {
    std::size_t const n = std::min(left, kMostReduced - 2);
    piece_.resize(n + 2);
    walk(n, &from, &from_at, [&](std::int64_t* values, std::size_t done, std::size_t here) {
      std::copy_n(values, here, piece_.data() + done);
    });
    std::int64_t const mark = MarkOf(n, reduction);
    piece_[n] = mark;
    piece_[n + 1] = -mark;
    int result;
    {
      LinkWatch::Call const call{CallState::OfThisThread().link_watch.get()};
      result = AllReduce(piece_.data(), n + 2, reduction);
    }
    if (result != 0) Lose("XGBoost's communicator says: " + WhatXgboostSays());
    std::int64_t const expected = reduction == Reduction::kSum ? mark * workers_ : mark;
    if (piece_[n] != expected || piece_[n + 1] != -expected) Lose("A message that came is not one of gpu_hist's.");
    walk(n, &to, &to_at, [&](std::int64_t* values, std::size_t done, std::size_t here) {
      std::copy_n(piece_.data() + done, here, values);
    });
    left -= n;
  }
}

void ProcessGroup::Sum(Span<Span<std::int64_t> const> parts) { Combine(parts, Reduction::kSum); }

void ProcessGroup::Max(Span<std::int64_t> values) { Combine({&values, 1}, Reduction::kMax); }

std::vector<std::vector<std::uint32_t>> ProcessGroup::Gather(Span<std::uint32_t const> own) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(workers_));
  sizes[static_cast<std::size_t>(rank_)] = static_cast<std::int64_t>(own.size());
  Sum(Span<std::int64_t>{sizes});
  std::vector<std::vector<std::uint32_t>> all(sizes.size());
  std::size_t words = 0, at = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (static_cast<int>(rank) == rank_) at = words;
    all[rank].resize(static_cast<std::size_t>(sizes[rank]));
    words += all[rank].size();
  }
  // A sum in which all others have zeros, and not broadcasts: a worker hears from the others before it sends again. TCP
  // holds back the second of two small messages until the first is acknowledged, which takes 40 ms.
  std::vector<std::int64_t> pairs((words + 1) / 2);
  auto const place = [](std::size_t word) { return word % 2 == 0 ? 0 : 32; };
  for (std::uint32_t const word : own) {
    std::int64_t& pair = pairs[at / 2];
    pair = static_cast<std::int64_t>(static_cast<std::uint64_t>(pair) | std::uint64_t{word} << place(at));
    ++at;
  }
  Sum(Span<std::int64_t>{pairs});
  at = 0;
  for (auto& list : all) {
    for (std::uint32_t& word : list) {
      word = static_cast<std::uint32_t>(static_cast<std::uint64_t>(pairs[at / 2]) >> place(at));
      ++at;
    }
  }
  return all;
}

SomeShards* ProcessGroup::Some(std::vector<int> const& workers) {
  for (auto const& some : some_) {
    if (some->members() == workers) return some.get();
  }
  some_.push_back(std::make_unique<SomeShards>(this, workers));
  return some_.back().get();
}

void OutsideProcessGroup(std::function<void()> const& work) {
  if (XGCommunicatorGetWorldSize() <= 1) {
    work();
    return;
  }
  std::exception_ptr failure;
  using Logger = xgboost::ConsoleLogger;
  auto const verbosity = std::to_string(static_cast<int>(Logger::GlobalVerbosity()));
  std::thread{[&] {
    try {
      Logger::Configure({{"verbosity", verbosity}});
      work();
    } catch (...) {  // of any type: it is thrown again, unchanged
      failure = std::current_exception();
    }
  }}.join();
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace xgbgpu::plugin
