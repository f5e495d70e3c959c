// Copies arrays in the memory of a CUDA device to rows of float32.
#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <string>
#include <utility>

#include "base/message.h"
#include "cuda/array_download.h"
#include "cuda/device.h"
#include "cuda/grid.h"
#include "user_arrays/device_arrays_cuda.h"
#include "user_arrays/device_pointer.h"
#include "xgbgpu/device_rows.h"

namespace xgbgpu {

namespace {

constexpr int kTile = 32;  // rows and columns that a block copies at a time
constexpr int kTileLines = 8;

/// Counts of a copy.
struct Counts {
  unsigned long long present;
  unsigned long long infinite;
  unsigned long long checksum;
};

template <typename T>
__device__ float Load(void const* address) {
  return static_cast<float>(*static_cast<T const*>(address));
}

__device__ float ValueAt(DeviceColumn const& column, std::uint64_t row, unsigned first_bit) {
  std::uint64_t const bit = first_bit + row;
  bool const is_there = column.valid == nullptr || (column.valid[bit / 8] >> (bit % 8) & 1) != 0;
  if (!is_there) return nanf("");
  void const* const at = static_cast<char const*>(column.data) + static_cast<std::int64_t>(row) * column.stride;
  switch (column.type) {
    case NumberType::kInt8:
      return Load<std::int8_t>(at);
    case NumberType::kUInt8:
      return Load<std::uint8_t>(at);
    case NumberType::kInt16:
      return Load<std::int16_t>(at);
    case NumberType::kUInt16:
      return Load<std::uint16_t>(at);
    case NumberType::kInt32:
      return Load<std::int32_t>(at);
    case NumberType::kUInt32:
      return Load<std::uint32_t>(at);
    case NumberType::kInt64:
      return Load<std::int64_t>(at);
    case NumberType::kUInt64:
      return Load<std::uint64_t>(at);
    case NumberType::kFloat16:
      return __half2float(*static_cast<__half const*>(at));
    case NumberType::kFloat32:
      return Load<float>(at);
    default:
      return Load<double>(at);
  }
}

/// Copies tiles of 32 rows and columns. With by_columns neighbouring rows are neighbours in memory, and threads read
/// down a column, else along a row. Threads always write along a row.
__global__ void CopyTableKernel(DeviceColumn const* table, std::uint64_t rows, FeatureIndex columns, unsigned first_bit,
                                bool by_columns, float missing, float* out, std::uint64_t first_place, Counts* counts) {
  __shared__ float tile[kTile][kTile + 1];
  std::uint64_t const column_tiles = (columns + std::uint64_t{kTile} - 1) / kTile;
  std::uint64_t const tiles = (rows + kTile - 1) / kTile * column_tiles;
  unsigned present = 0, infinite = 0;
  unsigned long long checksum = 0;
  for (std::uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    std::uint64_t const first_row = t / column_tiles * kTile, first_column = t % column_tiles * kTile;
    for (int line = threadIdx.y; line < kTile; line += kTileLines) {
      int const r = by_columns ? threadIdx.x : line, c = by_columns ? line : threadIdx.x;
      if (first_row + r >= rows || first_column + c >= columns) continue;
      float value = ValueAt(table[first_column + c], first_row + r, first_bit);
      if (value == missing) value = nanf("");
      present += isnan(value) ? 0 : 1;
      infinite += isinf(value) ? 1 : 0;
      std::uint64_t const place = first_place + (first_row + r) * columns + first_column + c;
      checksum += (2 * place + 1) * __float_as_uint(value);
      tile[r][c] = value;
    }
    __syncthreads();
    for (int r = threadIdx.y; r < kTile; r += kTileLines) {
      std::uint64_t const row = first_row + r, column = first_column + threadIdx.x;
      if (row < rows && column < columns) out[row * columns + column] = tile[r][threadIdx.x];
    }
    __syncthreads();
  }
  present = cuda::WarpSum(present);
  infinite = cuda::WarpSum(infinite);
  checksum = cuda::WarpSum(checksum);
  if (threadIdx.x == 0) {
    atomicAdd(&counts->checksum, checksum);
    atomicAdd(&counts->present, static_cast<unsigned long long>(present));
    if (infinite != 0) atomicAdd(&counts->infinite, static_cast<unsigned long long>(infinite));
  }
}

std::size_t BytesOf(NumberType type) {
  switch (type) {
    case NumberType::kInt8:
    case NumberType::kUInt8:
      return 1;
    case NumberType::kInt16:
    case NumberType::kUInt16:
    case NumberType::kFloat16:
      return 2;
    case NumberType::kInt32:
    case NumberType::kUInt32:
    case NumberType::kFloat32:
      return 4;
    default:
      return 8;
  }
}

int OrdinalOf(void const* address) {
  if (!IsDeviceMemory(address)) return kHostMemory;
  cudaPointerAttributes attributes{};
  CheckCuda(cudaPointerGetAttributes(&attributes, address), "asking whose memory an array is");
  return attributes.device;
}

/// Throws unless the first and the last of `bytes` bytes from `first` on are memory of the device.
void CheckMemory(std::size_t column, char const* what, void const* first, std::size_t bytes, int device) {
  int const found = OrdinalOf(first);
  if (found != device) {
    Throw<InvalidArgument>(
        "Column ", column, " of an array on a GPU has ", what, " at an address that is ",
        found == kHostMemory ? std::string{"no memory of a CUDA device"} : "memory of device " + std::to_string(found),
        "; allowed: memory of one device, here of device ", device);
  }
  // The driver does not tell if both bytes belong to one array.
  if (bytes > 1 && OrdinalOf(AddressAt(first, static_cast<std::int64_t>(bytes) - 1)) != device) {
    Throw<InvalidArgument>("Column ", column, " of an array on a GPU has ", what, " of ", bytes,
                           " bytes, which leave the memory of device ", device, "; check its shape and strides");
  }
}

void CheckTable(DeviceTable const& table, int device) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    DeviceColumn const& column = table.columns[c];
    std::int64_t const reach = column.stride * static_cast<std::int64_t>(table.rows - 1);
    void const* const first = AddressAt(column.data, std::min<std::int64_t>(0, reach));
    CheckMemory(c, "values", first, static_cast<std::size_t>(std::abs(reach)) + BytesOf(column.type), device);
    if (column.valid != nullptr) CheckMemory(c, "a mask", column.valid, (table.first_bit + table.rows + 7) / 8, device);
  }
}

