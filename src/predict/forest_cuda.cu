// Walks rows through the trees of a forest on a device, chunk by chunk in shared memory.
#include <cuda_pipeline.h>

#include <algorithm>

#include "cuda/grid.h"
#include "cuda/launch.h"
#include "predict/forest_cuda.h"
#include "predict/forest_policy.h"
#include "predict/forest_walk.cuh"

namespace xgbgpu::cuda {

namespace {

constexpr int kMostThreads = 512;  // largest of ForestPolicy::block_rows
constexpr int kTogether = 4;       // trees that a thread walks at the same time

/// Starts a copy of 16 bytes into shared memory. It ends by __pipeline_commit and __pipeline_wait_prior.
__device__ void CopyAside(void* to, void const* from) { __pipeline_memcpy_async(to, from, 16); }

// Places of the values of a thread's row. All threads of the block call Load, then threads with a row call Of.

/// A row in shared memory, in the tile of the thread's warp. Every lane reads its own bank.
struct StagedRow {
  float const* values;  ///< of this row, kTileRows apart

  __device__ float operator()(FeatureIndex f) const { return values[f * kTileRows]; }

  __device__ static void LoadTile(RawView const& matrix, std::uint64_t row, std::uint32_t columns, float* tile) {
    std::uint32_t const lane = threadIdx.x % kTileRows;
    std::uint32_t const have = min(columns, matrix.features);
    float const* const from = matrix.tiles + (row - lane) * matrix.features;
    constexpr std::uint32_t kFloats = 4;  // of one copy
    if (row - lane < matrix.rows) {
      for (std::uint32_t i = lane * kFloats; i < have * kTileRows; i += kTileRows * kFloats) {
        CopyAside(tile + i, from + i);
      }
    }
    for (std::uint32_t f = have; f < columns; ++f) tile[f * kTileRows + lane] = Missing();
  }
  __device__ static void LoadSparse(RawView const& matrix, std::uint64_t row, std::uint32_t columns, float* values) {
    if (row >= matrix.rows) return;
    for (std::uint32_t f = 0; f < columns; ++f) values[f * kTileRows] = Missing();
    std::uint64_t const end = matrix.row_ptr[row + 1];
    for (std::uint64_t i = matrix.row_ptr[row]; i < end; ++i) {
      Entry const e = matrix.entries[i];
      if (e.feature < columns) values[e.feature * kTileRows] = e.value;
    }
  }
  __device__ static void Load(RawView const& matrix, std::uint64_t row, std::uint32_t columns, float* shared) {
    std::uint32_t const lane = threadIdx.x % kTileRows;
    float* const tile = shared + std::size_t{threadIdx.x - lane} * columns;
    if (matrix.dense) {
      LoadTile(matrix, row, columns, tile);
    } else {
      LoadSparse(matrix, row, columns, tile + lane);
    }
  }
  __device__ static StagedRow Of(RawView const&, std::uint64_t, std::uint32_t columns, float const* shared) {
    std::uint32_t const lane = threadIdx.x % kTileRows;
    return {shared + std::size_t{threadIdx.x - lane} * columns + lane};
  }
};

/// A row in device memory, in tiles.
struct TileRow {
  float const* values;
  FeatureIndex features;

  __device__ float operator()(FeatureIndex f) const {
    return f < features ? __ldg(values + std::uint64_t{f} * kTileRows) : Missing();
  }
  __device__ static void Load(RawView const&, std::uint64_t, std::uint32_t, float*) {}
  __device__ static TileRow Of(RawView const& matrix, std::uint64_t row, std::uint32_t, float const*) {
    std::uint64_t const lane = row % kTileRows;
    return {matrix.tiles + (row - lane) * matrix.features + lane, matrix.features};
  }
};

// Targets for the leaves of a thread's row.

/// Adds values of leaves, times the trees' weights if kWeighted, to margins: in a register, while the output stays the
/// same.
template <bool kWeighted>
struct MarginTarget {
  OutputView<float> margins;
  float const* weights;  ///< of the trees, if kWeighted

