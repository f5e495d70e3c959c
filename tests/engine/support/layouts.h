/// Data that end up in each of the four matrix layouts, and a plain way to read any of them.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_LAYOUTS_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_LAYOUTS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/fixed_point.h"
#include "matrix/matrix.h"
#include "reference/matrix.h"
#include "support/data.h"

namespace xgbgpu::testing {

struct LayoutCase {
  char const* name;
  MatrixLayout layout;
  DataShape shape;
  int max_bin;
};

inline void PrintTo(LayoutCase const& c, std::ostream* os) { *os << c.name; }

struct LayoutName {
  std::string operator()(::testing::TestParamInfo<LayoutCase> const& info) const { return info.param.name; }
};

inline constexpr LayoutCase kLayoutCases[] = {
    {"Dense8", MatrixLayout::kDense8, {1500, 6}, 64},
    {"Dense8Missing", MatrixLayout::kDense8, {1500, 6, 0.2}, 255},
    {"Dense8FewValues", MatrixLayout::kDense8, {1500, 6, 0.05, 5}, 256},
    {"Dense16", MatrixLayout::kDense16, {1500, 5, 0.0}, 1000},
    {"Dense16Missing", MatrixLayout::kDense16, {1500, 5, 0.3}, 700},
    {"Sparse16", MatrixLayout::kSparse16, {1500, 12, 0.8}, 64},
    {"Sparse32", MatrixLayout::kSparse32, {1500, 150, 0.6}, 600},
};

inline std::unique_ptr<QuantisedMatrix> MakeMatrix(reference::Values const& values, int max_bin, int threads = 2) {
  return host::QuantiseMatrix(MemorySource{values}, reference::MakeCuts(values, {}, max_bin), threads);
}

template <typename View>
inline constexpr bool kIsDense = false;
template <typename Symbol>
inline constexpr bool kIsDense<DenseView<Symbol>> = true;

/// Returns a node's list of these rows, with their `gradients` ([rows of the matrix], or empty) in the narrow format.
inline std::vector<RowRecord> Records(std::vector<RowIndex> const& rows,
                                      std::vector<NarrowGradient> const& gradients = {}) {
  std::vector<RowRecord> records;
  for (RowIndex r : rows) records.push_back({r, gradients.empty() ? NarrowGradient{} : gradients[r]});
  return records;
}

/// Calls f(feature, cell) for every cell that a row belongs to, those for "missing" included.
template <typename Symbol, typename F>
void ForEachCell(DenseView<Symbol> const& view, QuantisedMatrix const& m, RowIndex row, F&& f) {
  for (FeatureIndex j = 0; j < m.features(); ++j) f(j, m.cell_ptr[j] + view.row(row)[j]);
}
template <typename Cell, typename F>
void ForEachCell(SparseView<Cell> const& view, QuantisedMatrix const& m, RowIndex row, F&& f) {
  for (std::uint64_t i = view.row_ptr[row]; i < view.row_ptr[row + std::size_t{1}]; ++i) {
    auto const after = std::upper_bound(m.cell_ptr.begin(), m.cell_ptr.end(), static_cast<BinIndex>(view.cells[i]));
    f(static_cast<FeatureIndex>(after - m.cell_ptr.begin() - 1), view.cells[i]);
  }
}

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_LAYOUTS_H_
