/// Prediction with a forest on raw values, on a device: rows that are there, rows that come from the host, and one more
/// tree for rows that are there, as after every round of a training; contributions of features. The first two also with
/// symmetric trees of the same depth.
///
///   build/cuda/bin/bench_predict --rows=10500000 --features=28 --trees=500 --depth=8 --threads=16
///       [--evaluated_rows=500000] [--levels=1000] [Google Benchmark's options]
///
/// levels: features 0, 3, 6 … are so many categories, of which each split sends one half to the right.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "complete_rows.h"
#include "options.h"
#include "predict/contributions_cuda.h"
#include "predict/forest_cuda.h"
#include "predict/level_forest_cuda.h"

namespace xgbgpu::bench {
namespace {

struct Setup {
  std::uint64_t rows{10500000};
  std::uint64_t evaluated_rows{500000};
  FeatureIndex features{28};
  std::size_t trees{500};
  int depth{8};
  std::uint32_t levels{0};
  int threads{16};
  std::unique_ptr<CompleteRows> source;
  std::unique_ptr<CompleteRows> evaluated;
  PathForest paths, symmetric_paths;

  Forest const& forest() const { return paths.forest(); }
  LevelForest symmetric() const { return LevelForest::Of(symmetric_paths.forest()).value(); }
  void Make();
  double steps(std::uint64_t n_rows, std::size_t n_trees) const {
    return static_cast<double>(n_rows) * static_cast<double>(n_trees) * depth;
  }
};

/// A tree whose leaves are all at `depth`, with thresholds from where the values are; one row of the training in each.
/// symmetric: all nodes of a level have the split of the first.
void AddCompleteTree(std::uint32_t number, int depth, FeatureIndex features, std::uint32_t levels, bool symmetric,
                     PathForest* forest) {
  RandomStream const stream{2, RandomPurpose::kRounding, number, 0};
  std::size_t const inner = (std::size_t{1} << depth) - 1, nodes = 2 * inner + 1;
  std::vector<NodeIndex> left(nodes, kNoNode), right(nodes, kNoNode);
  std::vector<FeatureIndex> feature(nodes);
  std::vector<float> value(nodes), covers(nodes, 1.0f);
  std::vector<std::uint8_t> default_left(nodes);
  std::vector<std::uint32_t> category_ptr(nodes + 1), category_bits;
  for (std::size_t n = 0; n < nodes; ++n) {
    category_ptr[n] = static_cast<std::uint32_t>(category_bits.size());
    std::size_t split = n;
    for (std::size_t first = 0; symmetric && n < inner && first <= n; first = 2 * first + 1) split = first;
    std::uint32_t const word = stream.Word(static_cast<std::uint32_t>(split));
    value[n] = static_cast<float>(word >> 12) - 3e5f;  // as the values of CompleteRows
    if (n >= inner) {
      value[n] *= 1e-6f;
      continue;
    }
    left[n] = static_cast<NodeIndex>(2 * n + 1);
    right[n] = static_cast<NodeIndex>(2 * n + 2);
    feature[n] = (word & 0xFFFU) % features;
    default_left[n] = word >> 11 & 1U;
    for (std::uint32_t c = 0; feature[n] % 3 == 0 && c < levels; c += 32) {
      category_bits.push_back(stream.Word(static_cast<std::uint32_t>(nodes * (1 + c / 32) + split)));
    }
  }
  category_ptr[nodes] = static_cast<std::uint32_t>(category_bits.size());
  for (std::size_t n = inner; n-- > 0;) covers[n] = covers[2 * n + 1] + covers[2 * n + 2];
  forest->Add({left, right, feature, value, default_left, category_ptr, category_bits}, covers, 0);
}

void Setup::Make() {
  source = std::make_unique<CompleteRows>(rows, features, threads, levels);
  evaluated = std::make_unique<CompleteRows>(evaluated_rows, features, threads, levels);
  for (std::uint32_t t = 0; t < trees; ++t) {
    AddCompleteTree(t, depth, features, levels, false, &paths);
    AddCompleteTree(t, depth, features, levels, true, &symmetric_paths);
  }
}

Setup& Data() {
  static Setup setup;
  return setup;
}

/// What kernels need, on the device.
struct Resident {
  explicit Resident(CompleteRows const& source)
      : matrix{source, &arena, stream, Data().threads}, forest{&arena}, margins{&arena, "margins", source.rows()} {
    forest.Append(Data().forest(), 0, Data().trees, stream);
    FillBytes(margins.data(), 0, margins.size(), stream, "clearing margins");
    stream.Wait("copying trees");
  }
  void Predict(std::size_t first, std::size_t last) {
    cuda::PredictMargins(matrix, forest, first, last, OutputMajor(margins.data(), matrix.rows(), 1), limits, stream);
  }

