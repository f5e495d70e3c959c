// How processes meet through NCCL, wait for each other and part, with an NCCL that is none. No device is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "collective/in_process.h"
#include "collective/nccl_communicator_cuda.h"
#include "xgbgpu/error.h"

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

namespace xgbgpu::cuda {
namespace {

#if __has_include(<nccl.h>)
static_assert(static_cast<int>(ncclSuccess) == kNcclSuccess && static_cast<int>(ncclRemoteError) == kNcclRemoteError);
static_assert(static_cast<int>(ncclSystemError) == kNcclSystemError);
static_assert(static_cast<int>(ncclInProgress) == kNcclInProgress);
static_assert(static_cast<int>(ncclInt32) == kNcclInt32 && static_cast<int>(ncclInt64) == kNcclInt64);
static_assert(static_cast<int>(ncclSum) == kNcclSum);
static_assert(sizeof(ncclUniqueId) == sizeof(NcclUniqueId) && sizeof(ncclConfig_t) >= sizeof(NcclConfig));
static_assert(offsetof(ncclConfig_t, magic) == offsetof(NcclConfig, magic));
static_assert(offsetof(ncclConfig_t, version) == offsetof(NcclConfig, version));
static_assert(offsetof(ncclConfig_t, blocking) == offsetof(NcclConfig, blocking));
#endif

using Clock = std::chrono::steady_clock;

constexpr int kRanks = 3;
constexpr int kExchanges = 3;

/// An NCCL among threads of this process. Each rank is a thread; what its device would do, it does itself.
struct FakeNccl {
  struct Comm {
    int rank;
    NcclUniqueId id;
    int steps{0};         ///< number of meetings of all ranks that this one has begun
    Comm* part{nullptr};  ///< made by a split, or in progress
    bool made{false};     ///< a split has ended
  };
  struct Exchange {
    int came{0};
    std::vector<std::int64_t> sums;
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::map<Comm*, std::unique_ptr<Comm>> comms;
  std::map<std::string, int> met;    ///< of each id
  std::map<std::string, bool> gone;  ///< somebody of this id has aborted, and others see that
  std::map<std::string, std::map<int, Exchange>> exchanges;
  std::map<std::string, std::map<int, int>> next;  ///< exchange of each rank
  std::map<int, std::vector<std::string>> calls;   ///< of each rank, but for CommGetAsyncError
  std::map<int, int> all_calls;
  int ids{0};
  int failing_rank{-1}, failing_call{-1};
  std::string failed;      ///< name of that call; empty: it has not been made
  bool has_network{true};  ///< an abort is an error of the others
  bool aborts_hang{false};
  int stuck_rank{-1};         ///< its exchanges return after an abort
  bool returns_early{false};  ///< exchanges return before their end, as with NCCL_COMM_BLOCKING=0

  static FakeNccl* now;

  /// Notes a call. Returns whether it fails. With the mutex.
  bool Fails(int rank, char const* name, bool is_poll = false) {
    if (!is_poll) calls[rank].push_back(name);
    if (all_calls[rank]++ != failing_call || rank != failing_rank) return false;
    failed = name;
    return true;
  }
  static std::string Key(NcclUniqueId const& id) { return id.bytes; }
  static std::string PartOf(std::string const& key) { return "part of " + key; }
  static Comm* Of(NcclComm comm) { return reinterpret_cast<Comm*>(comm); }

