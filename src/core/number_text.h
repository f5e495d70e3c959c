/// Numbers in texts that are the same for every program: in a program that has set a locale the C library's own
/// functions want its decimal sign.
#ifndef XGBGPU_CORE_NUMBER_TEXT_H_
#define XGBGPU_CORE_NUMBER_TEXT_H_

namespace xgbgpu {

/// These read a number as std::strtof and std::strtod do in the locale "C".
float TextToFloat(char const* text, char** end);
double TextToDouble(char const* text, char** end);

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_NUMBER_TEXT_H_