  class OfRow {
   public:
    __device__ OfRow(MarginTarget const& target, std::uint64_t row)
        : margins_{target.margins}, weights_{target.weights}, row_{row} {}
    __device__ void Take(std::uint32_t t, ForestTree const& tree, ForestLeaf const& leaf) {
      if (tree.output() != output_) {
        Finish();
        output_ = tree.output();
        margin_ = margins_.at(row_, output_);
      }
      if constexpr (kWeighted) {
        float const weight = __ldg(weights_ + t);
        margin_ = margin_ + (weight == 1.0f ? leaf.value : WeightedLeaf(leaf.value, weight));
      } else {
        margin_ = margin_ + leaf.value;
      }
    }
    __device__ void Finish() {
      if (output_ != kNone) margins_.at(row_, output_) = margin_;
    }

   private:
    static constexpr std::uint32_t kNone = ~0U;
    OutputView<float> const& margins_;
    float const* weights_;
    std::uint64_t row_;
    std::uint32_t output_{kNone};
    float margin_{0.0f};
  };
};

/// Writes numbers of leaves.
struct LeafTarget {
  float* out;
  TreeRange range;
  NodeIndex const* ids;

  class OfRow {
   public:
    __device__ OfRow(LeafTarget const& target, std::uint64_t row)
        : ids_{target.ids},
          first_{target.range.first},
          out_{target.out + row * (target.range.last - target.range.first)} {}
    __device__ void Take(std::uint32_t t, ForestTree const& tree, ForestLeaf const& leaf) {
      std::uint32_t const node_words = tree.wide() ? WideNodes::kWords : NarrowNodes::kWords;
      out_[t - first_] = static_cast<float>(ids_[tree.first + std::uint64_t{leaf.node} * node_words]);
    }
    __device__ void Finish() {}

