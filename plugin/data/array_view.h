/// Reads and writes XGBoost's array interface (JSON), which describes arrays of the user.
#ifndef XGBGPU_PLUGIN_DATA_ARRAY_VIEW_H_
#define XGBGPU_PLUGIN_DATA_ARRAY_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace xgboost {
class Json;
}

namespace xgbgpu::plugin {

/// An array that an array interface describes.
struct ArrayView {
  char const* data;
  std::string type;  ///< kind and bytes of a value, as in "f4"
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< bytes

  template <typename T>
  T Read(std::int64_t offset) const {
    T value;
    std::memcpy(&value, data + offset, sizeof(T));
    return value;
  }
};

/// Returns the numbers of a JSON array. Throws dmlc::Error if `array` is no array or a member is no integer.
std::vector<std::int64_t> Integers(xgboost::Json const& array);

/// Reads an array interface (JSON). Returns nothing for an interface that stock code refuses: missing members, another
/// number of dimensions, a mask, a stream, another byte order, a misaligned address, a newer version. Throws
/// dmlc::Error if the text is no JSON object, or a member has another type.
std::optional<ArrayView> ParseArray(char const* interface, std::size_t dimensions);

/// Returns true if value i is present. `bits` has a bit for each value, the lowest bit of a byte first.
inline bool IsPresent(std::uint8_t const* bits, std::size_t i) { return ((bits[i / 8] >> (i % 8)) & 1) != 0; }

/// A column of a table. Values may be missing.
struct ColumnView {
  ArrayView values;             ///< of one dimension
  std::uint8_t const* present;  ///< bits for IsPresent; null: all values are present

  bool has(std::size_t i) const { return present == nullptr || IsPresent(present, i); }
};

/// Reads a list of array interfaces (JSON), one for each column. Returns nothing if stock code is to read the list:
/// columns with categories, of different lengths, or of a type that HasKnownType does not know. Throws as ParseArray.
std::optional<std::vector<ColumnView>> ParseColumns(char const* interfaces);

/// Returns the array interface of a contiguous row-major array. `type`: "<f4", for instance.
std::string ArrayText(void const* data, std::string const& type, std::vector<std::uint64_t> const& shape);
inline std::string ArrayText(float const* data, std::vector<std::uint64_t> const& shape) {
  return ArrayText(data, "<f4", shape);
}
inline std::string ArrayText(std::uint32_t const* data, std::vector<std::uint64_t> const& shape) {
  return ArrayText(data, "<u4", shape);
}
inline std::string ArrayText(std::uint64_t const* data, std::vector<std::uint64_t> const& shape) {
  return ArrayText(data, "<u8", shape);
}

/// Calls use(value) with a value of the type. Returns false if the type is not in the list.
template <typename Use>
bool WithType(std::string const& type, Use&& use) {
  auto const is = [&](char const* name, auto value) {
    bool const found = type == name;
    if (found) use(value);
    return found;
  };
  return is("f4", float{}) || is("f8", double{}) || is("i1", std::int8_t{}) || is("i2", std::int16_t{}) ||
         is("i4", std::int32_t{}) || is("i8", std::int64_t{}) || is("u1", std::uint8_t{}) ||
         is("u2", std::uint16_t{}) || is("u4", std::uint32_t{}) || is("u8", std::uint64_t{});
}

inline bool HasKnownType(ArrayView const& array) {
  return WithType(array.type, [](auto) {});
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_ARRAY_VIEW_H_
