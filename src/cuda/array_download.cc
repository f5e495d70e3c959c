// Copies arrays from a device to the host in blocks, and visits their entries.
#include "cuda/array_download.h"

#include <algorithm>
#include <cstdint>

#include "base/buffer.h"
#include "cuda/device.h"
#include "xgbgpu/array_source.h"

namespace xgbgpu {

void ForEachBatchOf(ArrayBatch const& array, FeatureIndex features, int threads,
                    std::function<void(RowBatch const&)> const& visit) {
  if (array.rows == 0 || features == 0) return;
  auto const read = [&](DenseValues const& values, std::uint64_t first_row, std::uint64_t n) {
    ArraySource{values, n, features, threads}.ForEachBatch([&](RowBatch batch) {
      batch.first_row += first_row;
      visit(batch);
    });
  };
  if (array.values.device == kHostMemory) {
    read(array.values, array.first_row, array.rows);
    return;
  }
  constexpr std::uint64_t kBlock = std::uint64_t{8} << 20;
  std::size_t const row_bytes = features * ValueBytes(array.values.type);
  std::uint64_t const most = std::clamp<std::uint64_t>(kBlock / row_bytes, 1, array.rows);
  Buffer<std::uint8_t> block{most * row_bytes};
  DenseValues on_host = array.values;
  on_host.data = block.data();
  on_host.device = kHostMemory;
  for (std::uint64_t first = 0; first < array.rows; first += most) {
    std::uint64_t const n = std::min(most, array.rows - first);
    {
      DeviceScope const scope{array.values.device};
      CheckCuda(
          cudaMemcpy(block.data(), FromRow(array.values, first, features).data, n * row_bytes, cudaMemcpyDeviceToHost),
          "copying rows to the host");
    }
    read(on_host, array.first_row + first, n);
  }
}

}  // namespace xgbgpu
