#include <algorithm>
#include <cstring>
#include <utility>

#include "collective/peer_devices_cuda.h"
#include "core/grid.h"
#include "core/launch.h"
#include "core/message.h"
#include "core/peer_access.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 512;
constexpr unsigned kBlocks = 64;             ///< of a kernel that sums, at most: it leaves room for what else runs
constexpr std::uint32_t kPieceCells = 8192;  ///< that a block sends at a time, at most
constexpr std::uint32_t kLeastCells = 512;   ///< fewer are not dealt to another block
constexpr unsigned kNumbersBlock = kBlocks;  ///< place of Combine among the blocks' flags
constexpr unsigned kPlaces = kBlocks + 1;

/// What other devices write to, for one device. All numbers of meetings grow from 1 on.
struct Flags {
  std::uint32_t lost;                            ///< not 0: the device has waited in vain; its own, as in Words
  std::uint32_t meetings[kPlaces];               ///< of each block so far; the device's own
  std::uint32_t arrived[kMostDevices][kPlaces];  ///< the last meeting of each block to which each device has come
  std::int64_t numbers[2][kMostDevices][DeviceNumbers::kMost];
  std::uint8_t packed[2][kMostDevices][kPlaces];  ///< of each box: are its sums pairs of 32 bits?
};

/// Two words of pinned memory, which host and device read and write.
struct Words {
  std::uint32_t abort;               ///< not 0: nobody waits any more
  std::uint32_t lost[kMostDevices];  ///< not 0: this device has waited in vain
};

/// One device's view of the group.
struct PeerView {
  int devices, device;
  Flags* flags[kMostDevices];        ///< of each device
  GradientSum* boxes[kMostDevices];  ///< of each device: [2, devices, kBlocks, kPieceCells]
  Words* words;
  unsigned long long patience;  ///< nanoseconds

  __device__ GradientSum* Box(int receiver, int sender, std::uint32_t parity) const {
    return boxes[receiver] +
           ((std::uint64_t{parity} * static_cast<unsigned>(devices) + static_cast<unsigned>(sender)) * kBlocks +
            blockIdx.x) *
               kPieceCells;
  }
};

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

