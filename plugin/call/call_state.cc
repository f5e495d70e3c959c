// Holds the only variable that each thread has for itself.
#include "call/call_state.h"

namespace xgbgpu::plugin {

CallState& CallState::OfThisThread() {
  static thread_local CallState state;
  return state;
}

}  // namespace xgbgpu::plugin
