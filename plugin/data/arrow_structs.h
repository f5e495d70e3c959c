/// The three structures of the Arrow C data and stream interfaces, as its specification lays them out. A producer fills
/// them. Their holder calls `release` once, with the structure itself. A null `release` says that nothing is held.
/// From  https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html
#ifndef XGBGPU_PLUGIN_DATA_ARROW_STRUCTS_H_
#define XGBGPU_PLUGIN_DATA_ARROW_STRUCTS_H_

#include <cstdint>

namespace xgbgpu::plugin::arrow {

/// The type of a column; of a table, whose columns are its children.
struct Schema {
  char const* format;    ///< "l" is int64, "+s" a table, …
  char const* name;      ///< may be null
  char const* metadata;  ///< may be null
  std::int64_t flags;
  std::int64_t n_children;
  Schema** children;
  Schema* dictionary;  ///< type of the dictionary's values, which the column's integers index; null: no dictionary
  void (*release)(Schema*);
  void* private_data;
};

/// Values of a column, or rows of a table. The length of a buffer follows from `offset` and `length` alone.
struct Array {
  std::int64_t length;
  std::int64_t null_count;  ///< -1: not counted
  std::int64_t offset;      ///< elements of the buffers, and of the children, before the first
  std::int64_t n_buffers;
  std::int64_t n_children;
  void const** buffers;  ///< the first is a bitmap of elements that are there, or null
  Array** children;
  Array* dictionary;
  void (*release)(Array*);
  void* private_data;
};

/// A sequence of arrays of one type. Functions return 0, or an errno.
struct Stream {
  int (*get_schema)(Stream*, Schema* out);
  int (*get_next)(Stream*, Array* out);  ///< at the end `out` is an array with a null `release`
  char const* (*get_last_error)(Stream*);
  void (*release)(Stream*);
  void* private_data;
};

}  // namespace xgbgpu::plugin::arrow

#endif  // XGBGPU_PLUGIN_DATA_ARROW_STRUCTS_H_
