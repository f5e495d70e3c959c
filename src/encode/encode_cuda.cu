// Sums the targets of categories and numbers keys on a CUDA device, with sorts and scans.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "base/message.h"
#include "core/fixed_point.h"
#include "cuda/grid.h"
#include "encode/encode_cuda.h"
#include "encode/encode_ops.h"
#include "xgbgpu/encode.h"
#include "xgbgpu/error.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr char const* kWhat = "encoding categories";
/// CUB before 2.6 counts the items of a scan in an int.
constexpr std::uint64_t kMostRows = 0x7FFFFFFF;

/// The memory and the stream of one call.
struct Work {
  DeviceArena arena{"Encoding categories on the GPU", "fewer rows, or gpu_backend=host"};
  DeviceLimits limits{CurrentDeviceLimits()};
  Stream stream;

  unsigned blocks(std::uint64_t n) const { return Blocks(n, kThreads, limits, kResident); }
};

bool IsOnDevice(void const* address) {
  cudaPointerAttributes found{};
  CheckCuda(cudaPointerGetAttributes(&found, address), "looking for an array");
  return found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeManaged;
}

/// An input array on the device: the caller's own, or a copy.
template <typename T>
class Input {
 public:
  Input(Work* work, T const* from, std::size_t n) : data_{from} {
    if (n == 0 || IsOnDevice(from)) return;
    copy_ = {&work->arena, "copies of arrays", n};
    CopyToDevice(copy_.data(), from, n, work->stream, kWhat);
    data_ = copy_.data();
  }
  T const* data() const { return data_; }

 private:
  T const* data_;
  DeviceBuffer<T> copy_;
};

/// An output array on the device: the caller's own, or an array that Deliver copies to the caller's.
template <typename T>
class Output {
 public:
  Output(Work* work, T* to, std::size_t n) : to_{to}, data_{to}, n_{n} {
    if (n == 0 || IsOnDevice(to)) return;
    room_ = {&work->arena, "results", n};
    data_ = room_.data();
  }
  T* data() const { return data_; }
  void Deliver(cudaStream_t stream) const {
    if (data_ != to_) CopyToHost(to_, data_, n_, stream, kWhat);
  }

 private:
  T* to_;
  T* data_;
  std::size_t n_;
  DeviceBuffer<T> room_;
};

/// Calls work(scratch, bytes) twice, as CUB's functions require: first for the size of the scratch, then with the
/// scratch.
template <typename F>
void WithScratch(Work* work, F&& f) {
  std::size_t bytes = 0;
  CheckCuda(f(nullptr, bytes), kWhat);
  DeviceBuffer<char> scratch{&work->arena, "scratch", std::max<std::size_t>(1, bytes)};
  CheckCuda(f(scratch.data(), bytes), kWhat);
  work->stream.Wait(kWhat);  // the scratch is freed next
}

/// The extremes of the integers, and the largest code, for the checks.
struct Extremes {
  unsigned long long value;  ///< of magnitudes
  unsigned long long weight;
  unsigned int code;
  unsigned int has_negative_weight;
};

__global__ void FindExtremesKernel(CategoryTargets columns, Extremes* found) {
  Extremes own{};
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint64_t const first = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  for (std::uint64_t i = first; i < columns.rows; i += step) {
    own.code = max(own.code, columns.codes[i]);
    if (columns.weights == nullptr) continue;
    std::int64_t const weight = columns.weights[i];
    own.has_negative_weight |= weight < 0 ? 1U : 0U;
    own.weight = max(own.weight, static_cast<unsigned long long>(weight < 0 ? 0 : weight));
  }
  for (std::uint64_t i = first; i < columns.rows * columns.targets; i += step) {
    std::int64_t const value = columns.values[i];
    auto const bits = static_cast<unsigned long long>(value);
    own.value = max(own.value, value < 0 ? 0ULL - bits : bits);
  }
  atomicMax(&found->value, own.value);
  atomicMax(&found->weight, own.weight);
  atomicMax(&found->code, own.code);
  atomicOr(&found->has_negative_weight, own.has_negative_weight);
}

/// Throws for the same input as the host. The message has the largest number, not the first that is too large.
void Check(CategoryTargets const& columns, Work* work) {
  DeviceBuffer<Extremes> room{&work->arena, "extremes", 1};
  FillBytes(room.data(), 0, 1, work->stream, kWhat);
  FindExtremesKernel<<<work->blocks(columns.rows), kThreads, 0, work->stream>>>(columns, room.data());
  CheckLaunch(kWhat);
  Extremes found{};
  CopyToHost(&found, room.data(), 1, work->stream, kWhat);
  work->stream.Wait(kWhat);
  std::uint64_t const most = (std::uint64_t{1} << 62) / columns.rows;
  if (found.code >= columns.categories) {
    Throw<InvalidArgument>("A code is ", found.code, "; allowed: numbers below ", columns.categories,
                           ", the number of categories");
  }
  if (found.value > most) {
    Throw<InvalidArgument>("A target is ", found.value, " units, or minus that; allowed for ", columns.rows, " rows: -",
                           most, " to ", most);
  }
  if (found.has_negative_weight != 0 || found.weight > most) {
    Throw<InvalidArgument>("A weight is negative, or ", found.weight, " units; allowed for ", columns.rows,
                           " rows: 0 to ", most);
  }
}

