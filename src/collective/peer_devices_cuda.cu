// Combines numbers and histograms of devices by kernels that write to each other's memory.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/message.h"
#include "collective/level_children.cuh"
#include "collective/peer_devices_cuda.h"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "cuda/peer_access.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 512;
constexpr std::uint32_t kThreadCells = 4;  ///< cells of a piece that a thread holds in registers at the same time
constexpr std::uint32_t kPieceCells = kThreads * kThreadCells;  ///< most cells that a block sends at a time
constexpr std::uint32_t kLeastCells = 512;                      ///< least cells of a block
constexpr unsigned kFewBlocks = 64;  ///< blocks of a kernel that sums little; with more blocks each has a whole piece
constexpr unsigned kMostBlocks = 256;
constexpr unsigned kProcessorBlocks = 2;         ///< blocks that a multiprocessor has room for
constexpr unsigned kAllBoxes = 1024;             ///< most boxes of a device at each stage: they take memory
constexpr unsigned kNumbersBlock = kMostBlocks;  ///< place of Combine among the blocks' flags
constexpr unsigned kPlaces = kMostBlocks + 1;
static_assert(kFewBlocks * kMostDevices <= kAllBoxes);
static_assert(CellShares::kMost >= kMostDevices);
/// Boxes of a block for each sender, used in turn. A block sends its next piece before it waits for the pieces of the
/// meeting before. When it sends piece m, it has seen all devices come to meeting m - 2. They came there after they had
/// read their pieces of meeting m - 4, so the box of meeting m - 4 is free again.
constexpr std::uint32_t kStages = 4;
constexpr std::uint32_t kBlockChildren = 128;  ///< children of a level whose splits a block compares
static_assert(kBlockChildren * sizeof(SplitCandidate) <= kPieceCells * sizeof(GradientSum));

/// The memory of one device that other devices write to. All numbers of meetings grow from 1 on.
struct Flags {
  std::uint32_t lost;               ///< not 0: the device has waited in vain; written by the device, as in Words
  std::uint32_t meetings[kPlaces];  ///< meetings of each block so far; written by the device
  std::uint32_t arrived[kMostDevices][kPlaces];  ///< last meeting of each block to which each device has come
  std::int64_t numbers[2][kMostDevices][DeviceNumbers::kMost];
  std::uint8_t packed[kStages][kMostDevices][kPlaces];  ///< not 0: the box's sums are pairs of 32 bits
};

/// Words of pinned memory that host and devices read and write.
struct Words {
  std::uint32_t abort;               ///< not 0: ends all waits
  std::uint32_t lost[kMostDevices];  ///< not 0: the device has waited in vain
};

/// One device's view of the group.
struct PeerView {
  int devices, device;
  unsigned blocks;                   ///< most blocks of a kernel
  Flags* flags[kMostDevices];        ///< [devices]
  GradientSum* boxes[kMostDevices];  ///< [devices] each [kStages, devices, blocks, kPieceCells]
  Words* words;
  unsigned long long patience;  ///< limit of a wait in nanoseconds

  /// Returns the block's box for a piece that is sent before a meeting.
  __device__ GradientSum* Box(int receiver, int sender, std::uint32_t meeting) const {
    return boxes[receiver] +
           ((std::uint64_t{meeting % kStages} * static_cast<unsigned>(devices) + static_cast<unsigned>(sender)) *
                blocks +
            blockIdx.x) *
               kPieceCells;
  }
};

/// Raises a flag. A device that sees the flag sees the thread's earlier writes, and earlier writes of threads that it
/// has met at a barrier since.
__device__ inline void RaiseFlag(std::uint32_t* flag, std::uint32_t meeting) {
  asm volatile("st.release.sys.global.u32 [%0],%1;" ::"l"(flag), "r"(meeting) : "memory");
}
__device__ inline std::uint32_t LookAtFlag(std::uint32_t const* flag) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0,[%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}
__device__ inline unsigned long long Nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0,%%globaltimer;" : "=l"(now));
  return now;
}
__device__ inline std::uint32_t LookAtWord(std::uint32_t const* word) {
  return *static_cast<std::uint32_t const volatile*>(word);
}

