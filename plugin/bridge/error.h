/// The bridge's exception: a sentence for the user, with the finding and what is allowed.
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
