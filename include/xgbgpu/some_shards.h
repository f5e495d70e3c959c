/// The communicator of some shards, while the other shards stand by. docs/adr/0021-several-devices.md
#ifndef XGBGPU_SOME_SHARDS_H_
#define XGBGPU_SOME_SHARDS_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/collective.h"

namespace xgbgpu {

/// The collective of the shards that have rows, its members, made from the collective of all shards. Members call it
/// like any other collective, inside Together only. The number of calls need not be known in advance: each call is
/// announced to all shards.
///
/// Cost    each call, and each end of Together: one maximum of five integers over all shards, in addition to the call
/// Throws  like the collective of all shards; OtherShardFailed with the words of a member that failed
class XGBGPU_API SomeShards final : public Collective {
 public:
  /// `members`: one or more numbers of shards of `all`, ascending. `all` must outlive it.
  SomeShards(Collective* all, std::vector<int> members);

  Collective& all() const { return all_; }
  std::vector<int> const& members() const { return members_; }
  /// Returns true if this shard is no member.
  bool stands_by() const { return own_ < 0; }

  /// Runs work() in the members. Other shards return when all members are done. All shards of all() call it at the same
  /// time.
  /// Throws  if work() throws in a member, all shards throw: the failed member its own exception, the others
  ///         OtherShardFailed with the number and words of the first failed member
  void Together(std::function<void()> const& work);

  int shards() const override { return static_cast<int>(members_.size()); }
  int shard() const override { return own_; }  ///< number among the members; -1: no member
  char const* kind() const override { return all_.kind(); }
  void Sum(Span<Span<std::int64_t> const> parts) override;
  void Max(Span<std::int64_t> values) override;
  std::vector<std::vector<std::uint32_t>> Gather(Span<std::uint32_t const> own) override;
  using Collective::Sum;

 private:
  enum class Call : std::int64_t { kAddUp, kMax, kGather, kEnd };

  struct Next {
    Call call;
    std::size_t size;  ///< number of integers
  };

  /// Announces the next call of this shard; nothing: it stands by. Returns the call that the members make. `failure` is
  /// the exception of this shard. Throws if any member has one.
  Next Announce(std::optional<Next> own, std::exception_ptr const& failure = nullptr);
  /// Makes the calls that members announce, until they end.
  void Follow();

  Collective& all_;
  std::vector<int> members_;
  int own_;
  std::exception_ptr failure_;  ///< error of every call after a failure of a member
};

}  // namespace xgbgpu

#endif  // XGBGPU_SOME_SHARDS_H_
