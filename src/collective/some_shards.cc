// Runs collective calls of some shards while all other shards follow them.
#include "xgbgpu/some_shards.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace xgbgpu {

namespace {

/// The number that a bystander announces: less than every member's.
constexpr std::int64_t kNoOpinion = std::numeric_limits<std::int64_t>::min();

/// Returns true if a shard failed because another shard did.
bool IsOfOthers(std::exception_ptr const& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (OtherShardFailed const&) {
    return true;
  } catch (...) {  // any type: the shard's own error
    return false;
  }
}

}  // namespace

SomeShards::SomeShards(Collective* all, std::vector<int> members) : all_{*all}, members_{std::move(members)}, own_{-1} {
  auto const found = std::find(members_.cbegin(), members_.cend(), all_.shard());
  if (found != members_.cend()) own_ = static_cast<int>(found - members_.cbegin());
}

void SomeShards::Together(std::function<void()> const& work) {
  failure_ = nullptr;
  if (stands_by()) {
    Follow();
    return;
  }
  std::exception_ptr own;
  try {
    work();
  } catch (...) {                    // any type: rethrown unchanged
    if (failure_ != nullptr) throw;  // all shards know the failure
    own = std::current_exception();
  }
  Announce(Next{Call::kEnd, 0}, own);
}

SomeShards::Next SomeShards::Announce(std::optional<Next> own, std::exception_ptr const& failure) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  std::int64_t const shards = all_.shards();
  // The maximum selects the first shard that failed itself, and after such shards the first that failed for another
  // shard.
  std::int64_t const nobody = -2 * shards;
  std::int64_t failed = nobody;
  if (failure != nullptr) failed = IsOfOthers(failure) ? -shards - all_.shard() : -std::int64_t{all_.shard()};
  std::int64_t most[] = {kNoOpinion, kNoOpinion, kNoOpinion, kNoOpinion, failed};
  if (own) {
    auto const call = static_cast<std::int64_t>(own->call), size = static_cast<std::int64_t>(own->size);
    std::int64_t const said[] = {call, -call, size, -size};
    std::copy_n(said, 4, most);
  }
  all_.Max({most, 5});
  try {
    if (most[4] != nobody) {
      bool const has_reason = most[4] > -shards;
      bool const own_counts = failure != nullptr && !(has_reason && IsOfOthers(failure));
      FailTogether(all_, static_cast<int>(-most[4] % shards), own_counts ? failure : nullptr);
    }
    if (most[0] != -most[1] || most[2] != -most[3]) {
      throw Error{"Workers that train together on devices have lost their way: they do not make the same call"};
    }
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  return {static_cast<Call>(most[0]), static_cast<std::size_t>(most[2])};
}

void SomeShards::Follow() {
  for (;;) {
    Next const next = Announce(std::nullopt);
    std::vector<std::int64_t> nothing;
    switch (next.call) {
      case Call::kAddUp:
        nothing.assign(next.size, 0);
        all_.Sum(Span<std::int64_t>{nothing});
        break;
      case Call::kMax:
        nothing.assign(next.size, kNoOpinion);
        all_.Max(Span<std::int64_t>{nothing});
        break;
      case Call::kGather:
        all_.Gather({});
        break;
      case Call::kEnd:
        return;
    }
  }
}

void SomeShards::Sum(Span<Span<std::int64_t> const> parts) {
  std::vector<std::int64_t> values;
  for (Span<std::int64_t> const part : parts) values.insert(values.end(), part.begin(), part.end());
  Announce(Next{Call::kAddUp, values.size()});
  all_.Sum(Span<std::int64_t>{values});
  auto next = values.cbegin();
  for (Span<std::int64_t> const part : parts) {
    std::copy_n(next, part.size(), part.begin());
    next += static_cast<std::ptrdiff_t>(part.size());
  }
}

void SomeShards::Max(Span<std::int64_t> values) {
  Announce(Next{Call::kMax, values.size()});
  all_.Max(values);
}

std::vector<std::vector<std::uint32_t>> SomeShards::Gather(Span<std::uint32_t const> own) {
  Announce(Next{Call::kGather, 0});
  auto of_all = all_.Gather(own);
  std::vector<std::vector<std::uint32_t>> lists;
  lists.reserve(members_.size());
  for (int const member : members_) lists.push_back(std::move(of_all[static_cast<std::size_t>(member)]));
  return lists;
}

}  // namespace xgbgpu
