// Finds the best exact split of every node and feature of a level on a device, and the best feature of every node.
#include <type_traits>

#include "exact/tiles.cuh"
#include "split/score_bound_ops.h"

namespace xgbgpu::cuda {

namespace {

// Gradients are read in random order, so a thread needs many loads in flight. Too many loads in flight spoil the cache.
// Few threads with many entries each were fastest (docs/adr/0014-exact-trees.md).
constexpr int kFindThreads = 128;
constexpr int kFindItems = kTileEntries / kFindThreads;
constexpr int kFindResident = 4;  // blocks on a multiprocessor

/// Gradients of 32 bits. A thread keeps its entries' gradients as they are stored, which takes half the registers.
struct CompactGradients {
  using Stored = int2;
  int2 const* gradients;
  __device__ int2 operator[](RowIndex row) const { return __ldg(gradients + row); }
};

struct WideGradients {
  using Stored = longlong2;
  GradientSum const* gradients;
  __device__ longlong2 operator[](RowIndex row) const {
    return __ldg(reinterpret_cast<longlong2 const*>(gradients) + row);
  }
};

template <typename Stored>
__device__ void AddStored(GradientSum* sum, Stored g) {
  sum->grad += g.x;
  sum->hess += g.y;
}

/// The sum over consecutive entries, from their last head on.
struct RunningSum {
  GradientSum sum;
  bool has_head;
};
struct JoinRunning {
  __device__ RunningSum operator()(RunningSum const& a, RunningSum const& b) const {
    if (b.has_head) return b;
    return {a.sum + b.sum, a.has_head};
  }
};

/// Adds a sum over entries of one node to `sums` [nodes].
__device__ void AddRun(GradientSum* sums, int node, GradientSum sum) {
  AtomicAdd(&sums[node].grad, sum.grad);
  AtomicAdd(&sums[node].hess, sum.hess);
}

/// Sums a tile whose entries all belong to one node.
template <typename Gradients>
__device__ void SumInNode(ExactLists const& lists, TileSpan const& span, Gradients const& gradients,
                          GradientSum* present) {
  GradientSum sum;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    int const at = static_cast<int>(threadIdx.x) + i * kExactThreads;
    if (at < span.count) AddStored(&sum, gradients[RowOf(__ldcs(lists.entries + span.first + at))]);
  }
  sum = {WarpSum(sum.grad), WarpSum(sum.hess)};
  if (threadIdx.x % 32 == 0) AddRun(present, span.node, sum);
}

template <typename Gradients>
__global__ void __launch_bounds__(kExactThreads)
    SumPresentKernel(ExactColumns columns, ExactLevel level, Gradients gradients) {
  __shared__ TileLoader<kExactThreads>::Storage storage;
  ExactTile const tile = columns.tiles[blockIdx.x];
  TileSpan const span = LoadSpan(level.lists, blockIdx.x);
  if (span.count == 0 || columns.is_dense[tile.feature]) return;
  GradientSum* const present = level.present + std::size_t{tile.feature} * level.lists.nodes;
  if (span.is_one_node) {
    SumInNode(level.lists, span, gradients, present);
    return;
  }
  TileEntries<kExactThreads> t;
  TileLoader<kExactThreads>::Run(level.lists, tile.feature, span, &storage, &t);
  int node = t.first_node;
  GradientSum sum;
#pragma unroll
  for (int i = 0; i < kExactItems; ++i) {
    if (i >= t.count) continue;
    if (i > 0 && t.IsHead(i)) {
      AddRun(present, node, sum);
      sum = {};
      node = t.NodeOfHead(i);
    }
    AddStored(&sum, gradients[RowOf(t.entry[i])]);
  }
  if (t.count > 0) AddRun(present, node, sum);
}

/// Returns the key of a candidate. Keys order candidates by gain, then by the order of the two scans.
__device__ unsigned long long Key(float gain, std::uint32_t order) {
  return gain > 0.0f ? (static_cast<unsigned long long>(__float_as_uint(gain)) << 32) | order : 0ULL;
}
__device__ std::uint32_t Ascending(std::uint32_t index) { return 0xFFFFFFFFU - index; }
__device__ std::uint32_t Descending(std::uint32_t index) { return index; }

/// A search for the splits of a tile's nodes. All threads of the block share it.
struct Search {
  ExactLevel const& level;
  SplitParams const& params;
  ScoreUnits const& units;
  ExactTile tile;
  FeatureIndex features;
  bool is_dense;
  bool ascends;
  int direction;
};

/// A thread's scan of one node's part of a tile.
struct NodeScan {
  int node;
  std::uint64_t begin;  ///< offset of the node's list
  GradientSum total, present;
  unsigned long long best;  ///< key of the scan's best candidate
  float known;              ///< the best gain so far of any candidate of the node
  float least;              ///< least ScoreBound of a candidate whose gain may reach `known`

