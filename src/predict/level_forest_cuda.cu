// Predicts with symmetric trees on a device, level by level for several trees at a time.
#include <cuda_pipeline.h>

#include "cuda/grid.h"
#include "cuda/launch.h"
#include "predict/forest_policy.h"
#include "predict/forest_walk.cuh"
#include "predict/level_forest_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kMostThreads = 256;
constexpr std::uint32_t kRows = 4;  // neighbouring rows of a thread, whose values come in one load

static_assert(kLevelForestPolicy.block_rows[0] <= kMostThreads * kRows && kTileRows % kRows == 0);

/// Starts a copy of 16 bytes into shared memory. It ends by __pipeline_commit and __pipeline_wait_prior.
__device__ void CopyAside(void* to, void const* from) { __pipeline_memcpy_async(to, from, 16); }

using RowValues = float4;  // of kRows rows

__device__ RowValues MissingValues() { return {Missing(), Missing(), Missing(), Missing()}; }

/// Returns the place of a thread's rows in the matrix, which has at least the first of them.
__device__ float const* TileOf(RawView const& matrix, std::uint64_t row) {
  std::uint64_t const place = row % kTileRows;
  return matrix.tiles + (row - place) * matrix.features + place;
}

// Places of the values of a thread's rows, by columns of the forest. All rows of a tile have values, NaN beyond the
// last row.

/// Rows in shared memory, [columns, lanes] for each warp. Every thread loads its own rows.
struct StagedRows {
  RowValues const* values;

  __device__ RowValues operator()(std::uint32_t column) const { return values[column * kTileRows]; }

  __device__ static void LoadTile(RawView const& matrix, LevelForestView const& forest, std::uint64_t row,
                                  std::uint32_t columns, RowValues* values) {
    float const* const from = TileOf(matrix, row);
    for (std::uint32_t c = 0; c < columns; ++c) {
      FeatureIndex const f = __ldg(forest.columns + c);
      if (f < matrix.features) {
        CopyAside(values + c * kTileRows, from + std::uint64_t{f} * kTileRows);
      } else {
        values[c * kTileRows] = MissingValues();
      }
    }
  }
  __device__ static void LoadSparse(RawView const& matrix, LevelForestView const& forest, std::uint64_t row,
                                    std::uint32_t columns, RowValues* values) {
    for (std::uint32_t c = 0; c < columns; ++c) values[c * kTileRows] = MissingValues();
    auto* const singly = reinterpret_cast<float*>(values);
    for (std::uint32_t r = 0; r < kRows && row + r < matrix.rows; ++r) {
      std::uint64_t const end = matrix.row_ptr[row + r + 1];
      for (std::uint64_t i = matrix.row_ptr[row + r]; i < end; ++i) {
        Entry const e = matrix.entries[i];
        std::int32_t const c = e.feature < forest.features ? __ldg(forest.column_of + e.feature) : -1;
        if (c >= 0) singly[static_cast<std::uint32_t>(c) * kTileRows * kRows + r] = e.value;
      }
    }
  }
  /// Loads the rows from `row` on, which must exist.
  __device__ static StagedRows Load(RawView const& matrix, LevelForestView const& forest, std::uint64_t row,
                                    std::uint32_t columns, uint4* shared) {
    std::uint32_t const lane = threadIdx.x % kTileRows;
    RowValues* const values = reinterpret_cast<RowValues*>(shared) + (threadIdx.x - lane) * columns + lane;
    if (matrix.dense) {
      LoadTile(matrix, forest, row, columns, values);
    } else {
      LoadSparse(matrix, forest, row, columns, values);
    }
    return {values};
  }
};

/// Rows in device memory, in tiles.
struct TiledRows {
  float const* values;
  FeatureIndex features;
  FeatureIndex const* columns;

  __device__ RowValues operator()(std::uint32_t column) const {
    FeatureIndex const f = __ldg(columns + column);
    return f < features ? __ldg(reinterpret_cast<RowValues const*>(values + std::uint64_t{f} * kTileRows))
                        : MissingValues();
  }
  __device__ static TiledRows Load(RawView const& matrix, LevelForestView const& forest, std::uint64_t row,
                                   std::uint32_t, uint4*) {
    return {TileOf(matrix, row), matrix.features, forest.columns};
  }
};

