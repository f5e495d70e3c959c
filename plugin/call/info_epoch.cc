// Holds the epoch of labels that all threads share.
#include "call/info_epoch.h"

#include <atomic>
#include <cstdint>

#include "call/call_state.h"

namespace xgbgpu::plugin {

namespace {

std::atomic<std::uint64_t> epoch{0};

}  // namespace

EpochScope::EpochScope() { ++epoch; }
EpochScope::~EpochScope() { ++epoch; }

DataEpoch KnownEpoch() { return CurrentApiCall() == ApiCall::kOther ? DataEpoch{} : DataEpoch{epoch}; }

}  // namespace xgbgpu::plugin