/// Waits until the flag shows the meeting. Returns false after a wait in vain.
__device__ inline bool WaitForFlag(PeerView const& peers, std::uint32_t const* flag, std::uint32_t meeting) {
  constexpr int kLooks = 256;  // polls of the flag between two polls of the host's word, which take long
  unsigned long long begin = 0;
  for (;;) {
    for (int i = 0; i < kLooks; ++i) {
      if (static_cast<std::int32_t>(LookAtFlag(flag) - meeting) >= 0) return true;
    }
    if (begin == 0) begin = Nanoseconds();
    bool const ends = LookAtWord(&peers.words->abort) != 0 || LookAtWord(&peers.flags[peers.device]->lost) != 0;
    if (ends || Nanoseconds() - begin > peers.patience) return false;
  }
}

/// Tells the same block of all other devices that this block has come to a meeting. They can read its earlier writes
/// afterwards. Returns false, in all threads, if the device has waited in vain before.
__device__ inline bool Arrive(PeerView const& peers, unsigned place, std::uint32_t meeting) {
  bool const lost = threadIdx.x == 0 && LookAtWord(&peers.flags[peers.device]->lost) != 0;
  if (__syncthreads_or(lost) != 0) return false;  // all threads of the block have written
  auto const peer = static_cast<int>(threadIdx.x);
  if (peer < peers.devices && peer != peers.device) {
    RaiseFlag(&peers.flags[peer]->arrived[peers.device][place], meeting);
  }
  return true;
}

/// Waits until the same block of all other devices has come to a meeting. Returns false, in all threads, after a wait
/// in vain.
__device__ inline bool Await(PeerView const& peers, unsigned place, std::uint32_t meeting) {
  Flags& own = *peers.flags[peers.device];
  auto const peer = static_cast<int>(threadIdx.x);
  bool came = true;
  if (peer < peers.devices && peer != peers.device) {
    came = WaitForFlag(peers, &own.arrived[peer][place], meeting);
    if (!came) own.lost = peers.words->lost[peers.device] = 1;
  }
  return __syncthreads_and(came) != 0;
}

/// Arrives at the block's next meeting and awaits it. Returns false after a wait in vain, now or before.
__device__ inline bool Meet(PeerView const& peers, unsigned place) {
  std::uint32_t* const meetings = peers.flags[peers.device]->meetings + place;
  std::uint32_t const meeting = *meetings + 1;
  if (!Arrive(peers, place, meeting)) return false;
  if (threadIdx.x == 0) *meetings = meeting;  // all threads have read it
  return Await(peers, place, meeting);
}

/// Combines a few numbers. One block.
__global__ void __launch_bounds__(kMostDevices* DeviceNumbers::kMost)
    CombineKernel(PeerView peers, DeviceNumbers numbers, bool const* unless) {
  WaitForWorkBefore();
  if (unless != nullptr && *unless) return;
  Flags& own = *peers.flags[peers.device];
  std::uint32_t const parity = own.meetings[kNumbersBlock] % 2;  // no device writes to the numbers being read
  std::uint32_t const sums = numbers.largest_count, count = sums + numbers.sum_count;
  std::uint32_t const i = threadIdx.x % DeviceNumbers::kMost;
  auto const peer = static_cast<int>(threadIdx.x / DeviceNumbers::kMost);
  bool const is_count = i == count && numbers.count != nullptr;
  bool const used = i < count || is_count;
  std::int64_t value = 0;
  if (used && peer < peers.devices) {
    value = i < sums   ? std::int64_t{numbers.largest[i]}
            : is_count ? std::int64_t{*numbers.count}
                       : numbers.sums[i - sums];
    if (peer != peers.device) peers.flags[peer]->numbers[parity][peers.device][i] = value;
  }
  if (!Meet(peers, kNumbersBlock)) return;
  LetKernelAfterCome();
  if (peer != peers.device || !used) return;
  for (int p = 0; p < peers.devices; ++p) {
    if (p == peers.device) continue;
    std::int64_t const other = __ldcv(&own.numbers[parity][p][i]);
    value = i < sums ? max(value, other) : value + other;
  }
  if (i < sums) {
    numbers.largest_of_all[i] = static_cast<std::uint32_t>(value);
  } else if (is_count) {
    *numbers.count_of_all = value;
  } else {
    numbers.sums[i - sums] = value;
  }
}

