// The values of a QuantileDMatrix as a matrix of its own, whose pages are made as they are read.
#include "matrix/value_matrix.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "base/parallel.h"
#include "errors/boundary.h"
#include "matrix/matrix_rows.h"
#include "xgb/matrix.h"
#include "xgb/version.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// One page.
class OnePage final : public RowPages {
 public:
  explicit OnePage(std::shared_ptr<xgboost::SparsePage const> page) : page_{std::move(page)} {}

  std::shared_ptr<xgboost::SparsePage const> Next() override { return std::exchange(page_, nullptr); }

 private:
  std::shared_ptr<xgboost::SparsePage const> page_;
};

/// Pages of rows that are held. There is one at a time.
class HeldPages final : public RowPages {
 public:
  HeldPages(std::shared_ptr<HeldRows const> rows, int threads)
      : rows_{std::move(rows)}, threads_{threads}, page_{std::make_shared<xgboost::SparsePage>()} {
    constexpr std::uint64_t kValues = 1 << 21;  // 16 MiB
    most_rows_ = std::max<std::uint64_t>(1, kValues / (1 + rows_->present() / rows_->rows()));
  }

  std::shared_ptr<xgboost::SparsePage const> Next() override {
    if (next_ >= rows_->rows()) return nullptr;
    std::uint64_t const end = std::min(rows_->rows(), next_ + most_rows_);
    AtBoundary("reading values", [&] {
      FillPage(*rows_, {next_, end}, rows_->present() / rows_->rows() * (end - next_), threads_, page_.get());
    });
    page_->SetBaseRowId(next_);
    next_ = end;
    return page_;
  }

 private:
  std::shared_ptr<HeldRows const> rows_;
  int threads_;
  std::shared_ptr<xgboost::SparsePage> page_;
  std::uint64_t most_rows_;
  std::uint64_t next_{0};  ///< the first row of the next page
};

/// Rows of values, with labels, weights and all else of another matrix.
class ValueMatrix final : public XgbMatrix {
 public:
  ValueMatrix(xgboost::DMatrix* data, std::function<std::shared_ptr<RowPages>()> read)
      : data_{data}, read_{std::move(read)} {}

  xgboost::MetaInfo& Info() override { return data_->Info(); }
  xgboost::MetaInfo const& Info() const override { return std::as_const(*data_).Info(); }
  xgboost::Context const* Ctx() const override { return data_->Ctx(); }

 private:
  [[noreturn]] static void RowsOnly() { throw Unsupported{"The values of a QuantileDMatrix can be read by rows only"}; }

  std::shared_ptr<RowPages> MakeRowPages() override { return read_(); }
  std::shared_ptr<xgboost::DMatrix> LenderOf(PageKind) override { RowsOnly(); }
  bool Lends(PageKind kind) const override { return kind == PageKind::kRows; }
  xgboost::DMatrix* SliceRows(Span<std::int32_t const>) override { RowsOnly(); }

  xgboost::DMatrix* data_;
  std::function<std::shared_ptr<RowPages>()> read_;
};

/// Rows of another matrix, as rows of more columns.
class WideMatrix final : public XgbMatrix {
 public:
  WideMatrix(xgboost::DMatrix* data, FeatureIndex columns) : data_{data} {
    xgboost::MetaInfo const& info = std::as_const(*data).Info();
    info_.Extend(info, true, false);
    info_.num_col_ = columns;
    info_.num_nonzero_ = info.num_nonzero_;
  }

  xgboost::MetaInfo& Info() override { return info_; }
  xgboost::MetaInfo const& Info() const override { return info_; }
  xgboost::Context const* Ctx() const override { return data_->Ctx(); }

 private:
  [[noreturn]] static void RowsOnly() { throw Unsupported{"A matrix of more columns can be read by rows only"}; }

  std::shared_ptr<xgboost::DMatrix> LenderOf(PageKind kind) override {
    if (!Lends(kind)) RowsOnly();
    return {std::shared_ptr<void>{}, data_};
  }
  bool Lends(PageKind kind) const override { return kind == PageKind::kRows; }
  xgboost::DMatrix* SliceRows(Span<std::int32_t const>) override { RowsOnly(); }

  xgboost::DMatrix* data_;
  xgboost::MetaInfo info_;
};

std::shared_ptr<xgboost::DMatrix> OfOnePage(xgboost::DMatrix* data, std::shared_ptr<xgboost::SparsePage const> page) {
  return std::make_shared<ValueMatrix>(data, [page = std::move(page)] { return std::make_shared<OnePage>(page); });
}

/// Returns true if columns ascend in every row and no value is NaN. XGBoost finds the column of a bin by looking
/// onwards from the column of the bin before. In rows of another order some column comes twice.
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
  constexpr bool kShowsFirstBins = kSeries < 303;
  if (!kShowsFirstBins) return nullptr;
  auto page = BinEndsOf(data);
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

std::shared_ptr<xgboost::DMatrix> WithColumns(xgboost::DMatrix* data, FeatureIndex columns) {
  return std::make_shared<WideMatrix>(data, columns);
}

}  // namespace xgbgpu::plugin
