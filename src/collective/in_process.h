/// Collectives of shards that threads of one process hold.
#ifndef XGBGPU_COLLECTIVE_IN_PROCESS_H_
#define XGBGPU_COLLECTIVE_IN_PROCESS_H_

#include <functional>
#include <memory>

#include "xgbgpu/collective.h"

namespace xgbgpu {

/// Calls work(collective) once for each of `shards` shards, at the same time, each in its own thread, and waits for
/// all. A collective lives as long as its call.
///
/// Cost    two barriers of all threads for each call of a collective; each thread adds its share of the elements, in
/// place
/// Throws  the error of the lowest-numbered shard that failed itself. Shards that wait for a failed shard get
/// OtherShardFailed
void RunShards(int shards, std::function<void(Collective&)> const& work);

/// Persistent threads, one for each shard, for many short jobs. The caller's thread serves the first shard. Not
/// thread-safe. A forked process may destroy the object, and do nothing else with it. Throws Error if a thread cannot
/// be started, as RunShards does.
class ShardThreads {
 public:
  /// on_failure(): is called at once by every thread on which a job throws, while other threads may still work. May be
  /// empty.
  explicit ShardThreads(int shards, std::function<void()> on_failure = {});
  ~ShardThreads();
  ShardThreads(ShardThreads const&) = delete;
  ShardThreads& operator=(ShardThreads const&) = delete;

  int shards() const;
  /// Returns the collective of a shard. Only the shard's part of a job may use it.
  Collective* of(int shard) const;
  /// Calls job(shard) for all shards at the same time, and waits. No shard waits for a shard that has ended its part.
  /// Throws as RunShards does. Another job can run after a failure.
  void Run(std::function<void(int)> const& job);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_COLLECTIVE_IN_PROCESS_H_