  static NcclResult GetVersion(int* version) {
    *version = 22809;
    return kNcclSuccess;
  }
  static NcclResult GetUniqueId(NcclUniqueId* id) {
    std::lock_guard<std::mutex> const lock{now->mutex};
    if (now->Fails(0, "GetUniqueId")) return kNcclSystemError;
    std::string const text = "id " + std::to_string(++now->ids);
    std::copy_n(text.c_str(), text.size() + 1, id->bytes);
    return kNcclSuccess;
  }
  static NcclResult CommInitRankConfig(NcclComm* comm, int ranks, NcclUniqueId id, int rank, NcclConfig* config) {
    std::lock_guard<std::mutex> const lock{now->mutex};
    EXPECT_EQ(config->blocking, 0);
    EXPECT_EQ(ranks, kRanks);
    *comm = now->Make(rank, id);
    if (now->Fails(rank, "CommInitRankConfig")) return kNcclSystemError;
    return Step(*comm);
  }
  static NcclResult CommSplit(NcclComm comm, int color, int key, NcclComm* part, NcclConfig* config) {
    std::lock_guard<std::mutex> const lock{now->mutex};
    EXPECT_EQ(config->blocking, 1);
    EXPECT_EQ(color, 0);
    EXPECT_EQ(key, Of(comm)->rank);
    if (now->Fails(key, "CommSplit")) return kNcclSystemError;
    NcclUniqueId id{};
    std::string const text = PartOf(Key(Of(comm)->id));
    std::copy_n(text.c_str(), text.size() + 1, id.bytes);
    *part = now->Make(key, id);
    Of(comm)->part = Of(*part);
    Step(comm);
    return kNcclSuccess;  // as NCCL, whose other calls that do not block say that they are in progress
  }
  /// Calls follow with the mutex.
  NcclComm Make(int rank, NcclUniqueId const& id) {
    auto made = std::make_unique<Comm>(Comm{rank, id});
    auto* const comm = made.get();
    comms[comm] = std::move(made);
    return reinterpret_cast<NcclComm>(comm);
  }
  static NcclResult Step(NcclComm comm) {
    ++Of(comm)->steps;
    ++now->met[Key(Of(comm)->id)];
    return kNcclInProgress;
  }
  static NcclResult CommGetAsyncError(NcclComm comm, NcclResult* error) {
    std::lock_guard<std::mutex> const lock{now->mutex};
    EXPECT_EQ(now->comms.count(Of(comm)), 1U) << "a communicator that is gone";
    if (now->comms.count(Of(comm)) == 0) return kNcclInvalidArgument;
    if (now->Fails(Of(comm)->rank, "CommGetAsyncError", true)) return kNcclSystemError;
    std::string const key = Key(Of(comm)->id);
    *error = now->has_network && now->gone[key]         ? kNcclRemoteError
             : now->met[key] < kRanks * Of(comm)->steps ? kNcclInProgress
                                                        : kNcclSuccess;
    if (*error == kNcclSuccess && Of(comm)->part != nullptr) Of(comm)->part->made = true;
    return kNcclSuccess;
  }
  static NcclResult Begin(NcclComm comm, char const* name, std::int64_t const* from, std::size_t n) {
    std::unique_lock<std::mutex> lock{now->mutex};
    EXPECT_EQ(now->comms.count(Of(comm)), 1U) << "a communicator that is gone";
    if (now->Fails(Of(comm)->rank, name)) return kNcclSystemError;
    std::string const key = Key(Of(comm)->id);
    EXPECT_TRUE(Of(comm)->made) << "a split that is in progress";
    if (Of(comm)->rank == now->stuck_rank) {
      now->changed.wait(lock, [&] { return now->gone[key]; });
      return kNcclRemoteError;
    }
    Exchange& exchange = now->exchanges[key][now->next[key][Of(comm)->rank]++];
    exchange.sums.resize(n);
    for (std::size_t i = 0; i < n; ++i) exchange.sums[i] += from[i];
    ++exchange.came;
    now->changed.notify_all();
    return now->returns_early ? kNcclInProgress : kNcclSuccess;
  }
  static NcclResult AllReduce(void const* from, void*, std::size_t n, int type, int operation, NcclComm comm,
                              cudaStream_t) {
    EXPECT_EQ(type, kNcclInt64);
    EXPECT_EQ(operation, kNcclSum);
    return Begin(comm, "AllReduce", static_cast<std::int64_t const*>(from), n);
  }
  static NcclResult ReduceScatter(void const*, void*, std::size_t, int, int, NcclComm, cudaStream_t) {
    ADD_FAILURE() << "no test here shares sums out";
    return kNcclInvalidUsage;
  }
  static NcclResult AllGather(void const* from, void*, std::size_t n, int type, NcclComm comm, cudaStream_t) {
    EXPECT_EQ(type, kNcclInt64);
    return Begin(comm, "AllGather", static_cast<std::int64_t const*>(from), n);
  }
  static NcclResult CommFinalize(NcclComm comm) {
    std::lock_guard<std::mutex> const lock{now->mutex};
    return now->Fails(Of(comm)->rank, "CommFinalize") ? kNcclSystemError : kNcclSuccess;
  }
  static NcclResult CommDestroy(NcclComm comm) {
    std::lock_guard<std::mutex> const lock{now->mutex};
    bool const fails = now->Fails(Of(comm)->rank, "CommDestroy");
    now->comms.erase(Of(comm));
    return fails ? kNcclSystemError : kNcclSuccess;
  }
  static NcclResult CommAbort(NcclComm comm) {
    std::unique_lock<std::mutex> lock{now->mutex};
    EXPECT_EQ(now->comms.count(Of(comm)), 1U) << "a communicator that is gone";
    bool const fails = now->Fails(Of(comm)->rank, "CommAbort");
    now->gone[Key(Of(comm)->id)] = true;
    now->changed.wait(lock, [] { return !now->aborts_hang; });
    now->comms.erase(Of(comm));
    now->changed.notify_all();
    return fails ? kNcclSystemError : kNcclSuccess;
  }
  static char const* GetErrorString(NcclResult result) {
    return result == kNcclRemoteError ? "remote error" : "system error";
  }
  static char const* GetLastError(NcclComm) { return ""; }

