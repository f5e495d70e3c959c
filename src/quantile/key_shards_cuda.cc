#include "quantile/key_shards_cuda.h"

#include "core/peer_access.h"

namespace xgbgpu::cuda {

namespace {

constexpr char const* kWhat = "copying columns between devices";

}  // namespace

ColumnJoin::ColumnJoin(KeyShards const& shards, DeviceArena* arena) : shards_{shards}, arena_{arena} {
  CheckCuda(cudaGetDevice(&device_), "asking for the current device");
  for (KeyColumns const* shard : shards.shards) rows_ += shard->rows;
  for (int const device : shards.devices) EnablePeerAccess(device);
}

ColumnJoin::~ColumnJoin() {
  cudaStreamSynchronize(stream_);  // what was enqueued writes memory that is freed now
}

void ColumnJoin::Begin(ColumnRange const& range) {
  newest_ = 1 - newest_;
  KeyColumns& group = groups_[newest_];
  group.range = range;
  group.rows = rows_;
  group.present.assign(range.size(), 0);
  if (group.keys.size() < range.size() * rows_) {
    group.keys = {};
    group.keys = {arena_, "columns in flight", range.size() * rows_};
  }
  std::uint64_t first_row = 0;
  for (std::size_t s = 0; s < shards_.shards.size(); ++s) {
    KeyColumns const& shard = *shards_.shards[s];
    int const there = shards_.devices[s];
    for (FeatureIndex c = 0; c < range.size(); ++c) {
      group.present[c] += shard.present[range.first + c];
      std::uint32_t const* const from = shard.keys.data() + (range.first + c) * shard.rows;
      std::uint32_t* const to = group.keys.data() + c * rows_ + first_row;
      std::size_t const bytes = shard.rows * sizeof(std::uint32_t);
      CheckCuda(there == device_ ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_)
                                 : cudaMemcpyPeerAsync(to, device_, from, there, bytes, stream_),
                kWhat);
    }
    first_row += shard.rows;
  }
}

KeyColumns const& ColumnJoin::Finish() {
  stream_.Wait(kWhat);
  return groups_[newest_];
}

}  // namespace xgbgpu::cuda
