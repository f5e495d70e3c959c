#include "collective/in_process.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core/message.h"

namespace xgbgpu {

namespace {

/// Where all threads wait for each other.
class MeetingPoint {
 public:
  explicit MeetingPoint(int threads) : threads_{threads} {}

  void Meet() {
    std::unique_lock<std::mutex> lock{mutex_};
    if (++waiting_ == threads_) {
      waiting_ = 0;
      ++meetings_;
      changed_.notify_all();
      return;
    }
    std::uint64_t const before = meetings_;
    changed_.wait(lock, [&] { return meetings_ != before || somebody_left_; });
    if (meetings_ == before) {
      throw ShardsLost{"Another shard of the rows has stopped, so all stop; its own message says why"};
    }
  }
  /// Nobody shall wait for this thread any more.
  void Leave() {
    std::lock_guard<std::mutex> const lock{mutex_};
    somebody_left_ = true;
    changed_.notify_all();
  }

 private:
  int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_{0};
  std::uint64_t meetings_{0};
  bool somebody_left_{false};
};

/// The memory through which the shards see each other's arguments.
struct Group {
  explicit Group(int shards) : meeting{shards}, parts(static_cast<std::size_t>(shards)), lists(parts.size()) {}

  MeetingPoint meeting;
  std::vector<Span<Span<std::int64_t> const>> parts;  ///< [shards] arguments of Sum and Max
  std::vector<Span<std::uint32_t const>> lists;       ///< [shards] arguments of Gather
};

class ThreadShard final : public Collective {
 public:
  ThreadShard(Group* group, int shard) : group_{*group}, shard_{static_cast<std::size_t>(shard)} {}

  int shards() const override { return static_cast<int>(group_.parts.size()); }
  int shard() const override { return static_cast<int>(shard_); }

  void Sum(Span<Span<std::int64_t> const> parts) override {
    Combine(parts, [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  void Max(Span<std::int64_t> values) override {
    Span<std::int64_t> const part{values};
    Combine({&part, 1}, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }
  std::vector<std::vector<std::uint32_t>> Gather(Span<std::uint32_t const> own) override {
    group_.lists[shard_] = own;
    group_.meeting.Meet();
    std::vector<std::vector<std::uint32_t>> all;
    for (Span<std::uint32_t const> const list : group_.lists) all.emplace_back(list.begin(), list.end());
    group_.meeting.Meet();
    return all;
  }

 private:
  /// Each shard combines its share of the elements and gives the result to all shards.
  template <typename F>
  void Combine(Span<Span<std::int64_t> const> parts, F&& combine) {
    group_.parts[shard_] = parts;
    group_.meeting.Meet();
    CheckShapes();
    std::size_t size = 0;
    for (Span<std::int64_t> const part : parts) size += part.size();
    std::size_t const begin = size * shard_ / group_.parts.size(), end = size * (shard_ + 1) / group_.parts.size();
    std::size_t before = 0;  // elements of the parts before part p
    for (std::size_t p = 0; p < parts.size(); ++p) {
      std::size_t const first = std::max(begin, before), last = std::min(end, before + parts[p].size());
      if (first < last) CombinePart(p, first - before, last - before, combine);
      before += parts[p].size();
    }
    group_.meeting.Meet();
  }

  template <typename F>
  void CombinePart(std::size_t part, std::size_t first, std::size_t last, F&& combine) {
    std::int64_t* const all = group_.parts[0][part].data();
    for (std::size_t s = 1; s < group_.parts.size(); ++s) {
      std::int64_t const* const own = group_.parts[s][part].data();
      for (std::size_t i = first; i < last; ++i) all[i] = combine(all[i], own[i]);
    }
    for (std::size_t s = 1; s < group_.parts.size(); ++s) {
      std::copy(all + first, all + last, group_.parts[s][part].data() + first);
    }
  }

  /// All shards find the same, so all throw or none.
  void CheckShapes() const {
    auto const same_size = [](Span<std::int64_t> a, Span<std::int64_t> b) { return a.size() == b.size(); };
    for (auto const& parts : group_.parts) {
      auto const& first = group_.parts[0];
      if (!std::equal(parts.begin(), parts.end(), first.begin(), first.end(), same_size)) {
        throw Error{"The shards of the rows do not add up the same things: their data or parameters differ"};
      }
    }
  }

  Group& group_;
  std::size_t shard_;
};

}  // namespace

void RunShards(int shards, std::function<void(Collective&)> const& work) {
  if (shards < 1) Throw<InvalidArgument>("The number of shards is ", shards, "; allowed: 1 or more");
  Group group{shards};
  std::vector<std::exception_ptr> failed(static_cast<std::size_t>(shards)), told(failed.size());
  std::vector<std::thread> threads;
  for (int s = 0; s < shards; ++s) {
    threads.emplace_back([&, s] {
      auto const own = static_cast<std::size_t>(s);
      try {
        ThreadShard collective{&group, s};
        work(collective);
      } catch (OtherShardFailed const&) {
        told[own] = std::current_exception();
      } catch (...) {  // of any type: it is thrown again, unchanged
        failed[own] = std::current_exception();
      }
      group.meeting.Leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto const& errors : {failed, told}) {
    for (std::exception_ptr const& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  }
}

}  // namespace xgbgpu
