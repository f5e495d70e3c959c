// Copies arrays of the user to arrays without gaps whose bytes are in this machine's order.
#include "data/plain_array.h"

#include <xgboost/json.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <vector>

#include "base/message.h"
#include "data/array_view.h"
#include "errors/notice.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// An array of integers or floats.
struct Numbers {
  char const* data;
  std::string type;   ///< ">f4"
  std::size_t bytes;  ///< of a number
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< bytes

  bool is_swapped() const { return type[0] == '>' && bytes > 1; }
};

/// Returns the bytes that the numbers take without gaps, and sets `strides` to the strides of an array without gaps.
std::size_t WithoutGaps(Numbers const& numbers, std::vector<std::int64_t>* strides) {
  auto size = static_cast<std::int64_t>(numbers.bytes);
  bool overflows = false;
  strides->resize(numbers.shape.size());
  for (std::size_t d = numbers.shape.size(); d-- > 0;) {
    (*strides)[d] = size;
    overflows |= __builtin_mul_overflow(size, numbers.shape[d], &size);
  }
  if (overflows) {
    std::string shape;
    for (std::int64_t const length : numbers.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(length);
    Throw<InvalidArgument>("An array of type ", Quoted(numbers.type), " has the shape [", shape,
                           "]; allowed: fewer than 2^63 bytes");
  }
  return static_cast<std::size_t>(size);
}

/// Returns nothing for what is left to stock code.
std::optional<Numbers> Parse(char const* interface) {
  xgboost::Json json = xgboost::Json::Load(xgboost::StringView{interface});
  if (xgboost::IsA<xgboost::Array>(json)) {
    auto const& list = xgboost::get<xgboost::Array const>(json);
    if (list.size() != 1) return {};
    json = xgboost::Json{list[0]};
  }
  auto const& members = xgboost::get<xgboost::Object const>(json);
  auto const has = [&](char const* name) {
    auto const found = members.find(name);
    return found != members.cend() && !xgboost::IsA<xgboost::Null>(found->second);
  };
  if (!has("data") || !has("shape") || !has("typestr") || has("mask") || has("stream")) return {};
  Numbers numbers{nullptr, xgboost::get<xgboost::String const>(json["typestr"]), 0, Integers(json["shape"]), {}};
  if (numbers.type.size() < 3 || std::strchr("fiu", numbers.type[1]) == nullptr) return {};
  for (std::size_t const bytes : {1, 2, 4, 8, 16}) {
    if (numbers.type.substr(2) == std::to_string(bytes)) numbers.bytes = bytes;
  }
  bool const has_values = !numbers.shape.empty() && std::all_of(numbers.shape.cbegin(), numbers.shape.cend(),
                                                                [](std::int64_t n) { return n > 0; });
  auto const& data = xgboost::get<xgboost::Array const>(json["data"]);
  if (numbers.bytes == 0 || !has_values || data.empty()) return {};
  numbers.data =
      reinterpret_cast<char const*>(static_cast<std::uintptr_t>(xgboost::get<xgboost::Integer const>(data[0])));
  WithoutGaps(numbers, &numbers.strides);
  if (has("strides")) numbers.strides = Integers(json["strides"]);
  if (numbers.data == nullptr || numbers.strides.size() != numbers.shape.size()) return {};
  return numbers;
}

template <std::size_t kBytes>
void CopyLine(char const* from, std::int64_t stride, std::int64_t n, bool swaps, char* to) {
  for (std::int64_t i = 0; i < n; ++i, from += stride, to += kBytes) {
    if (swaps) {
      std::reverse_copy(from, from + kBytes, to);
    } else {
      std::copy(from, from + kBytes, to);
    }
  }
}

void CopyLine(Numbers const& numbers, char const* from, char* to) {
  auto const copy = [&](auto line) {
    line(from, numbers.strides.back(), numbers.shape.back(), numbers.is_swapped(), to);
  };
  switch (numbers.bytes) {
    case 1:
      return copy(CopyLine<1>);
    case 2:
      return copy(CopyLine<2>);
    case 4:
      return copy(CopyLine<4>);
    case 8:
      return copy(CopyLine<8>);
    default:
      return copy(CopyLine<16>);
  }
}

/// Writes the numbers from `from` on, of the dimensions from `dimension` on, without gaps. `strides`: the copy's.
void Copy(Numbers const& numbers, std::vector<std::int64_t> const& strides, std::size_t dimension, char const* from,
          char* to) {
  if (dimension + 1 == numbers.shape.size()) return CopyLine(numbers, from, to);
  for (std::int64_t i = 0; i < numbers.shape[dimension]; ++i) {
    Copy(numbers, strides, dimension + 1, from + i * numbers.strides[dimension], to + i * strides[dimension]);
  }
}

/// Returns whether the numbers lie otherwise than in an array with `strides`.
bool HasGaps(Numbers const& numbers, std::vector<std::int64_t> const& strides) {
  for (std::size_t d = 0; d < strides.size(); ++d) {
    if (numbers.shape[d] > 1 && numbers.strides[d] != strides[d]) return true;
  }
  return false;
}

/// Stock code takes the first digit of the type for the size of a number, by which it divides strides.
constexpr std::size_t kMostBytesWithGaps = 8;

/// Returns true if the text says that there are strides.
bool NamesStrides(char const* interface) {
  constexpr char kName[] = "\"strides\"";
  char const* const name = std::strstr(interface, kName);
  if (name == nullptr) return false;
  char const* const value = name + std::strlen(kName);
  return value[std::strspn(value, ": \t\r\n")] != 'n';  // null
}

/// Returns whether the interface may be of an array that is copied. Most are not, and predictions of few rows do not
/// wait for a parser.
bool MayBeCopied(char const* interface, Gaps gaps) {
  if (interface == nullptr) return false;
  bool const may_need_none = gaps == Gaps::kNone || std::strstr(interface, "f16") != nullptr;
  return std::strpbrk(interface, ">\\") != nullptr || (may_need_none && NamesStrides(interface));
}

}  // namespace

