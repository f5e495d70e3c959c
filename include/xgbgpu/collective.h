/// The communicator of shards of the rows: sums, maxima and lists over all shards.
/// docs/adr/0017-levels-collectives-pages.md
#ifndef XGBGPU_COLLECTIVE_H_
#define XGBGPU_COLLECTIVE_H_

#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "xgbgpu/api.h"
#include "xgbgpu/error.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Another shard failed; this one did not.
class XGBGPU_API OtherShardFailed : public Error {
 public:
  using Error::Error;
};

/// The shards do not reach each other any more. No further call succeeds.
class XGBGPU_API ShardsLost : public OtherShardFailed {
 public:
  using OtherShardFailed::OtherShardFailed;
};

/// Connects the shards of one data set. A shard is a run of consecutive rows that one thread or process holds. Shard 0
/// has the first rows. A shard may be empty.
///
/// All shards make the same calls in the same order, with arguments of the same shape. Each call waits for all shards.
/// A decision whether or how to call must come from parameters or from earlier calls, never from a shard's own rows or
/// memory. AllOrNone and MaxOf turn decisions of single shards into one decision of all.
///
/// Same    all shards get the same answer, in whatever order they arrive: sums are integers
/// Throws  ShardsLost if a shard has left for good
class Collective {
 public:
  virtual ~Collective() = default;

  virtual int shards() const = 0;
  virtual int shard() const = 0;  ///< number of this shard, 0 … shards() - 1
  /// Returns the user's word for a shard, for messages.
  virtual char const* kind() const { return "shard"; }

  /// Replaces every element of every part by its sum over the shards. All shards pass parts of the same number and
  /// sizes.
  virtual void Sum(Span<Span<std::int64_t> const> parts) = 0;
  /// Replaces every element by its maximum over the shards.
  virtual void Max(Span<std::int64_t> values) = 0;
  /// Returns [shards] the list of each shard. Sizes of lists may differ.
  virtual std::vector<std::vector<std::uint32_t>> Gather(Span<std::uint32_t const> own) = 0;

  void Sum(Span<std::int64_t> values) { Sum(Span<Span<std::int64_t> const>{&values, 1}); }
  std::int64_t SumOf(std::int64_t own) {
    Sum(Span<std::int64_t>{&own, 1});
    return own;
  }
  std::int64_t MaxOf(std::int64_t own) {
    Max({&own, 1});
    return own;
  }
  bool AnyOf(bool own) { return MaxOf(own ? 1 : 0) != 0; }
};

/// Views gradient sums as the integers that Collective::Sum adds up. Shares their memory.
inline Span<std::int64_t> Integers(Span<GradientSum> sums) {
  static_assert(sizeof(GradientSum) == 2 * sizeof(std::int64_t));
  return {reinterpret_cast<std::int64_t*>(sums.data()), 2 * sums.size()};
}

/// Returns the collective of a single shard, which has all rows. Its calls return at once.
XGBGPU_API Collective& NoOtherShards();

/// Returns the concatenated lists of all shards, from shard 0 on. The size of T is a multiple of 4 bytes.
template <typename T>
std::vector<T> GatherAll(Collective& collective, Span<T const> own) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint32_t) == 0);
  std::vector<std::uint32_t> words(own.size() * (sizeof(T) / sizeof(std::uint32_t)));
  if (!own.empty()) std::memcpy(words.data(), own.data(), own.size() * sizeof(T));
  std::vector<T> all;
  for (auto const& list : collective.Gather(Span<std::uint32_t const>{words})) {
    std::size_t const before = all.size();
    all.resize(before + list.size() * sizeof(std::uint32_t) / sizeof(T));
    if (!list.empty()) std::memcpy(all.data() + before, list.data(), list.size() * sizeof(std::uint32_t));
  }
  return all;
}

/// A value that must be the same in all shards: its name, and the value as a user would write it.
using Fact = std::pair<std::string, std::string>;

/// Runs work(), which may fail because of this shard's rows or memory, and compares `facts`.
///
/// Cost    one maximum of three integers; more only after a failure
/// Throws  if work() throws in a shard, all shards throw: the failed shard the exception of work(), the others
///         OtherShardFailed with the words of the first failed shard. If facts differ, all throw InvalidArgument, which
///         names a fact, two shards and their values
XGBGPU_API void Agree(Collective& collective, std::vector<Fact> const& facts, std::function<void()> const& work);

/// Compares `facts`. Returns true if `known` is the same in all shards and not empty: a step then needs nothing else of
/// other shards. A shard with an empty `known` is not ready. If a shard is not ready, all shards take the long way, and
/// agree there on the changes.
///
/// Cost    one maximum of three integers; more if shards know different things, and after a failure
/// Throws  as Agree, also if other shards are in Agree
XGBGPU_API bool AllKnow(Collective& collective, std::vector<Fact> facts, std::string const& known);

/// Returns the text of the lowest-numbered shard whose text is not empty, or an empty text. All shards call it at the
/// same time.
XGBGPU_API std::string FirstText(Collective& shards, std::string const& own);

/// Ends common work after a failure. All shards know that `failed` is the lowest-numbered shard that failed. `own` is
/// the exception of this shard, or null. Throws `own`, or OtherShardFailed with the words of shard `failed`.
[[noreturn]] XGBGPU_API void FailTogether(Collective& collective, int failed, std::exception_ptr const& own);

/// Agree without facts. With one shard, only work().
template <typename F>
void AllOrNone(Collective& collective, F&& work) {
  if (collective.shards() == 1) {
    work();
    return;
  }
  Agree(collective, {}, work);
}

/// The place of a shard among all rows.
struct XGBGPU_API Shard {
  Collective* collective;
  std::uint64_t first_row;  ///< number of the shard's first row
  std::uint64_t all_rows;   ///< number of rows of all shards

  /// Returns the place of a single shard, which has all `rows` rows.
  static Shard Whole(std::uint64_t rows) { return {&NoOtherShards(), 0, rows}; }
  /// Returns the place of this shard, which has `rows` rows. All shards call it at the same time. Cost: one sum.
  static Shard Place(Collective* collective, std::uint64_t rows);
};

}  // namespace xgbgpu

#endif  // XGBGPU_COLLECTIVE_H_
