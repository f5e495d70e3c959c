#include "core/spoilt_recording.h"

#include <atomic>

namespace xgbgpu {

namespace {

std::atomic<std::int64_t> recordings_to_spoil{0};
std::atomic<std::int64_t> recordings_chosen{0};
std::atomic<std::int64_t> recordings_spoilt{0};

/// What is not allowed while a stream is recorded, and makes all of it invalid.
void Spoil(cudaStream_t stream) { cudaStreamSynchronize(stream); }

}  // namespace

std::int64_t SpoilRecordings(std::int64_t n) {
  recordings_to_spoil.store(n);
  recordings_chosen.store(0);
  return recordings_spoilt.exchange(0);
}

RecordingSpoiler::RecordingSpoiler(cudaStream_t stream) : stream_{stream}, number_{-1} {
  if (recordings_to_spoil.load() == 0) return;
  std::int64_t const number = recordings_chosen.fetch_add(1);
  if (number >= recordings_to_spoil.load()) return;
  number_ = number;
  if (number_ % 2 == 0) Spoil(stream_);
}
void RecordingSpoiler::AtEnd() const {
  if (number_ % 2 == 1) Spoil(stream_);
}
void RecordingSpoiler::Failed() const {
  if (number_ >= 0) ++recordings_spoilt;
}

}  // namespace xgbgpu
