/// Shards that threads of this process hold.
#ifndef XGBGPU_COLLECTIVE_IN_PROCESS_H_
#define XGBGPU_COLLECTIVE_IN_PROCESS_H_

#include <functional>
#include <memory>

#include "xgbgpu/collective.h"

namespace xgbgpu {

/// Calls work(collective) once for each of `shards` shards, at the same time, each in a thread of its own, and waits
/// for all. A collective lives as long as its call.
///
/// Cost    two meetings of all threads for each call of a collective; each thread adds up its share of the elements, in
///         place
/// Throws  what work threw in the first shard, by number, that failed for a reason of its own. Shards that wait for one
///         that has left get OtherShardFailed
void RunShards(int shards, std::function<void(Collective&)> const& work);

/// Threads that stay, one for each shard, for works that are short and many. The caller's thread is that of the first
/// shard. Not thread-safe. Throws Error if a thread cannot be started, as RunShards does.
class ShardThreads {
 public:
  /// on_failure() is called by every thread whose work has thrown, at once, while others may still work; or empty.
  explicit ShardThreads(int shards, std::function<void()> on_failure = {});
  ~ShardThreads();
  ShardThreads(ShardThreads const&) = delete;
  ShardThreads& operator=(ShardThreads const&) = delete;

  int shards() const;
  /// Returns the collective of a shard. It is used by that shard's work alone, or by nobody.
  Collective* of(int shard) const;
  /// Calls work(shard) for all shards at the same time, and waits. Nobody waits for a shard whose work has ended. Throws
  /// as RunShards does; works can be run again.
  void Run(std::function<void(int)> const& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_COLLECTIVE_IN_PROCESS_H_