/// Waits until the flag shows the meeting. Returns false if that was in vain.
__device__ inline bool WaitForFlag(PeerView const& peers, std::uint32_t const* flag, std::uint32_t meeting) {
  constexpr int kLooks = 256;  // between two looks at the host's word, which take as long as many at a flag
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

/// The block tells all other devices' same block that it has come to its next meeting, and waits for theirs. What it
/// wrote before can be read by them afterwards. Returns the number of the meeting; 0: somebody was waited for in vain,
/// now or before.
__device__ inline std::uint32_t Meet(PeerView const& peers, unsigned place) {
  __shared__ std::uint32_t meeting;
  __syncthreads();  // all of the block have written
  Flags& own = *peers.flags[peers.device];
  if (threadIdx.x == 0) {
    std::uint32_t const next = own.meetings[place] + 1;
    own.meetings[place] = next;
    meeting = LookAtWord(&own.lost) != 0 ? 0 : next;
  }
  __syncthreads();
  std::uint32_t const number = meeting;
  auto const peer = static_cast<int>(threadIdx.x);
  bool came = true;
  if (number != 0 && peer < peers.devices && peer != peers.device) {
    __threadfence_system();
    RaiseFlag(&peers.flags[peer]->arrived[peers.device][place], number);
    came = WaitForFlag(peers, &own.arrived[peer][place], number);
    if (!came) own.lost = peers.words->lost[peers.device] = 1;
  }
  return __syncthreads_and(came) ? number : 0;
}

/// One block.
__global__ void __launch_bounds__(kMostDevices* DeviceNumbers::kMost)
    CombineKernel(PeerView peers, DeviceNumbers numbers, bool const* unless) {
  WaitForWorkBefore();
  if (unless != nullptr && *unless) return;
  Flags& own = *peers.flags[peers.device];
  std::uint32_t const parity = own.meetings[kNumbersBlock] % 2;  // nobody writes to what is being read
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
  if (Meet(peers, kNumbersBlock) == 0) return;
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

/// One array of cells.
struct Cells {
  GradientSum* cells;
  std::uint64_t n;

  __device__ std::uint32_t arrays() const { return 1; }
  __device__ std::uint32_t summed() const { return 1; }  ///< arrays that there are in most cases
  __device__ std::uint64_t size() const { return n; }
  __device__ GradientSum* array(std::uint32_t) const { return cells; }
};

/// The histograms that a level has summed.
struct LevelSlots {
  GrowingTree tree;
  DeviceHistograms histograms;

  /// Siblings come behind all built children: most of them are not there.
  __device__ std::uint32_t arrays() const { return 2 * tree.state->families; }
  __device__ std::uint32_t summed() const { return tree.state->families; }
  __device__ std::uint64_t size() const { return histograms.cells; }
  /// Returns nullptr for siblings that are subtracted.
  __device__ GradientSum* array(std::uint32_t place) const {
    bool const built = place < tree.state->families;
    Family const& family = tree.families[built ? place : place - tree.state->families];
    if (!built && family.subtract != 0) return nullptr;
    return histograms.slot(built ? family.built_slot : family.sibling_slot);
  }
};

/// Cells that a block sends at a time: so many that all blocks have some.
__device__ inline std::uint32_t CellsOfPiece(std::uint64_t cells) {
  std::uint64_t const even = (cells + gridDim.x - 1) / gridDim.x;
  return static_cast<std::uint32_t>(
      min(std::uint64_t{kPieceCells},
          max(std::uint64_t{kLeastCells}, (even + kLeastCells - 1) / kLeastCells * kLeastCells)));
}

/// Do all sums of the block's piece fit 32 bits? They nearly always do where gradients are narrow, and then take half as
/// long on their way.
__device__ inline bool FitHalf(longlong2 const* cells, std::uint32_t n) {
  bool fit = true;
#pragma unroll 4
  for (std::uint32_t c = threadIdx.x; c < n; c += kThreads) {
    longlong2 const sum = __ldcg(cells + c);
    fit = fit && sum.x == static_cast<int>(sum.x) && sum.y == static_cast<int>(sum.y);
  }
  return __syncthreads_and(fit) != 0;
}

/// Copies the block's piece to a box, of whole or half sums.
template <typename Pair>
__device__ inline void Send(longlong2 const* cells, std::uint32_t n, Pair* box) {
#pragma unroll 4
  for (std::uint32_t c = threadIdx.x; c < n; c += kThreads) {
    longlong2 const sum = __ldcg(cells + c);
    box[c] = {static_cast<decltype(box->x)>(sum.x), static_cast<decltype(box->y)>(sum.y)};
  }
}

/// Adds what lies in a box to the block's piece.
template <typename Pair>
__device__ inline void Add(Pair const* box, std::uint32_t n, longlong2* cells) {
#pragma unroll 4
  for (std::uint32_t c = threadIdx.x; c < n; c += kThreads) {
    longlong2 const own = cells[c];
    Pair const other = __ldcv(box + c);
    cells[c] = {own.x + other.x, own.y + other.y};
  }
}

template <typename Arrays>
__global__ void __launch_bounds__(kThreads) SumKernel(PeerView peers, Arrays arrays) {
  static_assert(sizeof(GradientSum) == sizeof(longlong2));
  WaitForWorkBefore();
  std::uint64_t const size = arrays.size();
  std::uint32_t const piece = CellsOfPiece(size * arrays.summed());
  auto const pieces = static_cast<std::uint32_t>((size + piece - 1) / piece);
  Flags const& own = *peers.flags[peers.device];
  for (std::uint32_t p = blockIdx.x; p < arrays.arrays() * pieces; p += gridDim.x) {
    GradientSum* const array = arrays.array(p / pieces);
    if (array == nullptr) continue;
    std::uint64_t const first = std::uint64_t{p % pieces} * piece;
    auto const n = static_cast<std::uint32_t>(min(std::uint64_t{piece}, size - first));
    auto* const cells = reinterpret_cast<longlong2*>(array + first);
    std::uint32_t const parity = own.meetings[blockIdx.x] % 2;
    bool const packed = FitHalf(cells, n);
    for (int peer = 0; peer < peers.devices; ++peer) {
      if (peer == peers.device) continue;
      GradientSum* const box = peers.Box(peer, peers.device, parity);
      packed ? Send(cells, n, reinterpret_cast<int2*>(box)) : Send(cells, n, reinterpret_cast<longlong2*>(box));
      if (threadIdx.x == 0) peers.flags[peer]->packed[parity][peers.device][blockIdx.x] = packed ? 1 : 0;
    }
    if (Meet(peers, blockIdx.x) == 0) return;
    for (int peer = 0; peer < peers.devices; ++peer) {
      if (peer == peers.device) continue;
      GradientSum const* const box = peers.Box(peers.device, peer, parity);
      bool const halves = __ldcv(&own.packed[parity][peer][blockIdx.x]) != 0;
      halves ? Add(reinterpret_cast<int2 const*>(box), n, cells)
             : Add(reinterpret_cast<longlong2 const*>(box), n, cells);
    }
  }
  LetKernelAfterCome();
}

unsigned BlocksFor(std::uint64_t cells) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>((cells + kLeastCells - 1) / kLeastCells, 1, kBlocks));
}

}  // namespace

