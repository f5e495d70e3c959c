/// Copies arrays of the user that stock code would read as other numbers. It reads the copies correctly.
#ifndef XGBGPU_PLUGIN_DATA_PLAIN_ARRAY_H_
#define XGBGPU_PLUGIN_DATA_PLAIN_ARRAY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/buffer.h"
#include "data/in_place_arrays.h"
#include "errors/fail.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

/// Whether there may be gaps between the values of an array.
enum class Gaps {
  kAllowed,
  kNone,  ///< for arrays of a CSR matrix: stock code reads them as contiguous
};

/// An array interface that stock code reads correctly. It describes a copy if the array has the other byte order (a
/// line says so once), or has gaps where stock code allows none. Otherwise it is the given interface.
class PlainArray {
 public:
  /// `interface`: JSON of one array in the host's memory, or a list with one; it must outlive this. A text that is no
  /// interface, an array with a mask, and an array of other types than integers and floats stay as they are: stock code
  /// reports what is wrong with them.
  ///
  /// Cost    of a copy: a pass over the array by one thread
  /// Throws  OutOfHostMemory; InvalidArgument for a shape that no memory can have
  explicit PlainArray(char const* interface, Gaps gaps = Gaps::kAllowed);

  char const* text() const { return text_.empty() ? given_ : text_.c_str(); }
  bool is_copy() const { return !text_.empty(); }

 private:
  char const* given_;
  std::string text_;
  Buffer<char> copy_;
};

/// The array of a dense matrix, or the three arrays of a CSR matrix.
class PlainArrays {
 public:
  explicit PlainArrays(InPlaceArrays const& given);

  /// Points to this object.
  InPlaceArrays arrays() const;
  bool has_copy() const { return values_.is_copy() || indptr_.is_copy() || indices_.is_copy(); }

 private:
  PlainArray values_, indptr_, indices_;
  std::uint64_t columns_;
};

/// Calls use(the arrays for stock code) and returns its status; -1 if there is no memory for a copy.
template <typename Use>
int WithPlainArrays(InPlaceArrays const& given, Use&& use) {
  if (!WhyNotRegistered().empty()) return use(given);
  std::optional<PlainArrays> plain;
  bool const passes = Passes("copying an array", [&] { plain.emplace(given); });
  return passes ? use(plain->arrays()) : -1;
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_PLAIN_ARRAY_H_
