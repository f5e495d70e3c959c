// Sums by NCCL over two GPUs: those of integers on the host, and whole trees are the host's, bit for bit. NCCL needs a
// GPU for each process; here they are threads. On one GPU the host stands in for NCCL where the test is not NCCL's.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "collective/in_process.h"
#include "collective/nccl_devices_cuda.h"
#include "cuda/device.h"
#include "matrix/shards_cuda.h"
#include "support/grow.h"
#include "trees_cuda/cuda_tree_builder.h"
#include "trees_cuda/equality_case.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/process_devices.h"

namespace xgbgpu::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kShards = 2;
constexpr int kThreads = 4;
constexpr cuda::NcclPatience kPatience{60, 20, 10};

/// What NCCL does for threads of this process, done by the host.
struct HostNccl {
  struct Comm {
    int ranks, rank;
  };
  static inline std::mutex mutex;
  static inline std::condition_variable changed;
  static inline std::vector<std::vector<std::uint8_t>> brought;
  static inline int came{0}, took{0};

  static Comm* Of(cuda::NcclComm comm) { return reinterpret_cast<Comm*>(comm); }

  /// Returns what all ranks bring to one exchange.
  static std::vector<std::vector<std::uint8_t>> Exchange(Comm const& comm, void const* from, std::size_t bytes,
                                                         cudaStream_t stream) {
    std::vector<std::uint8_t> own(bytes);
    cudaMemcpyAsync(own.data(), from, bytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    std::unique_lock<std::mutex> lock{mutex};
    changed.wait(lock, [&] { return took == 0; });  // the exchange before is over
    brought.resize(static_cast<std::size_t>(comm.ranks));
    brought[static_cast<std::size_t>(comm.rank)] = std::move(own);
    ++came;
    changed.notify_all();
    changed.wait(lock, [&] { return came == comm.ranks; });
    auto all = brought;
    if (++took == comm.ranks) came = took = 0;
    changed.notify_all();
    return all;
  }
  /// Writes sums of elements first … first + n - 1. Unsigned sums wrap around.
  template <typename T>
  static void AddUp(std::vector<std::vector<std::uint8_t>> const& all, void* to, std::size_t first, std::size_t n,
                    cudaStream_t stream) {
    std::vector<T> sums(n);
    for (auto const& own : all) {
      for (std::size_t i = 0; i < n; ++i) {
        T value;
        std::memcpy(&value, own.data() + (first + i) * sizeof(T), sizeof(T));
        sums[i] += value;
      }
    }
    cudaMemcpyAsync(to, sums.data(), n * sizeof(T), cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
  }
  static cuda::NcclResult Reduce(Comm const& comm, void const* from, void* to, std::size_t all_n, std::size_t first,
                                 std::size_t n, int type, cudaStream_t stream) {
    bool const half = type == cuda::kNcclInt32;
    auto const all = Exchange(comm, from, all_n * (half ? sizeof(std::int32_t) : sizeof(std::int64_t)), stream);
    half ? AddUp<std::uint32_t>(all, to, first, n, stream) : AddUp<std::uint64_t>(all, to, first, n, stream);
    return cuda::kNcclSuccess;
  }

  static cuda::NcclLibrary Library() {
    cuda::NcclLibrary library{};
    library.functions.GetUniqueId = [](cuda::NcclUniqueId*) { return cuda::kNcclSuccess; };
    library.functions.CommInitRankConfig = [](cuda::NcclComm* comm, int ranks, cuda::NcclUniqueId, int rank,
                                              cuda::NcclConfig*) {
      *comm = reinterpret_cast<cuda::NcclComm>(new Comm{ranks, rank});
      return cuda::kNcclSuccess;
    };
    library.functions.CommSplit = [](cuda::NcclComm comm, int, int, cuda::NcclComm* part, cuda::NcclConfig*) {
      *part = reinterpret_cast<cuda::NcclComm>(new Comm{*Of(comm)});
      return cuda::kNcclSuccess;
    };
    library.functions.AllReduce = [](void const* from, void* to, std::size_t n, int type, int, cuda::NcclComm comm,
                                     cudaStream_t stream) {
      return Reduce(*Of(comm), from, to, n, 0, n, type, stream);
    };
    library.functions.ReduceScatter = [](void const* from, void* to, std::size_t own, int type, int,
                                         cuda::NcclComm comm, cudaStream_t stream) {
      auto const ranks = static_cast<std::size_t>(Of(comm)->ranks), rank = static_cast<std::size_t>(Of(comm)->rank);
      return Reduce(*Of(comm), from, to, own * ranks, own * rank, own, type, stream);
    };
    library.functions.AllGather = [](void const* from, void* to, std::size_t n, int, cuda::NcclComm comm,
                                     cudaStream_t stream) {
      std::vector<std::uint8_t> together;
      for (auto const& own : Exchange(*Of(comm), from, n * sizeof(std::int64_t), stream)) {
        together.insert(together.end(), own.begin(), own.end());
      }
      cudaMemcpyAsync(to, together.data(), together.size(), cudaMemcpyHostToDevice, stream);
      cudaStreamSynchronize(stream);
      return cuda::kNcclSuccess;
    };
    library.functions.CommGetAsyncError = [](cuda::NcclComm, cuda::NcclResult* error) {
      *error = cuda::kNcclSuccess;
      return cuda::kNcclSuccess;
    };
    library.functions.CommFinalize = [](cuda::NcclComm) { return cuda::kNcclSuccess; };
    library.functions.CommDestroy = [](cuda::NcclComm comm) {
      delete Of(comm);
      return cuda::kNcclSuccess;
    };
    library.functions.CommAbort = library.functions.CommDestroy;
    library.functions.GetErrorString = [](cuda::NcclResult) { return "an error of the host"; };
    library.functions.GetLastError = [](cuda::NcclComm) { return ""; };
    return library;
  }
};

bool HasGpuForEach() { return CudaDeviceCount() >= kShards; }
int DeviceOf(int shard) { return HasGpuForEach() ? shard : 0; }

/// The devices of a shard by NCCL, or by the host.
std::unique_ptr<cuda::NcclDevices> MakeDevices(Collective* group, cuda::NcclLibrary const& library,
                                               cuda::NcclPatience const& patience = kPatience) {
  return std::make_unique<cuda::NcclDevices>(library, group, DeviceOf(group->shard()),
                                             "device of shard " + std::to_string(group->shard()), patience);
}
std::unique_ptr<cuda::NcclDevices> MakeDevices(Collective* group) {
  static cuda::NcclLibrary const of_host = HostNccl::Library();
  return MakeDevices(group, HasGpuForEach() ? cuda::LoadNccl() : of_host);
}

class NcclDevicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string const why_not = WhyNotHere(BackendKind::kCuda); !why_not.empty()) GTEST_SKIP() << why_not;
    if (!HasGpuForEach()) return;
    std::string why_not;
    NcclHere(&why_not);
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }
};

