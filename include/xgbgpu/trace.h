/// Writes a file that tells what ran when, in the stages of trees and on the host between them.
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

/// Stages that belong to a round and to no tree have this level.
inline constexpr int kNoLevel = -1;

/// One stage of one level of one tree, or of a round.
struct TraceStage {
  char const* name;     ///< lives as long as the program
  int tree;             ///< counted from 0; -1: the stage belongs to no tree
  int level;            ///< of the tree, or the batch of host-driven growth; kNoLevel: the stage belongs to no tree
  double start_us;      ///< on the clock of the owner
  double duration_us;   ///< on the same clock
  std::uint64_t bytes;  ///< the stage must read and write at least so many; 0: not known
};

/// Writes Chrome's trace format, which about:tracing and Perfetto read. Process 1 has a row for every stage; process 2
/// has what the host did, nested. The format needs no end, so the file is good after every Write; with its end, `]`, it
/// is JSON. Of several objects for one file only the newest writes, and only in the process that made it. What the
/// others are told is lost, and so is what the newest is told in processes forked from that one. Many threads may use
/// an object.
class XGBGPU_API TraceFile {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins the file anew. Throws InvalidArgument if it cannot be written. `other`: a file on whose clock its times
  /// are, or nullptr: they count from now on.
  explicit TraceFile(std::string name, TraceFile const* other = nullptr);
  /// Writes what is left and the end, if this is the newest object of the file and they can be written.
  ~TraceFile();
  TraceFile(TraceFile const&) = delete;
  TraceFile& operator=(TraceFile const&) = delete;

  /// Is some file open? Only then is it worth while to look at a clock.
  static bool AnyOpen();

  std::string const& name() const { return name_; }
  /// Did another object write the file when this one was made? It writes no more.
  bool replaces_another() const { return replaces_another_; }
  double At(Clock::time_point time) const;  ///< microseconds since the file was begun
  double Now() const { return At(Clock::now()); }

  /// From now on host spans belong to this round.
  void SetRound(std::uint32_t round);
  /// Adds a stage, whose start_us is on this file's clock.
  void Add(TraceStage const& stage);
  /// Adds what the host did from `start_us` until now.
  void AddHostSpan(char const* what, double start_us);
  /// Appends what was added. Throws InvalidArgument if it cannot be written; what was added is lost then.
  void Write();

 private:
  struct HostSpan {
    char const* what;
    std::uint32_t round;
    double start_us, duration_us;
  };
  bool IsWriter() const;  ///< call it under the lock that all files share
  void Append(std::string const& text);
  std::string Text();
  std::size_t Row(char const* stage, std::string* text);

  std::string name_, path_;
  std::ofstream out_;  ///< stays open: the file may be moved meanwhile
  bool replaces_another_;
  int process_;  ///< the process that made this
  Clock::time_point begun_;
  std::mutex mutex_;
  std::uint32_t round_{0};
  std::vector<TraceStage> stages_;
  std::vector<HostSpan> spans_;
  std::vector<std::string> rows_;  ///< stages, in the order of their first appearance
};

}  // namespace xgbgpu

#endif  // XGBGPU_TRACE_H_
