/// The line between our exceptions and XGBoost's: where the engine's exceptions become errors that XGBoost knows.
#ifndef XGBGPU_PLUGIN_ERRORS_BOUNDARY_H_
#define XGBGPU_PLUGIN_ERRORS_BOUNDARY_H_

#include <dmlc/logging.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/host_memory.h"
#include "call/call_state.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

/// Runs `body`; whatever it throws leaves as dmlc::Error, which XGBoost's C API reports as XGBoostError. A refusal is
/// noted in the thread's CallState.
/// `doing` completes "out of memory while …".
template <typename Body>
auto AtBoundary(char const* doing, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (dmlc::Error const&) {
    throw;  // XGBoost's own, for instance from a page iterator
  } catch (DeviceError const& e) {
    throw dmlc::Error{e.what()};
  } catch (Error const& e) {
    CallState::OfThisThread().refusal = e.what();
    throw dmlc::Error{e.what()};
  } catch (OutOfHostMemory const& e) {
    std::string const purpose = e.purpose() == nullptr ? "" : std::string{" for "} + e.purpose();
    throw dmlc::Error{std::string{"xgboost-gpu: out of memory while "} + doing + ": the system refuses " +
                      std::to_string(e.bytes()) + " bytes" + purpose};
  } catch (std::bad_alloc const&) {
    throw dmlc::Error{std::string{"xgboost-gpu: out of memory while "} + doing +
                      ": XGBoost's own code asked for memory, and does not say how much"};
  } catch (std::exception const& e) {
    throw dmlc::Error{std::string{"xgboost-gpu: internal error while "} + doing + ": " + e.what()};
  }
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_ERRORS_BOUNDARY_H_