  __device__ void Enter(int n, Search const& search) {
    ExactLevel const& level = search.level;
    std::size_t const nodes = level.lists.nodes;
    node = n;
    begin = level.lists.begin[search.tile.feature * (nodes + 1) + n];
    total = level.nodes[n].total;
    present = search.is_dense ? total : level.present[search.tile.feature * nodes + n];
    best = 0;
    SetKnown(__uint_as_float(__ldcg(level.known + n)), search);
  }
  __device__ void SetKnown(float gain, Search const& search) {
    known = gain;
    least = LeastScore(search.units, search.level.nodes[node].terms.gain, gain);
  }
};

/// Returns a candidate's gain. Not inlined: the function is long, and the bound rejects nearly all candidates before.
template <bool kMonotone>
__device__ __noinline__ float ExactGain(SplitParams const* params, GradientSum left, GradientSum right,
                                        NodeTerms const* terms, int direction) {
  return SplitGain<kMonotone>(*params, left, right, *terms, direction);
}

/// Tries a candidate of the node of `s`.
template <bool kMonotone>
__device__ void TryCandidate(NodeScan* s, Search const& search, GradientSum left, GradientSum right,
                             std::uint32_t order) {
  if (left.hess <= 0 || right.hess <= 0 || ScoreBound(search.units, left, right) < s->least) return;
  float const gain =
      ExactGain<kMonotone>(&search.params, left, right, &search.level.nodes[s->node].terms, search.direction);
  unsigned long long const key = Key(gain, order);
  s->best = key > s->best ? key : s->best;
  if (gain > s->known) s->SetKnown(gain, search);
}

/// Tries the split before entry `index` of the node. `below` is the sum over the node's earlier entries.
template <bool kMonotone>
__device__ void TrySplit(NodeScan* s, Search const& search, GradientSum below, std::uint32_t index) {
  if (search.ascends) {
    TryCandidate<kMonotone>(s, search, below, s->total - below, Ascending(index));
    if (s->present == s->total) return;  // the descending scan has the same gain here, and loses on ties
  }
  GradientSum const right = s->present - below;
  TryCandidate<kMonotone>(s, search, s->total - right, right, Descending(index));
}

/// Returns true if a split among consecutive entries may reach the known gain. `below` is the sum over the node's
/// entries before them.
__device__ bool MayReach(NodeScan const& s, Search const& search, GradientSum below, RunReach reach) {
  auto const may = [&](GradientSum left) {
    return !(RunScoreBound(search.units, left, s.total - left, reach) < s.least);
  };
  return may(s.total - (s.present - below)) || (search.ascends && may(below));
}

/// Tries the split between present and missing values. Called once for a node and feature.
template <bool kMonotone>
__device__ void TryPresentOrMissing(NodeScan* s, Search const& search, std::uint32_t entries) {
  if (search.is_dense) return;
  GradientSum const missing = s->total - s->present;
  if (search.ascends) TryCandidate<kMonotone>(s, search, s->present, missing, Ascending(entries));
  TryCandidate<kMonotone>(s, search, missing, s->present, Descending(0));
}

/// Returns true if the node may be split by the feature.
__device__ bool IsAllowed(ExactLevel const& level, FeatureIndex feature, FeatureIndex features, std::size_t node) {
  if (level.allowed == nullptr) return true;
  std::uint32_t const words = (features + 31) / 32;
  return ((level.allowed[node * words + feature / 32] >> (feature % 32)) & 1U) != 0;
}

/// Merges the best candidate of a scan into the level's. All lanes of a warp call it together if `whole_warp`.
__device__ void MergeBest(NodeScan const& s, Search const& search, bool whole_warp) {
  unsigned long long best = s.best;
  if (whole_warp) {
    if (__ballot_sync(kAllLanes, best != 0) == 0) return;
    for (int d = 16; d > 0; d /= 2) {
      unsigned long long const other = __shfl_xor_sync(kAllLanes, best, d);
      best = other > best ? other : best;
    }
    if (threadIdx.x % 32 != 0) return;
  }
  if (best == 0) return;
  ExactLevel const& level = search.level;
  atomicMax(level.best + std::size_t{search.tile.feature} * level.lists.nodes + s.node, best);
  // A gain bounds the gains of other features only if the node may be split by its feature.
  if (IsAllowed(level, search.tile.feature, search.features, static_cast<std::size_t>(s.node))) {
    atomicMax(level.known + s.node, static_cast<std::uint32_t>(best >> 32));
  }
}

struct FindStorage {
  TileLoader<kFindThreads>::Storage tile;
  typename cub::BlockScan<RunningSum, kFindThreads>::TempStorage scan;
  GradientSum warps[kFindThreads / 32];
  GradientSum carried;
  NodeScan scan_of_node;  ///< one thread of FindInNode fills it while all others wait for gradients
};

/// Finds splits in a full tile whose entries all belong to one node.
template <bool kMonotone, typename Gradients>
__device__ void FindInNode(Search const& search, TileSpan const& span, Gradients const& gradients,
                           TileStates const& states, FindStorage* storage) {
  ExactLevel const& level = search.level;
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  std::uint32_t entry[kFindItems];
  TileLoader<kFindThreads>::Full(level.lists, span, &storage->tile, entry);
  if (threadIdx.x == kFindThreads - 1) storage->scan_of_node.Enter(span.node, search);
  typename Gradients::Stored own[kFindItems];
#pragma unroll
  for (int i = 0; i < kFindItems; ++i) own[i] = gradients[RowOf(entry[i])];
  GradientSum mine;
  RunReach reach;
#pragma unroll
  for (int i = 0; i < kFindItems; ++i) {
    AddStored(&mine, own[i]);
    reach.Add(own[i].x, own[i].y);
  }
  GradientSum below = mine;  // becomes the warp's inclusive prefix
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    auto const grad = __shfl_up_sync(kAllLanes, static_cast<long long>(below.grad), d);
    auto const hess = __shfl_up_sync(kAllLanes, static_cast<long long>(below.hess), d);
    if (lane >= d) below += {grad, hess};
  }
  if (lane == 31) storage->warps[warp] = below;
  below -= mine;
  __syncthreads();
  if (warp == 0) {
    CarriedSum all{};
    for (GradientSum const& sum : storage->warps) all.sum += sum;
    CarriedSum const carried = ExclusivePrefix(states, search.tile, span.begins_node, false, all);
    if (lane == 0) storage->carried = carried.sum;
  }
  __syncthreads();
  below += storage->carried;
  for (int w = 0; w < warp; ++w) below += storage->warps[w];