/// One array of cells. Every device gets the sums of all cells.
struct Cells {
  static constexpr bool kShared = false;

  GradientSum* cells;
  std::uint64_t n;

  __device__ std::uint32_t arrays() const { return 1; }
  __device__ std::uint32_t summed() const { return 1; }  ///< number of arrays in most cases
  __device__ GradientSum* array(std::uint32_t) const { return cells; }
  // The cells whose sums a device gets, and the most cells of any device.
  __device__ std::uint64_t first(int) const { return 0; }
  __device__ std::uint64_t size(int) const { return n; }
  __device__ std::uint64_t largest() const { return n; }
};

/// The histograms that a level has summed.
struct SummedSlots {
  GrowingTree tree;
  DeviceHistograms histograms;

  /// Siblings follow all built children. Most of them have no array.
  __device__ std::uint32_t arrays() const { return 2 * tree.state->families; }
  __device__ std::uint32_t summed() const { return tree.state->families; }
  /// Returns nullptr for subtracted siblings.
  __device__ GradientSum* array(std::uint32_t place) const {
    bool const built = place < tree.state->families;
    Family const& family = tree.families[built ? place : place - tree.state->families];
    if (!built && family.subtract != 0) return nullptr;
    return histograms.slot(built ? family.built_slot : family.sibling_slot);
  }
};

/// The histograms of a level. Every device gets all sums.
struct WholeSlots : SummedSlots {
  static constexpr bool kShared = false;

  __device__ std::uint64_t first(int) const { return 0; }
  __device__ std::uint64_t size(int) const { return histograms.cells; }
  __device__ std::uint64_t largest() const { return histograms.cells; }
};

/// The histograms of a level. Every device gets the sums of its share.
struct SharedSlots : SummedSlots {
  static constexpr bool kShared = true;

  CellShares shares;
  std::uint64_t largest_share;

  __device__ std::uint64_t first(int device) const { return shares.first[device]; }
  __device__ std::uint64_t size(int device) const { return shares.size(device); }
  __device__ std::uint64_t largest() const { return largest_share; }
};

/// Returns the cells that a block sends at a time: few enough that every block has work.
__device__ inline std::uint32_t CellsOfPiece(std::uint64_t cells) {
  std::uint64_t const even = (cells + gridDim.x - 1) / gridDim.x;
  return static_cast<std::uint32_t>(
      min(std::uint64_t{kPieceCells},
          max(std::uint64_t{kLeastCells}, (even + kLeastCells - 1) / kLeastCells * kLeastCells)));
}

/// A piece of an array: the cells of a device that the block works on now. It is empty if only other devices have cells
/// left.
struct Piece {
  longlong2* cells;
  std::uint32_t n;
};
template <typename Arrays>
__device__ inline Piece PieceOf(Arrays const& arrays, GradientSum* array, std::uint64_t from, std::uint32_t most,
                                int device) {
  std::uint64_t const size = arrays.size(device);
  if (from >= size) return {nullptr, 0};
  return {reinterpret_cast<longlong2*>(array + arrays.first(device) + from),
          static_cast<std::uint32_t>(min(std::uint64_t{most}, size - from))};
}

/// The sums of a piece, in the registers of the block. All loads of a thread are in flight together.
struct PieceSums {
  longlong2 of[kThreadCells];

