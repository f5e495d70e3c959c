// Makes, watches and ends a communicator of NCCL.
#include "collective/nccl_communicator_cuda.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/message.h"
#include "base/quoted.h"
#include "collective/host_word.h"
#include "core/wait.h"
#include "xgbgpu/error.h"

namespace xgbgpu::cuda {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::microseconds{500};  ///< between two polls of a call that does not block
constexpr auto kStuck = std::chrono::seconds{1};         ///< longer than a call takes
constexpr auto kLook = std::chrono::milliseconds{5};     ///< between two polls of exchanges in progress

Clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>{seconds});
}

/// Returns a text like "0.5 seconds".
std::string SecondsText(double seconds) {
  std::ostringstream text;
  AppendTo(&text, seconds);
  return text.str() + " seconds";
}

std::uint32_t Read(std::uint32_t const& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }

/// Throws if two processes have the same device. Messages use Collective::kind, the users' word for a process.
void CheckOwnDevices(Collective* group, std::string const& gpu) {
  std::vector<std::uint32_t> own;
  for (char const c : gpu) own.push_back(static_cast<unsigned char>(c));
  auto const all = group->Gather(Span<std::uint32_t const>{own});
  for (std::size_t b = 0; b < all.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (all[a] != all[b]) continue;
      std::string const shared{all[a].begin(), all[a].end()};
      Throw<Unsupported>(group->kind(), "s ", a, " and ", b, " would train on the same GPU, ", Quoted(shared),
                         ", and NCCL needs a GPU for each");
    }
  }
}

}  // namespace

struct NcclCommunicator::State {
  State(NcclFunctions const& functions, std::shared_ptr<NcclWords> shared, NcclPatience const& limits)
      : nccl{functions}, words{std::move(shared)}, patience{limits} {}

  NcclFunctions const nccl;
  std::shared_ptr<NcclWords> const words;
  NcclPatience const patience;
  pid_t const process{getpid()};  ///< a forked process has neither the thread nor the GPU
  int devices{0}, device{0};

  std::mutex calls;  ///< one thread at a time makes exchanges, or begins or ends communicators
  // null: not made, or given back. Made before the watch thread starts, which gives `comm` back.
  NcclComm meeting{nullptr};
  NcclComm part{nullptr};  ///< `comm`, while NCCL splits it off `meeting`
  std::atomic<NcclComm> comm{nullptr};

  std::mutex mutex;  ///< guards the members below
  std::condition_variable changed;
  std::string failure;                  ///< whole sentences; empty: no failure
  std::uint32_t begun{0};               ///< number of the last exchange
  std::optional<HostWord> failed_here;  ///< set by a failed process of this host
  bool is_end{false};                   ///< `failure` is the common end of all processes
  bool has_ended{false};                ///< the watch thread has finished its work
  std::thread watch;

  bool Failed() {
    std::lock_guard<std::mutex> const lock{mutex};
    return !failure.empty();
  }
  std::string Failure() {
    std::lock_guard<std::mutex> const lock{mutex};
    return failure;
  }
  /// Ends all exchanges: the watch thread aborts the communicator. Tells the processes of this host, which no network
  /// tells, unless this is the common end of all processes.
  void Fail(std::string const& why, bool ends = false) {
    if (getpid() != process) return;
    std::lock_guard<std::mutex> const lock{mutex};
    if (!failure.empty()) return;
    failure = why;
    is_end = ends;
    if (!ends && failed_here) failed_here->Set();
    __atomic_store_n(&words->lost, 1U, __ATOMIC_RELEASE);
    changed.notify_all();
  }

  /// Fail after a sign that a worker has gone. One event has several signs, and workers notice different ones first.
  void Lose(std::string const& sign) {
    Fail("A worker was lost, or its GPU cannot be reached, so all stop; this is worker " + std::to_string(device) +
         " of " + std::to_string(devices) + " that train on GPUs. " + sign);
  }

  /// Returns NCCL's description of a result, for messages.
  std::string TextOf(NcclResult result) const {
    std::string text = nccl.GetErrorString(result);
    char const* const more = nccl.GetLastError(nullptr);
    if (more != nullptr && *more != '\0') text += std::string{" ("} + more + ")";
    std::replace(text.begin(), text.end(), '\n', ' ');
    return EscapedMessage(text);
  }

  /// Waits for the end of a call of `of`, which returned `result`. Returns the result, or "in progress" after `end`.
  NcclResult Complete(NcclComm of, NcclResult result, Clock::time_point end) {
    while (result == kNcclInProgress && Clock::now() <= end) {
      std::this_thread::sleep_for(kPause);
      NcclResult const asked = nccl.CommGetAsyncError(of, &result);
      if (asked != kNcclSuccess) result = asked;
    }
    return result;
  }
  static Clock::time_point In(double seconds) { return Clock::now() + Seconds(seconds); }