  static NcclLibrary Library() {
    return {{GetVersion, GetUniqueId, CommInitRankConfig, CommSplit, AllReduce, ReduceScatter, AllGather,
             CommGetAsyncError, CommFinalize, CommDestroy, CommAbort, GetErrorString, GetLastError},
            22809,
            "fake"};
  }
};
FakeNccl* FakeNccl::now = nullptr;

/// Nobody comes late here: failures are told, and a busy machine is slow.
constexpr NcclPatience kPatient{2, 20, 5};

class NcclTest : public ::testing::Test {
 protected:
  NcclTest() { FakeNccl::now = &nccl; }
  ~NcclTest() override { EXPECT_TRUE(nccl.comms.empty()) << "communicators that were neither destroyed nor aborted"; }

  /// One rank.
  struct Rank {
    Rank(Collective* group, NcclPatience const& patience, NcclLibrary const& library = FakeNccl::Library())
        : words{std::make_shared<NcclWords>()},
          communicator{library, group, "GPU-" + std::to_string(group->shard()), words, patience} {}

    /// Enqueues a sum, and does what its device would do. Returns the sum of 1 over the ranks.
    std::int64_t Sum() {
      std::int64_t const one = 1;
      std::int64_t sum = 0;
      std::uint32_t const number = communicator.AllReduce(&one, &sum, 1, kNcclInt64, nullptr);
      for (;;) {
        if (__atomic_load_n(&words->lost, __ATOMIC_ACQUIRE) != 0) break;
        std::this_thread::sleep_for(std::chrono::microseconds{100});
        std::lock_guard<std::mutex> const lock{FakeNccl::now->mutex};
        auto const& exchange =
            FakeNccl::now
                ->exchanges[FakeNccl::PartOf("id " + std::to_string(FakeNccl::now->ids))][static_cast<int>(number) - 1];
        if (exchange.came < kRanks) continue;
        sum = exchange.sums[0];
        __atomic_store_n(&words->finished, number, __ATOMIC_RELEASE);
        break;
      }
      communicator.Check();
      return sum;
    }

    std::shared_ptr<NcclWords> words;
    NcclCommunicator communicator;
  };

  /// All ranks meet, exchange and part. Returns what each that failed said; empty where all went well.
  std::map<int, std::string> Train(NcclPatience const& patience = kPatient) {
    std::map<int, std::string> said;
    std::mutex mutex;
    RunShards(kRanks, [&](Collective& group) {
      try {
        Rank rank{&group, patience};
        for (int i = 0; i < kExchanges; ++i) EXPECT_EQ(rank.Sum(), kRanks);
      } catch (Error const& error) {
        std::lock_guard<std::mutex> const lock{mutex};
        said[group.shard()] = error.what();
      }
    });
    return said;
  }

