// Reads pages of XGBoost's matrices with the calls that this series has for them.
#include "xgb/pages.h"

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "xgb/series.h"
#include "xgbgpu/types.h"

namespace xgbgpu::plugin {

static_assert(sizeof(xgboost::Entry) == sizeof(Entry) && std::is_standard_layout_v<xgboost::Entry> &&
                  offsetof(xgboost::Entry, index) == offsetof(Entry, feature) &&
                  offsetof(xgboost::Entry, fvalue) == offsetof(Entry, value) &&
                  std::is_same_v<xgboost::bst_feature_t, FeatureIndex> &&
                  std::is_same_v<xgboost::bst_float, decltype(Entry::value)>,
              "pages of a DMatrix are read where they lie");
static_assert(sizeof(XGBGPU_BEFORE_300(xgboost::bst_row_t) XGBGPU_SINCE_300(xgboost::bst_idx_t)) ==
              sizeof(std::uint64_t));

bool HasPages(xgboost::DMatrix const& data, PageKind kind) {
  switch (kind) {
    case PageKind::kRows:
      return data.PageExists<xgboost::SparsePage>();
    case PageKind::kBins:
      return data.PageExists<xgboost::GHistIndexMatrix>();
    case PageKind::kDeviceBins:
      return data.PageExists<xgboost::EllpackPage>();
    default:
      return false;
  }
}

RowBatch ViewOf(xgboost::SparsePage const& page) {
  auto const& offsets = page.offset.ConstHostVector();
  auto const& entries = page.data.ConstHostVector();
  RowBatch batch;
  batch.first_row = page.base_rowid;
  batch.offsets = {reinterpret_cast<std::uint64_t const*>(offsets.data()), offsets.size()};
  batch.entries = {reinterpret_cast<Entry const*>(entries.data()), entries.size()};
  return batch;
}

void ForEachRowPage(xgboost::DMatrix* data, std::function<void(xgboost::SparsePage const&)> const& visit) {
  for (auto const& page : data->GetBatches<xgboost::SparsePage>()) visit(page);
}

bool HasExternalBins(xgboost::DMatrix const& data) {
  return std::strstr(typeid(data).name(), "ExtMemQuantileDMatrix") != nullptr;  // no public header has the class
}

std::shared_ptr<xgboost::SparsePage> BinEndsOf(xgboost::DMatrix* data) {
  if (HasExternalBins(*data)) return nullptr;
  std::shared_ptr<xgboost::SparsePage> ends;
  for (auto const& batch : data->GetBatches<xgboost::ExtSparsePage>(XGBGPU_SINCE_300(data->Ctx(), {})))
    ends = std::const_pointer_cast<xgboost::SparsePage>(batch.page);  // there is one at most
  return ends;
}

void AskForBins(xgboost::DMatrix* data, int max_bin) {
  constexpr double kDefaultSparseThreshold = 0.2;
  data->GetBatches<xgboost::GHistIndexMatrix>(XGBGPU_SINCE_300(data->Ctx(), ){max_bin, kDefaultSparseThreshold});
}

xgboost::MetaInfo SliceInfo(xgboost::DMatrix const& data, Span<std::int32_t const> rows, std::uint64_t present) {
  XGBGPU_SINCE_300(std::vector<xgboost::bst_idx_t> const numbers(rows.begin(), rows.end());
                   return data.Info().Slice(data.Ctx(), {numbers.data(), numbers.size()}, present);)
  XGBGPU_BEFORE_300(xgboost::MetaInfo info = data.Info().Slice({rows.data(), rows.size()}); info.num_nonzero_ = present;
                    return info;)
}

}  // namespace xgbgpu::plugin
