// Answers XGBoost's calls for pages of our matrices: each kind from its lender, rows from our own pages where there are
// some.
#include "xgb/matrix.h"

#include <utility>

namespace xgbgpu::plugin {

namespace {

/// Our pages as XGBoost walks through them.
class PageIterator final : public xgboost::BatchIteratorImpl<xgboost::SparsePage> {
 public:
  explicit PageIterator(std::shared_ptr<RowPages> pages) : pages_{std::move(pages)}, page_{pages_->Next()} {}

  xgboost::SparsePage const& operator*() const override { return *page_; }
  PageIterator& operator++() override {
    page_ = pages_->Next();
    return *this;
  }
  bool AtEnd() const override { return page_ == nullptr; }
  std::shared_ptr<xgboost::SparsePage const> Page() const override { return page_; }

 private:
  std::shared_ptr<RowPages> pages_;
  std::shared_ptr<xgboost::SparsePage const> page_;
};

}  // namespace

xgboost::BatchSet<xgboost::SparsePage> XgbMatrix::GetRowBatches() {
  auto pages = MakeRowPages();
  if (pages == nullptr) return LenderOf(PageKind::kRows)->GetBatches<xgboost::SparsePage>();
  auto first = std::make_shared<PageIterator>(std::move(pages));
  return xgboost::BatchSet<xgboost::SparsePage>{xgboost::BatchIterator<xgboost::SparsePage>{std::move(first)}};
}

xgboost::BatchSet<xgboost::CSCPage> XgbMatrix::GetColumnBatches(XGBGPU_SINCE_300(xgboost::Context const* ctx)) {
  return LenderOf(PageKind::kColumns)->GetBatches<xgboost::CSCPage>(XGBGPU_SINCE_300(ctx));
}

xgboost::BatchSet<xgboost::SortedCSCPage> XgbMatrix::GetSortedColumnBatches(
    XGBGPU_SINCE_300(xgboost::Context const* ctx)) {
  return LenderOf(PageKind::kSortedColumns)->GetBatches<xgboost::SortedCSCPage>(XGBGPU_SINCE_300(ctx));
}

xgboost::BatchSet<xgboost::EllpackPage> XgbMatrix::GetEllpackBatches(XGBGPU_SINCE_300(xgboost::Context const* ctx, )
                                                                         xgboost::BatchParam const& param) {
  return LenderOf(PageKind::kDeviceBins)->GetBatches<xgboost::EllpackPage>(XGBGPU_SINCE_300(ctx, ) param);
}

xgboost::BatchSet<xgboost::GHistIndexMatrix> XgbMatrix::GetGradientIndex(XGBGPU_SINCE_300(xgboost::Context const* ctx, )
                                                                             xgboost::BatchParam const& param) {
  return LenderOf(PageKind::kBins)->GetBatches<xgboost::GHistIndexMatrix>(XGBGPU_SINCE_300(ctx, ) param);
}

xgboost::BatchSet<xgboost::ExtSparsePage> XgbMatrix::GetExtBatches(
    XGBGPU_SINCE_300(xgboost::Context const* ctx, ) xgboost::BatchParam const& XGBGPU_SINCE_300(param)) {
  return LenderOf(PageKind::kBinEnds)->GetBatches<xgboost::ExtSparsePage>(XGBGPU_SINCE_300(ctx, param));
}

}  // namespace xgbgpu::plugin
