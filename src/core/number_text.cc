#include "core/number_text.h"

#include <locale.h>  // NOLINT: newlocale and its relatives are POSIX's
#include <stdlib.h>  // NOLINT

namespace xgbgpu {

namespace {

locale_t CLocale() {
  static locale_t const kLocale = newlocale(LC_ALL_MASK, "C", nullptr);
  return kLocale;
}

}  // namespace

float TextToFloat(char const* text, char** end) { return strtof_l(text, end, CLocale()); }
double TextToDouble(char const* text, char** end) { return strtod_l(text, end, CLocale()); }

}  // namespace xgbgpu
