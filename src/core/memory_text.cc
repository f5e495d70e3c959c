#include "core/memory_text.h"

#include <algorithm>
#include <cstddef>

#include "core/number_text.h"

namespace xgbgpu {

namespace {

/// Bytes of a unit in small letters, or 0 if there is none of this name.
double BytesOf(std::string const& unit) {
  if (unit.empty() || unit == "b") return 1;
  std::size_t const power = std::string{"kmgt"}.find(unit[0]);
  std::string const rest = unit.substr(1);
  bool const is_binary = rest.empty() || rest == "i" || rest == "ib";
  if (power == std::string::npos || (!is_binary && rest != "b")) return 0;
  double bytes = 1;
  for (std::size_t i = 0; i <= power; ++i) bytes *= is_binary ? 1024 : 1000;
  return bytes;
}

}  // namespace

std::optional<std::uint64_t> TextToBytes(std::string const& text) {
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
  double const unit_bytes = BytesOf(unit);
  if (unit_bytes == 0) return {};
  if (text.find_first_not_of("0.") >= end) return 0;
  constexpr double kMost = 0x1p50;  // less than 2^53: each number of bytes is exact
  double const bytes = TextToDouble(text.substr(0, end).c_str(), nullptr) * unit_bytes;
  if (!(bytes >= 1 && bytes <= kMost)) return {};
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace xgbgpu
