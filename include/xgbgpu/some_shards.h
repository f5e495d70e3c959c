/// A collective over a subset of the shards. docs/adr/0021-several-devices.md
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

/// The collective of the shards that have rows, on top of a collective of all shards. Members call it like any other
/// collective, but only inside Together. Neither members nor bystanders know the number of calls: before each call all
/// shards are told which call comes.
///
/// Cost    for each call, and each end of Together: a maximum of five integers over all shards, beside the call itself
/// Throws  the errors of the collective of all. After a failure of a member every call throws OtherShardFailed with its
/// message
class XGBGPU_API SomeShards final : public Collective {
 public:
  /// `members` are numbers of shards of `all`, 1 or more, ascending. `all` must outlive this object.
  SomeShards(Collective* all, std::vector<int> members);

  Collective& all() const { return all_; }
  std::vector<int> const& members() const { return members_; }
  /// Returns true if this shard is no member.
  bool stands_by() const { return own_ < 0; }

  /// All shards of all() call it at the same time. Members run work(). Bystanders return when all members have. If
  /// work() throws in a member, all shards throw: members that failed themselves their own error, all other shards
  /// OtherShardFailed with the number and message of the first failed member.
  void Together(std::function<void()> const& work);

  int shards() const override { return static_cast<int>(members_.size()); }
  int shard() const override { return own_; }  ///< among the members; -1: bystander
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

  /// Tells all shards which call this shard makes next; nothing: this shard stands by. Returns the call that the
  /// members make. `failure` is this shard's exception. Throws if any member has failed.
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
