/// Reads sizes of memory as users write them.
#ifndef XGBGPU_BASE_MEMORY_TEXT_H_
#define XGBGPU_BASE_MEMORY_TEXT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/number_text.h"

namespace xgbgpu {

/// Texts that TextToBytes reads, for messages.
constexpr char kMemoryTexts[] =
    "0, or 1 byte to 1024TiB: bytes, or a number with KB, MB, GB, TB, or with KiB, MiB, GiB, TiB (K or Ki means KiB, "
    "and "
    "so on), such as 16GiB or 1.5 GB";

namespace internal {

/// Returns the bytes of a unit in small letters, or 0 if the unit is unknown.
inline double BytesOfUnit(std::string const& unit) {
  if (unit.empty() || unit == "b") return 1;
  std::size_t const power = std::string{"kmgt"}.find(unit[0]);
  std::string const rest = unit.substr(1);
  bool const is_binary = rest.empty() || rest == "i" || rest == "ib";
  if (power == std::string::npos || (!is_binary && rest != "b")) return 0;
  double bytes = 1;
  for (std::size_t i = 0; i <= power; ++i) bytes *= is_binary ? 1024 : 1000;
  return bytes;
}

}  // namespace internal

/// Returns the bytes that `text` means, rounded down, or nothing if kMemoryTexts does not cover it. Units may be in
/// small letters. The unit of bytes is B or empty. A size above 0 never becomes 0.
inline std::optional<std::uint64_t> TextToBytes(std::string const& text) {
  constexpr char kDigits[] = "0123456789";
  std::size_t const digits = std::min(text.find_first_not_of(kDigits), text.size());
  std::size_t end = digits;
  if (digits != 0 && end < text.size() && text[end] == '.') {
    end = std::min(text.find_first_not_of(kDigits, digits + 1), text.size());
  }
  if (digits == 0 || text[end - 1] == '.') return {};
  std::string unit = text.substr(std::min(text.find_first_not_of(' ', end), text.size()));
  unit.erase(unit.find_last_not_of(' ') + 1);
  for (char& c : unit) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  double const unit_bytes = internal::BytesOfUnit(unit);
  if (unit_bytes == 0) return {};
  if (text.find_first_not_of("0.") >= end) return 0;
  constexpr double kMost = 0x1p50;  // less than 2^53: every number of bytes is exact
  double const bytes = TextToDouble(text.substr(0, end).c_str(), nullptr) * unit_bytes;
  if (!(bytes >= 1 && bytes <= kMost)) return {};
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_MEMORY_TEXT_H_