  /// Makes `meeting` and `comm`. Throws DeviceError.
  void Meet(NcclUniqueId const& id) {
    std::lock_guard<std::mutex> const lock{calls};
    NcclConfig polled, blocking;
    blocking.blocking = 1;
    auto const end = In(patience.begin);
    NcclResult result = nccl.CommInitRankConfig(&meeting, devices, id, device, &polled);
    result = Complete(meeting, result, end);
    if (result == kNcclSuccess) {
      result = nccl.CommSplit(meeting, 0, device, &part, &blocking);
      // It returns success before its end.
      result = Complete(meeting, result == kNcclSuccess ? kNcclInProgress : result, end);
    }
    if (result == kNcclSuccess) {
      comm = std::exchange(part, nullptr);
      return;
    }
    std::string const why = result == kNcclInProgress
                                ? "not all workers' GPUs have met within " + SecondsText(patience.begin)
                                : TextOf(result);
    Throw<DeviceError>(
        "NCCL cannot connect the GPUs of the workers: ", why,
        ". The environment variable NCCL_DEBUG=WARN has it say more, NCCL_SOCKET_IFNAME chooses the network");
  }

  /// Gives a communicator back in which nothing is in progress.
  void Leave(NcclComm gone) {
    NcclResult const result = Complete(gone, nccl.CommFinalize(gone), In(patience.end));
    result == kNcclSuccess ? nccl.CommDestroy(gone) : nccl.CommAbort(gone);
  }
  /// Gives `meeting` back, after all processes have made `comm`, and before the first exchange.
  void LeaveMeeting() {
    std::lock_guard<std::mutex> const lock{calls};
    Leave(std::exchange(meeting, nullptr));
  }

  /// Ends the kernels of NCCL and gives the communicators back. A call of another thread that is stuck gets a second to
  /// end. Then the abort is to end it: the last resort, since NCCL frees what such a call may look at once more.
  void GiveUp() {
    std::unique_lock<std::mutex> lock{calls, std::try_to_lock};
    auto const begin = Clock::now();
    while (!lock.owns_lock() && Clock::now() - begin < kStuck) {
      std::this_thread::sleep_for(kPause);
      if (lock.try_lock()) break;
    }
    NcclComm const whole = comm.exchange(nullptr), met = std::exchange(meeting, nullptr);
    if (lock.owns_lock()) lock.unlock();
    if (whole != nullptr) nccl.CommAbort(whole);
    if (met != nullptr) nccl.CommAbort(met);
    NcclComm const half = std::exchange(part, nullptr);  // NCCL has used it until now
    if (half != nullptr) nccl.CommAbort(half);
  }

  /// Gives `comm` back at the common end.
  void Part() {
    std::lock_guard<std::mutex> const lock{calls};
    Leave(comm.exchange(nullptr));
  }

  /// Returns the error that NCCL reports, or success.
  NcclResult Look() {
    std::unique_lock<std::mutex> const lock{calls, std::try_to_lock};
    NcclResult result = kNcclSuccess;
    if (!lock.owns_lock()) return result;  // another thread calls NCCL now
    NcclResult const asked = nccl.CommGetAsyncError(comm, &result);
    return asked != kNcclSuccess ? asked : result;
  }

  /// Starts the watch thread. Throws DeviceError.
  void StartWatch(std::shared_ptr<State> const& self, std::function<void()> const& enter) {
    try {
      watch = std::thread{[self, enter] {
        if (enter) enter();
        self->Watch();
      }};
    } catch (std::system_error const& error) {
      Throw<DeviceError>("The thread that watches NCCL cannot be started: ", error.what());
    }
  }
  /// Watches exchanges until a failure or the end, then gives the communicator back.
  void Watch() {
    std::unique_lock<std::mutex> lock{mutex};
    while (failure.empty()) {
      Wait(&changed, &lock, [&] { return !failure.empty() || begun != Read(words->finished); });
      std::uint32_t seen = Read(words->finished);
      auto since = Clock::now();
      while (failure.empty() && begun != Read(words->finished)) {
        lock.unlock();
        NcclResult const result = Look();
        std::uint32_t const finished = Read(words->finished);
        if (finished != seen) since = Clock::now();
        seen = finished;
        if (result != kNcclSuccess && result != kNcclInProgress) {
          Lose("NCCL says: " + TextOf(result));
        } else if (failed_here->IsSet()) {
          Lose("A worker of this host has failed");
        } else if (Clock::now() - since > Seconds(patience.exchange)) {
          Lose("Nothing was heard for " + SecondsText(patience.exchange));
        }
        lock.lock();
        changed.wait_for(lock, kLook, [&] { return !failure.empty(); });
      }
    }
    bool const ends = is_end && begun == Read(words->finished);
    lock.unlock();
    ends ? Part() : GiveUp();
    lock.lock();
    has_ended = true;
    changed.notify_all();
  }

