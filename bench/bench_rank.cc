/// Gradients of the ranking objectives on a CUDA device: median time of one computation, without the copies.
///
///   build/cuda/bin/bench_rank [--rows=2000000] [--group=100] [--rounds=50]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "objective/objective_cuda.h"
#include "options.h"

namespace xgbgpu::bench {
namespace {

/// Groups of `group` rows each, the last one of fewer. Labels are 0 … 4, most of them 0; margins go with them loosely.
struct Rows {
  std::vector<float> labels, margins;
  std::vector<std::uint32_t> group_ptr{0};

  Rows(std::uint32_t rows, std::uint32_t group) : labels(rows), margins(rows) {
    for (std::size_t i = 0; i < rows; ++i) {
      std::size_t const noise = i * 40503 % 16777213;
      labels[i] = static_cast<float>(noise % 16 < 5 ? noise % 16 : 0);
      margins[i] = labels[i] * 0.2f + static_cast<float>(i * 7919 % 1000003) * 1e-6f;
    }
    while (group_ptr.back() < rows) group_ptr.push_back(std::min(rows, group_ptr.back() + group));
  }
};

/// An objective by its name, and the pairs of LambdaRank: the first rows (topk), draws (mean), or none (1.7).
struct Case {
  char const* name;
  std::uint32_t top, draws;
};

ObjectiveParams ParamsOf(Case const& c) {
  ObjectiveParams params{*ObjectiveByName(c.name)};
  params.lambdarank.is_used = c.top + c.draws != 0;
  params.lambdarank.has_top = c.top != 0;
  params.lambdarank.pairs = std::max(c.top, c.draws);
  return params;
}

void Run(std::uint32_t n, std::uint32_t group, int rounds) {
  Rows const rows{n, group};
  DeviceArena arena{"The benchmark"};
  auto const labels = Upload(&arena, "labels", rows.labels.data(), n);
  auto const margins = Upload(&arena, "margins", rows.margins.data(), n);
  auto const group_ptr = Upload(&arena, "groups", rows.group_ptr.data(), rows.group_ptr.size());
  DeviceBuffer<GradientPair> const gradients{&arena, "gradients", n};
  TargetView targets;
  targets.labels = labels.data();
  targets.group_ptr = group_ptr.data();
  targets.groups = static_cast<std::uint32_t>(rows.group_ptr.size() - 1);
  DeviceLimits const limits = CurrentDeviceLimits();
  Stream const stream;
  cuda::ObjectiveScratch scratch{&arena};
  scratch.ranking.largest_group = std::min(n, group);
  for (Case const& c :
       {Case{"rank:pairwise", 0, 0}, Case{"rank:ndcg", 0, 0}, Case{"rank:map", 0, 0}, Case{"rank:pairwise", 32, 0},
        Case{"rank:ndcg", 32, 0}, Case{"rank:map", 32, 0}, Case{"rank:ndcg", 10, 0}, Case{"rank:ndcg", 0, 1}}) {
    ObjectiveParams const params = ParamsOf(c);
    std::vector<double> times;
    for (int i = 0; i < rounds + 3; ++i) {  // three to warm up
      auto const start = std::chrono::steady_clock::now();
      cuda::ComputeGradients(params, targets, OutputMajor<float const>(margins.data(), n, 1),
                             OutputMajor(gradients.data(), n, 1), limits, stream, &scratch);
      stream.Wait("computing gradients");
      times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin() + 3, times.end());
    char const* const method = c.top != 0 ? "topk" : c.draws != 0 ? "mean" : "1.7";
    std::printf("%-14s %-4s %3u %9.1f us\n", c.name, method, std::max(c.top, c.draws),
                times[3 + static_cast<std::size_t>(rounds) / 2]);
  }
}

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  std::uint32_t rows = 2000000, group = 100;
  int rounds = 50;
  auto const number = [](std::string const& v) { return static_cast<std::uint32_t>(std::stoul(v)); };
  auto const rest = xgbgpu::bench::TakeOptions(argc, argv,
                                               {{"rows", [&](std::string const& v) { rows = number(v); }},
                                                {"group", [&](std::string const& v) { group = number(v); }},
                                                {"rounds", [&](std::string const& v) { rounds = std::stoi(v); }}});
  if (rest.size() > 1) {
    std::fprintf(stderr, "Unknown option %s; allowed: --rows=N --group=N --rounds=N\n", rest[1]);
    return 2;
  }
  xgbgpu::bench::Run(rows, group, rounds);
  return 0;
}