/// Sparse rows in device memory.
struct SparseRows {
  SparseRow rows[kRows];
  FeatureIndex const* columns;

  __device__ RowValues operator()(std::uint32_t column) const {
    FeatureIndex const f = __ldg(columns + column);
    return {rows[0](f), rows[1](f), rows[2](f), rows[3](f)};
  }
  __device__ static SparseRows Load(RawView const& matrix, LevelForestView const& forest, std::uint64_t row,
                                    std::uint32_t, uint4*) {
    SparseRows made{{}, forest.columns};
    for (std::uint32_t r = 0; r < kRows && row + r < matrix.rows; ++r) {
      made.rows[r] = SparseRow::Of(matrix, row + r, 0, nullptr);
    }
    return made;
  }
};

/// Margins of a thread's rows, in registers while the output stays the same.
class RowMargins {
 public:
  __device__ RowMargins(OutputView<float> const& margins, std::uint64_t row) : margins_{margins}, row_{row} {}

  /// Sets the output of later leaves.
  __device__ void Open(std::uint32_t output) {
    if (output == output_) return;
    Close();
    output_ = output;
    for (std::uint32_t r = 0; r < kRows; ++r) {
      if (row_ + r < margins_.rows) margin_[r] = margins_.at(row_ + r, output);
    }
  }
  __device__ void Add(std::uint32_t r, float leaf) { margin_[r] = margin_[r] + leaf; }
  __device__ void Close() {
    for (std::uint32_t r = 0; output_ != kNone && r < kRows; ++r) {
      if (row_ + r < margins_.rows) margins_.at(row_ + r, output_) = margin_[r];
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  OutputView<float> const& margins_;
  std::uint64_t row_;
  std::uint32_t output_{kNone};
  float margin_[kRows]{};
};

__device__ LevelTree LoadTree(LevelForestView const& forest, std::uint32_t t) {
  uint4 const from = __ldg(reinterpret_cast<uint4 const*>(forest.trees + t));
  return {from.x, from.y, from.z, from.w};
}

/// Returns the chunk that begins with a tree. Every warp gets the same chunk.
__device__ Chunk ChunkFrom(LevelForestView const& forest, std::uint32_t begin, std::uint32_t last,
                           std::size_t most_bytes) {
  LevelTree const first = LoadTree(forest, begin);
  return MakeChunk(begin, last, [&](std::uint32_t t) {
    LevelTree const tree = LoadTree(forest, t);
    return std::size_t{tree.end_test() - first.first_test} * sizeof(LevelTest) +
               std::size_t{tree.end_leaf() - first.first_leaf} * sizeof(float) <=
           most_bytes;
  });
}

/// Tests and leaves of a chunk's trees.
struct ChunkParts {
  LevelTest const* tests;  ///< of the first tree, then of the following trees
  float const* leaves;
};

template <typename T>
__device__ void LoadPart(T* to, T const* from, std::uint32_t n) {
  constexpr std::uint32_t kElements = 16 / sizeof(T);  // of one copy
  for (std::uint32_t i = threadIdx.x * kElements; i < n; i += blockDim.x * kElements) CopyAside(to + i, from + i);
}

/// Returns the parts of a chunk in device memory.
__device__ ChunkParts PartsOf(LevelForestView const& forest, Chunk const& chunk) {
  LevelTree const first = LoadTree(forest, chunk.begin);
  return {forest.tests + first.first_test, forest.leaves + first.first_leaf};
}

/// Returns the parts of a chunk in a buffer, which it must fit.
__device__ ChunkParts PartsIn(unsigned char* buffer, LevelForestView const& forest, Chunk const& chunk) {
  auto* const tests = reinterpret_cast<LevelTest*>(buffer);
  std::uint32_t const n = LoadTree(forest, chunk.end - 1).end_test() - LoadTree(forest, chunk.begin).first_test;
  return {tests, reinterpret_cast<float*>(tests + n)};
}

__device__ void LoadChunk(LevelForestView const& forest, Chunk const& chunk, unsigned char* buffer) {
  if (!chunk.fits) return;
  LevelTree const first = LoadTree(forest, chunk.begin), last = LoadTree(forest, chunk.end - 1);
  auto* const tests = reinterpret_cast<LevelTest*>(buffer);
  std::uint32_t const n_tests = last.end_test() - first.first_test;
  LoadPart(tests, forest.tests + first.first_test, n_tests);
  LoadPart(reinterpret_cast<float*>(tests + n_tests), forest.leaves + first.first_leaf,
           last.end_leaf() - first.first_leaf);
}

/// Takes the rows down groups of kLevels levels from *level on, while there are enough. The loads of a group overlap.
template <std::uint32_t kLevels, typename Sets, typename Rows>
__device__ void GoDown(LevelTest const* tests, std::uint32_t levels, Sets const& sets, Rows const& rows,
                       std::uint32_t* level, std::uint32_t (&index)[kRows]) {
  for (; *level + kLevels <= levels; *level += kLevels) {
    LevelTest test[kLevels];
    RowValues values[kLevels];
    for (std::uint32_t k = 0; k < kLevels; ++k) test[k] = tests[*level + k];
    for (std::uint32_t k = 0; k < kLevels; ++k) values[k] = rows(test[k].column());
    for (std::uint32_t r = 0; r < kRows; ++r) index[r] <<= kLevels;
    for (std::uint32_t k = 0; k < kLevels; ++k) {
      std::uint32_t const bit = 1U << (kLevels - 1 - k);
      float const x[kRows]{values[k].x, values[k].y, values[k].z, values[k].w};
      for (std::uint32_t r = 0; r < kRows; ++r) index[r] |= test[k].GoesRight(x[r], sets) ? bit : 0U;
    }
  }
}

/// Adds the leaves of a chunk's trees to the rows' margins.
template <typename Sets, typename Rows>
__device__ void AddTrees(LevelForestView const& forest, Chunk const& chunk, ChunkParts const& parts, Sets const& sets,
                         Rows const& rows, RowMargins* margins) {
  LevelTree const first = LoadTree(forest, chunk.begin);
  for (std::uint32_t t = chunk.begin; t < chunk.end; ++t) {
    LevelTree const tree = LoadTree(forest, t);
    margins->Open(tree.output);
    LevelTest const* const tests = parts.tests + (tree.first_test - first.first_test);
    std::uint32_t level = 0, index[kRows]{};
    GoDown<8>(tests, tree.levels, sets, rows, &level, index);
    GoDown<4>(tests, tree.levels, sets, rows, &level, index);
    GoDown<2>(tests, tree.levels, sets, rows, &level, index);
    GoDown<1>(tests, tree.levels, sets, rows, &level, index);
    float const* const leaves = parts.leaves + (tree.first_leaf - first.first_leaf);
    for (std::uint32_t r = 0; r < kRows; ++r) margins->Add(r, leaves[index[r]]);
  }
}

template <typename Sets>
__device__ Sets SetsOf(LevelForestView const& forest) {
  if constexpr (Sets::kSome) {
    return {forest.set_words};
  } else {
    return {};
  }
}

/// Predicts with blocks of plan.block_rows / kRows threads, which hold their rows' values and walk the trees in chunks.
template <typename Sets, typename Rows>
__global__ void __launch_bounds__(kMostThreads, 2)
    LevelForestKernel(RawView matrix, LevelForestView forest, TreeRange range, ForestPlan plan,
                      OutputView<float> margins) {
  extern __shared__ uint4 shared[];
  std::size_t const buffer_bytes = std::size_t{plan.chunk_words} * sizeof(LevelTest);
  unsigned char* const buffers = reinterpret_cast<unsigned char*>(shared) + plan.row_bytes();
  std::uint64_t const row = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kRows;
  bool const active = row < matrix.rows;
  Sets const sets = SetsOf<Sets>(forest);
  Chunk next = ChunkFrom(forest, range.first, range.last, buffer_bytes);
  LoadChunk(forest, next, buffers);
  Rows const own = active ? Rows::Load(matrix, forest, row, plan.columns, shared) : Rows{};
  __pipeline_commit();
  RowMargins sums{margins, row};
  for (std::uint32_t buffer = 0, begin = range.first; begin < range.last; buffer ^= 1) {
    Chunk const chunk = next;
    begin = chunk.end;
    if (begin < range.last) {
      next = ChunkFrom(forest, begin, range.last, buffer_bytes);
      LoadChunk(forest, next, buffers + (buffer ^ 1) * buffer_bytes);
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);  // all but the chunk in flight
    __syncthreads();
    if (active) {
      if (chunk.fits) {
        AddTrees(forest, chunk, PartsIn(buffers + buffer * buffer_bytes, forest, chunk), sets, own, &sums);
      } else {
        AddTrees(forest, chunk, PartsOf(forest, chunk), sets, own, &sums);
      }
    }
    __syncthreads();  // the buffer is filled again next
  }
  if (active) sums.Close();
}

template <typename Sets, typename Rows>
void Launch(RawView const& matrix, LevelForestView const& forest, TreeRange range, ForestPlan const& plan,
            OutputView<float> margins, DeviceLimits const& limits, cudaStream_t stream) {
  auto* const kernel = &LevelForestKernel<Sets, Rows>;
  AllowShared(kernel, limits.block_bytes);
  auto const blocks = static_cast<unsigned>((matrix.rows + plan.block_rows - 1) / plan.block_rows);
  kernel<<<blocks, plan.block_rows / kRows, plan.bytes, stream>>>(matrix, forest, range, plan, margins);
  CheckLaunch("predicting");
}

template <typename Sets>
void Predict(RawView const& matrix, DeviceLevelForest const& forest, TreeRange range, OutputView<float> margins,
             DeviceLimits const& limits, cudaStream_t stream) {
  ForestPlan const plan = MakeForestPlan(
      {matrix.rows, static_cast<std::uint32_t>(forest.columns()), range.last - range.first,
       forest.words(range.first, range.last), limits.processors, limits.block_bytes, limits.processor_bytes},
      kLevelForestPolicy);
  if (plan.staged) {
    Launch<Sets, StagedRows>(matrix, forest.view(), range, plan, margins, limits, stream);
  } else if (matrix.dense) {
    Launch<Sets, TiledRows>(matrix, forest.view(), range, plan, margins, limits, stream);
  } else {
    Launch<Sets, SparseRows>(matrix, forest.view(), range, plan, margins, limits, stream);
  }
}

}  // namespace

DeviceLevelForest::DeviceLevelForest(LevelForest const& forest, DeviceArena* arena)
    : trees_(forest.level_trees().begin(), forest.level_trees().end()), outputs_{forest.outputs()} {
  auto const upload = [&](auto const& from) { return Upload(arena, "symmetric trees", from.data(), from.size()); };
  device_trees_ = upload(forest.level_trees());
  tests_ = upload(forest.tests());
  leaves_ = upload(forest.leaves());
  columns_ = upload(forest.columns());
  column_of_ = upload(forest.column_of());
  set_words_ = upload(forest.set_words());
}

std::uint64_t DeviceLevelForest::words(std::size_t first, std::size_t last) const {
  if (first == last) return 0;
  LevelTree const &begin = trees_[first], &end = trees_[last - 1];
  return end.end_test() - begin.first_test + (end.end_leaf() - begin.first_leaf) / 2;
}

void PredictMargins(RawView const& matrix, DeviceLevelForest const& forest, std::size_t first_tree,
                    std::size_t last_tree, OutputView<float> margins, DeviceLimits const& limits, cudaStream_t stream) {
  CheckTreeRange(first_tree, last_tree, forest.trees());
  CheckMargins(margins, matrix.rows, forest.outputs());
  if (matrix.rows == 0 || first_tree == last_tree) return;
  TreeRange const range{static_cast<std::uint32_t>(first_tree), static_cast<std::uint32_t>(last_tree)};
  if (forest.view().set_words != nullptr) {
    Predict<PackedSets>(matrix, forest, range, margins, limits, stream);
  } else {
    Predict<NoSets>(matrix, forest, range, margins, limits, stream);
  }
}

}  // namespace xgbgpu::cuda
