/// Shared parts of the kernels that walk rows through the trees of a forest in chunks.
#ifndef XGBGPU_PREDICT_FOREST_WALK_CUH_
#define XGBGPU_PREDICT_FOREST_WALK_CUH_

#include "cuda/grid.h"
#include "predict/forest_policy.h"
#include "predict/raw_matrix_cuda.h"

namespace xgbgpu::cuda {

__device__ inline float Missing() { return __int_as_float(0x7FFFFFFF); }

/// The selected trees.
struct TreeRange {
  std::uint32_t first;
  std::uint32_t last;
};

/// A sparse row in device memory. A bisection finds its values.
struct SparseRow {
  Entry const* entries;
  std::uint64_t size;

  __device__ float operator()(FeatureIndex f) const {
    std::uint64_t begin = 0, end = size;  // entries before `begin` are of features <= f, entries from `end` on are not
    while (begin < end) {
      std::uint64_t const middle = (begin + end) / 2;
      if (__ldg(&entries[middle].feature) <= f) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    if (begin == 0) return Missing();
    Entry const e = entries[begin - 1];
    return e.feature == f ? e.value : Missing();
  }
  __device__ static void Load(RawView const&, std::uint64_t, std::uint32_t, float*) {}
  __device__ static SparseRow Of(RawView const& matrix, std::uint64_t row, std::uint32_t, float const*) {
    std::uint64_t const begin = matrix.row_ptr[row];
    return {matrix.entries + begin, matrix.row_ptr[row + 1] - begin};
  }
};

/// Trees that are walked together: trees that fit a buffer, or a single tree that does not.
struct Chunk {
  std::uint32_t begin;
  std::uint32_t end;
  bool fits;
};

/// Returns the chunk that begins with tree `begin`. fits(t): trees `begin` … t fit a buffer. Every warp gets the same
/// chunk.
template <typename Fits>
__device__ Chunk MakeChunk(std::uint32_t begin, std::uint32_t last, Fits const& fits) {
  std::uint32_t const t = begin + threadIdx.x % kMostChunkTrees;
  unsigned const too_many = ~__ballot_sync(kAllLanes, t < last && fits(t));
  std::uint32_t const n = too_many == 0 ? kMostChunkTrees : static_cast<std::uint32_t>(__ffs(too_many)) - 1;
  return n == 0 ? Chunk{begin, begin + 1, false} : Chunk{begin, begin + n, true};
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_FOREST_WALK_CUH_
