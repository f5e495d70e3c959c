/// Evaluation metrics on a CUDA device: median time of one evaluation, from the call to the number on the host.
///
///   build/cuda/bin/bench_metric [--rows=500000] [--outputs=1] [--rounds=100]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "metric/metric_cuda.h"
#include "options.h"

namespace xgbgpu::bench {
namespace {

/// Distinct predictions, labels that are classes (0 and 1 for one output).
void Run(std::uint64_t rows, std::uint32_t outputs, int rounds) {
  std::vector<float> labels(rows), weights(rows), predictions(rows * outputs);
  for (std::size_t i = 0; i < rows; ++i) {
    labels[i] = static_cast<float>(i * 7919 % 1009 % std::max(2U, outputs));
    weights[i] = 0.5f + static_cast<float>(i % 97) * 0.01f;
  }
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    predictions[i] = (static_cast<float>(i * 40503 % 16777213) + 0.5f) * 0x1p-24f;
  }
  DeviceArena arena{"The benchmark"};
  auto const device_labels = Upload(&arena, "labels", labels.data(), labels.size());
  auto const device_weights = Upload(&arena, "weights", weights.data(), weights.size());
  auto const device_predictions = Upload(&arena, "predictions", predictions.data(), predictions.size());
  auto const view = OutputMajor<float const>(device_predictions.data(), rows, outputs);
  DeviceLimits const limits = CurrentDeviceLimits();
  Stream const stream;
  cuda::MetricScratch scratch{&arena};
  std::vector<char const*> const names =
      outputs == 1 ? std::vector<char const*>{"rmse", "logloss", "error", "poisson-nloglik", "auc", "aucpr"}
                   : std::vector<char const*>{"merror", "mlogloss", "auc"};
  for (char const* name : names) {
    for (bool const weighted : {false, true}) {
      TargetView targets;
      targets.labels = device_labels.data();
      targets.weights = weighted ? device_weights.data() : nullptr;
      MetricParams const params = *MetricByName(name);
      std::vector<double> times;
      double value = 0;
      for (int i = 0; i < rounds + 3; ++i) {  // three to warm up
        auto const start = std::chrono::steady_clock::now();
        value = cuda::Evaluate(params, targets, view, &scratch, limits, stream);
        times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
      }
      std::sort(times.begin() + 3, times.end());
      std::printf("%-16s %s %9.1f us  (%.6f)\n", name, weighted ? "weights" : "       ",
                  times[3 + static_cast<std::size_t>(rounds) / 2], value);
    }
  }
}

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  std::uint64_t rows = 500000;
  std::uint32_t outputs = 1;
  int rounds = 100;
  auto const rest = xgbgpu::bench::TakeOptions(
      argc, argv,
      {{"rows", [&](std::string const& v) { rows = std::stoull(v); }},
       {"outputs", [&](std::string const& v) { outputs = static_cast<std::uint32_t>(std::stoul(v)); }},
       {"rounds", [&](std::string const& v) { rounds = std::stoi(v); }}});
  if (rest.size() > 1) {
    std::fprintf(stderr, "Unknown option %s; allowed: --rows=N --outputs=N --rounds=N\n", rest[1]);
    return 2;
  }
  xgbgpu::bench::Run(rows, outputs, rounds);
  return 0;
}
