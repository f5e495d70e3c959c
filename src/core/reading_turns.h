/// Lets several threads read one source in turns.
#ifndef XGBGPU_CORE_READING_TURNS_H_
#define XGBGPU_CORE_READING_TURNS_H_

#include <functional>
#include <mutex>
#include <optional>

#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The rows of another source, shared by several threads. Passes over batches and arrays run one after the other,
/// because a source such as pages of a file serves one thread at a time. A source that is one array is read by all
/// threads at once.
class ReadingTurns final : public RowSource {
 public:
  /// `source` must outlive this object.
  explicit ReadingTurns(RowSource const& source) : source_{source} {}

  std::uint64_t rows() const override { return source_.rows(); }
  FeatureIndex features() const override { return source_.features(); }
  Span<std::uint8_t const> categorical() const override { return source_.categorical(); }
  std::optional<DenseValues> dense() const override { return source_.dense(); }
  std::optional<DenseValues> arrays() const override { return source_.arrays(); }
  void ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const override {
    std::unique_lock<std::mutex> lock{mutex_, std::defer_lock};
    if (!source_.dense()) lock.lock();
    source_.ForEachArray(visit);
  }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    std::lock_guard<std::mutex> const lock{mutex_};
    source_.ForEachBatch(visit);
  }

 private:
  RowSource const& source_;
  mutable std::mutex mutex_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_READING_TURNS_H_
