/// Visits paths of trees in kernels: a block computes the weights of a chunk, then every thread goes on alone.
#ifndef XGBGPU_PREDICT_PATHS_CUDA_CUH_
#define XGBGPU_PREDICT_PATHS_CUDA_CUH_

#include "predict/contributions_cuda.h"

namespace xgbgpu::cuda {

/// Computes the weights of a chunk's paths. A warp takes a path.
__device__ inline void MakeChunkWeights(PathsView const& paths, PathChunk const& chunk, ElementWeights* weights) {
  std::uint32_t const lane = threadIdx.x % kTileRows, warps = blockDim.x / kTileRows;
  for (std::uint32_t p = threadIdx.x / kTileRows; p < chunk.paths; p += warps) {
    Path const path = paths.paths[chunk.first + p];
    std::uint32_t const entries = path.groups() * path.elements;
    for (std::uint32_t e = lane; e < entries; e += kTileRows) {
      weights[path.entry + e] = MakeWeights(paths.elements[path.first + e % path.elements],
                                            paths.groups[path.first_group + e / path.elements]);
    }
  }
}

/// Elements of all paths.
template <bool kCategorical>
__device__ auto AllElements(PathsView const& paths) {
  if constexpr (kCategorical) {
    return PathElements<ElementSets>{paths.elements, paths.sets};
  } else {
    return PathElements<NoElementSets>{paths.elements, {}};
  }
}

/// Calls use(elements, path, groups, weights of its elements) for each path of an output, in order, in `active`
/// threads. All threads of the block call it. `weights` [kChunkEntries] are in shared memory.
template <bool kCategorical, typename Use>
__device__ void ForEachPath(PathsView const& paths, std::uint32_t output, bool active, ElementWeights* weights,
                            Use const& use) {
  auto const all_elements = AllElements<kCategorical>(paths);
  for (std::uint64_t c = paths.chunk_ptr[output]; c < paths.chunk_ptr[output + 1]; ++c) {
    PathChunk const chunk = paths.chunks[c];
    if (chunk.entries != 0) MakeChunkWeights(paths, chunk, weights);
    __syncthreads();
    for (std::uint32_t p = 0; active && p < chunk.paths; ++p) {
      Path const path = paths.paths[chunk.first + p];
      auto const elements = all_elements.From(path.first);
      QuadratureGroup const* const groups = paths.groups + path.first_group;
      if (chunk.entries != 0) {
        auto const made = [&](std::uint32_t i, std::uint32_t g) { return weights[path.entry + g * path.elements + i]; };
        use(elements, path, groups, made);
      } else {
        auto const make = [&](std::uint32_t i, std::uint32_t g) { return MakeWeights(elements[i], groups[g]); };
        use(elements, path, groups, make);
      }
    }
    __syncthreads();  // the weights may be overwritten next
  }
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_PATHS_CUDA_CUH_