/// Waits for all work on the stream that writes an array.
void WaitForWriter(std::uintptr_t stream) {
  if (stream == 0) return;
  CheckCuda(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(stream)), "waiting for the stream of an array");
}

/// Bytes of all rows that the process holds on a device.
std::atomic<std::size_t>& BytesHeld(int device) {
  constexpr int kMostDevices = 1024;
  static std::array<std::atomic<std::size_t>, kMostDevices> held{};
  return held[static_cast<std::size_t>(std::min(device, kMostDevices - 1))];
}

class CopiedRows final : public DeviceRows {
 public:
  CopiedRows(int device, std::uint64_t rows, FeatureIndex features)
      : rows_{rows}, features_{features}, device_{device} {
    DeviceScope const scope{device_};
    values_ = {&arena_, "values", rows_ * features_};
    BytesHeld(device_) += values_.bytes();
  }
  ~CopiedRows() override { BytesHeld(device_) -= values_.bytes(); }

  /// Copies a table behind the `filled` rows.
  void Append(DeviceTable const& table, float missing, std::uint64_t filled) {
    CheckTable(table, device_);
    DeviceScope const scope{device_};
    WaitForWriter(table.stream);
    auto const columns = Upload(&arena_, "columns", table.columns.data(), table.columns.size());
    Counts counts{};
    auto const device_counts = Upload(&arena_, "counts", &counts, 1);
    Stream const stream;
    DeviceColumn const& first = table.columns.front();
    bool const by_columns = std::abs(first.stride) == static_cast<std::int64_t>(BytesOf(first.type)) && features_ > 1;
    std::uint64_t const tiles = (table.rows + kTile - 1) / kTile * ((features_ + std::uint64_t{kTile} - 1) / kTile);
    unsigned const blocks = cuda::Blocks(tiles, 1, CurrentDeviceLimits(), 8);
    CopyTableKernel<<<blocks, dim3(kTile, kTileLines), 0, stream>>>(
        columns.data(), table.rows, features_, table.first_bit, by_columns, missing,
        values_.data() + filled * features_, filled * features_, device_counts.data());
    CheckCuda(cudaGetLastError(), "copying an array on the device");
    xgbgpu::CopyToHost(&counts, device_counts.data(), 1, stream, "copying an array on the device");
    stream.Wait("copying an array on the device");
    present_ += counts.present;
    checksum_ += counts.checksum;
    has_infinite_ = has_infinite_ || counts.infinite != 0;
  }

  std::uint64_t rows() const override { return rows_; }
  FeatureIndex features() const override { return features_; }
  std::uint64_t present() const override { return present_; }
  bool has_infinite() const override { return has_infinite_; }
  std::uint64_t checksum() const override { return checksum_; }
  std::optional<DenseValues> dense() const override {
    DenseValues values{values_.data()};
    values.device = device_;
    return values;
  }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    ForEachBatchOf({*dense(), 0, rows_}, features_, 1, visit);
  }
  void CopyToHost(std::uint64_t first, std::uint64_t n, float* to) const override {
    DeviceScope const scope{device_};
    CheckCuda(cudaMemcpy(to, values_.data() + first * features_, n * features_ * sizeof(float), cudaMemcpyDeviceToHost),
              "copying rows to the host");
  }

 private:
  std::uint64_t rows_;
  FeatureIndex features_;
  int device_;
  std::uint64_t present_{0};
  bool has_infinite_{false};
  std::uint64_t checksum_{0};
  DeviceArena arena_{"Holding an array on the GPU", "a QuantileDMatrix, or fewer rows"};
  DeviceBuffer<float> values_;
};