  template <typename Call>
  std::uint32_t Exchange(Call&& call) {
    Check();
    std::uint32_t number = 0;
    {
      std::lock_guard<std::mutex> const lock{mutex};
      number = ++begun;
      changed.notify_all();
    }
    NcclResult result = kNcclSuccess;
    {
      std::lock_guard<std::mutex> const lock{calls};
      NcclComm const own = comm;
      // NCCL_COMM_BLOCKING=0 makes calls of all communicators return before their end.
      if (own != nullptr && !Failed()) result = Complete(own, call(own), In(patience.exchange));
    }
    if (result == kNcclInvalidArgument || result == kNcclInvalidUsage) {
      Fail("NCCL has refused a call, so all stop. It says: " + TextOf(result));
    } else if (result != kNcclSuccess) {
      Lose("NCCL says: " + TextOf(result));
    }
    Check();
    return number;
  }

  void Check() {
    std::string const why = Failure();
    if (!why.empty()) throw ShardsLost{why};
  }
};

NcclCommunicator::NcclCommunicator(NcclLibrary const& library, Collective* group, std::string const& gpu,
                                   std::shared_ptr<NcclWords> words, NcclPatience const& patience,
                                   std::function<void()> enter)
    : state_{std::make_shared<State>(library.functions, std::move(words), patience)} {
  State& state = *state_;
  state.devices = group->shards();
  state.device = group->shard();
  CheckOwnDevices(group, gpu);
  NcclUniqueId id{};
  Agree(*group, {{"version of NCCL", library.VersionText()}}, [&] {
    if (state.device != 0) return;
    NcclResult const result = state.nccl.GetUniqueId(&id);
    if (result != kNcclSuccess) Throw<DeviceError>("NCCL cannot begin: ", state.TextOf(result));
  });
  std::array<std::uint32_t, sizeof(id) / sizeof(std::uint32_t)> parts{};
  std::memcpy(parts.data(), &id, sizeof(id));
  auto const all = group->Gather(Span<std::uint32_t const>{parts.data(), state.device == 0 ? parts.size() : 0});
  std::memcpy(&id, all[0].data(), sizeof(id));
  try {
    AllOrNone(*group, [&] {
      try {
        state.Meet(id);
        state.failed_here.emplace("xgbgpu-" + std::to_string(HashText({id.bytes, sizeof(id.bytes)})));
        state.StartWatch(state_, enter);
      } catch (Error const&) {
        state.GiveUp();  // first, because other processes may still wait for this one
        throw;
      }
    });
  } catch (...) {
    if (state.failed_here) state.failed_here->CloseName();
    state.Fail("Not all workers' GPUs have met");
    state.watch.joinable() ? End() : state.GiveUp();
    throw;
  }
  state.failed_here->CloseName();
  state.LeaveMeeting();
}

void NcclCommunicator::End() noexcept {
  State& state = *state_;
  if (!state.watch.joinable()) return;
  if (getpid() != state.process) {
    state.watch.detach();
    new std::shared_ptr<State>{state_};  // never freed: a thread may have held its locks when the process forked
    return;
  }
  state.Fail("The process group has ended, so its GPUs train no more; allowed: to begin a new training", true);
  std::unique_lock<std::mutex> lock{state.mutex};
  bool const ended = state.changed.wait_for(lock, Seconds(state.patience.end), [&] { return state.has_ended; });
  lock.unlock();
  // The end, or an abort, may not return. The thread keeps its state.
  ended ? state.watch.join() : state.watch.detach();
}

int NcclCommunicator::devices() const { return state_->devices; }
int NcclCommunicator::device() const { return state_->device; }

std::uint32_t NcclCommunicator::AllReduce(void const* from, void* to, std::uint64_t n, int type, cudaStream_t stream) {
  return state_->Exchange(
      [&](NcclComm comm) { return state_->nccl.AllReduce(from, to, n, type, kNcclSum, comm, stream); });
}

std::uint32_t NcclCommunicator::ReduceScatter(void const* from, void* to, std::uint64_t own, int type,
                                              cudaStream_t stream) {
  return state_->Exchange(
      [&](NcclComm comm) { return state_->nccl.ReduceScatter(from, to, own, type, kNcclSum, comm, stream); });
}

std::uint32_t NcclCommunicator::AllGather(std::int64_t const* from, std::int64_t* to, std::uint64_t n,
                                          cudaStream_t stream) {
  return state_->Exchange([&](NcclComm comm) { return state_->nccl.AllGather(from, to, n, kNcclInt64, comm, stream); });
}

void NcclCommunicator::Abort() noexcept {
  state_->Fail("This worker's part of a training has failed, so its GPU takes part in nothing more");
}
bool NcclCommunicator::failed() const { return state_->Failed(); }
void NcclCommunicator::Check() const { state_->Check(); }

}  // namespace xgbgpu::cuda
