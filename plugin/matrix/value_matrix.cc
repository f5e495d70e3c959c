#include "matrix/value_matrix.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "base/parallel.h"
#include "errors/boundary.h"
#include "matrix/matrix_rows.h"
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

/// Pages of rows that are held. There is one at a time.
class HeldPages final : public xgboost::BatchIteratorImpl<xgboost::SparsePage> {
 public:
  HeldPages(std::shared_ptr<HeldRows const> rows, int threads)
      : rows_{std::move(rows)}, threads_{threads}, page_{std::make_shared<xgboost::SparsePage>()} {
    constexpr std::uint64_t kValues = 1 << 21;  // 16 MiB
    most_rows_ = std::max<std::uint64_t>(1, kValues / (1 + rows_->present() / rows_->rows()));
    Fill();
  }

  xgboost::SparsePage const& operator*() const override { return *page_; }
  HeldPages& operator++() override {
    first_ += most_rows_;
    Fill();
    return *this;
  }
  bool AtEnd() const override { return first_ >= rows_->rows(); }
  std::shared_ptr<xgboost::SparsePage const> Page() const override { return page_; }

 private:
  void Fill() {
    if (AtEnd()) return;
    std::uint64_t const end = std::min(rows_->rows(), first_ + most_rows_);
    AtBoundary("reading values", [&] {
      FillPage(*rows_, {first_, end}, rows_->present() / rows_->rows() * (end - first_), threads_, page_.get());
    });
    page_->SetBaseRowId(first_);
  }

  std::shared_ptr<HeldRows const> rows_;
  int threads_;
  std::shared_ptr<xgboost::SparsePage> page_;
  std::uint64_t most_rows_;
  std::uint64_t first_{0};  ///< of the page
};

/// Rows of values, with labels, weights and all else of another matrix.
class ValueMatrix final : public xgboost::DMatrix {
 public:
  using Pages = xgboost::BatchIteratorImpl<xgboost::SparsePage>;

  ValueMatrix(xgboost::DMatrix* data, std::function<std::shared_ptr<Pages>()> read)
      : data_{data}, read_{std::move(read)} {}

  xgboost::MetaInfo& Info() override { return data_->Info(); }
  xgboost::MetaInfo const& Info() const override { return std::as_const(*data_).Info(); }
  xgboost::Context const* Ctx() const override { return data_->Ctx(); }
  bool SingleColBlock() const override { return true; }
  xgboost::DMatrix* Slice(xgboost::common::Span<std::int32_t const>) override { RowsOnly(); }

 private:
  [[noreturn]] static void RowsOnly() { throw Unsupported{"The values of a QuantileDMatrix can be read by rows only"}; }

  xgboost::BatchSet<xgboost::SparsePage> GetRowBatches() override {
    return xgboost::BatchSet<xgboost::SparsePage>{xgboost::BatchIterator<xgboost::SparsePage>{read_()}};
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
  std::function<std::shared_ptr<Pages>()> read_;
};

std::shared_ptr<xgboost::DMatrix> OfOnePage(xgboost::DMatrix* data, std::shared_ptr<xgboost::SparsePage const> page) {
  return std::make_shared<ValueMatrix>(data, [page = std::move(page)] { return std::make_shared<OnePage>(page); });
}

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
  return OfOnePage(data, std::move(page));
}

std::shared_ptr<xgboost::DMatrix> ValuesOf(xgboost::DMatrix* data, std::shared_ptr<HeldRows const> rows, int threads) {
  return std::make_shared<ValueMatrix>(
      data, [rows = std::move(rows), threads] { return std::make_shared<HeldPages>(rows, threads); });
}

std::shared_ptr<xgboost::DMatrix> WithoutRows(xgboost::DMatrix* data) {
  return OfOnePage(data, std::make_shared<xgboost::SparsePage>());
}

}  // namespace xgbgpu::plugin
