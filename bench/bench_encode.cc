/// Ordered target statistics of one column: seconds from codes and targets, in memory of the host or of the device, to
/// statistics and totals there. The best of several runs.
///
///   build/cuda/bin/bench_encode [--rows=100000000] [--categories=1000000] [--runs=5] [--threads=N: the host instead]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "options.h"
#include "xgbgpu/encode.h"

#if defined(XGBGPU_BENCH_CUDA)
#include "cuda/device.h"
#endif

namespace xgbgpu::bench {
namespace {

struct Sizes {
  std::uint64_t rows{100'000'000};
  std::uint32_t categories{1'000'000};
  int runs{5};
  int threads{0};  ///< 0: the device
};

template <typename Work>
void PrintBest(char const* what, int runs, Work&& work) {
  double best = 1e30;
  for (int run = 0; run < runs; ++run) {
    auto const start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("%-22s %8.4f s\n", what, best);
}

void Run(Sizes const& sizes) {
  Buffer<std::uint32_t> const codes{sizes.rows};
  Buffer<std::uint64_t> const keys{sizes.rows};
  Buffer<std::int64_t> const values{sizes.rows};
  for (std::uint64_t row = 0; row < sizes.rows; ++row) {
    std::uint64_t const mixed = (row + 1) * 0x9E3779B97F4A7C15ULL;
    codes[row] = static_cast<std::uint32_t>((mixed >> 32) % sizes.categories);
    keys[row] = codes[row] * std::uint64_t{1'000'003};
    values[row] = static_cast<std::int64_t>(mixed >> 20) & 1;
  }
  RowOrder const order = ShuffledOrder(sizes.rows, 1, 0);
  StatisticRule const rule{1, 1, 1};
  double const prior = 0.5;
  if (sizes.threads > 0) {
    Buffer<float> const statistics{sizes.rows};
    std::vector<std::int64_t> total_values(sizes.categories), total_weights(sizes.categories);
    CategoryTargets const columns{codes.data(), sizes.rows, sizes.categories, values.data(), 1, nullptr};
    PrintBest("statistics, host", sizes.runs, [&] {
      host::OrderTargets(columns, order, rule, &prior, {statistics.data(), 1},
                         {total_values.data(), total_weights.data()}, sizes.threads);
    });
    Buffer<std::uint32_t> const numbered{sizes.rows};
    PrintBest("codes of keys, host", sizes.runs,
              [&] { host::NumberKeys(keys.span(), numbered.data(), sizes.threads); });
    return;
  }
#if defined(XGBGPU_BENCH_CUDA)
  DeviceArena arena{"The benchmark"};
  auto const device_codes = Upload(&arena, "codes", codes.data(), sizes.rows);
  auto const device_values = Upload(&arena, "values", values.data(), sizes.rows);
  DeviceBuffer<float> const statistics{&arena, "statistics", sizes.rows};
  DeviceBuffer<std::int64_t> const totals{&arena, "totals", 2 * std::size_t{sizes.categories}};
  CategoryTargets const columns{device_codes.data(), sizes.rows, sizes.categories, device_values.data(), 1, nullptr};
  PrintBest("statistics, device", sizes.runs, [&] {
    OrderTargetsOnDevice(columns, order, rule, &prior, {statistics.data(), 1},
                         {totals.data(), totals.data() + sizes.categories}, 0);
  });
  auto const device_keys = Upload(&arena, "keys", keys.data(), sizes.rows);
  DeviceBuffer<std::uint32_t> const numbered{&arena, "codes", sizes.rows};
  PrintBest("codes of keys, device", sizes.runs, [&] {
    NumberKeysOnDevice({device_keys.data(), sizes.rows}, numbered.data(), 0);
  });
#else
  std::fprintf(stderr, "This build has no CUDA backend; allowed: --threads=N\n");
#endif
}

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  xgbgpu::bench::Sizes sizes;
  auto const rest = xgbgpu::bench::TakeOptions(
      argc, argv,
      {{"rows", [&](std::string const& v) { sizes.rows = std::stoull(v); }},
       {"categories", [&](std::string const& v) { sizes.categories = static_cast<std::uint32_t>(std::stoul(v)); }},
       {"runs", [&](std::string const& v) { sizes.runs = std::stoi(v); }},
       {"threads", [&](std::string const& v) { sizes.threads = std::stoi(v); }}});
  if (rest.size() > 1) {
    std::fprintf(stderr, "Unknown option %s; allowed: --rows=N --categories=N --runs=N --threads=N\n", rest[1]);
    return 2;
  }
  xgbgpu::bench::Run(sizes);
  return 0;
}