  DeviceArena arena{"The benchmark"};
  Stream stream;
  DeviceLimits limits{CurrentDeviceLimits()};
  cuda::RawMatrix matrix;
  cuda::DeviceForest forest;
  DeviceBuffer<float> margins;
};

void Report(benchmark::State& state, std::uint64_t rows, std::size_t trees, double bytes) {
  Setup const& d = Data();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes * static_cast<double>(state.iterations())));
  state.counters["steps"] = {d.steps(rows, trees), benchmark::Counter::kIsIterationInvariantRate};
}

double ValueBytes(std::uint64_t rows) { return 4.0 * static_cast<double>(rows) * Data().features; }

/// Rows on the host, margins on the host: what a user waits for.
void StreamedRows(benchmark::State& state) {
  Setup& d = Data();
  DeviceArena arena{"The benchmark"};
  Stream const stream;
  cuda::DeviceForest forest{&arena};
  forest.Append(d.forest(), 0, d.trees, stream);
  std::vector<float> margins(d.rows);
  for (auto _ : state) {
    cuda::PredictMarginsStreamed(*d.source, &forest, 0, d.trees, RowMajor(margins.data(), d.rows, 1), 0, d.threads);
  }
  Report(state, d.rows, d.trees, ValueBytes(d.rows));  // what is copied
}

void StreamedRowsSymmetricTrees(benchmark::State& state) {
  Setup& d = Data();
  DeviceArena arena{"The benchmark"};
  cuda::DeviceLevelForest const forest{d.symmetric(), &arena};
  std::vector<float> margins(d.rows);
  for (auto _ : state) {
    cuda::PredictMarginsStreamed(*d.source, &forest, 0, d.trees, RowMajor(margins.data(), d.rows, 1), 0, d.threads);
  }
  Report(state, d.rows, d.trees, ValueBytes(d.rows));  // what is copied
}

/// The same with one tree: packing and copying without much to compute.
void StreamedRowsOneTree(benchmark::State& state) {
  Setup& d = Data();
  DeviceArena arena{"The benchmark"};
  Stream const stream;
  cuda::DeviceForest forest{&arena};
  forest.Append(d.forest(), 0, 1, stream);
  std::vector<float> margins(d.rows);
  for (auto _ : state) {
    cuda::PredictMarginsStreamed(*d.source, &forest, 0, 1, RowMajor(margins.data(), d.rows, 1), 0, d.threads);
  }
  Report(state, d.rows, 1, ValueBytes(d.rows));
}

/// Rows to the device, to stay there.
void UploadRows(benchmark::State& state) {
  Setup& d = Data();
  Stream const stream;
  for (auto _ : state) {
    DeviceArena arena{"The benchmark"};
    benchmark::DoNotOptimize(cuda::RawMatrix(*d.source, &arena, stream, d.threads).bytes());
  }
  Report(state, d.rows, 0, ValueBytes(d.rows));
}

/// The kernel alone, all trees.
void AllTrees(benchmark::State& state) {
  Setup& d = Data();
  Resident on_device{*d.source};
  for (auto _ : state) {
    on_device.Predict(0, d.trees);
    on_device.stream.Wait("predicting");
  }
  Report(state, d.rows, d.trees, ValueBytes(d.rows));
}

