/// Some shards meet, and the others stand by. docs/adr/0021-several-devices.md
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

/// The collective of those shards that have rows, over one that knows all shards only. Members call it as any other,
/// inside Together alone. They need not know how often, nor need those that stand by: before each call all shards are
/// told which comes.
///
/// Cost    of each call, and of each end of Together: a maximum of five integers over all shards, beside the call's own
/// Throws  what the collective of all throws. When a member has failed, every call throws OtherShardFailed with its words
class XGBGPU_API SomeShards final : public Collective {
 public:
  /// `members` are numbers of shards of `all`, 1 or more, ascending. `all` must outlive it.
  SomeShards(Collective* all, std::vector<int> members);

  Collective& all() const { return all_; }
  std::vector<int> const& members() const { return members_; }
  /// Is this shard no member?
  bool stands_by() const { return own_ < 0; }

  /// All shards of all() call it at the same time. Members run work(); the others return when all members have. If
  /// work() throws in a member, all throw: members that failed for a reason of their own what they threw, the others
  /// OtherShardFailed with the first one's number and words.
  void Together(std::function<void()> const& work);

  int shards() const override { return static_cast<int>(members_.size()); }
  int shard() const override { return own_; }  ///< among the members; -1: it stands by
  char const* kind() const override { return all_.kind(); }
  void Sum(Span<Span<std::int64_t> const> parts) override;
  void Max(Span<std::int64_t> values) override;
  std::vector<std::vector<std::uint32_t>> Gather(Span<std::uint32_t const> own) override;
  using Collective::Sum;

 private:
  enum class Call : std::int64_t { kSum, kMax, kGather, kEnd };

  struct Next {
    Call call;
    std::size_t size;  ///< number of integers
  };

  /// Tells all shards which call this one makes next; nothing: it stands by. Returns the call that the members make.
  /// `failure` is what has been thrown here. Throws if something has been, in any member.
  Next Announce(std::optional<Next> own, std::exception_ptr const& failure = nullptr);
  /// Makes the calls that the members announce, until they end.
  void Follow();

  Collective& all_;
  std::vector<int> members_;
  int own_;
  std::exception_ptr failure_;  ///< what every call throws after a member has failed
};

}  // namespace xgbgpu

#endif  // XGBGPU_SOME_SHARDS_H_