class RowsBuilder final : public DeviceRowsBuilder {
 public:
  RowsBuilder(int device, std::uint64_t rows, FeatureIndex features)
      : rows_{std::make_unique<CopiedRows>(device, rows, features)} {}

  void Append(DeviceTable const& table, float missing) override {
    bool const fits = table.columns.size() == rows_->features() && table.rows <= rows_->rows() - filled_;
    if (!fits) {
      Throw<InvalidArgument>("A table on a GPU has ", table.rows, " rows and ", table.columns.size(),
                             " columns; allowed here: up to ", rows_->rows() - filled_, " rows, and ",
                             rows_->features(), " columns");
    }
    rows_->Append(table, missing, filled_);
    filled_ += table.rows;
  }
  std::unique_ptr<DeviceRows> Finish() override {
    if (filled_ != rows_->rows()) {
      Throw<InvalidArgument>("Tables on a GPU have ", filled_, " rows together; ", rows_->rows(), " were announced");
    }
    return std::move(rows_);
  }

 private:
  std::unique_ptr<CopiedRows> rows_;
  std::uint64_t filled_{0};
};

class CopiedFloats final : public DeviceFloats {
 public:
  CopiedFloats(float const* from, std::size_t n, int device) {
    DeviceScope const scope{device};
    values_ = Upload(&arena_, "predictions", from, n);
  }
  float const* data() const override { return values_.data(); }

 private:
  DeviceArena arena_{"Bringing predictions to the GPU", "fewer rows"};
  DeviceBuffer<float> values_;
};

class CudaArrays final : public DeviceArrays {
 public:
  int DeviceOf(void const* address) const override { return OrdinalOf(address); }
  int DeviceOf(DeviceTable const& table) const override {
    int const device = OrdinalOf(table.columns.front().data);
    if (device == kHostMemory) CheckTable(table, 0);  // throws
    return device;
  }

  std::unique_ptr<DeviceRowsBuilder> MakeRowsBuilder(int device, std::uint64_t rows,
                                                     FeatureIndex features) const override {
    return std::make_unique<RowsBuilder>(device, rows, features);
  }
  std::size_t BytesOfRows(int device) const override { return device < 0 ? 0 : BytesHeld(device).load(); }
  std::size_t FreeMemory(int device) const override {
    DeviceScope const scope{device};
    return CurrentMemory().free;
  }

  int CurrentDevice() const override {
    int device = 0;
    CheckCuda(cudaGetDevice(&device), "asking for the current device");
    return device;
  }
  void RunOn(int device, std::function<void()> const& function) const override {
    DeviceScope const scope{device};
    function();
  }

  std::unique_ptr<DeviceRows> Copy(DeviceTable const& table, float missing) const override {
    RowsBuilder builder{DeviceOf(table), table.rows, static_cast<FeatureIndex>(table.columns.size())};
    builder.Append(table, missing);
    return builder.Finish();
  }
  void CopyToHost(DeviceTable const& table, float* to) const override {
    constexpr std::uint64_t kValues = 1 << 21;
    std::uint64_t const columns = table.columns.size();
    std::uint64_t const most = std::max<std::uint64_t>(1, kValues / columns);
    CheckTable(table, DeviceOf(table));
    for (std::uint64_t first = 0; first < table.rows; first += most) {
      DeviceTable const part = RowsOf(table, first, std::min(most, table.rows - first));
      auto const rows = Copy(part, std::numeric_limits<float>::quiet_NaN());
      rows->CopyToHost(0, part.rows, to + first * columns);
    }
  }
  void CopyToHost(void const* from, std::size_t bytes, std::uintptr_t stream, void* to) const override {
    int const device = OrdinalOf(from);
    CheckMemory(0, "values", from, bytes, std::max(device, 0));
    DeviceScope const scope{device};
    WaitForWriter(stream);
    CheckCuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying an array to the host");
  }
  std::unique_ptr<DeviceFloats> CopyFloats(float const* from, std::size_t n, int device) const override {
    return std::make_unique<CopiedFloats>(from, n, device);
  }
};

}  // namespace

DeviceArrays const& cuda::Arrays() {
  static CudaArrays const kArrays;
  return kArrays;
}

}  // namespace xgbgpu
