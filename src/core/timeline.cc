#include "core/timeline.h"

#include <algorithm>
#include <fstream>

#include "core/message.h"

namespace xgbgpu {

Timeline::Timeline(cudaStream_t stream) : stream_{stream} {
  origin_ = NewEvent();
  CheckCuda(cudaEventRecord(origin_, stream_), "starting a timeline");
}

Timeline::~Timeline() {
  for (Pending const& p : pending_) {
    cudaEventDestroy(p.start);
    cudaEventDestroy(p.stop);
  }
  for (cudaEvent_t event : free_) cudaEventDestroy(event);
  cudaEventDestroy(origin_);
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

void Timeline::Start(char const* stage, int level) {
  pending_.push_back({entries_.size(), NewEvent(), NewEvent()});
  entries_.push_back({stage, tree_, level, 0, 0, 0});
  CheckCuda(cudaEventRecord(pending_.back().start, stream_), "recording an event");
}

void Timeline::Stop() { CheckCuda(cudaEventRecord(pending_.back().stop, stream_), "recording an event"); }

void Timeline::SetBytes(char const* stage, int level, std::uint64_t bytes) {
  for (std::size_t i = entries_.size(); i-- > 0 && entries_[i].tree == tree_;) {
    if (entries_[i].stage == stage && entries_[i].level == level) entries_[i].bytes = bytes;
  }
}

void Timeline::Resolve() {
  for (Pending const& p : pending_) {
    float start = 0, duration = 0;
    CheckCuda(cudaEventElapsedTime(&start, origin_, p.start), "reading an event");
    CheckCuda(cudaEventElapsedTime(&duration, p.start, p.stop), "reading an event");
    entries_[p.entry].start_us = 1e3 * static_cast<double>(start);
    entries_[p.entry].duration_us = 1e3 * static_cast<double>(duration);
    free_.push_back(p.start);
    free_.push_back(p.stop);
  }
  pending_.clear();
}

void Timeline::AppendTo(std::string const& file) {
  std::ofstream out{file, file_begun_ ? std::ios::app : std::ios::trunc};
  if (!file_begun_) out << R"([{"name":"process_name","ph":"M","pid":1,"args":{"name":"xgboost-gpu"}},)" << '\n';
  file_begun_ = true;
  for (TimelineEntry const& e : entries_) {
    auto row = std::find(rows_.begin(), rows_.end(), e.stage);
    if (row == rows_.end()) {
      out << R"({"name":"thread_name","ph":"M","pid":1,"tid":)" << rows_.size() << R"(,"args":{"name":")" << e.stage
          << "\"}},\n";
      row = rows_.insert(rows_.end(), e.stage);
    }
    double const rate = e.duration_us > 0 ? static_cast<double>(e.bytes) / e.duration_us * 1e-3 : 0;
    out << R"({"name":")" << e.stage << R"(","ph":"X","pid":1,"tid":)" << row - rows_.begin() << R"(,"ts":)"
        << e.start_us << R"(,"dur":)" << e.duration_us << R"(,"args":{"tree":)" << e.tree << R"(,"level":)" << e.level
        << R"(,"bytes":)" << e.bytes << R"(,"GB/s":)" << rate << "}},\n";
  }
  entries_.clear();
  out.flush();
  if (!out)
    Throw<InvalidArgument>("gpu_trace is '", file, "', but that file cannot be written; allowed: a writable file");
}

}  // namespace xgbgpu
