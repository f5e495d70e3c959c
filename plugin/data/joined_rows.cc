// Shows several held arrays as one matrix.
#include "data/joined_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

bool AreAlike(DenseValues const& a, DenseValues const& b) {
  bool const same_missing = a.missing == b.missing || (std::isnan(a.missing) && std::isnan(b.missing));
  return a.type == b.type && a.device == b.device && same_missing;
}

class JoinedRows final : public HeldRows {
 public:
  explicit JoinedRows(std::vector<std::unique_ptr<HeldRows>> parts) : parts_{std::move(parts)} {
    for (auto const& part : parts_) {
      first_.push_back(first_.back() + part->rows());
      present_ += part->present();
    }
    auto const dense = parts_.front()->dense();
    bool const all = dense && std::all_of(parts_.begin(), parts_.end(), [&](auto const& part) {
                       auto const own = part->dense();
                       return own && AreAlike(*own, *dense);
                     });
    if (all) arrays_ = dense;
  }

  std::uint64_t rows() const override { return first_.back(); }
  FeatureIndex features() const override { return parts_.front()->features(); }
  std::uint64_t present() const override { return present_; }
  std::optional<DenseValues> arrays() const override { return arrays_; }
  void ForEachArray(std::function<void(ArrayBatch const&)> const& visit) const override {
    for (std::size_t p = 0; p < parts_.size(); ++p) visit({*parts_[p]->dense(), first_[p], parts_[p]->rows()});
  }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p]->ForEachBatch(From(first_[p], visit));
  }
  void VisitSome(std::uint64_t first, std::uint64_t count, int threads,
                 std::function<void(RowBatch const&)> const& visit) const override {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      std::uint64_t const begin = std::max(first, first_[p]), end = std::min(first + count, first_[p + 1]);
      if (begin < end) parts_[p]->VisitSome(begin - first_[p], end - begin, threads, From(begin - first, visit));
    }
  }
  std::unique_ptr<HeldRows> Slice(Span<std::int32_t const>, int) const override {
    throw Unsupported{"A QuantileDMatrix of several batches has no slices"};
  }

 private:
  /// Returns a function that gives visit() the batches of a part, whose first row is number `before`.
  static std::function<void(RowBatch const&)> From(std::uint64_t before,
                                                   std::function<void(RowBatch const&)> const& visit) {
    return [before, &visit](RowBatch const& batch) {
      RowBatch moved = batch;
      moved.first_row += before;
      visit(moved);
    };
  }

  std::vector<std::unique_ptr<HeldRows>> parts_;
  std::vector<std::uint64_t> first_{0};  ///< [parts + 1] number of each part's first row, and of all rows
  std::uint64_t present_{0};
  std::optional<DenseValues> arrays_;  ///< if all parts are arrays of one kind
};

}  // namespace

std::unique_ptr<HeldRows> JoinRows(std::vector<std::unique_ptr<HeldRows>> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<JoinedRows>(std::move(parts));
}

}  // namespace xgbgpu::plugin