/// Tests of NCCL itself.
class NcclItselfTest : public NcclDevicesTest {
 protected:
  void SetUp() override {
    if (!HasGpuForEach()) GTEST_SKIP() << "NCCL needs a GPU for each shard";
    NcclDevicesTest::SetUp();
  }
};

std::vector<std::int64_t> Download(std::int64_t const* from, std::size_t n, Stream const& stream) {
  std::vector<std::int64_t> to(n);
  CopyToHost(to.data(), from, n, stream, "reading");
  stream.Wait("reading");
  return to;
}

TEST_F(NcclDevicesTest, SumsAreThoseOfTheHost) {
  for (std::size_t const n : {std::size_t{2}, std::size_t{1000}, std::size_t{5} << 20}) {
    RunShards(kShards, [&](Collective& group) {
      int const shard = group.shard();
      auto const made = MakeDevices(&group);
      cuda::NcclDevices& devices = *made;
      DeviceScope const scope{DeviceOf(shard)};
      DeviceArena arena{"The test"};
      Stream const stream;
      std::vector<std::int64_t> own(n);
      for (std::size_t i = 0; i < n; ++i)
        own[i] = (std::int64_t{1} << 40) * (shard == 0 ? 1 : -3) + static_cast<int>(i);
      auto const values = Upload(&arena, "values", own.data(), n);
      devices.Sum(values.data(), n, stream);
      auto const got = Download(values.data(), n, stream);
      devices.Check();
      group.Sum(Span<std::int64_t>{own});
      EXPECT_TRUE(got == own);
    });
  }
}

