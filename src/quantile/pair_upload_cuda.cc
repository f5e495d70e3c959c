// Packs entries into pinned memory and passes them on, piece by piece.
#include "quantile/pair_upload_cuda.h"

#include <algorithm>

namespace xgbgpu::cuda {

namespace {

constexpr char const* kCopyingPairs = "copying values to the device";

}  // namespace

PairUpload::PairUpload(RowSource const& source, Span<float const> weights, int threads)
    : source_{source}, weights_{weights}, threads_{threads} {}

std::uint64_t PairUpload::Run(ColumnRange const& range, std::function<void(PairPiece const&)> const& use) {
  std::size_t const most = most_pairs();
  std::uint64_t sent = 0;
  std::size_t n = 0;
  std::uint64_t* keys = nullptr;  // open while n is not 0
  float* weights = nullptr;
  auto const flush = [&] {
    use({keys, weights_.empty() ? nullptr : weights, n});
    pieces_.Close();
    sent += n;
    n = 0;
  };
  source_.ForEachBatch([&](RowBatch const& batch) {
    std::uint64_t const end = batch.rows() == 0 ? 0 : batch.offsets.back();
    for (std::uint64_t i = batch.rows() == 0 ? 0 : batch.offsets.front(); i < end;) {
      if (n == 0) {
        keys = pieces_.Open<std::uint64_t>();
        weights = reinterpret_cast<float*>(keys + most);
      }
      std::uint64_t const take = std::min<std::uint64_t>(most - n, end - i);
      n += PackPairs(batch, i, take, range, weights_, keys + n, weights + n, threads_);
      i += take;
      if (n == most) flush();
    }
  });
  if (n != 0) flush();
  pieces_.Wait(kCopyingPairs);
  return sent;
}

void CopyPairs(PairPiece const& piece, std::uint64_t* keys, float* weights, cudaStream_t stream) {
  CopyToDevice(keys, piece.keys, piece.n, stream, kCopyingPairs);
  if (piece.weights != nullptr) CopyToDevice(weights, piece.weights, piece.n, stream, kCopyingPairs);
}

}  // namespace xgbgpu::cuda
