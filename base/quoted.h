/// Escapes users' texts in messages: no byte is a command to a terminal, and no text floods the log.
#ifndef XGBGPU_BASE_QUOTED_H_
#define XGBGPU_BASE_QUOTED_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace xgbgpu {

/// Returns the size in bytes of the first UTF-8 character of `text`, and its number; 0 if `text` begins with none.
inline std::size_t FirstCharacter(std::string_view text, char32_t* number) {
  auto const first = static_cast<unsigned char>(text[0]);
  std::size_t const size = first < 0x80         ? 1
                           : first >> 5 == 0x6  ? 2
                           : first >> 4 == 0xe  ? 3
                           : first >> 3 == 0x1e ? 4
                                                : 0;
  if (size == 0 || size > text.size()) return 0;
  *number = size == 1 ? first : first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    auto const byte = static_cast<unsigned char>(text[i]);
    if (byte >> 6 != 0x2) return 0;
    *number = *number << 6 | (byte & 0x3fU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool const is_surrogate = *number >= 0xd800 && *number <= 0xdfff;
  return *number < kSmallest[size] || is_surrogate || *number > 0x10ffff ? 0 : size;
}

/// Returns true if a terminal obeys the character, or displays later characters elsewhere, instead of showing it.
inline bool IsControl(char32_t number) {
  bool const turns = (number >= 0x200e && number <= 0x200f) || (number >= 0x2028 && number <= 0x202e) ||
                     (number >= 0x2066 && number <= 0x2069);  // the direction of text, or its lines
  return number < 0x20 || (number >= 0x7f && number <= 0x9f) || turns;
}

/// Returns the first `most` characters of a text. Control characters become
/// , \t, \r, or \x1b and the like, as do bytes that are not UTF-8. Control characters in `kept` stay. A backslash
/// stays, so a text may be escaped twice. A cut text ends with its full length.
inline std::string Escaped(std::string_view text, std::size_t most, std::string_view kept = {}) {
  std::string out;
  std::string_view rest = text;
  for (std::size_t shown = 0; !rest.empty(); ++shown) {
    if (shown == most) return out + "… (" + std::to_string(text.size()) + " bytes)";
    char32_t number = 0;
    std::size_t const size = FirstCharacter(rest, &number);
    bool const is_plain = size != 0 && (!IsControl(number) || kept.find(rest[0]) != std::string_view::npos);
    std::string_view const character = rest.substr(0, size == 0 ? 1 : size);
    rest.remove_prefix(character.size());
    if (is_plain) {
      out += character;
    } else if (character == "\n" || character == "\t" || character == "\r") {
      out += character == "\n" ? "\\n" : character == "\t" ? "\\t" : "\\r";
    } else {
      for (char const c : character) {
        constexpr char kDigits[] = "0123456789abcdef";
        auto const byte = static_cast<unsigned char>(c);
        (out += "\\x") += {kDigits[byte >> 4], kDigits[byte & 0xf]};
      }
    }
  }
  return out;
}

/// Returns a user's text between quotes: at most 80 characters.
inline std::string Quoted(std::string_view text) { return '\'' + Escaped(text, 80) + '\''; }

/// Returns the escaped name of a file, never cut: no file has a longer name.
inline std::string EscapedName(std::string_view name) { return Escaped(name, 4096); }

/// Returns EscapedName(name) between quotes.
inline std::string QuotedName(std::string_view name) { return '\'' + EscapedName(name) + '\''; }

/// Returns a message of another program, which may quote its input. Lines and tabs stay.
inline std::string EscapedMessage(std::string_view message) { return Escaped(message, 8192, "\n\t"); }

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_QUOTED_H_