TEST_F(NcclDevicesTest, AFewNumbersAreCombinedUnlessTheyAreNotWanted) {
  RunShards(kShards, [&](Collective& group) {
    int const shard = group.shard();
    auto const made = MakeDevices(&group);
    cuda::NcclDevices& devices = *made;
    DeviceScope const scope{DeviceOf(shard)};
    DeviceArena arena{"The test"};
    Stream const stream;
    bool const flags[] = {true, false};
    auto const unless = Upload(&arena, "flags", flags, 2);
    std::uint32_t const maxima[] = {shard == 0 ? 7U : 3U, shard == 0 ? 1U : 4000000000U,
                                    5U + static_cast<unsigned>(shard)};
    auto const largest = Upload(&arena, "maxima", maxima, 3);
    std::int64_t const numbers[] = {shard == 0 ? -5 : 2, std::int64_t{1} << 50, 0};
    auto const sums = Upload(&arena, "sums", numbers, 3);
    cuda::DeviceNumbers told;
    told.largest = told.largest_of_all = largest.data();
    told.largest_count = 2;
    told.count = largest.data() + 2;
    told.count_of_all = sums.data() + 2;
    told.sums = sums.data();
    told.sum_count = 2;
    devices.Combine(told, unless.data(), stream);
    EXPECT_EQ(Download(sums.data(), 3, stream), (std::vector<std::int64_t>{numbers[0], numbers[1], 0}));
    devices.Combine(told, unless.data() + 1, stream);
    EXPECT_EQ(Download(sums.data(), 3, stream), (std::vector<std::int64_t>{-3, std::int64_t{1} << 51, 11}));
    std::uint32_t got[3];
    CopyToHost(got, largest.data(), 3, stream, "reading");
    stream.Wait("reading");
    EXPECT_EQ(got[0], 7U);
    EXPECT_EQ(got[1], 4000000000U);
    EXPECT_EQ(got[2], 5U + static_cast<unsigned>(shard)) << "nobody has asked for it";
    devices.Check();
  });
}

