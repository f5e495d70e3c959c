/// Stage 2: rows + cuts → quantised matrix, in one of several layouts (MatrixLayout) with one meaning.
#ifndef XGBGPU_MATRIX_MATRIX_H_
#define XGBGPU_MATRIX_MATRIX_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Layouts of bins in memory, chosen from the data (matrix_policy.h). No result depends on the layout.
enum class MatrixLayout {
  kDense8,    ///< [rows, row_stride] one byte a value
  kDense16,   ///< [rows, row_stride] two bytes a value
  kSparse16,  ///< CSR, two bytes a stored value
  kSparse32,  ///< CSR, four bytes a stored value
};

/// A view of dense rows: the feature-local bin of every value. A missing value has bin number bins(f).
template <typename Symbol>
struct DenseView {
  Symbol const* symbols;  ///< [rows, stride]
  Symbol const* columns;  ///< [features, rows] a copy of the symbols by feature
  std::size_t rows;
  std::size_t stride;  ///< >= features

  Symbol const* row(RowIndex r) const { return symbols + static_cast<std::size_t>(r) * stride; }
  Symbol const* column(FeatureIndex f) const { return columns + static_cast<std::size_t>(f) * rows; }
};

/// The values of sparse rows once more, by feature: for partitioning (docs/adr/0004).
struct SparseColumns {
  Buffer<std::uint64_t> ptr;   ///< [features + 1] number of values of earlier features; empty: there are no columns
  Buffer<RowIndex> rows;       ///< [stored values] ascending within a feature
  Buffer<std::uint16_t> bins;  ///< [stored values] feature-local: below kMaxBinLimit

  std::size_t bytes() const { return ptr.bytes() + rows.bytes() + bins.bytes(); }
  /// Returns the bytes for this number of features and values.
  static std::size_t Bytes(FeatureIndex features, std::uint64_t stored) {
    return (features + std::size_t{1}) * sizeof(std::uint64_t) + stored * (sizeof(RowIndex) + sizeof(std::uint16_t));
  }
};

/// A view of sparse rows: the cell (see QuantisedMatrix::cell_ptr) of every stored value, ascending.
template <typename Cell>
struct SparseView {
  /// On the host this number of unused cells follows the last cell, so that loops may read beyond it.
  static constexpr std::uint32_t kSpare = 8;

  Cell const* cells;             ///< [stored values]
  std::uint64_t const* row_ptr;  ///< [rows + 1]
  BinIndex const* cell_ptr;      ///< [features + 1]
  SparseColumns const* columns;
};

/// A quantised matrix, immutable once built. The *cells* of a feature are its bins and, in the dense layouts, one more
/// for "missing" if it misses values. A histogram has one sum per cell, and no row needs a branch.
class QuantisedMatrix {
 public:
  Cuts cuts;
  std::uint64_t rows{0};
  std::uint64_t stored{0};  ///< number of values that are not missing
  MatrixLayout layout{MatrixLayout::kDense8};
  std::size_t row_stride{0};       ///< dense layouts: symbols from one row to the next
  std::vector<BinIndex> cell_ptr;  ///< [features + 1] first cell of each feature
  Buffer<std::uint8_t> data;       ///< symbols or cells, as `layout` says, with SparseView::kSpare
  Buffer<std::uint8_t> columns;    ///< dense layouts: symbols by feature, for partitioning (docs/adr/0004)
  Buffer<std::uint64_t> row_ptr;   ///< [rows + 1], sparse layouts only
  SparseColumns sparse_columns;    ///< sparse layouts in core

  FeatureIndex features() const { return cuts.features(); }
  BinIndex cells() const { return cell_ptr.back(); }
  std::size_t bytes() const;
  bool dense() const { return layout == MatrixLayout::kDense8 || layout == MatrixLayout::kDense16; }
  std::size_t symbol_bytes() const;  ///< bytes of a symbol or cell in `data`
  /// Returns the bytes of `data` for `rows_of_it` rows with `stored_of_them` values.
  std::size_t DataBytes(std::uint64_t rows_of_it, std::uint64_t stored_of_them) const;

  /// Calls f with the view of this matrix's layout.
  template <typename F>
  decltype(auto) Visit(F&& f) const {
    switch (layout) {
      case MatrixLayout::kDense8:
        return f(Dense<std::uint8_t>());
      case MatrixLayout::kDense16:
        return f(Dense<std::uint16_t>());
      case MatrixLayout::kSparse16:
        return f(Sparse<std::uint16_t>());
      default:
        return f(Sparse<std::uint32_t>());
    }
  }

 private:
  template <typename Symbol>
  DenseView<Symbol> Dense() const {
    return {reinterpret_cast<Symbol const*>(data.data()), reinterpret_cast<Symbol const*>(columns.data()), rows,
            row_stride};
  }
  template <typename Cell>
  SparseView<Cell> Sparse() const {
    return {reinterpret_cast<Cell const*>(data.data()), row_ptr.data(), cell_ptr.data(), &sparse_columns};
  }
};

namespace host {

/// Finds the bin of every value: bin b of a feature holds values in [cut b-1, cut b).
///
/// In      source  read twice (sizes, then values), as an array if it is one; NaN and values not stored are missing
///         cuts    one or more bins for each of the source's features
///         collective  the source holds one shard's rows: layout and cells are those of a matrix of all rows
/// Cost    one binary search per value; no memory beside the result
/// Same    bit-equal for any number of threads and batches
/// Throws  InvalidArgument (no features, more than 2^32 - 2 rows in all shards; a feature twice in one row)
std::unique_ptr<QuantisedMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, int threads,
                                                Collective& collective = NoOtherShards());

/// Reads rows first … first + count - 1 back, numbered from 0 in the batches, with lower ends of bins (bin_ends.h) as
/// values. Missing values are not stored.
///
/// Cost    a pass over the bins; 8 bytes for each of at most 2^21 values, or of one row
void VisitLowerEnds(QuantisedMatrix const& matrix, std::uint64_t first, std::uint64_t count, int threads,
                    std::function<void(RowBatch const&)> const& visit);

}  // namespace host
}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_MATRIX_H_
