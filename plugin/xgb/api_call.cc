// Holds the only variable that each thread has for itself, and the epoch of labels that all threads share.
#include "xgb/api_call.h"

#include <atomic>

namespace xgbgpu::plugin {

namespace {

std::atomic<std::uint64_t> epoch{0};

}  // namespace

CallState& CallState::OfThisThread() {
  static thread_local CallState state;
  return state;
}

EpochScope::EpochScope() { ++epoch; }
EpochScope::~EpochScope() { ++epoch; }

DataEpoch KnownEpoch() { return CurrentApiCall() == ApiCall::kOther ? DataEpoch{} : DataEpoch{epoch}; }

}  // namespace xgbgpu::plugin
