#include "core/timeline.h"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <utility>

#include "core/message.h"

namespace xgbgpu {

Timeline::Timeline(cudaStream_t stream) : stream_{stream} {
  origin_ = NewEvent();
  last_origin_ = NewEvent();
  CheckCuda(cudaEventRecord(origin_, stream_), "starting a timeline");
  CheckCuda(cudaEventRecord(last_origin_, stream_), "starting a timeline");
}

Timeline::~Timeline() {
  for (Pending const& p : pending_) Free(p);
  for (cudaEvent_t event : free_) cudaEventDestroy(event);
  cudaEventDestroy(origin_);
  cudaEventDestroy(last_origin_);
}

void Timeline::Free(Pending const& pending) {
  free_.push_back(pending.start);
  free_.push_back(pending.stop);
}

void Timeline::BeginTree() {
  for (Pending const& p : pending_) Free(p);
  pending_.clear();
  ++tree_;
  std::swap(origin_, last_origin_);
  CheckCuda(cudaEventRecord(origin_, stream_), "recording an event");
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
  auto const elapsed_us = [](cudaEvent_t from, cudaEvent_t to) {
    float ms = 0;
    CheckCuda(cudaEventElapsedTime(&ms, from, to), "reading an event");
    return 1e3 * static_cast<double>(ms);
  };
  origin_us_ += elapsed_us(last_origin_, origin_);
  for (Pending const& p : pending_) {
    entries_[p.entry].start_us = origin_us_ + elapsed_us(origin_, p.start);
    entries_[p.entry].duration_us = elapsed_us(p.start, p.stop);
    Free(p);
  }
  pending_.clear();
}

void Timeline::AppendTo(std::string const& file) {
  std::ofstream out{file, file_begun_ ? std::ios::app : std::ios::trunc};
  if (!file_begun_) out << R"([{"name":"process_name","ph":"M","pid":1,"args":{"name":"xgboost-gpu"}},)" << '\n';
  file_begun_ = true;
  out << std::fixed << std::setprecision(3);
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
