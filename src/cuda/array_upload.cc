// Fills pinned buffers with pieces of arrays, and copies them to a device.
#include "cuda/array_upload.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/parallel.h"
#include "xgbgpu/array_source.h"

namespace xgbgpu {

namespace {

constexpr char const* kWhat = "copying an array to the device";

/// Bytes of a piece. Pinning takes .7 ms a MiB, so pieces from the host are small: eight rings of three buffers take 24
/// MiB, and larger pieces are hardly faster. Pieces of devices are large, so that kernels are long beside their launch.
constexpr std::size_t kHostPiece = std::size_t{1} << 20;
constexpr std::size_t kDevicePiece = std::size_t{32} << 20;
/// Twelve threads were no faster than eight (10.5 M x 28 floats, one H100 with 16 host cores). Devices need no threads
/// to copy: with two rings they copy one piece while kernels work on the other.
constexpr std::size_t kHostRings = 8;
constexpr std::size_t kDeviceRings = 2;

}  // namespace

ArrayUpload::ArrayUpload(DenseValues const& values, std::uint64_t rows, FeatureIndex features, int threads)
    : values_{values}, rows_{rows}, features_{features}, threads_{threads} {
  CheckCuda(cudaGetDevice(&device_), "asking for the current device");
}

std::size_t ArrayUpload::row_bytes(FeatureIndex columns) const {
  return std::max<std::size_t>(1, (on_host() ? columns : features_) * ValueBytes(values_.type));
}

std::uint64_t ArrayUpload::most_rows(FeatureIndex columns) const {
  return std::clamp<std::uint64_t>((on_host() ? kHostPiece : kDevicePiece) / row_bytes(columns), 1,
                                   std::max<std::uint64_t>(1, rows_));
}

std::uint64_t ArrayUpload::pieces(FeatureIndex columns, std::uint64_t rows) const {
  return (rows + most_rows(columns) - 1) / most_rows(columns);
}

std::size_t ArrayUpload::rings(FeatureIndex columns) const {
  std::size_t const most = on_host() ? std::min(kHostRings, static_cast<std::size_t>(std::max(1, threads_)))
                           : here()  ? 1
                                     : kDeviceRings;
  return std::clamp<std::size_t>(pieces(columns, rows_), 1, most);
}

std::size_t ArrayUpload::buffer_bytes(FeatureIndex columns) const {
  constexpr std::size_t kAlignment = 256;
  std::size_t const bytes = most_rows(columns) * row_bytes(columns);
  return here() ? 0 : (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t ArrayUpload::device_bytes(FeatureIndex columns) const { return rings(columns) * buffer_bytes(columns); }

ArrayPiece ArrayUpload::Bring(ArrayPiece const& piece, FeatureIndex first, FeatureIndex columns, std::uint8_t* to,
                              PieceStream* ring) const {
  auto const* const from = static_cast<std::uint8_t const*>(piece.values.data);
  std::size_t const bytes = piece.n * row_bytes(columns);
  ArrayPiece brought = piece;
  brought.values.data = to;
  brought.values.device = device_;
  if (!on_host()) {  // whole rows, from before the wanted columns to behind them
    std::size_t const before = first * ValueBytes(values_.type);
    CheckCuda(cudaMemcpyPeerAsync(to, device_, from - before, values_.device, bytes, ring->stream()), kWhat);
    brought.values.data = to + before;
    return brought;
  }
  auto* const pinned = ring->Open<std::uint8_t>();
  if (columns == features_) {
    std::memcpy(pinned, from, bytes);
  } else {
    std::size_t const width = row_bytes(columns), step = row_bytes(features_);
    for (std::uint64_t row = 0; row < piece.n; ++row) std::memcpy(pinned + row * width, from + row * step, width);
  }
  CopyToDevice(to, pinned, bytes, ring->stream(), kWhat);
  ring->Close();
  brought.stride = columns;
  return brought;
}

void ArrayUpload::Run(ArrayBatch const& array, FeatureIndex first, FeatureIndex last, DeviceArena* arena,
                      Use const& use) {
  FeatureIndex const columns = last - first;
  if (columns == 0) return;
  std::uint64_t const most = most_rows(columns), count = pieces(columns, array.rows);
  std::size_t const wanted = std::min<std::uint64_t>(rings(columns), count), bytes = buffer_bytes(columns);
  DeviceBuffer<std::uint8_t> const brought{arena, "rows on their way", wanted * bytes};
  if (rings_.size() < wanted) rings_.resize(wanted);
  std::atomic<std::uint64_t> next{0};
  ParallelTasks(threads_, wanted, [&](std::size_t i, int) {
    DeviceScope const scope{device_};
    std::unique_ptr<PieceStream>& ring = rings_[i];
    for (std::uint64_t p = next++; p < count; p = next++) {
      if (!ring) {
        std::size_t const row_size = row_bytes(features_);
        ring = std::make_unique<PieceStream>(std::min(rows_ * row_size, std::max(kHostPiece, row_size)));
      }
      std::uint64_t const row = p * most;
      ArrayPiece piece{FromRow(array.values, row, features_), features_, array.first_row + row,
                       std::min(most, array.rows - row)};
      piece.values.data = static_cast<std::uint8_t const*>(piece.values.data) + first * ValueBytes(values_.type);
      try {
        use(here() ? piece : Bring(piece, first, columns, brought.data() + i * bytes, ring.get()), i, ring->stream());
      } catch (...) {  // what runs on the stream reads memory that is freed soon
        next = count;
        cudaStreamSynchronize(ring->stream());
        throw;
      }
    }
    if (ring) ring->Wait(kWhat);
  });
}

}  // namespace xgbgpu