  __device__ void Load(Piece const& piece) {
#pragma unroll
    for (std::uint32_t i = 0; i < kThreadCells; ++i) {
      std::uint32_t const c = threadIdx.x + i * kThreads;
      of[i] = c < piece.n ? __ldcg(piece.cells + c) : longlong2{0, 0};
    }
  }
  __device__ void Store(Piece const& piece) const {
#pragma unroll
    for (std::uint32_t i = 0; i < kThreadCells; ++i) {
      std::uint32_t const c = threadIdx.x + i * kThreads;
      if (c < piece.n) piece.cells[c] = of[i];
    }
  }
  /// Returns true if all sums of the block's piece fit 32 bits. They nearly always do with narrow gradients, and then
  /// take half the time to send.
  __device__ bool FitHalf() const {
    bool fit = true;
#pragma unroll
    for (std::uint32_t i = 0; i < kThreadCells; ++i) {
      fit = fit && of[i].x == static_cast<int>(of[i].x) && of[i].y == static_cast<int>(of[i].y);
    }
    return __syncthreads_and(fit) != 0;
  }
  /// Copies n sums to a box, as whole or half sums.
  template <typename Pair>
  __device__ void Send(std::uint32_t n, Pair* box) const {
#pragma unroll
    for (std::uint32_t i = 0; i < kThreadCells; ++i) {
      std::uint32_t const c = threadIdx.x + i * kThreads;
      if (c < n) box[c] = {static_cast<decltype(box->x)>(of[i].x), static_cast<decltype(box->y)>(of[i].y)};
    }
  }
  /// Adds the sums in a box.
  template <typename Pair>
  __device__ void Add(std::uint32_t n, Pair const* box) {
#pragma unroll
    for (std::uint32_t i = 0; i < kThreadCells; ++i) {
      std::uint32_t const c = threadIdx.x + i * kThreads;
      if (c >= n) continue;
      Pair const other = __ldcv(box + c);
      of[i].x += other.x;
      of[i].y += other.y;
    }
  }
};

/// Sends every other device its cells from `from` on, at most `most` of them, for a later meeting.
template <typename Arrays>
__device__ inline void SendPieces(PeerView const& peers, Arrays const& arrays, GradientSum* array, std::uint64_t from,
                                  std::uint32_t most, std::uint32_t meeting) {
  PieceSums sums;
  Piece piece{};
  bool half = false, loaded = false;
  for (int peer = 0; peer < peers.devices; ++peer) {
    if (peer == peers.device) continue;
    if (Arrays::kShared || !loaded) {
      piece = PieceOf(arrays, array, from, most, peer);
      sums.Load(piece);
      half = sums.FitHalf();
      loaded = true;
    }
    GradientSum* const box = peers.Box(peer, peers.device, meeting);
    half ? sums.Send(piece.n, reinterpret_cast<int2*>(box)) : sums.Send(piece.n, reinterpret_cast<longlong2*>(box));
    if (threadIdx.x == 0) {
      peers.flags[peer]->packed[meeting % kStages][peers.device][blockIdx.x] = half ? 1 : 0;
    }
  }
}

/// Waits for a meeting, and adds the received sums to the device's own piece of that meeting. Returns false after a
/// wait in vain.
__device__ inline bool AddPieces(PeerView const& peers, Piece const& own, std::uint32_t meeting) {
  PieceSums sums;
  sums.Load(own);  // in flight during the wait
  if (!Await(peers, blockIdx.x, meeting)) return false;
  for (int peer = 0; peer < peers.devices; ++peer) {
    if (peer == peers.device) continue;
    GradientSum const* const box = peers.Box(peers.device, peer, meeting);
    bool const half = __ldcv(&peers.flags[peers.device]->packed[meeting % kStages][peer][blockIdx.x]) != 0;
    half ? sums.Add(own.n, reinterpret_cast<int2 const*>(box))
         : sums.Add(own.n, reinterpret_cast<longlong2 const*>(box));
  }
  sums.Store(own);
  return true;
}

