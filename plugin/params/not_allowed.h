/// The error of a parameter's value.
#ifndef XGBGPU_PLUGIN_PARAMS_NOT_ALLOWED_H_
#define XGBGPU_PLUGIN_PARAMS_NOT_ALLOWED_H_

#include <string>

#include "base/message.h"
#include "base/quoted.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

/// Throws InvalidArgument, which names parameter, value and what is allowed.
[[noreturn]] inline void NotAllowed(std::string const& name, std::string const& value, std::string const& allowed) {
  Throw<InvalidArgument>("Parameter ", name, " is ", Quoted(value), "; allowed: ", allowed);
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_NOT_ALLOWED_H_
