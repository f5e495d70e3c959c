/// Tables of polars, pyarrow and others, handed over by the Arrow C data interface, as arrays of rows.
#ifndef XGBGPU_PLUGIN_DATA_ARROW_COLUMNS_H_
#define XGBGPU_PLUGIN_DATA_ARROW_COLUMNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "data/arrow_structs.h"

namespace xgbgpu::plugin {

/// Treatment of columns that are encoded by a dictionary.
enum class Categories : std::uint8_t {
  kAllowed,     ///< the values' numbers in the dictionary
  kNotEnabled,  ///< an error that names enable_categorical
  kNever,       ///< an error: labels and weights are numbers
};

/// Types of columns, in the words of XGBoost's feature types.
enum class ColumnType : std::uint8_t { kInteger, kReal, kTruth, kCategory };
char const* NameOf(ColumnType type);  ///< "int", "float", "i" or "c"

/// A table as an array, row by row; NaN where a value is null.
template <typename Value>
struct RowTable {
  std::uint64_t rows{0};
  std::vector<std::string> names;  ///< [columns]
  std::vector<ColumnType> types;   ///< [columns]
  Buffer<std::uint8_t> bytes;      ///< of [rows, columns] values

  Value* values() const { return reinterpret_cast<Value*>(bytes.data()); }
};

/// Reads a stream to its end, and releases it, also after an error. Its structure then says that it is released.
/// Integers, floats of 2, 4 and 8 bytes and truth values are rounded to Value once. A category is the number of its
/// value in the dictionary of the first batch. Values of later dictionaries alone get the next numbers, in the order in
/// which they come. With `one_column` a stream of plain arrays is a table of one column.
///
/// Cost    every buffer is read once, and the array is written once, by all threads
/// Value   float, double
/// Throws  InvalidArgument: a column of another type, more than 2^24 categories; a producer's error; structures that do
///         not follow the interface, as far as that can be seen: a buffer's length cannot be asked
template <typename Value>
RowTable<Value> ReadArrowStream(arrow::Stream* stream, Categories categories, bool one_column, int threads);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_ARROW_COLUMNS_H_
