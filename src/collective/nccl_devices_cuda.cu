// Packs the numbers and histograms of a device for NCCL, and unpacks the sums.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string>

#include "collective/level_children.cuh"
#include "collective/nccl_devices_cuda.h"
#include "cuda/grid.h"

namespace xgbgpu::cuda {

/// Cells `from` … from + n - 1 of the shares of the listed histograms, one share after the other.
struct LevelPiece {
  DeviceHistograms histograms;
  std::int32_t const* slots;
  CellShares shares;
  std::uint64_t largest;  ///< cells of the largest share
  std::uint64_t from, n;

  /// Returns nullptr if there is no such cell.
  __device__ longlong2* cell(int share, std::uint64_t i) const {
    std::uint64_t const number = (from + i) / largest, cell = from + i - number * largest;
    std::int32_t const slot = slots[number];
    if (slot < 0 || cell >= shares.size(share)) return nullptr;
    return reinterpret_cast<longlong2*>(histograms.slot(slot) + shares.first[share]) + cell;
  }
};

namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kPieceCells = 1 << 20;  ///< cells of a level's histograms that NCCL sums at a time
constexpr char const* kSumming = "adding up histograms of devices";
constexpr std::uint32_t kListed = 1 << 12;  ///< histograms whose slots are listed at a time
static_assert((CellShares::kMost + 1) * kListed * sizeof(SplitCandidate) <= kPieceCells * sizeof(GradientSum));
constexpr unsigned kLanes = 32;

/// Tells the host that an exchange is over, and the kernels behind this one whether its result is valid. One thread:
/// with a read of the host's memory in every block, an exchange took 1.1 us more for each block (trace of two H200).
__global__ void EndExchangeKernel(NcclWords* words, std::uint32_t number, bool* valid) {
  *valid = *static_cast<std::uint32_t const volatile*>(&words->lost) == 0;
  *static_cast<std::uint32_t volatile*>(&words->finished) = number;
}

/// The place of number i in DeviceNumbers.
struct NumberPlace {
  std::uint32_t largest, sums;
  bool has_count;

  __device__ explicit NumberPlace(DeviceNumbers const& numbers)
      : largest{numbers.largest_count}, sums{numbers.sum_count}, has_count{numbers.count != nullptr} {}
  __device__ bool IsLargest(std::uint32_t i) const { return i < largest; }
  __device__ bool IsSum(std::uint32_t i) const { return i >= largest && i < largest + sums; }
  __device__ bool IsCount(std::uint32_t i) const { return has_count && i == largest + sums; }
};

__global__ void PackNumbersKernel(DeviceNumbers numbers, std::int64_t* own) {
  NumberPlace const place{numbers};
  std::uint32_t const i = threadIdx.x;
  own[i] = place.IsLargest(i) ? std::int64_t{numbers.largest[i]}
           : place.IsSum(i)   ? numbers.sums[i - place.largest]
           : place.IsCount(i) ? std::int64_t{*numbers.count}
                              : 0;
}

/// Combines the numbers of all devices: `all` [devices, DeviceNumbers::kMost].
__global__ void UnpackNumbersKernel(DeviceNumbers numbers, bool const* unless, std::int64_t const* all, int devices,
                                    bool const* valid) {
  if (!*valid || (unless != nullptr && *unless)) return;
  NumberPlace const place{numbers};
  std::uint32_t const i = threadIdx.x;
  std::int64_t value = all[i];
  for (int d = 1; d < devices; ++d) {
    std::int64_t const other = all[static_cast<std::uint32_t>(d) * DeviceNumbers::kMost + i];
    value = place.IsLargest(i) ? max(value, other) : value + other;
  }
  if (place.IsLargest(i)) {
    numbers.largest_of_all[i] = static_cast<std::uint32_t>(value);
  } else if (place.IsSum(i)) {
    numbers.sums[i - place.largest] = value;
  } else if (place.IsCount(i)) {
    *numbers.count_of_all = value;
  }
}

__global__ void TakeSumsKernel(std::int64_t const* sums, std::int64_t* values, std::uint64_t n, bool const* valid) {
  if (!*valid) return;
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) values[i] = sums[i];
}

/// Lists the slots of a level's summed histograms number `first` … first + n - 1: built children, then siblings that
/// are not subtracted, then -1. One block.
__global__ void ListSlotsKernel(GrowingTree tree, std::uint64_t first, std::uint32_t n, bool siblings,
                                std::int32_t* slots) {
  std::uint32_t const families = tree.state->families;
  for (std::uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
    slots[i] = first + i < families ? tree.families[first + i].built_slot : -1;
  }
  __syncthreads();
  if (!siblings || threadIdx.x >= kLanes) return;
  std::uint64_t next = families;
  for (std::uint32_t begin = 0; begin < families; begin += kLanes) {
    std::uint32_t const f = begin + threadIdx.x;
    bool const summed = f < families && tree.families[f].subtract == 0 && tree.families[f].sibling_slot >= 0;
    unsigned const all = __ballot_sync(kAllLanes, summed);
    std::uint64_t const own = next + static_cast<unsigned>(__popc(all & ((1U << threadIdx.x) - 1)));
    if (summed && own >= first && own < first + n) slots[own - first] = tree.families[f].sibling_slot;
    next += static_cast<unsigned>(__popc(all));
  }
}