   private:
    NodeIndex const* ids_;
    std::uint32_t first_;
    float* out_;
  };
};

/// Loads a tree's place in one piece.
__device__ ForestTree LoadTree(ForestView const& forest, std::uint32_t t) {
  uint4 const from = __ldg(reinterpret_cast<uint4 const*>(forest.trees + t));
  return {std::uint64_t{from.y} << 32 | from.x, from.z, from.w};
}

/// Returns the chunk that begins with a tree. Every warp gets the same chunk.
__device__ Chunk ChunkFrom(ForestView const& forest, std::uint32_t begin, std::uint32_t last,
                           std::uint32_t most_words) {
  return MakeChunk(begin, last, [&](std::uint32_t t) {
    return forest.trees[t].first + forest.trees[t].words - forest.trees[begin].first <= most_words;
  });
}

__device__ void LoadChunk(ForestView const& forest, Chunk const& chunk, ForestWord* buffer) {
  if (!chunk.fits) return;
  ForestTree const& last = forest.trees[chunk.end - 1];
  std::uint64_t const first = forest.trees[chunk.begin].first;
  auto const words = static_cast<std::uint32_t>(last.first + last.words - first);
  constexpr std::uint32_t kWords = 16 / sizeof(ForestWord);  // of one copy
  for (std::uint32_t i = threadIdx.x * kWords; i < words; i += blockDim.x * kWords) {
    CopyAside(buffer + i, forest.words + first + i);
  }
}

/// Finds the leaves of a row in several narrow trees, a level of all trees at a time, without branches if there are no
/// sets: loads overlap. A row in a leaf stays there.
template <int kTrees, typename Sets, typename Row>
__device__ void FindLeaves(ForestWord const* const (&tree)[kTrees], Sets const (&sets)[kTrees], Row const& row,
                           ForestLeaf (&leaf)[kTrees]) {
  ForestNode node[kTrees];
  std::uint32_t place[kTrees], inner = 0;
  for (int k = 0; k < kTrees; ++k) {
    place[k] = 0;
    node[k] = NarrowNodes::Load(tree[k], 0);
    inner |= node[k].left;
  }
  while (inner != 0) {
    float x[kTrees];
    for (int k = 0; k < kTrees; ++k) x[k] = row(node[k].feature);  // of a leaf: 0
    inner = 0;
    for (int k = 0; k < kTrees; ++k) {
      std::uint32_t const next = node[k].Next(x[k], sets[k]);
      place[k] = node[k].leaf() ? place[k] : next;
      node[k] = NarrowNodes::Load(tree[k], place[k]);
      inner |= node[k].left;
    }
  }
  for (int k = 0; k < kTrees; ++k) leaf[k] = {place[k], node[k].value};
}

constexpr std::uint32_t kNoPlace = ~0U;

/// Finds the leaf of a row in a tree. `place`: of its leaf in the tree before, or kNoPlace.
template <typename Nodes, typename Sets, typename Row>
__device__ ForestLeaf LeafBeside(ForestTree const& tree, ForestWord const* root, Sets const& sets, Row const& row,
                                 std::uint32_t place) {
  if (tree.twin() && place != kNoPlace) return {place, Nodes::Load(root, place).value};
  return FindLeaf<Nodes>(root, sets, row);
}

/// Walks groups of kTrees trees of a chunk from *t on, while there are enough. `words` are the chunk's. `place`: of the
/// row's leaf in the tree before.
template <int kTrees, typename Sets, typename Row, typename Sink>
__device__ void WalkGroups(ForestView const& forest, Chunk const& chunk, ForestWord const* words, Row const& row,
                           std::uint32_t* t, std::uint32_t* place, Sink* sink) {
  std::uint64_t const first = forest.trees[chunk.begin].first;
  for (; *t + kTrees <= chunk.end; *t += kTrees) {
    ForestTree tree[kTrees];
    ForestWord const* root[kTrees];
    Sets sets[kTrees];
    ForestLeaf leaf[kTrees];
    bool together = true;
    for (int k = 0; k < kTrees; ++k) {
      tree[k] = LoadTree(forest, *t + k);
      root[k] = words + static_cast<std::uint32_t>(tree[k].first - first);
      sets[k] = forest.SetsOf<Sets>(*t + k);
      together = together && !tree[k].wide() && !tree[k].twin();
    }
    if (together) {
      FindLeaves(root, sets, row, leaf);
      *place = leaf[kTrees - 1].node;
    } else {
      for (int k = 0; k < kTrees; ++k) {
        leaf[k] = tree[k].wide() ? LeafBeside<WideNodes>(tree[k], root[k], sets[k], row, *place)
                                 : LeafBeside<NarrowNodes>(tree[k], root[k], sets[k], row, *place);
        *place = leaf[k].node;
      }
    }
    for (int k = 0; k < kTrees; ++k) sink->Take(*t + k, tree[k], leaf[k]);
  }
}

/// Predicts with blocks of plan.block_rows threads, one a row. They hold their rows' values and walk the trees in
/// chunks.
template <typename Sets, typename Row, typename Target>
__global__ void __launch_bounds__(kMostThreads, 2)
    ForestKernel(RawView matrix, ForestView forest, TreeRange range, ForestPlan plan, Target target) {
  extern __shared__ uint4 shared[];
  auto* const values = reinterpret_cast<float*>(shared);
  auto* const buffers = reinterpret_cast<ForestWord*>(reinterpret_cast<char*>(shared) + plan.row_bytes());
  std::uint64_t const row = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  bool const active = row < matrix.rows;
  Chunk next = ChunkFrom(forest, range.first, range.last, plan.chunk_words);
  LoadChunk(forest, next, buffers);
  Row::Load(matrix, row, plan.columns, values);
  __pipeline_commit();
  Row const own = active ? Row::Of(matrix, row, plan.columns, values) : Row{};
  typename Target::OfRow sink{target, row};
  std::uint32_t place = kNoPlace;
  for (std::uint32_t buffer = 0, begin = range.first; begin < range.last; buffer ^= 1) {
    Chunk const chunk = next;
    begin = chunk.end;
    if (begin < range.last) {
      next = ChunkFrom(forest, begin, range.last, plan.chunk_words);
      LoadChunk(forest, next, buffers + (buffer ^ 1) * plan.chunk_words);
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);  // all but the chunk in flight
    __syncthreads();
    if (active) {
      std::uint32_t t = chunk.begin;
      if (chunk.fits) {
        ForestWord const* const words = buffers + buffer * plan.chunk_words;
        WalkGroups<kTogether, Sets>(forest, chunk, words, own, &t, &place, &sink);
        WalkGroups<kTogether / 2, Sets>(forest, chunk, words, own, &t, &place, &sink);
        WalkGroups<1, Sets>(forest, chunk, words, own, &t, &place, &sink);
      } else {
        WalkGroups<1, Sets>(forest, chunk, forest.words + forest.trees[t].first, own, &t, &place, &sink);
      }
    }
    __syncthreads();  // the buffer is filled again next
  }
  if (active) sink.Finish();
}

template <typename Sets, typename Row, typename Target>
void Launch(RawView const& matrix, ForestView const& forest, TreeRange range, ForestPlan const& plan,
            Target const& target, DeviceLimits const& limits, cudaStream_t stream) {
  auto* const kernel = &ForestKernel<Sets, Row, Target>;
  AllowShared(kernel, limits.block_bytes);
  auto const blocks = static_cast<unsigned>((matrix.rows + plan.block_rows - 1) / plan.block_rows);
  kernel<<<blocks, plan.block_rows, plan.bytes, stream>>>(matrix, forest, range, plan, target);
  CheckLaunch("predicting");
}

template <typename Sets, typename Target>
void Predict(RawView const& matrix, DeviceForest const& forest, TreeRange range, Target const& target,
             DeviceLimits const& limits, cudaStream_t stream) {
  if (matrix.rows == 0 || range.first == range.last) return;
  ForestPlan const plan = MakeForestPlan({matrix.rows, std::max(forest.features(), 1U), range.last - range.first,
                                          forest.words(range.first, range.last), limits.processors, limits.block_bytes,
                                          limits.processor_bytes});
  if (plan.staged) {
    Launch<Sets, StagedRow>(matrix, forest.view(), range, plan, target, limits, stream);
  } else if (matrix.dense) {
    Launch<Sets, TileRow>(matrix, forest.view(), range, plan, target, limits, stream);
  } else {
    Launch<Sets, SparseRow>(matrix, forest.view(), range, plan, target, limits, stream);
  }
}

template <typename Target>
void Predict(RawView const& matrix, DeviceForest const& forest, TreeRange range, Target const& target,
             DeviceLimits const& limits, cudaStream_t stream) {
  if (forest.categorical()) {
    Predict<PackedSets>(matrix, forest, range, target, limits, stream);
  } else {
    Predict<NoSets>(matrix, forest, range, target, limits, stream);
  }
}

TreeRange CheckedRange(DeviceForest const& forest, std::size_t first, std::size_t last) {
  CheckTreeRange(first, last, forest.trees());
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
}

}  // namespace

void PredictMargins(RawView const& matrix, DeviceForest const& forest, std::size_t first_tree, std::size_t last_tree,
                    OutputView<float> margins, DeviceLimits const& limits, cudaStream_t stream) {
  TreeRange const range = CheckedRange(forest, first_tree, last_tree);
  CheckMargins(margins, matrix.rows, forest.outputs());
  float const* const weights = forest.view().weights;
  if (weights == nullptr) {
    Predict(matrix, forest, range, MarginTarget<false>{margins, nullptr}, limits, stream);
  } else {
    Predict(matrix, forest, range, MarginTarget<true>{margins, weights}, limits, stream);
  }
}

void PredictLeaves(RawView const& matrix, DeviceForest const& forest, std::size_t first_tree, std::size_t last_tree,
                   float* out, DeviceLimits const& limits, cudaStream_t stream) {
  TreeRange const range = CheckedRange(forest, first_tree, last_tree);
  Predict(matrix, forest, range, LeafTarget{out, range, forest.view().ids}, limits, stream);
}

}  // namespace xgbgpu::cuda
