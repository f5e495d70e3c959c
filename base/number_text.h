/// Reads numbers as the C locale writes them, in any locale of the program.
#ifndef XGBGPU_BASE_NUMBER_TEXT_H_
#define XGBGPU_BASE_NUMBER_TEXT_H_

#include <locale.h>  // NOLINT: newlocale and its relatives are POSIX's
#include <stdlib.h>  // NOLINT

namespace xgbgpu {

/// The locale "C". The program's own locale may have another decimal sign.
inline locale_t CLocale() {
  static locale_t const kLocale = newlocale(LC_ALL_MASK, "C", nullptr);
  return kLocale;
}

/// std::strtof in the locale "C".
inline float TextToFloat(char const* text, char** end) { return strtof_l(text, end, CLocale()); }
/// std::strtod in the locale "C".
inline double TextToDouble(char const* text, char** end) { return strtod_l(text, end, CLocale()); }

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_NUMBER_TEXT_H_