/// Levels with fewer nodes than their bounds, with siblings that are summed too, and of more cells than go at a time.
TEST_F(NcclDevicesTest, HistogramsThatAreThereAreSummedAndNoOthers) {
  struct Level {
    std::uint32_t families, bound, siblings;
    std::uint64_t cells;
  };
  for (Level const& level : {Level{1, 1, 0, 300}, Level{3, 8, 0, 257}, Level{70, 100, 40, 33}, Level{6, 7, 3, 400000},
                             Level{5000, 5100, 2500, 2}, Level{0, 4, 0, 64}}) {
    SCOPED_TRACE(std::to_string(level.families) + " families");
    RunShards(kShards, [&](Collective& group) {
      int const shard = group.shard();
      auto const made = MakeDevices(&group);
      cuda::NcclDevices& devices = *made;
      DeviceScope const scope{DeviceOf(shard)};
      DeviceArena arena{"The test"};
      Stream const stream;
      std::size_t const slots = 2 * level.families + 1;
      std::vector<cuda::Family> families(std::max<std::size_t>(1, level.families));
      std::vector<bool> summed(slots);
      for (std::uint32_t f = 0, siblings = 0; f < level.families; ++f) {
        families[f].built_slot = static_cast<std::int32_t>(slots - 1 - f);
        families[f].sibling_slot = static_cast<std::int32_t>(f);
        families[f].subtract = f % 2 == 1 && siblings < level.siblings ? 0 : 1;
        siblings += families[f].subtract == 0 ? 1 : 0;
        summed[slots - 1 - f] = true;
        if (families[f].subtract == 0) summed[f] = true;
      }
      cuda::LevelState state{};
      state.families = level.families;
      std::size_t const n = 2 * slots * level.cells;
      std::vector<std::int64_t> own(n);
      for (std::size_t i = 0; i < n; ++i)
        own[i] = static_cast<std::int64_t>(i * 7919 % 1000003) << (shard == 0 ? 20 : 3);
      auto const sums = Upload(&arena, "sums", own.data(), n);
      auto const families_there = Upload(&arena, "families", families.data(), families.size());
      auto const state_there = Upload(&arena, "state", &state, 1);
      cuda::GrowingTree const tree{nullptr, families_there.data(), state_there.data()};
      devices.SumLevel(tree, {reinterpret_cast<GradientSum*>(sums.data()), level.cells},
                       {level.bound, 1, true, level.siblings}, stream);
      auto const got = Download(sums.data(), n, stream);
      devices.Check();
      std::vector<std::int64_t> expected = own;
      group.Sum(Span<std::int64_t>{expected});
      for (std::size_t i = 0; i < n; ++i) {
        if (!summed[i / (2 * level.cells)]) expected[i] = own[i];
      }
      EXPECT_TRUE(got == expected);
    });
  }
}

/// All devices measure the same number: they must share out the same matrices.
TEST_F(NcclDevicesTest, AllKnowFromWhichSizeOnSharesPay) {
  std::vector<std::size_t> least(kShards);
  RunShards(kShards, [&](Collective& group) {
    auto const devices = MakeDevices(&group);
    least[static_cast<std::size_t>(group.shard())] = devices->MeasureLeastSharedBytes(&group);
  });
  EXPECT_GT(least[0], 0U);
  EXPECT_EQ(least[0], least[1]);
}

/// Sums of 32 bits are right or told to be wrong, and then go as 64 bits. A level of one family fits; of the others one
/// cell of one shard does not, or does not in the sum.
TEST_F(NcclDevicesTest, SumsThatOverflowAreTold) {
  constexpr std::uint64_t kCells = 40;
  constexpr std::uint32_t kFamilies = 4;
  for (std::int64_t const large : {std::int64_t{1} << 62, std::int64_t{0x7FFFFFFF}, std::int64_t{0x40000000},
                                   -(std::int64_t{1} << 31), std::int64_t{0x3FFFFFFF}}) {
    SCOPED_TRACE(large);
    bool const fits = large == 0x3FFFFFFF;  // twice
    RunShards(kShards, [&](Collective& group) {
      int const shard = group.shard();
      auto const devices = MakeDevices(&group);
      DeviceScope const scope{DeviceOf(shard)};
      DeviceArena arena{"The test"};
      Stream const stream;
      std::vector<cuda::Family> families(kFamilies);
      for (std::uint32_t f = 0; f < kFamilies; ++f) {
        families[f].built_slot = static_cast<std::int32_t>(f);
        families[f].sibling_slot = -1;
        families[f].subtract = 1;
      }
      auto const families_there = Upload(&arena, "families", families.data(), families.size());
      std::vector<std::int64_t> own(2 * kFamilies * kCells);
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<std::int64_t>(i) * (shard == 0 ? 1000 : -7);
      if (shard == 1) own.back() = large;
      auto expected = own;
      group.Sum(Span<std::int64_t>{expected});
      auto const sum = [&](std::uint32_t n) {
        cuda::LevelState state{};
        state.families = n;
        auto const state_there = Upload(&arena, "state", &state, 1);
        auto const sums = Upload(&arena, "sums", own.data(), own.size());
        cuda::LevelBounds bounds{n, 1};
        bounds.may_overflow = true;
        devices->SumLevel({nullptr, families_there.data(), state_there.data()},
                          {reinterpret_cast<GradientSum*>(sums.data()), kCells}, bounds, stream);
        auto const got = Download(sums.data(), own.size(), stream);
        devices->Check();
        std::size_t const summed = 2 * n * kCells;
        return std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(summed), expected.begin());
      };
      EXPECT_TRUE(sum(1));
      EXPECT_FALSE(devices->SumsOverflowed(true));
      EXPECT_TRUE(sum(kFamilies) || !fits);
      EXPECT_EQ(devices->SumsOverflowed(true), !fits);
      EXPECT_TRUE(sum(kFamilies)) << "after an overflow";
      EXPECT_FALSE(devices->SumsOverflowed(true));
      EXPECT_TRUE(sum(1));
      EXPECT_FALSE(devices->SumsOverflowed(true));
    });
  }
}