  FakeNccl nccl;
};

TEST_F(NcclTest, RanksMeetExchangeAndPart) {
  EXPECT_TRUE(Train().empty());
  std::vector<std::string> const rest{"CommInitRankConfig", "CommSplit", "CommFinalize", "CommDestroy", "AllReduce",
                                      "AllReduce",          "AllReduce", "CommFinalize", "CommDestroy"};
  std::vector<std::string> first{"GetUniqueId"};
  first.insert(first.end(), rest.begin(), rest.end());
  EXPECT_EQ(nccl.calls[0], first);
  EXPECT_EQ(nccl.calls[1], rest);
  EXPECT_EQ(nccl.calls[2], rest);
}

/// An exchange whose call does not return is given up after a time limit: an abort of another thread ends it.
TEST_F(NcclTest, ACallThatIsStuckIsEndedByAnAbort) {
  nccl.stuck_rank = 1;
  auto const begin = Clock::now();
  RunShards(kRanks, [&](Collective& group) {
    Rank rank{&group, {2, 0.3, 5}};
    EXPECT_THROW(rank.Sum(), ShardsLost);
  });
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds{300});
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds{10});
}

TEST_F(NcclTest, CallsThatReturnBeforeTheirEndAreWaitedFor) {
  nccl.returns_early = true;
  EXPECT_TRUE(Train().empty());
}

/// Whatever call of whatever rank fails: if it is one before the end, all get an error in time, and no communicator is
/// left. Then all train again.
TEST_F(NcclTest, EveryCallMayFail) {
  for (bool const network : {true, false}) {
    for (int rank = 0; rank < 2; ++rank) {
      int failures = 0;
      for (int call = 0;; ++call) {
        nccl.has_network = network;
        nccl.all_calls.clear();
        nccl.calls.clear();
        nccl.failed.clear();
        nccl.failing_rank = rank;
        nccl.failing_call = call;
        auto const begin = Clock::now();
        auto const said = Train();
        std::string const where = "rank " + std::to_string(rank) + ", call " + std::to_string(call);
        EXPECT_LT(Clock::now() - begin, std::chrono::seconds{10}) << where;
        EXPECT_TRUE(nccl.comms.empty()) << where;
        // An exchange that is not made fails everywhere, and a communicator is not needed after its end. A look that
        // fails may come when others have all they need.
        bool const needed = !nccl.failed.empty() && nccl.failed != "CommFinalize" && nccl.failed != "CommDestroy";
        if (nccl.failed != "CommGetAsyncError") {
          EXPECT_EQ(said.size(), needed ? kRanks : 0U) << where << ", " << nccl.failed;
        }
        if (!said.empty()) ++failures;
        bool const reached = !nccl.failed.empty();
        nccl.failing_rank = -1;
        auto const again = Train();
        EXPECT_TRUE(again.empty()) << "after " << where << ": " << again.begin()->second;
        if (!reached) break;
      }
      EXPECT_GE(failures, 5);
    }
  }
}

TEST_F(NcclTest, TwoRanksOnOneGpuAreRefusedBeforeNcclIsAsked) {
  RunShards(kRanks, [&](Collective& group) {
    std::string const gpu = group.shard() == 1 ? "GPU-0" : "GPU-" + std::to_string(group.shard());
    try {
      NcclCommunicator const communicator{FakeNccl::Library(), &group, gpu, std::make_shared<NcclWords>(), kPatient};
      ADD_FAILURE() << "no error";
    } catch (Unsupported const& error) {
      EXPECT_STREQ(error.what(), "shards 0 and 1 would train on the same GPU, 'GPU-0', and NCCL needs a GPU for each");
    }
  });
  EXPECT_TRUE(nccl.calls.empty());
}

TEST_F(NcclTest, VersionsThatDifferAreNamed) {
  RunShards(kRanks, [&](Collective& group) {
    NcclLibrary library = FakeNccl::Library();
    if (group.shard() == 2) library.version = 21805;
    try {
      Rank const rank{&group, kPatient, library};
      ADD_FAILURE() << "no error";
    } catch (InvalidArgument const& error) {
      EXPECT_STREQ(error.what(),
                   "Not all have the same version of NCCL: it is '2.28.9' on shard 0 and '2.18.5' on shard 2; allowed: "
                   "the same on all of 3");
    }
  });
}

TEST_F(NcclTest, ARankThatDoesNotComeIsWaitedForSoLongAndNotLonger) {
  RunShards(kRanks, [&](Collective& group) {
    Rank rank{&group, {2, 0.3, 5}};
    EXPECT_EQ(rank.Sum(), kRanks);
    group.AnyOf(false);  // all begin to wait now
    auto const begin = Clock::now();
    if (group.shard() == 1) {
      group.AnyOf(false);
      return;
    }
    try {
      rank.Sum();
      ADD_FAILURE() << "no error";
    } catch (ShardsLost const& error) {
      std::string const text = error.what();
      EXPECT_TRUE(text.find("0.3 seconds") != std::string::npos || text.find("remote error") != std::string::npos ||
                  text.find("a worker of this host has failed") != std::string::npos)
          << text;
    }
    EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds{150}) << "one of them may begin a little later";
    EXPECT_TRUE(rank.communicator.failed());
    EXPECT_THROW(rank.Sum(), ShardsLost);
    group.AnyOf(false);
  });
}

