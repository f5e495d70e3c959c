#include <cub/device/device_radix_sort.cuh>

#include "core/grid.h"
#include "exact/column_sorter_cuda.h"
#include "quantile/quantile_ops.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr char const* kWhat = "sorting columns";

static_assert(sizeof(SortedValue) == sizeof(std::uint64_t));

/// Values become keys that are sorted by their upper half. The lower half is the row; -0, which is equal to 0 and would
/// be lost, is its highest bit.
constexpr std::uint32_t kMinusZero = 0x80000000U;

__global__ void __launch_bounds__(kThreads) KeysOfValuesKernel(std::uint64_t* items, std::uint64_t n) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
    SortedValue item;
    memcpy(&item, items + i, sizeof(item));
    bool const minus_zero = __float_as_uint(item.value) == __float_as_uint(-0.0f);
    items[i] = std::uint64_t{SortKey(item.value)} << 32 | item.row | (minus_zero ? kMinusZero : 0U);
  }
}

__global__ void __launch_bounds__(kThreads) ValuesOfKeysKernel(std::uint64_t* items, std::uint64_t n) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
    std::uint64_t const key = items[i];
    auto const low = static_cast<std::uint32_t>(key);
    float const value = ValueOfKey(static_cast<std::uint32_t>(key >> 32));
    SortedValue const item{low & ~kMinusZero, (low & kMinusZero) != 0 ? -0.0f : value};
    memcpy(items + i, &item, sizeof(item));
  }
}

using Items = cub::DoubleBuffer<std::uint64_t>;

/// Where the sorted items are is current in the end. Without scratch: how many bytes it needs.
void SortItems(void* scratch, std::size_t* bytes, Items* items, std::uint64_t n, cudaStream_t stream) {
  CheckCuda(cub::DeviceRadixSort::SortKeys(scratch, *bytes, *items, n, 32, 64, stream), kWhat);
}

}  // namespace

ColumnSorter::ColumnSorter(std::uint64_t longest)
    : limits_{CurrentDeviceLimits()}, items_{{&arena_, "columns", longest}, {&arena_, "columns", longest}} {
  Items items{items_[0].data(), items_[1].data()};
  std::size_t bytes = 0;
  SortItems(nullptr, &bytes, &items, longest, stream_);
  scratch_ = {&arena_, "scratch of sorting", bytes};
}

void ColumnSorter::Sort(Span<SortedValue> column) {
  std::uint64_t const n = column.size();
  if (n == 0) return;
  auto* const values = reinterpret_cast<std::uint64_t*>(column.data());
  unsigned const blocks = Blocks(n, kThreads, limits_, kResident);
  Items items{items_[0].data(), items_[1].data()};
  CopyToDevice(items.Current(), values, n, stream_, kWhat);
  KeysOfValuesKernel<<<blocks, kThreads, 0, stream_>>>(items.Current(), n);
  CheckLaunch(kWhat);
  std::size_t bytes = scratch_.size();
  SortItems(scratch_.data(), &bytes, &items, n, stream_);
  ValuesOfKeysKernel<<<blocks, kThreads, 0, stream_>>>(items.Current(), n);
  CheckLaunch(kWhat);
  CopyToHost(values, items.Current(), n, stream_, kWhat);
  stream_.Wait(kWhat);
}

}  // namespace xgbgpu::cuda
