/// Messages on standard error.
#ifndef XGBGPU_CLI_LOG_H_
#define XGBGPU_CLI_LOG_H_

#include <string>

namespace xgbgpu::cli {

/// Prints `[HH:MM:SS] message` to standard error, as XGBoost does; control characters of names in it are escaped.
void Log(std::string const& message);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_LOG_H_