__global__ void OrderRowsKernel(std::uint32_t const* codes, RowOrder order, std::uint32_t* keys, RowIndex* rows) {
  for (std::uint64_t place = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; place < order.rows;
       place += std::uint64_t{gridDim.x} * blockDim.x) {
    RowIndex const row = order.Row(place);
    rows[place] = row;
    keys[place] = codes[row];
  }
}

/// Returns the contribution of the row at a sorted place to the sums of its category.
struct ItemAt {
  RowIndex const* rows;
  std::int64_t const* values;
  std::int64_t const* weights;  ///< null: all are 1

  XGBGPU_HD CategorySum operator()(std::uint64_t place) const {
    RowIndex const row = rows[place];
    return {values[row], weights == nullptr ? 1 : weights[row]};
  }
};

struct Add {
  XGBGPU_HD CategorySum operator()(CategorySum a, CategorySum b) const { return a + b; }
};

struct IsEqual {
  XGBGPU_HD bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
};

/// Rows, sorted by category and then by the order, with inclusive sums over the category.
struct SortedSums {
  std::uint32_t const* keys;
  RowIndex const* rows;
  CategorySum const* sums;
  std::uint64_t n;
};

/// Writes the statistic of each row from its category's earlier rows. The sum at a category's last row is the total.
__global__ void WriteStatisticsKernel(SortedSums sorted, StatisticRule rule, double prior, StatisticsView to,
                                      std::int64_t* total_values, std::int64_t* total_weights) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < sorted.n;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    std::uint32_t const key = sorted.keys[i];
    if (to.data != nullptr) {
      bool const is_first = i == 0 || sorted.keys[i - 1] != key;
      CategorySum const before = is_first ? CategorySum{0, 0} : sorted.sums[i - 1];
      to.data[sorted.rows[i] * to.row_stride] = TargetStatistic(before, rule, prior);
    }
    if (i + 1 == sorted.n || sorted.keys[i + 1] != key) {
      total_values[key] = sorted.sums[i].value;
      total_weights[key] = sorted.sums[i].weight;
    }
  }
}

int BitsOf(std::uint64_t numbers) { return std::max(1, CeilLog2(numbers)); }

/// Arrays are on the device.
void OrderTargets(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                  double const* priors, StatisticsView statistics, CategoryTotals totals, Work* work) {
  std::uint64_t const n = columns.rows;
  FillBytes(totals.values, 0, std::size_t{columns.targets} * columns.categories, work->stream, kWhat);
  FillBytes(totals.weights, 0, columns.categories, work->stream, kWhat);
  if (n == 0) return;
  Check(columns, work);
  DeviceBuffer<std::uint32_t> keys[2]{{&work->arena, "codes", n}, {&work->arena, "codes", n}};
  DeviceBuffer<RowIndex> rows[2]{{&work->arena, "rows", n}, {&work->arena, "rows", n}};
  OrderRowsKernel<<<work->blocks(n), kThreads, 0, work->stream>>>(columns.codes, order, keys[0].data(), rows[0].data());
  CheckLaunch(kWhat);
  WithScratch(work, [&](void* scratch, std::size_t& bytes) {  // stable: rows of a category keep their order
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys[0].data(), keys[1].data(), rows[0].data(),
                                           rows[1].data(), static_cast<int>(n), 0, BitsOf(columns.categories),
                                           static_cast<cudaStream_t>(work->stream));
  });
  keys[0] = {};
  rows[0] = {};
  DeviceBuffer<CategorySum> sums{&work->arena, "sums", n};
  SortedSums const sorted{keys[1].data(), rows[1].data(), sums.data(), n};
  for (std::uint32_t target = 0; target < columns.targets; ++target) {
    auto const items =
        thrust::make_transform_iterator(thrust::make_counting_iterator(std::uint64_t{0}),
                                        ItemAt{sorted.rows, columns.values + target * n, columns.weights});
    WithScratch(work, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveScanByKey(scratch, bytes, sorted.keys, items, sums.data(), Add{},
                                                 static_cast<int>(n), IsEqual{},
                                                 static_cast<cudaStream_t>(work->stream));
    });
    StatisticsView const to{statistics.data == nullptr ? nullptr : statistics.data + target, statistics.row_stride};
    WriteStatisticsKernel<<<work->blocks(n), kThreads, 0, work->stream>>>(
        sorted, rule, priors[target], to, totals.values + std::size_t{target} * columns.categories, totals.weights);
    CheckLaunch(kWhat);
  }
  work->stream.Wait(kWhat);
}

