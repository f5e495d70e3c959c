// Records events around stages, and turns them into times of the host.
#include "cuda/timeline.h"

#include <chrono>
#include <utility>

namespace xgbgpu {

Timeline::Timeline(cudaStream_t stream) : stream_{stream}, made_{TraceFile::Clock::now()} {
  origin_ = NewEvent();
  SetOrigin();
}

Timeline::~Timeline() {
  for (Pending const& p : pending_) Free(p);
  for (cudaEvent_t event : free_) cudaEventDestroy(event);
  cudaEventDestroy(origin_);
}

void Timeline::Free(Pending const& pending) {
  free_.push_back(pending.start);
  free_.push_back(pending.stop);
}

cudaEvent_t Timeline::NewEvent() {
  cudaEvent_t event = nullptr;
  if (free_.empty()) {
    CheckCuda(cudaEventCreate(&event), "making an event");
  } else {
    event = free_.back();
    free_.pop_back();
  }
  return event;
}

double Timeline::Now() const {
  return std::chrono::duration<double, std::micro>(TraceFile::Clock::now() - made_).count();
}

void Timeline::SetOrigin() {
  double const before = Now();
  CheckCuda(cudaEventRecord(origin_, stream_), "recording an event");
  CheckCuda(cudaEventSynchronize(origin_), "recording an event");
  origin_us_ = before + (Now() - before) / 2;
}

void Timeline::Start(char const* stage, int level) {
  int const tree = level == kNoLevel ? -1 : tree_;
  pending_.push_back({{stage, tree, level, 0, 0, 0}, NewEvent(), NewEvent(), false});
  CheckCuda(cudaEventRecord(pending_.back().start, stream_), "recording an event");
}

void Timeline::Stop() {
  CheckCuda(cudaEventRecord(pending_.back().stop, stream_), "recording an event");
  pending_.back().stopped = true;
}

void Timeline::SetBytes(char const* stage, int level, std::uint64_t bytes) {
  for (TraceStage& e : entries_) {
    if (e.tree == tree_ && e.name == stage && e.level == level) e.bytes = bytes;
  }
}

void Timeline::Resolve() {
  resolving_us_ = Now();
  auto const elapsed_us = [](cudaEvent_t from, cudaEvent_t to) {
    float ms = 0;
    CheckCuda(cudaEventElapsedTime(&ms, from, to), "reading an event");
    return 1e3 * static_cast<double>(ms);
  };
  std::vector<Pending> const pending = std::exchange(pending_, {});
  for (Pending const& p : pending) Free(p);
  for (Pending const& p : pending) {
    if (!p.stopped) continue;
    TraceStage entry = p.entry;
    entry.start_us = origin_us_ + elapsed_us(origin_, p.start);
    entry.duration_us = elapsed_us(p.start, p.stop);
    entries_.push_back(entry);
  }
  SetOrigin();
}

void Timeline::MoveTo(TraceFile* file) {
  double const offset = file->At(made_);
  for (TraceStage entry : entries_) {
    entry.start_us += offset;
    file->Add(entry);
  }
  entries_.clear();
  file->AddHostSpan("tracing", offset + resolving_us_);
}

}  // namespace xgbgpu
