// Transposes dense rows to columns of sort keys on a device.
#include "quantile/columns_cuda.h"
#include "quantile/key_tiles.cuh"

namespace xgbgpu::cuda {

namespace {

template <typename T>
__global__ void TransposeKernel(ValueRows<T> rows, std::uint32_t* keys, std::uint64_t stride,
                                unsigned long long* missing) {
  ForEachKey(rows, [&](bool inside, std::uint64_t column, std::uint64_t row, std::uint32_t key) {
    if (inside) keys[column * stride + row] = key;
    unsigned const none = __ballot_sync(kAllLanes, inside && key == kNoKey);
    if (missing != nullptr && none != 0 && threadIdx.x == 0) {
      atomicAdd(missing + column, static_cast<unsigned long long>(__popc(none)));
    }
  });
}

}  // namespace

void TransposeToKeys(ArrayPiece const& rows, FeatureIndex columns, std::uint32_t* keys, std::uint64_t stride,
                     unsigned long long* missing, cudaStream_t stream) {
  VisitValues(rows.values, [&](auto const* values) {
    TransposeKernel<<<KeyTileBlocks(rows.n, columns), KeyTileThreads(), 0, stream>>>(RowsOfPiece(values, rows, columns),
                                                                                     keys, stride, missing);
  });
  CheckLaunch("turning rows to columns");
}

}  // namespace xgbgpu::cuda