/// Sums all arrays, so that every device gets its cells. A block sends a piece before it waits for the piece before, so
/// the link is busy while it adds.
template <typename Arrays>
__global__ void __launch_bounds__(kThreads, kProcessorBlocks)
    SumKernel(PeerView peers, __grid_constant__ Arrays const arrays) {
  static_assert(sizeof(GradientSum) == sizeof(longlong2));
  WaitForWorkBefore();
  std::uint64_t const size = arrays.largest();
  std::uint32_t const most = CellsOfPiece(size * arrays.summed());
  auto const pieces = static_cast<std::uint32_t>((size + most - 1) / most);
  std::uint32_t* const meetings = peers.flags[peers.device]->meetings + blockIdx.x;
  std::uint32_t meeting = *meetings;
  Piece sent{};  // piece to add at the last meeting
  bool any = false;
  for (std::uint32_t p = blockIdx.x; p < arrays.arrays() * pieces; p += gridDim.x) {
    GradientSum* const array = arrays.array(p / pieces);
    if (array == nullptr) continue;
    std::uint64_t const from = std::uint64_t{p % pieces} * most;
    ++meeting;
    SendPieces(peers, arrays, array, from, most, meeting);
    if (!Arrive(peers, blockIdx.x, meeting)) return;
    if (any && !AddPieces(peers, sent, meeting - 1)) return;
    sent = PieceOf(arrays, array, from, most, peers.device);
    any = true;
  }
  if (any && !AddPieces(peers, sent, meeting)) return;
  if (any && threadIdx.x == 0) *meetings = meeting;
  LetKernelAfterCome();
}

/// Sends the splits of the level's children to all other devices, and takes the best of all.
__global__ void __launch_bounds__(kThreads) BestKernel(PeerView peers, GrowingTree tree) {
  constexpr std::uint32_t kWords = sizeof(SplitCandidate) / sizeof(uint4);
  static_assert(sizeof(SplitCandidate) % sizeof(uint4) == 0 && alignof(SplitCandidate) == sizeof(uint4));
  WaitForWorkBefore();
  std::uint32_t const children = ChildrenOf(tree);
  for (std::uint32_t from = blockIdx.x * kBlockChildren; from < children; from += gridDim.x * kBlockChildren) {
    std::uint32_t const n = min(kBlockChildren, children - from);
    std::uint32_t const meeting = peers.flags[peers.device]->meetings[blockIdx.x] + 1;
    for (std::uint32_t i = threadIdx.x; i < n * kWords; i += kThreads) {
      uint4 const word = __ldcg(reinterpret_cast<uint4 const*>(&ChildOf(tree, from + i / kWords)->split) + i % kWords);
      for (int peer = 0; peer < peers.devices; ++peer) {
        if (peer != peers.device) reinterpret_cast<uint4*>(peers.Box(peer, peers.device, meeting))[i] = word;
      }
    }
    if (!Meet(peers, blockIdx.x)) return;
    for (std::uint32_t c = threadIdx.x; c < n; c += kThreads) {
      SplitCandidate* const own = &ChildOf(tree, from + c)->split;
      SplitCandidate best = LoadFresh(own);
      bool other_is_better = false;
      for (int peer = 0; peer < peers.devices; ++peer) {
        if (peer == peers.device) continue;
        auto const* const box = reinterpret_cast<uint4 const*>(peers.Box(peers.device, peer, meeting)) + c * kWords;
        uint4 words[kWords];
#pragma unroll
        for (std::uint32_t w = 0; w < kWords; ++w) words[w] = __ldcv(box + w);
        SplitCandidate other;
        memcpy(&other, words, sizeof(other));
        if (!IsBetter(other, best)) continue;
        best = other;
        other_is_better = true;
      }
      if (other_is_better) StoreWhole(own, best);
    }
  }
  LetKernelAfterCome();
}

/// Returns the blocks of a kernel that sums `cells` cells: one for each piece, so that all pieces are in flight
/// together. With few cells it makes pieces smaller instead.
unsigned BlocksFor(std::uint64_t cells, unsigned most) {
  std::uint64_t const small = std::min<std::uint64_t>((cells + kLeastCells - 1) / kLeastCells, kFewBlocks);
  std::uint64_t const whole = (cells + kPieceCells - 1) / kPieceCells;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(std::max(small, whole), 1, most));
}

