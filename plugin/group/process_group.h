/// The process group that this thread is in: workers of Dask or Spark, or programs under XGBoost's tracker.
/// docs/adr/0020-process-groups.md
#ifndef XGBGPU_PLUGIN_GROUP_PROCESS_GROUP_H_
#define XGBGPU_PLUGIN_GROUP_PROCESS_GROUP_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "group/link_watch.h"
#include "xgb/communicator.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/some_shards.h"

namespace xgbgpu::plugin {

/// XGBoost's communicator as the engine's collective. Shard r is the worker of rank r, so rows are in order of ranks.
///
/// XGBoost's communicator belongs to the thread that entered the group; all calls must come from there.
///
/// Cost    Sum and Max: a message of 8 bytes for each integer, in pieces of 256 KiB, up and down XGBoost's tree of
///         workers, since 2.1 around a ring of them. Gather: a sum of a number for each worker, then a sum as long as all
///         lists together
/// Throws  ShardsLost if XGBoost's communicator fails: a worker has left or died, or nothing came within the time limit
///         (kTimeLimit). Also if another worker has sent a message of XGBoost's own. From then on every call of this
///         group throws at once
class ProcessGroup final : public Collective {
 public:
  /// Returns the group that this thread is in; null if it is in none, or has it for itself. It lives as long as the
  /// process.
  static ProcessGroup* OfThisThread();
  /// Returns true if this thread is in a group, of one worker or more.
  static bool HasEntered();
  /// Calls enter(), by which this thread enters a group. `limit` is the communicator's time limit.
  static void Enter(std::chrono::seconds limit, std::function<void()> const& enter);
  /// Must be called before this thread leaves a group. The next group is a new one, even with the same ranks. Returns
  /// true if the group has failed, and has said why.
  static bool Leaves();

  int shards() const override { return workers_; }
  int shard() const override { return rank_; }
  char const* kind() const override { return "worker"; }
  void Sum(Span<Span<std::int64_t> const> parts) override;
  void Max(Span<std::int64_t> values) override;
  std::vector<std::vector<std::uint32_t>> Gather(Span<std::uint32_t const> own) override;
  using Collective::Sum;
  /// Returns a collective of some workers: `workers` are one or more ranks, ascending. It lives as long as the process.
  SomeShards* Some(std::vector<int> const& workers);

 private:
  ProcessGroup(int rank, int workers) : rank_{rank}, workers_{workers}, thread_{std::this_thread::get_id()} {}

  /// Watches all connections but `sockets`.
  static void Watch(std::vector<ino_t> const& sockets, std::chrono::seconds limit) noexcept;
  /// Throws unless this thread may speak in this group.
  void CheckMaySpeak() const;
  /// Combines the elements of all parts, in pieces.
  void Combine(Span<Span<std::int64_t> const> parts, Reduction reduction);
  /// Throws because this worker does not reach the other workers. `why`: the text of the failure that was noticed.
  [[noreturn]] void Lose(std::string const& why);

  int rank_;
  int workers_;
  std::thread::id thread_;
  std::string failure_;  ///< what went wrong with the communicator; empty: nothing so far
  std::vector<std::int64_t> piece_;
  std::vector<std::unique_ptr<SomeShards>> some_;  ///< as datasets know them by their addresses
};

/// Runs work() outside the process group: on a new thread if this thread is in a group. XGBoost's communicator belongs
/// to the thread that entered the group. So stock code does not wait for workers that run other code.
void OutsideProcessGroup(std::function<void()> const& work);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_GROUP_PROCESS_GROUP_H_
