/// Error texts: Throw<InvalidArgument>("max_bin is ", value, "; allowed: 2 to 65535").
#ifndef XGBGPU_CORE_MESSAGE_H_
#define XGBGPU_CORE_MESSAGE_H_

#include <sstream>

#include "xgbgpu/error.h"

namespace xgbgpu {

template <typename Exception, typename... Parts>
[[noreturn]] void Throw(Parts const&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Exception{text.str()};
}

}  // namespace xgbgpu

#endif  // XGBGPU_CORE_MESSAGE_H_
