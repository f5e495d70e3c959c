/// The seam between shards of the rows: sums, maxima and lists over all of them.
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

/// Thrown in shards that are well, because another one failed.
class OtherShardFailed : public Error {
 public:
  using Error::Error;
};

/// Thrown where the shards do not reach each other any more, so that nothing more can be told to anybody.
class ShardsLost : public OtherShardFailed {
 public:
  using OtherShardFailed::OtherShardFailed;
};

/// What the shards of one data set tell each other. A shard is a run of consecutive rows that one thread or process
/// holds; shard 0 has the first rows. A shard may be empty.
///
/// All shards make the same calls in the same order, with arguments of the same shape; each call waits for all. So
/// whatever decides whether or how a call is made must come from parameters or from earlier calls, never from a shard's
/// own rows or memory: AllOrNone and MaxOf make one decision of several.
///
/// Same    all shards get the same answer, whatever the order in which they come: sums are of integers
/// Throws  ShardsLost if a shard has left and will not come any more
class Collective {
 public:
  virtual ~Collective() = default;

  virtual int shards() const = 0;
  virtual int shard() const = 0;  ///< this one's number, 0 … shards() - 1
  /// What a user knows a shard as, for messages.
  virtual char const* kind() const { return "shard"; }

  /// Replaces every element of every part by its sum over the shards. All shards pass as many
  /// parts, of the same sizes.
  virtual void Sum(Span<Span<std::int64_t> const> parts) = 0;
  /// Replaces every element by its largest value in any shard.
  virtual void Max(Span<std::int64_t> values) = 0;
  /// Returns [shards] the list that each shard gave. Their sizes may differ.
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

/// Returns the same memory as the integers that Collective::Sum adds up.
inline Span<std::int64_t> Integers(Span<GradientSum> sums) {
  static_assert(sizeof(GradientSum) == 2 * sizeof(std::int64_t));
  return {reinterpret_cast<std::int64_t*>(sums.data()), 2 * sums.size()};
}

/// Returns the collective of a single shard, which has all rows: every call of it returns at once.
XGBGPU_API Collective& NoOtherShards();

/// Returns the elements of all shards' lists, those of shard 0 first. T has a multiple of 4 bytes.
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

/// Something that must be the same in all shards: its name, and its value as a user would write it.
using Fact = std::pair<std::string, std::string>;

/// Runs work(), which may throw for a reason that lies in this shard: its rows, its memory; and compares `facts`. If
/// work() throws in any shard, all throw: those shards what they threw, the others OtherShardFailed, with the first
/// one's words. Then, if facts differ, all throw InvalidArgument, which names a fact, two shards and their values.
///
/// Cost    one maximum of three integers; more only if something is wrong
XGBGPU_API void Agree(Collective& collective, std::vector<Fact> const& facts, std::function<void()> const& work);

/// Returns the first text of a shard, by number, that is not empty; else an empty one. All shards call it at the same time.
XGBGPU_API std::string FirstText(Collective& shards, std::string const& own);

/// Ends what all shards do, once they know that shard `failed` is the first that has failed. `own` is what has been
/// thrown in this shard; null: nothing. Throws it, or OtherShardFailed with the words of that shard.
[[noreturn]] void FailTogether(Collective& collective, int failed, std::exception_ptr const& own);

/// Agree without facts. With one shard it is work() alone.
template <typename F>
void AllOrNone(Collective& collective, F&& work) {
  if (collective.shards() == 1) {
    work();
    return;
  }
  Agree(collective, {}, work);
}

/// A shard's place among the rows of all.
struct Shard {
  Collective* collective;
  std::uint64_t first_row;  ///< number of the shard's first row
  std::uint64_t all_rows;   ///< number of rows of all shards

  /// Returns the place of a single shard that has all `rows` rows.
  static Shard Whole(std::uint64_t rows) { return {&NoOtherShards(), 0, rows}; }
  /// Returns the place of this shard, which has `rows` rows. It asks the other shards for theirs, so all must call it.
  static Shard Place(Collective* collective, std::uint64_t rows);
};

}  // namespace xgbgpu

#endif  // XGBGPU_COLLECTIVE_H_
