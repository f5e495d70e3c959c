// driver: several threads read a source, each a part of its rows.
#include "user_arrays/read_in_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/data.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::MemorySource;

constexpr FeatureIndex kFeatures = 2;

/// Rows whose only value is their number, in batches of these sizes. A batch is gone when its visit has ended.
class NumberedRows final : public RowSource {
 public:
  explicit NumberedRows(std::vector<std::uint64_t> sizes) : sizes_{std::move(sizes)} {}

  std::uint64_t rows() const override {
    std::uint64_t rows = 0;
    for (auto const size : sizes_) rows += size;
    return rows;
  }
  FeatureIndex features() const override { return kFeatures; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    std::uint64_t first = 0;
    for (auto const size : sizes_) {
      if (fails_before_ == first) throw InvalidArgument{"a page is damaged"};
      std::vector<std::uint64_t> offsets{0};
      std::vector<Entry> entries;
      for (std::uint64_t i = 0; i < size; ++i) {
        entries.push_back({1, static_cast<float>(first + i)});
        offsets.push_back(entries.size());
      }
      struct Wipe {
        std::vector<Entry>* entries;
        ~Wipe() { std::fill(entries->begin(), entries->end(), Entry{0, -1.0f}); }
      } const wipe{&entries};
      visit({first, offsets, entries});
      first += size;
    }
  }
  void FailBefore(std::uint64_t row) { fails_before_ = row; }

 private:
  std::vector<std::uint64_t> sizes_;
  std::optional<std::uint64_t> fails_before_;
};

/// Counts how often each row was read, and checks what was read of it.
class Seen {
 public:
  explicit Seen(std::uint64_t rows) : times_(rows) {}

  void Visit(RowBatch const& batch) {
    EXPECT_GT(batch.rows(), 0U);
    for (std::uint64_t i = 0; i < batch.rows(); ++i) {
      ASSERT_EQ(batch.row(i).size(), 1U);
      EXPECT_EQ(batch.row(i)[0].value, static_cast<float>(batch.first_row + i));
      ++times_.at(batch.first_row + i);
    }
  }
  void ExpectEach(int times) const {
    for (std::size_t row = 0; row < times_.size(); ++row) EXPECT_EQ(times_[row], times) << "row " << row;
  }

 private:
  std::vector<std::atomic<int>> times_;
};

TEST(ReadInPartsTest, EveryRowOfBatchesIsInOnePart) {
  std::vector<std::uint64_t> const sizes[] = {{}, {1}, {2}, {100}, {1, 1, 1, 1}, {5, 0, 3, 40, 2}, {7, 200, 1}};
  for (auto const& batches : sizes) {
    NumberedRows const source{batches};
    for (int const parts : {1, 2, 3, 8}) {
      Seen seen{source.rows()};
      std::atomic<int> calls{0};
      ReadInParts(source, parts, [&](int i, RowSource const& part) {
        EXPECT_TRUE(i >= 0 && i < parts);
        EXPECT_EQ(part.rows(), source.rows());
        EXPECT_EQ(part.features(), kFeatures);
        EXPECT_FALSE(part.arrays());
        for (int pass = 0; pass < 2; ++pass) {
          part.ForEachBatch([&](RowBatch const& batch) {
            if (batch.rows() != 0) seen.Visit(batch);
          });
        }
        ++calls;
      });
      EXPECT_EQ(calls, parts);
      seen.ExpectEach(2);
    }
  }
}

TEST(ReadInPartsTest, EachPartHasItsShareOfABatch) {
  NumberedRows const source{{90, 30}};
  std::vector<std::uint64_t> read(3);
  ReadInParts(source, 3, [&](int i, RowSource const& part) {
    part.ForEachBatch([&](RowBatch const& batch) { read[static_cast<std::size_t>(i)] += batch.rows(); });
  });
  EXPECT_EQ(read, (std::vector<std::uint64_t>{40, 40, 40}));
}

