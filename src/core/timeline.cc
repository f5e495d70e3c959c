#include "core/timeline.h"

#include <algorithm>
#include <cstdio>

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

std::string Timeline::ChromeTrace() const {
  std::vector<char const*> rows;
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  char line[512];
  for (TimelineEntry const& e : entries_) {
    auto row = std::find(rows.begin(), rows.end(), e.stage);
    if (row == rows.end()) {
      std::snprintf(line, sizeof(line),
                    "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%zu,\"args\":{\"name\":\"%s\"}},\n",
                    rows.size(), e.stage);
      text += line;
      row = rows.insert(rows.end(), e.stage);
    }
    double const rate = e.duration_us > 0 ? static_cast<double>(e.bytes) / e.duration_us * 1e-3 : 0;
    std::snprintf(line, sizeof(line),
                  "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%td,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"tree\":%d,"
                  "\"level\":%d,\"bytes\":%llu,\"GB/s\":%.1f}},\n",
                  e.stage, row - rows.begin(), e.start_us, e.duration_us, e.tree, e.level,
                  static_cast<unsigned long long>(e.bytes), rate);
    text += line;
  }
  text += "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"xgboost-gpu\"}}]}\n";
  return text;
}

}  // namespace xgbgpu
