/// Stands in for the CUDA backend in a build without it.
#include "xgbgpu/encode.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

namespace {

[[noreturn]] void ThrowNoCuda() {
  throw Unsupported{"gpu_backend is cuda, but this build of xgboost-gpu has no CUDA backend; allowed here: host"};
}

}  // namespace

void OrderTargetsOnDevice(CategoryTargets const&, RowOrder const&, StatisticRule const&, double const*, StatisticsView,
                          CategoryTotals, int) {
  ThrowNoCuda();
}
std::uint32_t NumberKeysOnDevice(Span<std::uint64_t const>, std::uint32_t*, int) { ThrowNoCuda(); }

}  // namespace xgbgpu
