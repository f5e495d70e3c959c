// Divides the rows of a source among threads that read it at the same time.
#include "user_arrays/read_in_parts.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "collective/in_process.h"
#include "xgbgpu/array_source.h"

namespace xgbgpu {

namespace {

class Part final : public RowSource {
 public:
  /// The thread of the first part shows *batch to the threads of all parts.
  Part(RowSource const& whole, Collective* threads, RowBatch const** batch)
      : whole_{whole}, threads_{*threads}, batch_{*batch} {}

  std::uint64_t rows() const override { return whole_.rows(); }
  FeatureIndex features() const override { return whole_.features(); }
  Span<std::uint8_t const> categorical() const override { return whole_.categorical(); }
  std::optional<DenseValues> arrays() const override { return whole_.dense(); }
  void ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const override {
    auto const values = whole_.dense();
    auto const [first, end] = Own(rows());
    if (values && first < end) visit({FromRow(*values, first, features()), first, end - first});
  }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    if (threads_.shard() != 0) {
      while (VisitTogether(visit)) {
      }
      return;
    }
    whole_.ForEachBatch([&](RowBatch const& batch) {
      batch_ = &batch;
      VisitTogether(visit);
    });
    batch_ = nullptr;
    VisitTogether(visit);
  }

 private:
  /// Returns the first of `rows` rows of this part, and one past its last.
  std::pair<std::uint64_t, std::uint64_t> Own(std::uint64_t rows) const {
    auto const parts = static_cast<std::uint64_t>(threads_.shards()),
               own = static_cast<std::uint64_t>(threads_.shard());
    return {rows * own / parts, rows * (own + 1) / parts};
  }
  void Meet() const { threads_.MaxOf(0); }
  /// Visits this part of the shown batch, while all other threads visit their parts. Returns false if there is no
  /// batch.
  bool VisitTogether(std::function<void(RowBatch const&)> const& visit) const {
    Meet();  // the batch is ready
    bool const is_there = batch_ != nullptr;
    ExceptionCatcher catcher;
    if (is_there) catcher.Run([&] { VisitOwn(visit); });
    Meet();  // no thread uses the batch any more, even if a visit has thrown
    catcher.Rethrow();
    return is_there;
  }
  void VisitOwn(std::function<void(RowBatch const&)> const& visit) const {
    auto const [first, end] = Own(batch_->rows());
    if (first < end) {
      visit({batch_->first_row + first, batch_->offsets.subspan(first, end - first + 1), batch_->entries});
    }
  }

  RowSource const& whole_;
  Collective& threads_;
  RowBatch const*& batch_;
};

}  // namespace

void ReadInParts(RowSource const& source, int parts, std::function<void(int, RowSource const&)> const& read) {
  if (parts == 1) {
    read(0, source);
    return;
  }
  RowBatch const* batch = nullptr;
  ShardThreads threads{parts};
  threads.Run([&](int i) { read(i, Part{source, threads.of(i), &batch}); });
}

}  // namespace xgbgpu