  NodeScan scan = storage->scan_of_node;
  auto const first = static_cast<std::uint32_t>(span.first - scan.begin) + threadIdx.x * kFindItems;
  if (MayReach(scan, search, below, reach)) {
#pragma unroll
    for (int i = 0; i < kFindItems; ++i) {
      std::uint32_t const index = first + static_cast<std::uint32_t>(i);
      if ((entry[i] & kNewValue) != 0 && index > 0) TrySplit<kMonotone>(&scan, search, below, index);
      AddStored(&below, own[i]);
    }
  }
  std::uint64_t const end = BeginsOf(level.lists, search.tile.feature)[span.node + 1];
  if (end == span.first + kTileEntries && threadIdx.x == 0) {
    TryPresentOrMissing<kMonotone>(&scan, search, static_cast<std::uint32_t>(end - scan.begin));
  }
  MergeBest(scan, search, true);
}

/// Finds splits in any tile.
template <bool kMonotone, typename Gradients>
__device__ void FindInNodes(Search const& search, TileSpan const& span, Gradients const& gradients,
                            TileStates const& states, FindStorage* storage) {
  TileEntries<kFindThreads> t;
  TileLoader<kFindThreads>::Run(search.level.lists, search.tile.feature, span, &storage->tile, &t);
  auto const own = [&](int i) { return gradients[RowOf(t.entry[i])]; };  // loaded twice: such tiles are rare
  RunningSum mine{{}, t.heads != 0};
#pragma unroll
  for (int i = 0; i < kFindItems; ++i) {
    if (t.IsHead(i)) mine.sum = {};
    if (i < t.count) AddStored(&mine.sum, own(i));
  }
  RunningSum before, all;
  cub::BlockScan<RunningSum, kFindThreads>{storage->scan}.ExclusiveScan(mine, before, RunningSum{{}, false},
                                                                        JoinRunning{}, all);
  if (threadIdx.x < 32) {
    CarriedSum const carried =
        ExclusivePrefix(states, search.tile, span.begins_node, all.has_head, CarriedSum{all.sum});
    if (threadIdx.x == 0) storage->carried = carried.sum;
  }
  __syncthreads();
  if (t.count == 0) return;
  GradientSum below = before.sum;
  if (!before.has_head) below += storage->carried;
  std::uint64_t const* const begin = BeginsOf(search.level.lists, search.tile.feature);
  NodeScan scan;
  scan.Enter(t.first_node, search);
#pragma unroll
  for (int i = 0; i < kFindItems; ++i) {
    if (i >= t.count) continue;
    if (t.IsHead(i)) below = {};
    if (i > 0 && t.IsHead(i)) {
      MergeBest(scan, search, false);
      scan.Enter(t.NodeOfHead(i), search);
    }
    std::uint64_t const place = t.place + static_cast<std::uint64_t>(i);
    auto const index = static_cast<std::uint32_t>(place - scan.begin);
    if ((t.entry[i] & kNewValue) != 0 && index > 0) TrySplit<kMonotone>(&scan, search, below, index);
    AddStored(&below, own(i));
    if (place + 1 == begin[scan.node + 1]) TryPresentOrMissing<kMonotone>(&scan, search, index + 1);
  }
  MergeBest(scan, search, false);
}

