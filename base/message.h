/// Makes the texts of errors: Throw<InvalidArgument>("max_bin is ", value, "; allowed: 2 to 65535"). Texts of users go
/// through quoted.h.
#ifndef XGBGPU_BASE_MESSAGE_H_
#define XGBGPU_BASE_MESSAGE_H_

#include <charconv>
#include <locale>
#include <sstream>
#include <string>
#include <type_traits>

#include "base/quoted.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

/// Appends a part of a text. A floating-point number gets the digits that distinguish it from all others, so that a
/// message never says "1 is above 1".
template <typename Part>
void AppendTo(std::ostringstream* text, Part const& part) {
  if constexpr (std::is_floating_point_v<Part>) {
    char digits[32];
    text->write(digits, std::to_chars(digits, digits + sizeof(digits), part).ptr - digits);
  } else {
    *text << part;
  }
}

/// Returns the parts joined to one text, equal in every locale.
template <typename... Parts>
std::string Message(Parts const&... parts) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  (AppendTo(&text, parts), ...);
  return text.str();
}

/// Throws an Exception with the parts joined to one text.
template <typename Exception, typename... Parts>
[[noreturn]] void Throw(Parts const&... parts) {
  throw Exception{Message(parts...)};
}

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_MESSAGE_H_