TEST_F(NcclTest, ARankThatStopsStopsTheOthersAtOnce) {
  for (bool const network : {true, false}) {
    nccl.has_network = network;
    RunShards(kRanks, [&](Collective& group) {
      Rank rank{&group, {2, 600, 2}};
      EXPECT_EQ(rank.Sum(), kRanks);
      group.AnyOf(false);
      if (group.shard() == 1) rank.communicator.Abort();
      EXPECT_THROW(rank.Sum(), ShardsLost);
    });
  }
}

TEST_F(NcclTest, AGroupThatHasEndedHasNoNccl) {
  RunShards(kRanks, [&](Collective& group) {
    Rank rank{&group, kPatient};
    EXPECT_EQ(rank.Sum(), kRanks);
    rank.communicator.End();
    {
      std::lock_guard<std::mutex> const lock{nccl.mutex};
      EXPECT_EQ(nccl.calls[group.shard()].back(), "CommDestroy");
    }
    EXPECT_THROW(rank.Sum(), ShardsLost);
  });
}

TEST_F(NcclTest, AnAbortThatHangsHoldsNobodyUp) {
  nccl.aborts_hang = true;
  auto const begin = Clock::now();
  RunShards(kRanks, [&](Collective& group) {
    Rank rank{&group, {2, 600, 0.2}};
    rank.communicator.Abort();
    EXPECT_THROW(rank.Sum(), ShardsLost);
  });
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds{5});
  std::unique_lock<std::mutex> lock{nccl.mutex};
  nccl.aborts_hang = false;
  nccl.changed.notify_all();
  EXPECT_TRUE(nccl.changed.wait_for(lock, std::chrono::seconds{5}, [&] { return nccl.comms.empty(); }));
}

/// Sets an environment variable while it lives.
class Environment {
 public:
  Environment(char const* name, char const* value) : name_{name} { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }

 private:
  char const* name_;
};

std::string WhyNotLoaded() {
  try {
    LoadNccl();
  } catch (Unsupported const& error) {
    return error.what();
  }
  return "it was loaded";
}

TEST(NcclLibraryTest, ErrorsSayWhatWasTriedAndWhatToInstall) {
  {
    Environment const file{"XGBGPU_NCCL", "/nowhere/libnccl.so.2"};
    std::string const text = WhyNotLoaded();
    EXPECT_NE(text.find("XGBGPU_NCCL names"), std::string::npos) << text;
    EXPECT_NE(text.find("/nowhere/libnccl.so.2"), std::string::npos) << text;
    for (char const* name : {"libnccl2", "nvidia-nccl-cu13", "nvidia-nccl-cu12"}) {
      EXPECT_NE(text.find(name), std::string::npos) << text;
    }
  }
  Environment const file{"XGBGPU_NCCL", "libm.so.6"};
  EXPECT_NE(WhyNotLoaded().find("no function ncclGetVersion"), std::string::npos) << WhyNotLoaded();
}

}  // namespace
}  // namespace xgbgpu::cuda