PlainArray::PlainArray(char const* interface, Gaps gaps) : given_{interface} {
  if (!MayBeCopied(interface, gaps)) return;
  std::optional<Numbers> numbers;
  try {
    numbers = Parse(interface);
  } catch (InvalidArgument const&) {
    throw;
  } catch (std::exception const&) {  // stock code has the words for what is no interface
  }
  if (!numbers) return;
  std::vector<std::int64_t> strides;
  std::size_t const bytes = WithoutGaps(*numbers, &strides);
  bool const may_have_gaps = gaps == Gaps::kAllowed && numbers->bytes <= kMostBytesWithGaps;
  if (!numbers->is_swapped() && (may_have_gaps || !HasGaps(*numbers, strides))) return;
  copy_ = Buffer<char>{bytes};
  Copy(*numbers, strides, 0, numbers->data, copy_.data());
  text_ = ArrayText(copy_.data(), '<' + numbers->type.substr(1), {numbers->shape.cbegin(), numbers->shape.cend()});
  if (!numbers->is_swapped()) return;
  WarnOnce("byte order", "an array of type " + numbers->type +
                             " has its bytes in the other order: its numbers are read, for all methods. XGBoost alone "
                             "reads the bytes as they lie");
}

PlainArrays::PlainArrays(InPlaceArrays const& given)
    : values_{given.values, given.indptr == nullptr ? Gaps::kAllowed : Gaps::kNone},
      indptr_{given.indptr, Gaps::kNone},
      indices_{given.indices, Gaps::kNone},
      columns_{given.columns} {}

InPlaceArrays PlainArrays::arrays() const { return {values_.text(), indptr_.text(), indices_.text(), columns_}; }

}  // namespace xgbgpu::plugin
