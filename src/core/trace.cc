// Collects timed events and writes them in Chrome's trace format.
#include "xgbgpu/trace.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

std::atomic<int> open_files{0};

/// The writer of each file by its path: the newest open TraceFile.
struct Writers {
  std::mutex mutex;  ///< also held during a write
  std::map<std::string, TraceFile const*> by_path;
};

Writers& AllWriters() {
  static auto* const kWriters = new Writers;  // never freed: a booster may outlive static objects
  return *kWriters;
}

/// Returns one path for all names of an existing file, or the name itself if the system gives no path.
std::string PathOf(std::string const& name) {
  std::error_code error;
  auto const path = std::filesystem::canonical(name, error);
  return error ? name : path.string();
}

/// Separates events, so that the end can follow at any time.
constexpr char kNext[] = ",\n";

using Event = nlohmann::ordered_json;

/// Rounds to three digits after the point.
double Thousandths(double value) { return std::round(value * 1e3) / 1e3; }

/// Makes the event that names a process or a row.
Event NameEvent(char const* what, int process, Event const& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", process}, {"args", {{"name", name}}}};
}

Event BarEvent(char const* name, int process, std::size_t row, double start, double duration) {
  return {{"name", name},
          {"ph", "X"},
          {"pid", process},
          {"tid", row},
          {"ts", Thousandths(start)},
          {"dur", Thousandths(duration)},
          {"args", Event::object()}};
}

}  // namespace

TraceFile::TraceFile(std::string name, TraceFile const* other)
    : name_{std::move(name)}, process_{::getpid()}, begun_{other != nullptr ? other->begun_ : Clock::now()} {
  std::lock_guard<std::mutex> lock{AllWriters().mutex};
  out_.open(name_, std::ios::trunc);
  Append('[' + NameEvent("process_name", 1, "xgboost-gpu: stages").dump() + kNext +
         NameEvent("process_name", 2, "xgboost-gpu: host").dump());
  path_ = PathOf(name_);
  TraceFile const*& writer = AllWriters().by_path[path_];
  replaces_another_ = writer != nullptr;
  writer = this;
  ++open_files;
}

TraceFile::~TraceFile() {
  --open_files;
  std::lock_guard<std::mutex> lock{AllWriters().mutex};
  if (!IsWriter()) return;
  AllWriters().by_path.erase(path_);
  try {
    Append(Text() + "\n]\n");
  } catch (Error const&) {
    // The last Write has thrown the same error, or no caller waits for the remaining events.
  }
}

void TraceFile::Append(std::string const& text) {
  if (out_.is_open()) out_.clear();  // there may be room again
  out_ << text;
  out_.flush();
  if (!out_) {
    Throw<InvalidArgument>("gpu_trace is ", QuotedName(name_),
                           ", but that file cannot be written; allowed: a writable file");
  }
}

bool TraceFile::IsWriter() const {
  auto const& by_path = AllWriters().by_path;
  auto const writer = by_path.find(path_);
  return writer != by_path.end() && writer->second == this && process_ == ::getpid();
}

bool TraceFile::AnyOpen() { return open_files.load(std::memory_order_relaxed) != 0; }

double TraceFile::At(Clock::time_point time) const {
  return std::chrono::duration<double, std::micro>(time - begun_).count();
}

void TraceFile::SetRound(std::uint32_t round) {
  std::lock_guard<std::mutex> lock{mutex_};
  round_ = round;
}

void TraceFile::Add(TraceStage const& stage) {
  std::lock_guard<std::mutex> lock{mutex_};
  stages_.push_back(stage);
}

void TraceFile::AddHostSpan(char const* what, double start_us) {
  double const end = Now();
  std::lock_guard<std::mutex> lock{mutex_};
  spans_.push_back({what, round_, start_us, end - start_us});
}

std::size_t TraceFile::Row(char const* stage, std::string* text) {
  auto const row = std::find(rows_.begin(), rows_.end(), stage);
  if (row != rows_.end()) return static_cast<std::size_t>(row - rows_.begin());
  Event event = NameEvent("thread_name", 1, stage);
  event["tid"] = rows_.size();
  *text += kNext + event.dump();
  rows_.emplace_back(stage);
  return rows_.size() - 1;
}

/// Returns all added events, each after a comma, and clears them.
std::string TraceFile::Text() {
  std::lock_guard<std::mutex> lock{mutex_};
  std::string text;
  for (TraceStage const& s : stages_) {
    Event event = BarEvent(s.name, 1, Row(s.name, &text), s.start_us, s.duration_us);
    Event& facts = event["args"];
    if (s.tree >= 0) {
      facts["tree"] = s.tree;
      facts["level"] = s.level;
    }
    if (s.bytes != 0) {
      facts["bytes"] = s.bytes;
      facts["GB/s"] = Thousandths(s.duration_us > 0 ? static_cast<double>(s.bytes) / s.duration_us * 1e-3 : 0);
    }
    text += kNext + event.dump();
  }
  for (HostSpan const& s : spans_) {
    Event event = BarEvent(s.what, 2, 0, s.start_us, s.duration_us);
    event["args"]["round"] = s.round;
    text += kNext + event.dump();
  }
  stages_.clear();
  spans_.clear();
  return text;
}

void TraceFile::Write() {
  double const start = Now();
  std::string const text = Text();
  if (text.empty()) return;
  {
    std::lock_guard<std::mutex> lock{AllWriters().mutex};
    if (!IsWriter()) return;
    Append(text);
  }
  AddHostSpan("tracing", start);
}

}  // namespace xgbgpu
