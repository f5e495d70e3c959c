// Writes messages to standard error with the time of day.
#include "log.h"

#include <cstdio>
#include <ctime>

#include "base/quoted.h"

namespace xgbgpu::cli {

void Log(std::string const& message) {
  std::time_t const now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::fprintf(stderr, "[%02d:%02d:%02d] %s\n", local.tm_hour, local.tm_min, local.tm_sec,
               Escaped(message, std::string::npos, "\n\t").c_str());
}

}  // namespace xgbgpu::cli
