#include "core/trace.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <system_error>
#include <utility>

#include "core/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

std::atomic<int> open_files{0};

/// Who writes a file, by its path: of all that are open the newest.
struct Writers {
  std::mutex mutex;  ///< also while somebody writes
  std::map<std::string, TraceFile const*> by_path;
};

Writers& AllWriters() {
  static auto* const kWriters = new Writers;  // never freed: a booster may be gone later than static objects
  return *kWriters;
}

/// The same for all names of a file that is there, if the system tells.
std::string PathOf(std::string const& name) {
  std::error_code error;
  auto const path = std::filesystem::canonical(name, error);
  return error ? name : path.string();
}

/// Three digits after the point, whatever the locale.
std::string Thousandths(double value) {
  auto const n = static_cast<long long>(value * 1e3 + (value < 0 ? -0.5 : 0.5));
  char text[32];
  std::snprintf(text, sizeof(text), "%s%lld.%03lld", n < 0 ? "-" : "", std::abs(n) / 1000, std::abs(n) % 1000);
  return text;
}

}  // namespace

TraceFile::TraceFile(std::string name) : name_{std::move(name)}, process_{::getpid()}, begun_{Clock::now()} {
  std::lock_guard<std::mutex> lock{AllWriters().mutex};
  out_.open(name_, std::ios::trunc);
  Append(
      "[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"xgboost-gpu: stages\"}},\n"
      "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":2,\"args\":{\"name\":\"xgboost-gpu: host\"}}");
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
    // The round before has been told so, or nobody waits for the rest.
  }
}

void TraceFile::Append(std::string const& text) {
  if (out_.is_open()) out_.clear();  // there may be room again
  out_ << text;
  out_.flush();
  if (!out_) {
    Throw<InvalidArgument>("gpu_trace is '", name_, "', but that file cannot be written; allowed: a writable file");
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
  *text += ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":" + std::to_string(rows_.size()) +
           ",\"args\":{\"name\":\"" + stage + "\"}}";
  rows_.emplace_back(stage);
  return rows_.size() - 1;
}

/// Of all that was added, which is forgotten. Commas are before events, so that the end can follow at any time.
std::string TraceFile::Text() {
  std::lock_guard<std::mutex> lock{mutex_};
  std::string text;
  auto const bar = [&](char const* name, int process, std::size_t row, double start, double duration) {
    text += std::string{",\n{\"name\":\""} + name + "\",\"ph\":\"X\",\"pid\":" + std::to_string(process) +
            ",\"tid\":" + std::to_string(row) + ",\"ts\":" + Thousandths(start) + ",\"dur\":" + Thousandths(duration);
  };
  for (TraceStage const& s : stages_) {
    bar(s.name, 1, Row(s.name, &text), s.start_us, s.duration_us);
    std::string facts;
    if (s.tree >= 0) facts += ",\"tree\":" + std::to_string(s.tree) + ",\"level\":" + std::to_string(s.level);
    if (s.bytes != 0) {
      double const rate = s.duration_us > 0 ? static_cast<double>(s.bytes) / s.duration_us * 1e-3 : 0;
      facts += ",\"bytes\":" + std::to_string(s.bytes) + ",\"GB/s\":" + Thousandths(rate);
    }
    text += ",\"args\":{" + (facts.empty() ? facts : facts.substr(1)) + "}}";
  }
  for (HostSpan const& s : spans_) {
    bar(s.what, 2, 0, s.start_us, s.duration_us);
    text += ",\"args\":{\"round\":" + std::to_string(s.round) + "}}";
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