/// Returns the most blocks of a kernel for shards on these devices. Blocks of shards on one device wait for each other,
/// so all must be resident at the same time, beside other kernels.
unsigned MostBlocks(std::vector<int> const& ordinals) {
  auto const n = static_cast<unsigned>(ordinals.size());
  unsigned most = std::min(kMostBlocks, kAllBoxes / n);
  for (int const ordinal : ordinals) {
    DeviceScope const scope{ordinal};
    auto const sharers = static_cast<unsigned>(std::count(ordinals.begin(), ordinals.end(), ordinal));
    auto const processors = static_cast<unsigned>(CurrentDeviceLimits().processors);
    most = std::min(most, sharers == 1 ? kProcessorBlocks * processors : processors / sharers);
  }
  return std::max(most, 1U);
}

/// The same for processes, which do not know if two of them share a device.
unsigned MostBlocks(std::size_t processes) {
  return std::min(kMostBlocks / 2, kAllBoxes / static_cast<unsigned>(processes));
}

}  // namespace

/// All memory of a group.
struct PeerDevices::Memory {
  struct OfDevice {
    DeviceArena arena{"Several GPUs"};
    DeviceBuffer<Flags> flags;
    DeviceBuffer<GradientSum> boxes;
  };

  Memory(std::vector<int> const& ordinals, unsigned most_blocks) : devices{ordinals}, blocks{most_blocks} {}
  ~Memory() {
    for (void* const memory : of_others) cudaIpcCloseMemHandle(memory);
    for (std::size_t d = 0; d < of.size(); ++d) {
      try {
        DeviceScope const scope{devices[d]};
        of[d]->flags = {};
        of[d]->boxes = {};
      } catch (DeviceError const&) {
        // A failed device has nothing left to free.
      }
    }
  }

  std::vector<int> devices;
  unsigned blocks;                            ///< most blocks of a kernel
  std::vector<std::unique_ptr<OfDevice>> of;  ///< [devices] in peer memory
  PinnedBuffer<std::uint8_t> on_host;         ///< without peer memory: flags and boxes of all devices, in turn
  std::vector<void*> of_others;               ///< opened memory of other processes
  PinnedBuffer<Words> words{1};
  std::vector<Flags*> flags;
  std::vector<GradientSum*> boxes;
};

class PeerDevices::Member final : public DeviceCollective {
 public:
  Member(PeerView const& view, Words const* words, int ordinal) : view_{view}, words_{words} {
    DeviceScope const scope{ordinal};
    limits_ = CurrentDeviceLimits();
  }

  bool alone() const override { return false; }
  int devices() const override { return view_.devices; }
  int device() const override { return view_.device; }
  void Combine(DeviceNumbers const& numbers, bool const* unless, cudaStream_t stream) override {
    LaunchNext("telling other devices", CombineKernel, 1, kMostDevices * DeviceNumbers::kMost, 0, limits_, stream,
               view_, numbers, unless);
  }
  void Sum(std::int64_t* values, std::uint64_t n, cudaStream_t stream) override {
    LaunchNext("adding up devices", SumKernel<Cells>, BlocksFor(n / 2, view_.blocks), kThreads, 0, limits_, stream,
               view_, Cells{reinterpret_cast<GradientSum*>(values), n / 2});
  }
  void SumLevel(GrowingTree const& tree, DeviceHistograms const& histograms, LevelBounds const& bounds,
                cudaStream_t stream) override {
    LaunchNext("adding up histograms of devices", SumKernel<WholeSlots>,
               BlocksFor(bounds.families * histograms.cells, view_.blocks), kThreads, 0, limits_, stream, view_,
               WholeSlots{{tree, histograms}});
  }
  void ShareLevel(GrowingTree const& tree, DeviceHistograms const& histograms, CellShares const& shares,
                  LevelBounds const& bounds, cudaStream_t stream) override {
    std::uint64_t const largest = shares.largest();
    LaunchNext("adding up shares of histograms", SumKernel<SharedSlots>,
               BlocksFor(bounds.families * largest, view_.blocks), kThreads, 0, limits_, stream, view_,
               SharedSlots{{tree, histograms}, shares, largest});
  }
  void BestOfLevel(GrowingTree const& tree, LevelBounds const& bounds, cudaStream_t stream) override {
    std::uint64_t const wanted = (2 * bounds.families + kBlockChildren - 1) / kBlockChildren;
    LaunchNext("comparing splits of devices", BestKernel,
               static_cast<unsigned>(std::min<std::uint64_t>(wanted, view_.blocks)), kThreads, 0, limits_, stream,
               view_, tree);
  }
  void Check() const override {
    if (static_cast<Words const volatile*>(words_)->lost[view_.device] == 0) return;
    throw ShardsLost{"Another GPU of this training has stopped or did not answer in time, so all stop"};
  }