/// What all shards of a case train on.
struct Trained {
  explicit Trained(EqualityCase const& c)
      : rows{c}, matrix{HostMatrix(rows, c.max_bin, kThreads)}, bounds{0, rows.rows() / 3 + 1, rows.rows()} {
    std::vector<int> devices(kShards);
    for (int d = 0; d < kShards; ++d) devices[static_cast<std::size_t>(d)] = DeviceOf(d);
    for (auto& shard : cuda::QuantiseShards(rows, matrix->cuts, {bounds, devices}, {kThreads})) {
      shards.push_back(std::move(shard));
    }
  }
  cuda::DeviceShard Place(cuda::NcclDevices* devices, Collective* group,
                          std::size_t least_shared = std::numeric_limits<std::size_t>::max()) const {
    auto const s = static_cast<std::size_t>(group->shard());
    return {devices, {group, bounds[s], bounds[2]}, bounds[s + 1] - bounds[s], least_shared};
  }
  template <typename T>
  Span<T const> Own(std::vector<T> const& values, Collective const& group) const {
    auto const s = static_cast<std::size_t>(group.shard());
    return {values.data() + bounds[s], static_cast<std::size_t>(bounds[s + 1] - bounds[s])};
  }

  CaseRows rows;
  std::unique_ptr<QuantisedMatrix> matrix;
  std::vector<std::uint64_t> bounds;
  std::vector<std::shared_ptr<DeviceMatrix const>> shards;
};

TEST_F(NcclDevicesTest, TreesAreThoseOfTheHost) {
  auto cases = EqualityCases();
  cases.erase(
      std::remove_if(cases.begin(), cases.end(), [](auto const& c) { return c.rows < 16 || c.number % 8 != 3; }),
      cases.end());
  ASSERT_GT(cases.size(), 20U);
  std::vector<std::unique_ptr<Trained>> trained;
  std::vector<std::vector<GradientPair>> gradients;
  std::vector<std::vector<Tree>> expected;
  for (EqualityCase const& c : cases) {
    trained.push_back(std::make_unique<Trained>(c));
    std::vector<float> margins(c.rows * c.stride);
    gradients.push_back(CaseLoss{c, trained.back()->rows}.Gradients(margins));
    auto const host = MakeTreeBuilder(BackendKind::kHost, *trained.back()->matrix, kThreads);
    expected.push_back(
        {host->Grow(c.params, gradients.back(), {0, 0}), host->Grow(c.params, gradients.back(), {1, 0})});
  }
  RunShards(kShards, [&](Collective& group) {
    auto const devices = MakeDevices(&group);
    int sharing = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (std::size_t const least_shared : {std::numeric_limits<std::size_t>::max(), std::size_t{0}}) {
        auto const shard = trained[i]->shards[static_cast<std::size_t>(group.shard())];
        CudaTreeBuilder builder{shard, trained[i]->Place(devices.get(), &group, least_shared), kThreads};
        sharing += builder.deals_features() ? 1 : 0;
        for (std::uint32_t t = 0; t < 2; ++t) {
          Tree const tree = builder.Grow(cases[i].params, trained[i]->Own(gradients[i], group), {t, 0});
          EXPECT_EQ(tree, expected[i][t]) << NameOf(cases[i]) << ", tree " << t << ", " << least_shared;
        }
      }
    }
    EXPECT_GT(sharing, 3);
  });
}