TEST(ReadInPartsTest, PartsOfAnArrayAreConsecutiveRowsOfIt) {
  for (std::uint64_t const rows : {1U, 2U, 7U, 100U}) {
    std::vector<std::int16_t> numbers(rows * kFeatures);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int16_t>(i);
    ArraySource const source{{numbers.data(), ValueType::kInt16, 3.0f}, rows, kFeatures, 1};
    for (int const parts : {2, 3, 8}) {
      std::vector<std::atomic<int>> times(rows);
      ReadInParts(source, parts, [&](int, RowSource const& part) {
        EXPECT_EQ(part.rows(), rows);
        EXPECT_FALSE(part.dense()) << "the array of all rows is not this part's";
        ASSERT_TRUE(part.arrays());
        EXPECT_EQ(part.arrays()->missing, 3.0f);
        int arrays = 0;
        part.ForEachArray([&](ArrayBatch const& array) {
          EXPECT_EQ(++arrays, 1);
          EXPECT_EQ(array.values.type, ValueType::kInt16);
          EXPECT_EQ(array.values.data, numbers.data() + array.first_row * kFeatures);
          for (std::uint64_t i = 0; i < array.rows; ++i) ++times.at(array.first_row + i);
        });
      });
      for (auto const& n : times) EXPECT_EQ(n, 1);
    }
  }
}

TEST(ReadInPartsTest, AnArrayCanBeReadAsBatches) {
  std::vector<float> const numbers{0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
  ArraySource const source{{numbers.data()}, 5, kFeatures, 1};
  std::vector<std::atomic<int>> times(5);
  ReadInParts(source, 2, [&](int, RowSource const& part) {
    part.ForEachBatch([&](RowBatch const& batch) {
      for (std::uint64_t i = 0; i < batch.rows(); ++i) ++times.at(batch.first_row + i);
    });
  });
  for (auto const& n : times) EXPECT_EQ(n, 1);
}

TEST(ReadInPartsTest, PartsAreReadAtTheSameTimeAndOneByTheCaller) {
  NumberedRows const source{{10}};
  std::set<std::thread::id> threads;
  std::mutex mutex;
  std::atomic<int> here{0};
  ReadInParts(source, 3, [&](int, RowSource const&) {
    {
      std::lock_guard<std::mutex> const lock{mutex};
      threads.insert(std::this_thread::get_id());
    }
    ++here;
    while (here < 3) std::this_thread::yield();  // for ever, if one waited for another's end
  });
  EXPECT_EQ(threads.size(), 3U);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 1U);
  ReadInParts(source, 1, [&](int, RowSource const& part) {
    EXPECT_EQ(&part, &source);
    threads = {std::this_thread::get_id()};
  });
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 1U);
}

/// Has parts read the source until `failing` throws in its n-th visit, and returns what is thrown.
std::string ThrownBy(RowSource const& source, int parts, int failing, int n) {
  std::atomic<int> wrong{0};
  try {
    ReadInParts(source, parts, [&](int i, RowSource const& part) {
      int visits = 0;
      part.ForEachBatch([&](RowBatch const& batch) {
        if (i == failing && ++visits == n) throw std::runtime_error{"part " + std::to_string(i)};
        for (int look = 0; look < 200; ++look) {  // long enough for the failing one to be gone
          for (std::uint64_t r = 0; r < batch.rows(); ++r) {
            if (batch.row(r)[0].value != static_cast<float>(batch.first_row + r)) ++wrong;
          }
          std::this_thread::yield();
        }
      });
    });
  } catch (std::exception const& e) {
    return wrong == 0 ? e.what() : "a batch was gone while it was read";
  }
  return "nothing";
}

TEST(ReadInPartsTest, WhoFailsEndsAllAndIsNamed) {
  NumberedRows const source{{30, 30, 30}};
  for (int const parts : {1, 2, 3, 5}) {
    for (int failing = 0; failing < parts; ++failing) {
      for (int n = 1; n <= 3; ++n) EXPECT_EQ(ThrownBy(source, parts, failing, n), "part " + std::to_string(failing));
    }
  }
}

TEST(ReadInPartsTest, ASourceThatFailsEndsAll) {
  NumberedRows source{{30, 30, 30}};
  for (std::uint64_t const row : {0U, 30U, 60U}) {
    source.FailBefore(row);
    for (int const parts : {1, 2, 3}) EXPECT_EQ(ThrownBy(source, parts, -1, 0), "a page is damaged");
  }
}

TEST(ReadInPartsTest, NobodyWaitsForOneThatDoesNotRead) {
  NumberedRows const source{{30, 30}};
  for (int const idle : {0, 1, 2}) {
    for (bool const fails : {false, true}) {
      std::string said;
      try {
        ReadInParts(source, 3, [&](int i, RowSource const& part) {
          if (i != idle) {
            part.ForEachBatch([](RowBatch const&) {});
          } else if (fails) {
            throw DeviceError{"no room"};
          }
        });
      } catch (DeviceError const& e) {
        said = e.what();
      } catch (OtherShardFailed const&) {
        said = "stopped";
      }
      EXPECT_EQ(said, fails ? "no room" : "stopped");
    }
  }
}

}  // namespace
}  // namespace xgbgpu