__global__ void NumberPlacesKernel(std::uint64_t n, std::uint32_t* places) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    places[i] = static_cast<std::uint32_t>(i);
  }
}

/// Marks every sorted key that differs from the key before. The first key has no mark, so prefix sums of marks are
/// codes.
__global__ void MarkNewKeysKernel(std::uint64_t const* keys, std::uint64_t n, std::uint32_t* marks) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    marks[i] = i != 0 && keys[i] != keys[i - 1] ? 1 : 0;
  }
}

__global__ void ScatterCodesKernel(std::uint32_t const* sorted, std::uint32_t const* places, std::uint64_t n,
                                   std::uint32_t* codes) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    codes[places[i]] = sorted[i];
  }
}

/// Arrays are on the device.
std::uint32_t NumberKeys(std::uint64_t const* keys, std::uint64_t n, std::uint32_t* codes, Work* work) {
  DeviceBuffer<std::uint64_t> sorted{&work->arena, "keys", n};
  DeviceBuffer<std::uint32_t> places[2]{{&work->arena, "places", n}, {&work->arena, "places", n}};
  NumberPlacesKernel<<<work->blocks(n), kThreads, 0, work->stream>>>(n, places[0].data());
  CheckLaunch(kWhat);
  WithScratch(work, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted.data(), places[0].data(), places[1].data(),
                                           static_cast<int>(n), 0, 64, static_cast<cudaStream_t>(work->stream));
  });
  std::uint32_t* const marks = places[0].data();  // unsorted places are free now
  MarkNewKeysKernel<<<work->blocks(n), kThreads, 0, work->stream>>>(sorted.data(), n, marks);
  CheckLaunch(kWhat);
  WithScratch(work, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, marks, marks, static_cast<int>(n),
                                         static_cast<cudaStream_t>(work->stream));
  });
  ScatterCodesKernel<<<work->blocks(n), kThreads, 0, work->stream>>>(marks, places[1].data(), n, codes);
  CheckLaunch(kWhat);
  std::uint32_t last = 0;
  CopyToHost(&last, marks + (n - 1), 1, work->stream, kWhat);
  work->stream.Wait(kWhat);
  return last + 1;
}

void CheckRows(std::uint64_t rows) {
  if (rows > kMostRows) {
    Throw<Unsupported>("gpu_backend is cuda and there are ", rows, " rows; allowed: ", kMostRows,
                       " rows, or gpu_backend=host");
  }
}

}  // namespace

void OrderTargets(CategoryTargets const& columns, RowOrder const& order, StatisticRule const& rule,
                  double const* priors, StatisticsView statistics, CategoryTotals totals, int device) {
  CheckRows(columns.rows);
  DeviceScope const scope{device};
  Work work;
  std::size_t const n = columns.rows, targets = columns.targets, categories = columns.categories;
  Input const codes{&work, columns.codes, n};
  Input const values{&work, columns.values, targets * n};
  Input const weights{&work, columns.weights, columns.weights == nullptr ? 0 : n};
  Output const total_values{&work, totals.values, targets * categories};
  Output const total_weights{&work, totals.weights, categories};
  bool const is_copied = statistics.data != nullptr && n != 0 && !IsOnDevice(statistics.data);
  DeviceBuffer<float> room{&work.arena, "results", is_copied ? n * targets : 0};
  OrderTargets({codes.data(), n, columns.categories, values.data(), columns.targets, weights.data()}, order, rule,
               priors, is_copied ? StatisticsView{room.data(), targets} : statistics,
               {total_values.data(), total_weights.data()}, &work);
  if (is_copied) {
    std::size_t const bytes = targets * sizeof(float);
    CheckCuda(cudaMemcpy2DAsync(statistics.data, statistics.row_stride * sizeof(float), room.data(), bytes, bytes, n,
                                cudaMemcpyDeviceToHost, work.stream),
              kWhat);
  }
  total_values.Deliver(work.stream);
  total_weights.Deliver(work.stream);
  work.stream.Wait(kWhat);
}

std::uint32_t NumberKeys(Span<std::uint64_t const> keys, std::uint32_t* codes, int device) {
  if (keys.size() == 0) return 0;
  CheckRows(keys.size());
  DeviceScope const scope{device};
  Work work;
  Input const in{&work, keys.data(), keys.size()};
  Output const out{&work, codes, keys.size()};
  std::uint32_t const distinct = NumberKeys(in.data(), keys.size(), out.data(), &work);
  out.Deliver(work.stream);
  work.stream.Wait(kWhat);
  return distinct;
}

}  // namespace xgbgpu::cuda