/// NCCL, whose call number `at` of one rank fails. Those that ask how it goes do not count.
struct FailingNccl {
  static inline std::mutex mutex;
  static inline int at{-1}, calls{0};
  // Communicators of rank 0.
  static inline cuda::NcclComm meeting{nullptr}, exchanges{nullptr};
  static inline cuda::NcclComm* part{nullptr};  ///< where NCCL writes `exchanges`; null: it has
  static inline std::vector<int> ends;          ///< numbers of the calls that end a communicator

  static bool Fails(bool counts) {
    std::lock_guard<std::mutex> const lock{mutex};
    return counts && calls++ == at;
  }
  static bool IsFirst(cuda::NcclComm comm) {
    std::lock_guard<std::mutex> const lock{mutex};
    return comm == meeting || comm == exchanges;
  }
  static cuda::NcclFunctions const& Real() { return cuda::LoadNccl().functions; }

  static cuda::NcclLibrary Library() {
    cuda::NcclLibrary library = cuda::LoadNccl();
    library.functions.GetUniqueId = [](cuda::NcclUniqueId* id) {
      return Fails(true) ? cuda::kNcclSystemError : Real().GetUniqueId(id);
    };
    library.functions.CommInitRankConfig = [](cuda::NcclComm* comm, int ranks, cuda::NcclUniqueId id, int rank,
                                              cuda::NcclConfig* config) {
      if (Fails(rank == 0)) return cuda::kNcclSystemError;
      cuda::NcclResult const result = Real().CommInitRankConfig(comm, ranks, id, rank, config);
      std::lock_guard<std::mutex> const lock{mutex};
      if (rank == 0) meeting = *comm;
      return result;
    };
    library.functions.CommSplit = [](cuda::NcclComm comm, int color, int rank, cuda::NcclComm* own,
                                     cuda::NcclConfig* config) {
      if (Fails(rank == 0)) return cuda::kNcclSystemError;
      std::lock_guard<std::mutex> const lock{mutex};
      if (rank == 0) part = own;
      return Real().CommSplit(comm, color, rank, own, config);
    };
    library.functions.AllReduce = [](void const* from, void* to, std::size_t n, int type, int operation,
                                     cuda::NcclComm comm, cudaStream_t stream) {
      return Fails(IsFirst(comm)) ? cuda::kNcclSystemError
                                  : Real().AllReduce(from, to, n, type, operation, comm, stream);
    };
    library.functions.ReduceScatter = [](void const* from, void* to, std::size_t own, int type, int operation,
                                         cuda::NcclComm comm, cudaStream_t stream) {
      return Fails(IsFirst(comm)) ? cuda::kNcclSystemError
                                  : Real().ReduceScatter(from, to, own, type, operation, comm, stream);
    };
    library.functions.AllGather = [](void const* from, void* to, std::size_t n, int type, cuda::NcclComm comm,
                                     cudaStream_t stream) {
      return Fails(IsFirst(comm)) ? cuda::kNcclSystemError : Real().AllGather(from, to, n, type, comm, stream);
    };
    library.functions.CommGetAsyncError = [](cuda::NcclComm comm, cuda::NcclResult* error) {
      cuda::NcclResult const result = Real().CommGetAsyncError(comm, error);
      std::lock_guard<std::mutex> const lock{mutex};
      bool const has_split = comm == meeting && part != nullptr && *error == cuda::kNcclSuccess;
      if (has_split) exchanges = *std::exchange(part, nullptr);
      return result;
    };
    library.functions.CommFinalize = [](cuda::NcclComm comm) {
      bool const is_first = IsFirst(comm);
      if (is_first) ends.push_back(calls);
      return Fails(is_first) ? cuda::kNcclSystemError : Real().CommFinalize(comm);
    };
    return library;
  }
};