 private:
  PeerView view_;
  Words const* words_;
  DeviceLimits limits_{};
};

namespace {

/// Opens the memory of every device to every other device. Returns false if a device cannot.
bool OpenPeerMemory(std::vector<int> const& devices) {
  return std::all_of(devices.begin(), devices.end(), [&](int own) {
    DeviceScope const scope{own};
    return std::all_of(devices.begin(), devices.end(), [](int peer) { return EnablePeerAccess(peer); });
  });
}

std::size_t BoxCells(std::size_t devices, unsigned blocks) { return kStages * devices * blocks * kPieceCells; }

}  // namespace

PeerDevices::PeerDevices(std::vector<int> devices, double seconds) {
  std::size_t const n = devices.size();
  if (n < 2 || n > static_cast<std::size_t>(kMostDevices)) {
    Throw<InvalidArgument>("There are ", n, " devices to train on together; allowed: 2 to ", kMostDevices);
  }
  memory_ = std::make_unique<Memory>(devices, MostBlocks(devices));
  std::size_t const cells = BoxCells(n, memory_->blocks);
  bool const peers = OpenPeerMemory(devices);
  std::size_t const flag_bytes = (sizeof(Flags) + 255) / 256 * 256, box_bytes = cells * sizeof(GradientSum);
  if (!peers) memory_->on_host = PinnedBuffer<std::uint8_t>{n * (flag_bytes + box_bytes)};
  for (std::size_t d = 0; d < n; ++d) {
    if (peers) {
      DeviceScope const scope{devices[d]};
      memory_->of.push_back(std::make_unique<Memory::OfDevice>());
      Memory::OfDevice& own = *memory_->of.back();
      own.flags = {&own.arena, "flags", 1};
      own.boxes = {&own.arena, "sums of other devices", cells};
      memory_->flags.push_back(own.flags.data());
      memory_->boxes.push_back(own.boxes.data());
    } else {
      std::uint8_t* const begin = memory_->on_host.data() + d * (flag_bytes + box_bytes);
      memory_->flags.push_back(reinterpret_cast<Flags*>(begin));
      memory_->boxes.push_back(reinterpret_cast<GradientSum*>(begin + flag_bytes));
    }
  }
  Reset();
  for (std::size_t d = 0; d < n; ++d) members_.push_back(MakeMember(d, devices[d], seconds));
}