/// All memory of a group.
struct PeerDevices::Memory {
  struct OfDevice {
    DeviceArena arena{"Several GPUs"};
    DeviceBuffer<Flags> flags;
    DeviceBuffer<GradientSum> boxes;
  };

  explicit Memory(std::vector<int> const& ordinals) : devices{ordinals} {}
  ~Memory() {
    for (void* const memory : of_others) cudaIpcCloseMemHandle(memory);
    for (std::size_t d = 0; d < of.size(); ++d) {
      try {
        DeviceScope const scope{devices[d]};
        of[d]->flags = {};
        of[d]->boxes = {};
      } catch (DeviceError const&) {
        // A device that has failed: nothing is left to be freed there.
      }
    }
  }

  std::vector<int> devices;
  std::vector<std::unique_ptr<OfDevice>> of;  ///< [devices], in peer memory
  PinnedBuffer<std::uint8_t> on_host;         ///< else flags and boxes of all devices, in turn
  std::vector<void*> of_others;               ///< memory of other processes, opened
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
  void Combine(DeviceNumbers const& numbers, bool const* unless, cudaStream_t stream) override {
    LaunchNext("telling other devices", CombineKernel, 1, kMostDevices * DeviceNumbers::kMost, 0, limits_, stream,
               view_, numbers, unless);
  }
  void Sum(std::int64_t* values, std::uint64_t n, cudaStream_t stream) override {
    LaunchNext("adding up devices", SumKernel<Cells>, BlocksFor(n / 2), kThreads, 0, limits_, stream, view_,
               Cells{reinterpret_cast<GradientSum*>(values), n / 2});
  }
  void SumLevel(GrowingTree const& tree, DeviceHistograms const& histograms, LevelBounds const& bounds,
                cudaStream_t stream) override {
    LaunchNext("adding up histograms of devices", SumKernel<LevelSlots>, BlocksFor(bounds.families * histograms.cells),
               kThreads, 0, limits_, stream, view_, LevelSlots{tree, histograms});
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

/// Can every device write to the memory of every other? Then it may from now on.
bool OpenPeerMemory(std::vector<int> const& devices) {
  return std::all_of(devices.begin(), devices.end(), [&](int own) {
    DeviceScope const scope{own};
    return std::all_of(devices.begin(), devices.end(), [](int peer) { return EnablePeerAccess(peer); });
  });
}

std::size_t BoxCells(std::size_t devices) { return 2 * devices * kBlocks * kPieceCells; }

}  // namespace

PeerDevices::PeerDevices(std::vector<int> devices, double seconds) : memory_{new Memory{devices}} {
  std::size_t const n = devices.size();
  if (n < 2 || n > static_cast<std::size_t>(kMostDevices)) {
    Throw<InvalidArgument>("There are ", n, " devices to train on together; allowed: 2 to ", kMostDevices);
  }
  bool const peers = OpenPeerMemory(devices);
  transport_ = peers ? "peer memory" : "host memory";
  std::size_t const flag_bytes = (sizeof(Flags) + 255) / 256 * 256, box_bytes = BoxCells(n) * sizeof(GradientSum);
  if (!peers) memory_->on_host = PinnedBuffer<std::uint8_t>{n * (flag_bytes + box_bytes)};
  for (std::size_t d = 0; d < n; ++d) {
    if (peers) {
      DeviceScope const scope{devices[d]};
      memory_->of.push_back(std::make_unique<Memory::OfDevice>());
      Memory::OfDevice& own = *memory_->of.back();
      own.flags = {&own.arena, "flags", 1};
      own.boxes = {&own.arena, "sums of other devices", BoxCells(n)};
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

/// Flags and boxes lie one after the other: what one process opens of another's is an allocation as a whole.
PeerDevices::PeerDevices(Collective* group, int device, double seconds)
    : transport_{"peer memory"}, memory_{new Memory{{device}}} {
  auto const n = static_cast<std::size_t>(group->shards()), own = static_cast<std::size_t>(group->shard());
  if (n > static_cast<std::size_t>(kMostDevices)) {
    Throw<Unsupported>("There are ", n, " processes that would train together on GPUs; supported: ", kMostDevices);
  }
  std::size_t const flag_bytes = (sizeof(Flags) + 255) / 256 * 256, box_bytes = BoxCells(n) * sizeof(GradientSum);
  cudaIpcMemHandle_t handle{};
  static_assert(sizeof(handle) % sizeof(std::uint32_t) == 0);
  memory_->of.push_back(std::make_unique<Memory::OfDevice>());
  Memory::OfDevice& shared = *memory_->of.back();
  AllOrNone(*group, [&] {
    DeviceScope const scope{device};
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
      void* begin = shared.boxes.data();
      if (p != own) {
        std::memcpy(&handle, all[p].data(), sizeof(handle));
        CheckCuda(cudaIpcOpenMemHandle(&begin, handle, cudaIpcMemLazyEnablePeerAccess),
                  "opening the memory of another process's GPU");
        memory_->of_others.push_back(begin);
      }
      memory_->flags.push_back(static_cast<Flags*>(begin));
      memory_->boxes.push_back(reinterpret_cast<GradientSum*>(static_cast<std::uint8_t*>(begin) + flag_bytes));
    }
  });
  *memory_->words.data() = {};
  members_.resize(n);
  members_[own] = MakeMember(own, device, seconds);
}

PeerDevices::~PeerDevices() = default;

std::unique_ptr<PeerDevices::Member> PeerDevices::MakeMember(std::size_t shard, int device, double seconds) const {
  PeerView view{};
  view.devices = static_cast<int>(memory_->flags.size());
  view.device = static_cast<int>(shard);
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
  // The words of other processes are not to be reached, but their flags are.
  constexpr std::uint32_t kLost = 1;
  try {
    DeviceScope const scope{memory_->devices[0]};
    Stream const stream;
    for (void* const memory : memory_->of_others) {
      cudaMemcpyAsync(&static_cast<Flags*>(memory)->lost, &kLost, sizeof(kLost), cudaMemcpyHostToDevice, stream);
    }
    cudaStreamSynchronize(stream);
  } catch (DeviceError const&) {
    // The device has failed: the others wait as long as they have patience.
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
    CheckCuda(cudaMemset(memory_->flags[d], 0, sizeof(Flags)), "clearing flags");
    CheckCuda(cudaDeviceSynchronize(), "clearing flags");
  }
  *memory_->words.data() = {};
}

}  // namespace xgbgpu::cuda
