/// Leaf values of every tree and row, for the margins of a dart. The weights of its trees change in every round.
#ifndef XGBGPU_LEAF_COLUMNS_H_
#define XGBGPU_LEAF_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "xgbgpu/api.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// One column a tree, with the tree's leaf value for each row of a data set, and margins: weighted sums of columns.
/// docs/adr/0015-dart-rounds.md
///
/// Memory  4 bytes for each row and tree, and 8 for each margin
class LeafColumns {
 public:
  virtual ~LeafColumns() = default;

  virtual std::uint64_t rows() const = 0;
  virtual std::uint32_t outputs() const = 0;  ///< margins a row: classes or targets

  /// Begins with the base margins [rows, outputs], row-major, and without columns. Waits.
  virtual void BeginColumns(Span<float const> base) = 0;
  /// Frees all memory. has_columns() is false until BeginColumns.
  virtual void EndColumns() = 0;
  virtual bool has_columns() const = 0;

  // The calls below need has_columns().

  virtual std::size_t columns() const = 0;
  /// Takes memory for `more` columns. Returns false, and takes none, if too little memory would be left.
  virtual bool ReserveColumns(std::size_t more) = 0;
  /// Adds the column of the next tree, for one output. `values` [rows] are leaf values. Waits.
  virtual void AddColumn(Span<float const> values, std::uint32_t output) = 0;
  /// Sets margins to base + w0 c0 + w1 c1 + …, in this order, each product and each sum rounded to float. Columns of
  /// weight 0 are skipped. `weights` [columns]. Cost: only new columns are read if all earlier weights are unchanged,
  /// and none if all weights are.
  virtual void WeighColumns(Span<float const> weights) = 0;
  /// Copies the margins of the last WeighColumns to `margins` [rows, outputs], row-major. Waits.
  virtual void CopyMargins(Span<float> margins) const = 0;
};

namespace host {

/// Columns in host memory, which the caller may fill in place.
class FillableColumns : public LeafColumns {
 public:
  /// Adds the column [rows] of the next tree and returns it. It is zero until the caller fills it.
  virtual Span<float> NextColumn(std::uint32_t output) = 0;
};

/// Makes columns for `rows` rows of `outputs` outputs.
XGBGPU_API std::unique_ptr<FillableColumns> MakeLeafColumns(std::uint64_t rows, std::uint32_t outputs, int threads);

}  // namespace host

}  // namespace xgbgpu

#endif  // XGBGPU_LEAF_COLUMNS_H_
