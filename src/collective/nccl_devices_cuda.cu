// Packs the numbers and histograms of a device for NCCL, and unpacks the sums.
#include <algorithm>
#include <cstddef>
#include <string>

#include "base/message.h"
#include "collective/nccl_devices_cuda.h"
#include "cuda/grid.h"

namespace xgbgpu::cuda {

/// Cells `from` … from + n - 1 of the listed histograms, one after the other.
struct LevelPiece {
  DeviceHistograms histograms;
  std::int32_t const* slots;
  std::uint64_t from, n;

  /// Returns nullptr if there is no histogram.
  __device__ longlong2* cell(std::uint64_t i) const {
    std::uint64_t const number = (from + i) / histograms.cells;
    std::int32_t const slot = slots[number];
    if (slot < 0) return nullptr;
    return reinterpret_cast<longlong2*>(histograms.slot(slot)) + (from + i - number * histograms.cells);
  }
};

namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kPieceCells = 1 << 20;  ///< cells of a level's histograms that NCCL sums at a time
constexpr std::int64_t kMostInt32 = 0x7FFFFFFF;
constexpr std::uint32_t kListed = 1 << 12;      ///< histograms whose slots are listed at a time
constexpr unsigned kLanes = 32;

/// The end of an exchange, for every kernel that reads its result.
struct ExchangeEnd {
  NcclWords* words;
  std::uint32_t number;

  /// Tells the host that the exchange is over. Returns true if its result is valid. All threads of a block call it.
  __device__ bool TellEnd() const {
    __shared__ std::uint32_t lost;
    if (threadIdx.x == 0) {
      lost = *static_cast<std::uint32_t const volatile*>(&words->lost);
      if (blockIdx.x == 0) *static_cast<std::uint32_t volatile*>(&words->finished) = number;
    }
    __syncthreads();
    return lost == 0;
  }
};

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
                                    ExchangeEnd end) {
  bool const comes = end.TellEnd();
  if (!comes || (unless != nullptr && *unless)) return;
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

__global__ void TakeSumsKernel(std::int64_t const* sums, std::int64_t* values, std::uint64_t n, ExchangeEnd end) {
  if (!end.TellEnd()) return;
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

__global__ void PackLevelKernel(LevelPiece piece, longlong2* sums) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < piece.n; i += step) {
    longlong2 const* const cell = piece.cell(i);
    sums[i] = cell == nullptr ? longlong2{0, 0} : *cell;
  }
}

/// Packs sums as 32 bits each. Behind them, where there is 0, stands 1 afterwards if a magnitude is above `most`: the
/// sum over all devices might not fit.
__global__ void PackHalvesKernel(LevelPiece piece, std::int64_t most, int2* sums) {
  auto const half = [](std::int64_t sum) { return static_cast<int>(static_cast<std::uint32_t>(sum)); };
  bool fits = true;
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < piece.n; i += step) {
    longlong2 const* const cell = piece.cell(i);
    longlong2 const sum = cell == nullptr ? longlong2{0, 0} : *cell;
    fits = fits && sum.x >= -most && sum.x <= most && sum.y >= -most && sum.y <= most;
    sums[i] = {half(sum.x), half(sum.y)};
  }
  if (__syncthreads_or(!fits) && threadIdx.x == 0) sums[piece.n].x = 1;
}

/// After an overflow all devices get the same invalid sums, so that they go on alike.
__global__ void UnpackHalvesKernel(LevelPiece piece, int2 const* sums, std::uint32_t families, ExchangeEnd end) {
  if (!end.TellEnd()) return;
  if (blockIdx.x == 0 && threadIdx.x == 0 && sums[piece.n].x != 0) {
    auto* const overflowed = static_cast<std::uint32_t volatile*>(&end.words->overflowed);
    if (families > *overflowed) *overflowed = families;
  }
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < piece.n; i += step) {
    if (longlong2* const cell = piece.cell(i)) *cell = {sums[i].x, sums[i].y};
  }
}

__global__ void UnpackLevelKernel(LevelPiece piece, longlong2 const* sums, ExchangeEnd end) {
  if (!end.TellEnd()) return;
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < piece.n; i += step) {
    if (longlong2* const cell = piece.cell(i)) *cell = sums[i];
  }
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