static_assert(sizeof(GradientSum) == sizeof(longlong2));

/// The place of the sums of a piece: n of each share, and behind them a count of devices that found a sum that does not
/// fit. 64 bits always fit. 32 bits fit if no device has a magnitude above `most`.
template <typename Pair>
struct PackedSums {
  Pair* sums;
  std::uint64_t n;
  std::int64_t most;

  __host__ __device__ std::uint64_t stride() const { return n + 1; }
  __device__ Pair* of(int share) const { return sums + static_cast<unsigned>(share) * stride(); }
  __device__ bool Fits(longlong2 const& sum) const {
    if (sizeof(Pair) == sizeof(longlong2)) return true;
    return sum.x >= -most && sum.x <= most && sum.y >= -most && sum.y <= most;
  }
};

template <typename Pair>
__global__ void ClearCountsKernel(PackedSums<Pair> packed) {
  packed.of(static_cast<int>(threadIdx.x))[packed.n] = {0, 0};
}

template <typename Pair>
__global__ void PackLevelKernel(LevelPiece piece, PackedSums<Pair> packed) {
  using Part = decltype(Pair::x);
  bool fit = true;
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (int share = 0; share < piece.shares.devices; ++share) {
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < piece.n; i += step) {
      longlong2 const* const cell = piece.cell(share, i);
      longlong2 const sum = cell == nullptr ? longlong2{0, 0} : *cell;
      fit = fit && packed.Fits(sum);
      packed.of(share)[i] = {static_cast<Part>(sum.x), static_cast<Part>(sum.y)};
    }
  }
  if (__syncthreads_and(fit) || threadIdx.x != 0) return;
  for (int share = 0; share < piece.shares.devices; ++share) packed.of(share)[packed.n].x = 1;
}

/// Copies the sums of a share back. After an overflow all devices have invalid sums of the same share, so that they go
/// on alike.
template <typename Pair>
__global__ void UnpackLevelKernel(LevelPiece piece, PackedSums<Pair> packed, int share, std::uint32_t families,
                                  NcclWords* words, bool const* valid) {
  if (!*valid) return;
  Pair const* const sums = packed.of(share);
  if (blockIdx.x == 0 && threadIdx.x == 0 && sums[packed.n].x != 0) {
    auto* const overflowed = static_cast<std::uint32_t volatile*>(&words->overflowed);
    if (families > *overflowed) *overflowed = families;
  }
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < piece.n; i += step) {
    if (longlong2* const cell = piece.cell(share, i)) *cell = {sums[i].x, sums[i].y};
  }
}

/// Copies the splits of children number `first` … first + n - 1 of a level. A child that does not exist has no split.
__global__ void PackSplitsKernel(GrowingTree tree, std::uint32_t first, std::uint32_t n, SplitCandidate* own) {
  std::uint32_t const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  StoreWhole(own + i, first + i < ChildrenOf(tree) ? ChildOf(tree, first + i)->split : SplitCandidate{});
}

/// Takes the best of all devices' splits: `all` [devices, n].
__global__ void TakeBestKernel(GrowingTree tree, std::uint32_t first, std::uint32_t n, SplitCandidate const* all,
                               int devices, bool const* valid) {
  std::uint32_t const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!*valid || i >= n || first + i >= ChildrenOf(tree)) return;
  SplitCandidate best = all[i];
  for (int d = 1; d < devices; ++d) {
    SplitCandidate const& other = all[static_cast<std::uint32_t>(d) * n + i];
    if (IsBetter(other, best)) best = other;
  }
  StoreWhole(&ChildOf(tree, first + i)->split, best);
}

unsigned BlocksOf(std::uint64_t n, DeviceLimits const& limits) { return Blocks(n, kThreads, limits, 8); }

/// Returns words that host and device reach.
std::shared_ptr<NcclWords> MakeWords() {
  auto const memory = std::make_shared<PinnedBuffer<NcclWords>>(1);
  *memory->data() = {};
  return {memory, memory->data()};
}

}  // namespace

