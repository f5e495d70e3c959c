// Copies columns of sort keys from several devices to one.
#include "quantile/key_shards_cuda.h"

#include "cuda/peer_access.h"

namespace xgbgpu::cuda {

namespace {

constexpr char const* kCopyingColumns = "copying columns between devices";

/// Waits for a stream at the end of its scope, even after an exception: enqueued work writes memory that is freed next.
class WaitAtEnd {
 public:
  explicit WaitAtEnd(Stream const& stream) : stream_{stream} {}
  ~WaitAtEnd() { cudaStreamSynchronize(stream_); }
  WaitAtEnd(WaitAtEnd const&) = delete;
  WaitAtEnd& operator=(WaitAtEnd const&) = delete;

 private:
  Stream const& stream_;
};

}  // namespace

KeyColumns JoinColumns(KeyShards const& shards, ColumnRange const& range, DeviceArena* arena) {
  int here = 0;
  CheckCuda(cudaGetDevice(&here), "asking for the current device");
  std::uint64_t rows = 0;
  std::vector<std::uint64_t> present(range.size());
  for (KeyColumns const* shard : shards.shards) {
    rows += shard->rows;
    for (FeatureIndex c = 0; c < range.size(); ++c) present[c] += shard->present[range.first + c];
  }
  KeyColumns result{range, rows, {arena, "columns in flight", range.size() * rows}, std::move(present)};
  Stream const stream;
  WaitAtEnd const wait{stream};
  std::uint64_t first_row = 0;
  for (std::size_t s = 0; s < shards.shards.size(); ++s) {
    KeyColumns const& shard = *shards.shards[s];
    int const there = shards.devices[s];
    EnablePeerAccess(there);
    for (FeatureIndex c = 0; c < range.size(); ++c) {
      std::uint32_t const* const from = shard.keys.data() + (range.first + c) * shard.rows;
      std::uint32_t* const to = result.keys.data() + c * rows + first_row;
      std::size_t const bytes = shard.rows * sizeof(std::uint32_t);
      CheckCuda(there == here ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)
                              : cudaMemcpyPeerAsync(to, here, from, there, bytes, stream),
                kCopyingColumns);
    }
    first_row += shard.rows;
  }
  stream.Wait(kCopyingColumns);
  return result;
}

}  // namespace xgbgpu::cuda
