/// What the bridge throws: a sentence for the user, which names what was found and what is allowed.
#ifndef XGBGPU_PLUGIN_BRIDGE_ERROR_H_
#define XGBGPU_PLUGIN_BRIDGE_ERROR_H_

#include <stdexcept>

namespace xgbgpu::bridge {

class BridgeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_ERROR_H_