/// Every call may fail: all get an error in time, and the process then trains as if nothing had been.
TEST_F(NcclItselfTest, EveryCallMayFail) {
  auto const cases = EqualityCases();
  auto const found = std::find_if(cases.begin(), cases.end(), [](auto const& c) {
    return c.rows >= 1000 && c.params.grow_policy == GrowPolicy::kDepthWise && c.params.max_depth >= 3 &&
           c.params.max_depth <= 6 && c.loss == Loss::kLogistic;
  });
  ASSERT_NE(found, cases.end());
  Trained const trained{*found};
  auto const gradients = CaseLoss{*found, trained.rows}.Gradients(std::vector<float>(found->rows * found->stride));
  Tree const expected =
      MakeTreeBuilder(BackendKind::kHost, *trained.matrix, kThreads)->Grow(found->params, gradients, {0, 0});
  // Returns how many shards got an error.
  auto const train = [&](int at) {
    FailingNccl::at = at;
    FailingNccl::calls = 0;
    FailingNccl::part = nullptr;
    FailingNccl::ends.clear();
    int failed = 0;
    std::mutex mutex;
    RunShards(kShards, [&](Collective& group) {
      try {
        auto const devices = MakeDevices(&group, FailingNccl::Library(), {10, 20, 5});
        CudaTreeBuilder builder{trained.shards[static_cast<std::size_t>(group.shard())],
                                trained.Place(devices.get(), &group), kThreads};
        try {
          EXPECT_EQ(builder.Grow(found->params, trained.Own(gradients, group), {0, 0}), expected);
        } catch (...) {
          devices->Abort();
          throw;
        }
      } catch (Error const&) {
        std::lock_guard<std::mutex> const lock{mutex};
        ++failed;
      }
    });
    return failed;
  };
  ASSERT_EQ(train(-1), 0);
  int const calls = FailingNccl::calls;
  auto const ends = FailingNccl::ends;
  ASSERT_EQ(ends.size(), 2U);
  ASSERT_GE(calls, 6);
  for (int at = 0; at < calls; ++at) {
    auto const begin = Clock::now();
    int const failed = train(at);
    bool const ended = std::find(ends.begin(), ends.end(), at) != ends.end();
    EXPECT_EQ(failed, ended ? 0 : kShards) << "call " << at << " of " << calls;
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds{30}) << "call " << at;
  }
  EXPECT_EQ(train(-1), 0);
}

/// A device that does not come is waited for as long as it may take, and not longer. (The first exchange takes longer than
/// others, because it connects the devices.)
TEST_F(NcclItselfTest, NobodyWaitsForEver) {
  RunShards(kShards, [&](Collective& group) {
    auto devices = MakeDevices(&group, cuda::LoadNccl(), {60, 4, 10});
    DeviceScope const scope{group.shard()};
    DeviceArena arena{"The test"};
    Stream const stream;
    std::vector<std::int64_t> const values(64, 1);
    auto const sums = Upload(&arena, "sums", values.data(), values.size());
    devices->Sum(sums.data(), values.size(), stream);
    EXPECT_EQ(Download(sums.data(), 64, stream), std::vector<std::int64_t>(64, 2));
    if (group.shard() == 0) {
      devices->Sum(sums.data(), values.size(), stream);
      EXPECT_EQ(Download(sums.data(), 64, stream), std::vector<std::int64_t>(64, 2)) << "sums that mean nothing";
      EXPECT_THROW(devices->Check(), ShardsLost);
      EXPECT_THROW(devices->Sum(sums.data(), values.size(), stream), ShardsLost);
    }
    group.AnyOf(false);
    devices.reset();
  });
}

}  // namespace
}  // namespace xgbgpu::testing