void AllSymmetricTrees(benchmark::State& state) {
  Setup& d = Data();
  Resident on_device{*d.source};
  cuda::DeviceLevelForest const forest{d.symmetric(), &on_device.arena};
  for (auto _ : state) {
    cuda::PredictMargins(on_device.matrix.view(), forest, 0, d.trees, OutputMajor(on_device.margins.data(), d.rows, 1),
                         on_device.limits, on_device.stream);
    on_device.stream.Wait("predicting");
  }
  Report(state, d.rows, d.trees, ValueBytes(d.rows));
}

/// The kernel alone, one tree after the other: the time of one.
void OneTree(benchmark::State& state) {
  Setup& d = Data();
  Resident on_device{*d.evaluated};
  for (auto _ : state) {
    auto const begin = std::chrono::steady_clock::now();
    for (std::size_t t = 0; t < d.trees; ++t) on_device.Predict(t, t + 1);
    on_device.stream.Wait("predicting");
    std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(taken.count() / static_cast<double>(d.trees));
  }
  Report(state, d.evaluated_rows, 1, ValueBytes(d.evaluated_rows) + 8.0 * static_cast<double>(d.evaluated_rows));
}

/// A tree to the device, then its leaves into all margins, and the wait for them.
void OneNewTree(benchmark::State& state) {
  Setup& d = Data();
  Resident on_device{*d.evaluated};
  std::size_t t = d.trees;
  for (auto _ : state) {
    if (t == d.trees) {
      on_device.forest.Clear();
      t = 0;
    }
    on_device.forest.Append(d.forest(), t, t + 1, on_device.stream);
    on_device.Predict(t, t + 1);
    on_device.stream.Wait("predicting");
    ++t;
  }
  Report(state, d.evaluated_rows, 1, ValueBytes(d.evaluated_rows) + 8.0 * static_cast<double>(d.evaluated_rows));
}

/// Rows on the host, contributions on the host; `steps` are the elements of paths, if no path tests a feature twice.
void StreamedContributions(benchmark::State& state, bool approximate) {
  Setup& d = Data();
  std::vector<float> out(d.evaluated_rows * (std::size_t{d.features} + 1));
  ContributionsView const view{out.data(), d.evaluated_rows, 1, d.features};
  for (auto _ : state) {
    cuda::PredictContributionsStreamed(*d.evaluated, d.paths, 0, d.trees, approximate, view, 0, d.threads);
  }
  Report(state, d.evaluated_rows, approximate ? d.trees : d.trees << d.depth, 2 * ValueBytes(d.evaluated_rows));
}

BENCHMARK(StreamedRows)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(StreamedRowsSymmetricTrees)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(StreamedRowsOneTree)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(UploadRows)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(AllTrees)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(AllSymmetricTrees)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(OneTree)->Unit(benchmark::kMicrosecond)->UseManualTime();
BENCHMARK(OneNewTree)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(StreamedContributions, Exact, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(StreamedContributions, Approximate, true)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  auto& data = xgbgpu::bench::Data();
  auto rest = xgbgpu::bench::TakeOptions(
      argc, argv,
      {{"rows", [&](auto const& v) { data.rows = std::stoull(v); }},
       {"evaluated_rows", [&](auto const& v) { data.evaluated_rows = std::stoull(v); }},
       {"features", [&](auto const& v) { data.features = static_cast<xgbgpu::FeatureIndex>(std::stoul(v)); }},
       {"trees", [&](auto const& v) { data.trees = std::stoull(v); }},
       {"depth", [&](auto const& v) { data.depth = std::stoi(v); }},
       {"levels", [&](auto const& v) { data.levels = static_cast<std::uint32_t>(std::stoul(v)); }},
       {"threads", [&](auto const& v) { data.threads = std::stoi(v); }}});
  int n = static_cast<int>(rest.size());
  benchmark::Initialize(&n, rest.data());
  if (benchmark::ReportUnrecognizedArguments(n, rest.data())) return 1;
  data.Make();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
