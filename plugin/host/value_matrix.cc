#include "host/value_matrix.h"

#include <atomic>
#include <utility>

#include "core/parallel.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// The only page of a ValueMatrix.
class OnePage final : public xgboost::BatchIteratorImpl<xgboost::SparsePage> {
 public:
  explicit OnePage(std::shared_ptr<xgboost::SparsePage const> page) : page_{std::move(page)} {}

  xgboost::SparsePage const& operator*() const override { return *page_; }
  OnePage& operator++() override {
    at_end_ = true;
    return *this;
  }
  bool AtEnd() const override { return at_end_; }
  std::shared_ptr<xgboost::SparsePage const> Page() const override { return page_; }

 private:
  std::shared_ptr<xgboost::SparsePage const> page_;
  bool at_end_{false};
};

/// Rows of values, with labels, weights and all else of another matrix.
class ValueMatrix final : public xgboost::DMatrix {
 public:
  ValueMatrix(xgboost::DMatrix* data, std::shared_ptr<xgboost::SparsePage const> page)
      : data_{data}, page_{std::move(page)} {}

  xgboost::MetaInfo& Info() override { return data_->Info(); }
  xgboost::MetaInfo const& Info() const override { return std::as_const(*data_).Info(); }
  xgboost::Context const* Ctx() const override { return data_->Ctx(); }
  bool SingleColBlock() const override { return true; }
  xgboost::DMatrix* Slice(xgboost::common::Span<std::int32_t const>) override { RowsOnly(); }

 private:
  [[noreturn]] static void RowsOnly() { throw Unsupported{"The values of a QuantileDMatrix can be read by rows only"}; }

  xgboost::BatchSet<xgboost::SparsePage> GetRowBatches() override {
    using Iterator = xgboost::BatchIterator<xgboost::SparsePage>;
    return xgboost::BatchSet<xgboost::SparsePage>{Iterator{std::make_shared<OnePage>(page_)}};
  }
  xgboost::BatchSet<xgboost::CSCPage> GetColumnBatches() override { RowsOnly(); }
  xgboost::BatchSet<xgboost::SortedCSCPage> GetSortedColumnBatches() override { RowsOnly(); }
  xgboost::BatchSet<xgboost::EllpackPage> GetEllpackBatches(xgboost::BatchParam const&) override { RowsOnly(); }
  xgboost::BatchSet<xgboost::GHistIndexMatrix> GetGradientIndex(xgboost::BatchParam const&) override { RowsOnly(); }
  xgboost::BatchSet<xgboost::ExtSparsePage> GetExtBatches(xgboost::BatchParam const&) override { RowsOnly(); }
  bool EllpackExists() const override { return false; }
  bool GHistIndexExists() const override { return false; }
  bool SparsePageExists() const override { return true; }

  xgboost::DMatrix* data_;
  std::shared_ptr<xgboost::SparsePage const> page_;
};

/// True if columns ascend in every row and no value is NaN. XGBoost finds the column of a bin by looking onwards from
/// that of the bin before, so that of rows in another order some column comes twice.
bool AsPredictorsSeeIt(xgboost::SparsePage const& page, int threads) {
  auto const& offsets = page.offset.ConstHostVector();
  auto const& entries = page.data.ConstHostVector();
  constexpr std::size_t kGrain = 1 << 12;  // rows
  std::atomic<bool> is_good{true};
  ParallelChunks(threads, page.Size(), kGrain, [&](std::size_t begin, std::size_t end) {
    bool good = true;
    for (std::size_t row = begin; row < end && good; ++row) {
      for (std::size_t i = offsets[row]; i < offsets[row + 1]; ++i) {
        bool const ascends = i == offsets[row] || entries[i - 1].index < entries[i].index;
        good &= ascends && entries[i].fvalue == entries[i].fvalue;
      }
    }
    if (!good) is_good = false;
  });
  return is_good;
}

}  // namespace

std::shared_ptr<xgboost::DMatrix> ValuesOfBins(xgboost::DMatrix* data, int threads) {
  std::shared_ptr<xgboost::SparsePage const> page;
  for (auto const& batch : data->GetBatches<xgboost::ExtSparsePage>()) page = batch.page;  // there is one
  if (page == nullptr || !AsPredictorsSeeIt(*page, threads)) return nullptr;
  return std::make_shared<ValueMatrix>(data, std::move(page));
}

std::shared_ptr<xgboost::DMatrix> WithoutRows(xgboost::DMatrix* data) {
  return std::make_shared<ValueMatrix>(data, std::make_shared<xgboost::SparsePage>());
}

}  // namespace xgbgpu::plugin
