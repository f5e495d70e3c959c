/// Sums over rows at risk on a device, for survival:cox and cox-nloglik.
#ifndef XGBGPU_OBJECTIVE_FROM_END_CUDA_CUH_
#define XGBGPU_OBJECTIVE_FROM_END_CUDA_CUH_

#include "cuda/ordered_scan_cuda.cuh"
#include "xgbgpu/row_views.h"

namespace xgbgpu::cuda {

template <typename Value>
struct ValueFromEnd {
  Value value;
  TimeOrder order;
  std::uint64_t rows;
  __device__ double operator()(std::uint64_t i) const {
    std::uint64_t const place = rows - 1 - i;
    return value(place, order.rows[place]);
  }
};

struct PutFromEnd {
  double* out;
  std::uint64_t rows;
  __device__ void operator()(std::uint64_t i, double sum) const { out[rows - 1 - i] = sum; }
};

/// host::SumFromEnd with value(place, row). before: [ScanBlocks(rows)]; finished: 0. Enqueued.
template <typename Value>
void SumFromEnd(TimeOrder const& order, std::uint64_t rows, Value const& value, double* out, double* before,
                std::uint32_t* finished, DeviceLimits const& limits, cudaStream_t stream, char const* what) {
  OrderedScan<double>(rows, ValueFromEnd<Value>{value, order, rows}, PutFromEnd{out, rows}, before, finished, limits,
                      stream, what);
}

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_OBJECTIVE_FROM_END_CUDA_CUH_