/// Allocates flags and boxes together: a process opens whole allocations of another process.
PeerDevices::PeerDevices(Collective* group, int device, double seconds) {
  auto const n = static_cast<std::size_t>(group->shards()), own = static_cast<std::size_t>(group->shard());
  if (n > static_cast<std::size_t>(kMostDevices)) {
    Throw<Unsupported>("There are ", n, " processes that would train together on GPUs; supported: ", kMostDevices);
  }
  std::size_t const flag_bytes = (sizeof(Flags) + 255) / 256 * 256;
  cudaIpcMemHandle_t handle{};
  static_assert(sizeof(handle) % sizeof(std::uint32_t) == 0);
  // A failure is a failure of all processes, so that they can go on together in another way.
  AllOrNone(*group, [&] {
    DeviceScope const scope{device};
    memory_ = std::make_unique<Memory>(std::vector<int>{device}, MostBlocks(n));
    memory_->of.push_back(std::make_unique<Memory::OfDevice>());
    Memory::OfDevice& shared = *memory_->of.back();
    std::size_t const box_bytes = BoxCells(n, memory_->blocks) * sizeof(GradientSum);
    shared.boxes = {&shared.arena, "sums of other devices", (flag_bytes + box_bytes) / sizeof(GradientSum)};
    CheckCuda(cudaMemset(shared.boxes.data(), 0, flag_bytes), "clearing flags");
    CheckCuda(cudaDeviceSynchronize(), "clearing flags");
    CheckCuda(cudaIpcGetMemHandle(&handle, shared.boxes.data()), "lending memory to other processes");
  });
  std::vector<std::uint32_t> words(sizeof(handle) / sizeof(std::uint32_t));
  std::memcpy(words.data(), &handle, sizeof(handle));
  auto const all = group->Gather(Span<std::uint32_t const>{words});
  AllOrNone(*group, [&] {
    DeviceScope const scope{device};
    for (std::size_t p = 0; p < n; ++p) {
      void* begin = memory_->of.back()->boxes.data();
      if (p != own) {
        std::memcpy(&handle, all[p].data(), sizeof(handle));
        CheckCuda(cudaIpcOpenMemHandle(&begin, handle, cudaIpcMemLazyEnablePeerAccess),
                  "opening the memory of another process's GPU");
        memory_->of_others.push_back(begin);
      }
      memory_->flags.push_back(static_cast<Flags*>(begin));
      memory_->boxes.push_back(reinterpret_cast<GradientSum*>(static_cast<std::uint8_t*>(begin) + flag_bytes));
    }
    *memory_->words.data() = {};
    members_.resize(n);
    members_[own] = MakeMember(own, device, seconds);
  });
}

PeerDevices::~PeerDevices() = default;

std::unique_ptr<PeerDevices::Member> PeerDevices::MakeMember(std::size_t shard, int device, double seconds) const {
  PeerView view{};
  view.devices = static_cast<int>(memory_->flags.size());
  view.device = static_cast<int>(shard);
  view.blocks = memory_->blocks;
  std::copy(memory_->flags.begin(), memory_->flags.end(), view.flags);
  std::copy(memory_->boxes.begin(), memory_->boxes.end(), view.boxes);
  view.words = memory_->words.data();
  view.patience = static_cast<unsigned long long>(seconds * 1e9);
  return std::make_unique<Member>(view, memory_->words.data(), device);
}

DeviceCollective* PeerDevices::of(int shard) const { return members_[static_cast<std::size_t>(shard)].get(); }

void PeerDevices::Abort() noexcept {
  static_cast<Words volatile*>(memory_->words.data())->abort = 1;
  if (memory_->of_others.empty()) return;
  // The words of other processes are out of reach, but their flags are not.
  constexpr std::uint32_t kLost = 1;
  try {
    DeviceScope const scope{memory_->devices[0]};
    Stream const stream;
    for (void* const memory : memory_->of_others) {
      cudaMemcpyAsync(&static_cast<Flags*>(memory)->lost, &kLost, sizeof(kLost), cudaMemcpyHostToDevice, stream);
    }
    cudaStreamSynchronize(stream);
  } catch (DeviceError const&) {
    // The device has failed. All other devices wait until their limit.
  }
}

bool PeerDevices::failed() const {
  Words const volatile& words = *memory_->words.data();
  bool lost = words.abort != 0;
  for (std::uint32_t const volatile& word : words.lost) lost = lost || word != 0;
  return lost;
}

void PeerDevices::Reset() {
  for (std::size_t d = 0; d < memory_->flags.size(); ++d) {
    DeviceScope const scope{memory_->devices[d]};
    CheckCuda(cudaDeviceSynchronize(), "clearing flags");  // a kernel that gives up writes flags
    CheckCuda(cudaMemset(memory_->flags[d], 0, sizeof(Flags)), "clearing flags");
    CheckCuda(cudaDeviceSynchronize(), "clearing flags");
  }
  *memory_->words.data() = {};
}

}  // namespace xgbgpu::cuda