NcclDevices::NcclDevices(NcclLibrary const& library, Collective* group, int device, std::string const& gpu,
                         NcclPatience const& patience)
    : ordinal_{device} {
  std::optional<DeviceScope> scope;
  AllOrNone(*group, [&] {
    scope.emplace(device);
    limits_ = CurrentDeviceLimits();
    sums_ = {&arena_, "sums", kPieceCells};
    numbers_ = {&arena_, "numbers", (1 + static_cast<std::size_t>(group->shards())) * DeviceNumbers::kMost};
    slots_ = {&arena_, "slots", kListed};
    valid_ = {&arena_, "valid", 1};
    words_ = MakeWords();
  });
  // A thread without a chosen device would start the first device.
  communicator_.emplace(library, group, gpu, words_, patience, [device] { cudaSetDevice(device); });
}

NcclDevices::~NcclDevices() {
  try {
    DeviceScope const scope{ordinal_};
    communicator_.reset();
    sums_ = {};
    numbers_ = {};
    slots_ = {};
    valid_ = {};
  } catch (DeviceError const&) {
    // A failed device, or a forked process without it, has nothing left to free.
  }
}

void NcclDevices::End() noexcept {
  try {
    DeviceScope const scope{ordinal_};
    communicator_->End();
  } catch (DeviceError const&) {
    // The device has failed.
  }
}

// Kernels between NCCL's kernels are launched the usual way: each waits for the end of the kernel before.

/// Enqueued behind every exchange, with its number.
void NcclDevices::EndExchange(std::uint32_t number, cudaStream_t stream) {
  EndExchangeKernel<<<1, 1, 0, stream>>>(words_.get(), number, valid_.data());
  CheckLaunch("ending an exchange of devices");
}

void NcclDevices::Combine(DeviceNumbers const& numbers, bool const* unless, cudaStream_t stream) {
  std::int64_t* const all = numbers_.data() + DeviceNumbers::kMost;
  PackNumbersKernel<<<1, DeviceNumbers::kMost, 0, stream>>>(numbers, numbers_.data());
  CheckLaunch("telling other devices");
  EndExchange(communicator_->AllGather(numbers_.data(), all, DeviceNumbers::kMost, stream), stream);
  UnpackNumbersKernel<<<1, DeviceNumbers::kMost, 0, stream>>>(numbers, unless, all, devices(), valid_.data());
  CheckLaunch("telling other devices");
}

void NcclDevices::Sum(std::int64_t* values, std::uint64_t n, cudaStream_t stream) {
  auto* const sums = reinterpret_cast<std::int64_t*>(sums_.data());
  for (std::uint64_t from = 0; from < n; from += 2 * kPieceCells) {
    std::uint64_t const own = std::min(2 * kPieceCells, n - from);
    EndExchange(communicator_->AllReduce(values + from, sums, own, kNcclInt64, stream), stream);
    TakeSumsKernel<<<BlocksOf(own, limits_), kThreads, 0, stream>>>(sums, values + from, own, valid_.data());
    CheckLaunch("adding up devices");
  }
}

void NcclDevices::SumLevel(GrowingTree const& tree, DeviceHistograms const& histograms, LevelBounds const& bounds,
                           cudaStream_t stream) {
  CellShares whole;
  whole.devices = 1;
  whole.first[1] = histograms.cells;
  ShareLevel(tree, histograms, whole, bounds, stream);
}

void NcclDevices::ShareLevel(GrowingTree const& tree, DeviceHistograms const& histograms, CellShares const& shares,
                             LevelBounds const& bounds, cudaStream_t stream) {
  bool const halves = bounds.may_overflow && bounds.families > whole_families_;
  std::uint64_t const most = bounds.families + bounds.siblings, largest = shares.largest();
  std::uint64_t const piece_cells = kPieceCells / static_cast<unsigned>(shares.devices) - 1;
  for (std::uint64_t first = 0; first < most; first += kListed) {
    auto const listed = static_cast<std::uint32_t>(std::min<std::uint64_t>(kListed, most - first));
    ListSlotsKernel<<<1, kThreads, 0, stream>>>(tree, first, listed, bounds.siblings != 0, slots_.data());
    CheckLaunch(kSumming);
    for (std::uint64_t from = 0; from < listed * largest; from += piece_cells) {
      std::uint64_t const n = std::min(piece_cells, listed * largest - from);
      LevelPiece const piece{histograms, slots_.data(), shares, largest, from, n};
      auto const families = static_cast<std::uint32_t>(bounds.families);
      halves ? SumPiece<int2, std::int32_t>(piece, families, stream)
             : SumPiece<longlong2, std::int64_t>(piece, families, stream);
    }
  }
}

