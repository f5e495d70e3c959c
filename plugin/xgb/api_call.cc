// Which C function runs on each thread, as functions in front note it.
#include "xgb/api_call.h"

#include <atomic>
#include <utility>

namespace xgbgpu::plugin {

namespace {

thread_local ApiCall current_call = ApiCall::kOther;
thread_local std::uint64_t evaluated_matrices = 0;
thread_local InPlaceArrays const* current_arrays = nullptr;
std::atomic<std::uint64_t> epoch{0};

}  // namespace

ApiCall CurrentApiCall() { return current_call; }
std::uint64_t EvaluatedMatrices() { return evaluated_matrices; }
InPlaceArrays const* CurrentInPlaceArrays() { return current_arrays; }
std::uint64_t MetaInfoEpoch() { return epoch; }

ApiCallScope::ApiCallScope(ApiCall call, std::uint64_t matrices)
    : outer_{std::exchange(current_call, call)}, outer_matrices_{std::exchange(evaluated_matrices, matrices)} {}
ApiCallScope::~ApiCallScope() {
  current_call = outer_;
  evaluated_matrices = outer_matrices_;
}

InPlaceScope::InPlaceScope(InPlaceArrays const* arrays) : outer_{std::exchange(current_arrays, arrays)} {}
InPlaceScope::~InPlaceScope() { current_arrays = outer_; }

EpochScope::EpochScope() { ++epoch; }
EpochScope::~EpochScope() { ++epoch; }

}  // namespace xgbgpu::plugin