void NcclDevices::Combine(DeviceNumbers const& numbers, bool const* unless, cudaStream_t stream) {
  std::int64_t* const all = numbers_.data() + DeviceNumbers::kMost;
  PackNumbersKernel<<<1, DeviceNumbers::kMost, 0, stream>>>(numbers, numbers_.data());
  CheckLaunch("telling other devices");
  std::uint32_t const number = communicator_->AllGather(numbers_.data(), all, DeviceNumbers::kMost, stream);
  UnpackNumbersKernel<<<1, DeviceNumbers::kMost, 0, stream>>>(numbers, unless, all, devices(), {words_.get(), number});
  CheckLaunch("telling other devices");
}

void NcclDevices::Sum(std::int64_t* values, std::uint64_t n, cudaStream_t stream) {
  auto* const sums = reinterpret_cast<std::int64_t*>(sums_.data());
  for (std::uint64_t from = 0; from < n; from += 2 * kPieceCells) {
    std::uint64_t const own = std::min(2 * kPieceCells, n - from);
    std::uint32_t const number = communicator_->AllReduce(values + from, sums, own, stream);
    TakeSumsKernel<<<BlocksOf(own, limits_), kThreads, 0, stream>>>(sums, values + from, own, {words_.get(), number});
    CheckLaunch("adding up devices");
  }
}

void NcclDevices::SumLevel(GrowingTree const& tree, DeviceHistograms const& histograms, LevelBounds const& bounds,
                           cudaStream_t stream) {
  bool const halves = bounds.may_overflow && bounds.families > whole_families_;
  std::uint64_t const most = bounds.families + bounds.siblings;
  for (std::uint64_t first = 0; first < most; first += kListed) {
    auto const listed = static_cast<std::uint32_t>(std::min<std::uint64_t>(kListed, most - first));
    ListSlotsKernel<<<1, kThreads, 0, stream>>>(tree, first, listed, bounds.siblings != 0, slots_.data());
    CheckLaunch("adding up histograms of devices");
    for (std::uint64_t from = 0; from < listed * histograms.cells; from += kPieceCells) {
      LevelPiece const piece{histograms, slots_.data(), from, std::min(kPieceCells, listed * histograms.cells - from)};
      halves ? SumHalves(piece, bounds, stream) : SumWhole(piece, stream);
    }
  }
}

void NcclDevices::SumWhole(LevelPiece const& piece, cudaStream_t stream) {
  auto* const sums = reinterpret_cast<longlong2*>(sums_.data());
  auto* const integers = reinterpret_cast<std::int64_t*>(sums_.data());
  unsigned const blocks = BlocksOf(piece.n, limits_);
  PackLevelKernel<<<blocks, kThreads, 0, stream>>>(piece, sums);
  CheckLaunch("adding up histograms of devices");
  std::uint32_t const number = communicator_->AllReduce(integers, integers, 2 * piece.n, stream);
  UnpackLevelKernel<<<blocks, kThreads, 0, stream>>>(piece, sums, {words_.get(), number});
  CheckLaunch("adding up histograms of devices");
}

void NcclDevices::SumHalves(LevelPiece const& piece, LevelBounds const& bounds, cudaStream_t stream) {
  auto* const sums = reinterpret_cast<int2*>(sums_.data());
  auto* const integers = reinterpret_cast<std::int32_t*>(sums_.data());
  unsigned const blocks = BlocksOf(piece.n, limits_);
  FillBytes(sums + piece.n, 0, 1, stream, "adding up histograms of devices");
  PackHalvesKernel<<<blocks, kThreads, 0, stream>>>(piece, kMostInt32 / devices(), sums);
  CheckLaunch("adding up histograms of devices");
  std::uint32_t const number = communicator_->AllReduce(integers, integers, 2 * (piece.n + 1), stream);
  auto const families = static_cast<std::uint32_t>(bounds.families);
  UnpackHalvesKernel<<<blocks, kThreads, 0, stream>>>(piece, sums, families, {words_.get(), number});
  CheckLaunch("adding up histograms of devices");
}

bool NcclDevices::SumsOverflowed() {
  std::uint32_t const families = __atomic_exchange_n(&words_->overflowed, 0U, __ATOMIC_ACQ_REL);
  whole_families_ = std::max<std::uint64_t>(whole_families_, families);
  return families != 0;
}

void NcclDevices::ShareLevel(GrowingTree const&, DeviceHistograms const&, CellShares const&, LevelBounds const&,
                             cudaStream_t) {
  Throw<Unsupported>("Features are not shared out to the GPUs of several hosts; allowed: whole sums");
}

void NcclDevices::BestOfLevel(GrowingTree const&, LevelBounds const&, cudaStream_t) {
  Throw<Unsupported>("Features are not shared out to the GPUs of several hosts; allowed: whole sums");
}

}  // namespace xgbgpu::cuda