template <typename Pair, typename Integer>
void NcclDevices::SumPiece(LevelPiece const& piece, std::uint32_t families, cudaStream_t stream) {
  constexpr int kType = sizeof(Integer) == sizeof(std::int32_t) ? kNcclInt32 : kNcclInt64;
  PackedSums<Pair> const packed{reinterpret_cast<Pair*>(sums_.data()), piece.n,
                                std::numeric_limits<Integer>::max() / devices()};
  int const shares = piece.shares.devices, own = shares == 1 ? 0 : device();
  unsigned const blocks = BlocksOf(piece.n, limits_);
  ClearCountsKernel<<<1, static_cast<unsigned>(shares), 0, stream>>>(packed);
  CheckLaunch(kSumming);
  PackLevelKernel<<<blocks, kThreads, 0, stream>>>(piece, packed);
  CheckLaunch(kSumming);
  auto* const from = reinterpret_cast<Integer*>(packed.sums);
  std::uint64_t const integers = 2 * packed.stride();
  EndExchange(shares == 1 ? communicator_->AllReduce(from, from, integers, kType, stream)
                          : communicator_->ReduceScatter(from, from + static_cast<unsigned>(own) * integers, integers,
                                                         kType, stream),
              stream);
  UnpackLevelKernel<<<blocks, kThreads, 0, stream>>>(piece, packed, own, families, words_.get(), valid_.data());
  CheckLaunch(kSumming);
}

void NcclDevices::BestOfLevel(GrowingTree const& tree, LevelBounds const& bounds, cudaStream_t stream) {
  constexpr char const* kComparing = "comparing splits of devices";
  auto* const own = reinterpret_cast<SplitCandidate*>(sums_.data());
  auto const children = static_cast<std::uint32_t>(2 * bounds.families);
  for (std::uint32_t first = 0; first < children; first += kListed) {
    std::uint32_t const n = std::min(kListed, children - first);
    SplitCandidate* const all = own + n;
    unsigned const blocks = (n + kThreads - 1) / kThreads;
    PackSplitsKernel<<<blocks, kThreads, 0, stream>>>(tree, first, n, own);
    CheckLaunch(kComparing);
    EndExchange(
        communicator_->AllGather(reinterpret_cast<std::int64_t const*>(own), reinterpret_cast<std::int64_t*>(all),
                                 n * sizeof(SplitCandidate) / sizeof(std::int64_t), stream),
        stream);
    TakeBestKernel<<<blocks, kThreads, 0, stream>>>(tree, first, n, all, devices(), valid_.data());
    CheckLaunch(kComparing);
  }
}

/// Shares halve the time that NCCL needs for the sums of a level, and cost an exchange of its winners. A tree of eight
/// levels sums 128 histograms, of 16 bytes a cell in memory, and 8 on the way.
std::size_t NcclDevices::MeasureLeastSharedBytes(Collective* group) {
  constexpr std::uint64_t kFew = 2, kMany = std::uint64_t{1} << 20;
  constexpr double kLevels = 8, kHistograms = 128, kSaved = 0.5, kOnTheWay = 0.5;
  auto* const sums = reinterpret_cast<std::int64_t*>(sums_.data());
  DeviceScope const scope{ordinal_};
  std::optional<Stream> stream;
  AllOrNone(*group, [&] {  // before devices wait for each other
    stream.emplace();
    FillBytes(sums, 0, kMany, *stream, kSumming);
  });
  auto const seconds = [&](std::uint64_t n) {
    double least = 1;
    for (int repeat = 0; repeat < 3; ++repeat) {  // the first one connects devices
      auto const begin = std::chrono::steady_clock::now();
      EndExchange(communicator_->AllReduce(sums, sums, n, kNcclInt64, *stream), *stream);
      stream->Wait(kSumming);
      Check();
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return least;
  };
  double few = 0, many = 0;
  AllOrNone(*group, [&] {
    try {
      few = seconds(kFew);
      many = seconds(kMany);
    } catch (...) {
      Abort();  // the other devices wait
      throw;
    }
  });
  std::int64_t nanoseconds[] = {static_cast<std::int64_t>(few * 1e9), static_cast<std::int64_t>(many * 1e9)};
  group->Max({nanoseconds, 2});
  auto const exchange = static_cast<double>(nanoseconds[0]);
  double const of_byte = std::max(1.0, static_cast<double>(nanoseconds[1]) - exchange) / (kMany * sizeof(std::int64_t));
  double const least = kLevels * exchange / (kHistograms * kSaved * kOnTheWay * of_byte);
  // LeastSharedBytes makes this number of it for any number of devices.
  double const others = devices() - 1;
  return static_cast<std::size_t>(least * 2 * others * others / devices());
}

bool NcclDevices::SumsOverflowed(bool narrow) {
  std::uint32_t const families = __atomic_exchange_n(&words_->overflowed, 0U, __ATOMIC_ACQ_REL);
  if (families == 0) return false;
  whole_families_ = narrow ? std::max<std::uint64_t>(whole_families_, families) : ~std::uint64_t{0};
  return true;
}

}  // namespace xgbgpu::cuda
