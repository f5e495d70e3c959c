/// Copies of the user's rows. A HeldMatrix keeps such a copy until stock code asks for pages.
#ifndef XGBGPU_PLUGIN_DATA_HELD_ROWS_H_
#define XGBGPU_PLUGIN_DATA_HELD_ROWS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/buffer.h"
#include "data/array_view.h"
#include "data/in_place_arrays.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// Rows that own their values. No value is infinite. Immutable.
class HeldRows : public RowSource {
 public:
  /// Calls `visit` for batches of `count` rows from row `first` on. A batch's first_row counts from `first`. Missing
  /// values may be stored, as NaN.
  virtual void VisitSome(std::uint64_t first, std::uint64_t count, int threads,
                         std::function<void(RowBatch const&)> const& visit) const = 0;
  /// Returns the number of values that are not missing.
  virtual std::uint64_t present() const = 0;
  /// Returns the bins on a device, if only bins are held: values are then lower ends of bins. Otherwise null.
  virtual std::shared_ptr<Dataset const> bins() const { return nullptr; }
  /// Returns the bins for a training within memory limits. Moves them to pages if they would take more in core.
  virtual std::shared_ptr<Dataset const> BinsWithin(MemoryLimits const&) const { return bins(); }
  /// Returns the rows with these numbers, all of which exist, in the order of the numbers.
  virtual std::unique_ptr<HeldRows> Slice(Span<std::int32_t const> numbers, int threads) const = 0;
};

/// Copies the user's arrays: dense ones as float32, or as they are if they are integers of 1 or 2 bytes; columns as
/// rows of float32; CSR ones as entries. Values equal to `missing`, and NaNs, are missing.
///
/// Returns null for arrays that are left to stock code, which reports what is wrong with them: types other than numbers
/// of 1 to 8 bytes, little-endian (floats: of 4 or 8), no rows or columns, a null address, infinite values, no CSR
/// matrix.
///
/// Memory  4 bytes a value, or 1 or 2; CSR: 8 bytes a stored value, and 8 a row
/// Cost    a pass over the array by `threads` threads; CSR whose values may be missing: two
/// Throws  OutOfHostMemory; dmlc::Error for a text that is no array interface; InvalidArgument for a shape that no
///         memory can have
std::unique_ptr<HeldRows> HoldRows(InPlaceArrays const& arrays, float missing, int threads);

/// Views a dense array of the user that HoldRows would copy as it is: float32, or integers of 1 or 2 bytes, row after
/// row without gaps. The array must outlive it. Values equal to `missing`, and NaNs, are missing.
///
/// Null for other arrays, and for what is left to stock code, as HoldRows says.
///
/// Cost    a pass over the array by `threads` threads
/// Throws  as HoldRows
std::unique_ptr<RowSource> ViewRows(InPlaceArrays const& arrays, float missing, int threads);

/// The arrays of a CSC matrix.
struct CscArrays {
  ArrayView offsets;   ///< [columns + 1]: where the values of each column begin; the last: where they end
  ArrayView numbers;   ///< [stored]: the row of each value
  ArrayView values;    ///< [stored]
  std::uint64_t rows;  ///< 0: not counted
  float missing;       ///< values equal to it are missing, and NaNs
};

/// Reads array interfaces (JSON) of a CSC matrix. Returns nothing where they are left to stock code, as HoldRows says.
/// Throws dmlc::Error for a text that is no array interface.
std::optional<CscArrays> ParseCsc(char const* offsets, char const* numbers, char const* values, std::uint64_t rows,
                                  float missing);

/// Copies the values of a CSC matrix as entries, by rows, each in the order of its columns.
///
/// Null for what is left to stock code: no rows (which it counts), no columns, infinite values.
///
/// Memory  8 bytes a value, and 8 a row
/// Cost    two passes over the arrays by one thread, as in stock code
/// Throws  OutOfHostMemory; InvalidArgument where stock code would read or write what is not of the arrays: a null
///         array, offsets that decrease or end beyond `stored`, a value in a row that does not exist
std::unique_ptr<HeldRows> HoldRows(CscArrays const& arrays);

/// Takes the bytes of an array of float32, [rows, features], NaN where a value is missing. Null if a value is infinite.
std::unique_ptr<HeldRows> HoldRows(Buffer<std::uint8_t> floats, std::uint64_t rows, FeatureIndex features, int threads);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_HELD_ROWS_H_
