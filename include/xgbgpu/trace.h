/// Trace files: the times of the stages of trees, and of work on the host between them.
#ifndef XGBGPU_TRACE_H_
#define XGBGPU_TRACE_H_

#include <chrono>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "xgbgpu/api.h"

namespace xgbgpu {

/// Level of stages that belong to a round and to no tree.
inline constexpr int kNoLevel = -1;

/// A stage of one level of a tree, or of a round.
struct TraceStage {
  char const* name;     ///< lives as long as the program
  int tree;             ///< counted from 0; -1: the stage belongs to no tree
  int level;            ///< level of the tree, or batch of host-driven growth; kNoLevel: the stage belongs to no tree
  double start_us;      ///< microseconds on the clock of the owner
  double duration_us;   ///< microseconds
  std::uint64_t bytes;  ///< lower bound of the bytes that the stage reads and writes; 0: unknown
};

/// Writes Chrome's trace format, which about:tracing and Perfetto read. Process 1 has one row a stage; process 2 has
/// nested spans of the host. The format needs no end, so the file is valid after every Write; with its end, `]`, it is
/// JSON. If several objects write one file, only the newest one writes, and only in the process that made it. Spans and
/// stages of the other objects, and of forked processes, are lost. Several threads may use an object.
class XGBGPU_API TraceFile {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins the file anew. Times count from now, or are on the clock of `other` if it is not null.
  /// Throws InvalidArgument if the file cannot be written.
  explicit TraceFile(std::string name, TraceFile const* other = nullptr);
  /// Writes the rest and the end, if this is the newest object of the file. Ignores errors.
  ~TraceFile();
  TraceFile(TraceFile const&) = delete;
  TraceFile& operator=(TraceFile const&) = delete;

  /// Returns true if a file is open in this process. Otherwise clocks need not be read. Cost: one relaxed load.
  static bool AnyOpen();

  std::string const& name() const { return name_; }
  /// Returns true if another object wrote the file when this one was made. That object writes no more.
  bool replaces_another() const { return replaces_another_; }
  double At(Clock::time_point time) const;  ///< microseconds since the file began
  double Now() const { return At(Clock::now()); }

  /// Sets the round of the host spans that follow.
  void SetRound(std::uint32_t round);
  /// Adds a stage. Its start_us is on this file's clock.
  void Add(TraceStage const& stage);
  /// Adds a span of the host from `start_us` until now.
  void AddHostSpan(char const* what, double start_us);
  /// Appends stages and spans to the file. Throws InvalidArgument if they cannot be written; they are lost then.
  void Write();

 private:
  struct HostSpan {
    char const* what;
    std::uint32_t round;
    double start_us, duration_us;
  };
  bool IsWriter() const;  ///< the caller holds the lock that all files share
  void Append(std::string const& text);
  std::string Text();
  std::size_t Row(char const* stage, std::string* text);

  std::string name_, path_;
  std::ofstream out_;  ///< stays open: the file may be moved meanwhile
  bool replaces_another_;
  int process_;  ///< the process that made this object
  Clock::time_point begun_;
  std::mutex mutex_;
  std::uint32_t round_{0};
  std::vector<TraceStage> stages_;
  std::vector<HostSpan> spans_;
  std::vector<std::string> rows_;  ///< stages, in the order of their first appearance
};

}  // namespace xgbgpu

#endif  // XGBGPU_TRACE_H_
