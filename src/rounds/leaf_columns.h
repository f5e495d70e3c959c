/// Stage R for boosters whose trees change their weights from round to round (dart).
#ifndef XGBGPU_ROUNDS_LEAF_COLUMNS_H_
#define XGBGPU_ROUNDS_LEAF_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "xgbgpu/span.h"

namespace xgbgpu {

/// What every tree gives every row of one data set, a column of [rows] for each tree, and margins that are their sum
/// with weights. docs/adr/0015-dart-rounds.md
///
/// Memory  4 bytes for each row and tree, and 8 for each margin
class LeafColumns {
 public:
  virtual ~LeafColumns() = default;

  virtual std::uint64_t rows() const = 0;
  virtual std::uint32_t outputs() const = 0;  ///< margins of a row: classes, or targets

  /// Margins [rows × outputs], row-major, of a model without trees; columns that there were are forgotten. Waits.
  virtual void BeginColumns(Span<float const> base) = 0;
  /// Frees all of it: there are no columns then until BeginColumns.
  virtual void EndColumns() = 0;
  virtual bool has_columns() const = 0;

  // The others only while has_columns().

  virtual std::size_t columns() const = 0;
  /// Takes the memory of so many more columns. False if too little would be left for others: nothing has changed then.
  virtual bool ReserveColumns(std::size_t more) = 0;
  /// The next tree, of this output: its leaf value for every row. Waits.
  virtual void AddColumn(Span<float const> values, std::uint32_t output) = 0;
  /// Margins become base + w0 c0 + w1 c1 + … in this order, each product and each sum rounded to float; columns with
  /// weight 0 are left out. One weight for each column. Costs nothing for weights that the margins have already, and
  /// only the new columns if those are all that is missing.
  virtual void WeighColumns(Span<float const> weights) = 0;
  /// Margins, row-major, as weighed last. Waits.
  virtual void CopyMargins(Span<float> margins) const = 0;
};

namespace host {

/// Columns that lie in memory of the host.
class FillableColumns : public LeafColumns {
 public:
  /// The column of the next tree, zeros, to be filled by the caller.
  virtual Span<float> NextColumn(std::uint32_t output) = 0;
};

std::unique_ptr<FillableColumns> MakeLeafColumns(std::uint64_t rows, std::uint32_t outputs, int threads);

}  // namespace host

/// Throws InvalidArgument unless there is one weight for each column.
void CheckColumnWeights(std::size_t weights, std::size_t columns);
/// The column from which on the sum has to go on to have these weights, if it has those `applied`; 0: from the base.
std::size_t FirstColumnToAdd(Span<float const> weights, Span<float const> applied);

}  // namespace xgbgpu

#endif  // XGBGPU_ROUNDS_LEAF_COLUMNS_H_
