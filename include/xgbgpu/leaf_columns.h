/// Leaf values of every tree and row: margins of a dart, whose trees change their weights from round to round.
#ifndef XGBGPU_LEAF_COLUMNS_H_
#define XGBGPU_LEAF_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "xgbgpu/span.h"

namespace xgbgpu {

/// A column for each tree, which holds what the tree gives every row of one data set, and margins that are sums of the
/// columns with weights. docs/adr/0015-dart-rounds.md
///
/// Memory  4 bytes for each row and tree, and 8 for each margin
class LeafColumns {
 public:
  virtual ~LeafColumns() = default;

  virtual std::uint64_t rows() const = 0;
  virtual std::uint32_t outputs() const = 0;  ///< margins of a row: classes, or targets

  /// Begins with the margins of a model without trees, [rows × outputs], row-major; forgets the columns that there
  /// were. Waits.
  virtual void BeginColumns(Span<float const> base) = 0;
  /// Frees all memory. There are no columns then until BeginColumns.
  virtual void EndColumns() = 0;
  virtual bool has_columns() const = 0;

  // The following may be called only while has_columns().

  virtual std::size_t columns() const = 0;
  /// Takes memory for so many more columns. Returns false, and takes none, if too little would be left for others.
  virtual bool ReserveColumns(std::size_t more) = 0;
  /// Adds the column of the next tree, which belongs to this output. `values` are its leaf values [rows]. Waits.
  virtual void AddColumn(Span<float const> values, std::uint32_t output) = 0;
  /// Margins become base + w0 c0 + w1 c1 + … in this order, each product and each sum rounded to float; columns with
  /// weight 0 are left out. There is one weight for each column. It costs nothing if the margins have these weights
  /// already, and reads only the new columns if those are all that is missing.
  virtual void WeighColumns(Span<float const> weights) = 0;
  /// Copies the margins, row-major, as they were weighed last. Waits.
  virtual void CopyMargins(Span<float> margins) const = 0;
};

namespace host {

/// Columns in memory of the host, which the caller may fill where they lie.
class FillableColumns : public LeafColumns {
 public:
  /// Adds the column of the next tree, which is all zeros until the caller fills it.
  virtual Span<float> NextColumn(std::uint32_t output) = 0;
};

std::unique_ptr<FillableColumns> MakeLeafColumns(std::uint64_t rows, std::uint32_t outputs, int threads);

}  // namespace host

}  // namespace xgbgpu

#endif  // XGBGPU_LEAF_COLUMNS_H_