template <bool kMonotone, typename Gradients>
__global__ void __launch_bounds__(kFindThreads, kFindResident)
    FindSplitsKernel(ExactColumns columns, ExactLevel level, Gradients gradients, SplitParams params, ScoreUnits units,
                     TileStates states) {
  __shared__ FindStorage storage;
  ExactTile const tile = columns.tiles[blockIdx.x];
  TileSpan const span = LoadSpan(level.lists, blockIdx.x);
  if (span.count == 0) return;
  Search const search{level,
                      params,
                      units,
                      tile,
                      columns.features,
                      columns.is_dense[tile.feature] != 0,
                      columns.ascends[tile.feature] != 0,
                      kMonotone ? level.directions[tile.feature] : 0};
  if (span.is_one_node && span.count == kTileEntries) {
    FindInNode<kMonotone>(search, span, gradients, states, &storage);
  } else {
    FindInNodes<kMonotone>(search, span, gradients, states, &storage);
  }
}

constexpr int kChooseThreads = 128;

/// Chooses the best feature of every node. A block takes a node.
__global__ void __launch_bounds__(kChooseThreads)
    ChooseKernel(ExactColumns columns, ExactLevel level, ExactChoice* choices) {
  __shared__ unsigned long long best_key[kChooseThreads];
  __shared__ FeatureIndex best_feature[kChooseThreads];
  std::size_t const nodes = level.lists.nodes;
  for (std::size_t n = blockIdx.x; n < nodes; n += gridDim.x) {
    unsigned long long key = 0;
    FeatureIndex feature = 0;
    for (FeatureIndex f = threadIdx.x; f < columns.features; f += kChooseThreads) {
      if (!columns.used[f] || !IsAllowed(level, f, columns.features, n)) continue;
      unsigned long long const other = level.best[f * nodes + n];
      if ((other >> 32) > (key >> 32)) {  // features ascend: with equal gains the smaller feature stays
        key = other;
        feature = f;
      }
    }
    best_key[threadIdx.x] = key;
    best_feature[threadIdx.x] = feature;
    __syncthreads();
    for (unsigned half = kChooseThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) {
        unsigned long long const own = best_key[threadIdx.x], other = best_key[threadIdx.x + half];
        bool const better =
            (other >> 32) > (own >> 32) ||
            ((other >> 32) == (own >> 32) && best_feature[threadIdx.x + half] < best_feature[threadIdx.x]);
        if (better) {
          best_key[threadIdx.x] = other;
          best_feature[threadIdx.x] = best_feature[threadIdx.x + half];
        }
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      auto const order = static_cast<std::uint32_t>(best_key[0]);
      FeatureIndex const f = best_feature[0];
      std::uint64_t const begin = level.lists.begin[f * (nodes + 1) + n];
      bool const descending = order < kNewValue;
      ExactChoice choice;
      choice.gain = __uint_as_float(static_cast<std::uint32_t>(best_key[0] >> 32));
      choice.feature = f;
      choice.index = descending ? order : 0xFFFFFFFFU - order;
      choice.entries = static_cast<std::uint32_t>(level.lists.begin[f * (nodes + 1) + n + 1] - begin);
      choice.begin = begin;
      choice.present = columns.is_dense[f] ? level.nodes[n].total : level.present[f * nodes + n];
      choice.default_left = descending ? 1 : 0;
      choices[n] = choice;
    }
    __syncthreads();
  }
}

}  // namespace

void SumPresent(ExactColumns const& columns, ExactLevel const& level, ExactGradients const& gradients,
                cudaStream_t stream) {
  if (columns.tile_count == 0) return;
  if (gradients.compact != nullptr) {
    SumPresentKernel<<<columns.tile_count, kExactThreads, 0, stream>>>(columns, level,
                                                                       CompactGradients{gradients.compact});
  } else {
    SumPresentKernel<<<columns.tile_count, kExactThreads, 0, stream>>>(columns, level, WideGradients{gradients.wide});
  }
  CheckLaunch("summing the rows that have a feature");
}

void FindExactSplits(ExactColumns const& columns, ExactLevel const& level, ExactGradients const& gradients,
                     SplitParams const& params, TileStates const& states, cudaStream_t stream) {
  if (columns.tile_count == 0) return;
  ScoreUnits const units{params};
  auto const launch = [&](auto const& of_rows) {
    using Gradients = std::decay_t<decltype(of_rows)>;
    auto* const kernel =
        level.directions != nullptr ? FindSplitsKernel<true, Gradients> : FindSplitsKernel<false, Gradients>;
    kernel<<<columns.tile_count, kFindThreads, 0, stream>>>(columns, level, of_rows, params, units, states);
  };
  if (gradients.compact != nullptr) {
    launch(CompactGradients{gradients.compact});
  } else {
    launch(WideGradients{gradients.wide});
  }
  CheckLaunch("looking for exact splits");
}

void ChooseExactSplits(ExactColumns const& columns, ExactLevel const& level, ExactChoice* choices,
                       cudaStream_t stream) {
  unsigned const blocks = level.lists.nodes < 65535U ? level.lists.nodes : 65535U;
  ChooseKernel<<<blocks, kChooseThreads, 0, stream>>>(columns, level, choices);
  CheckLaunch("choosing exact splits");
}

}  // namespace xgbgpu::cuda
