/// Every stage of the host backend alone: time, bytes that must move, bandwidth reached. docs/kernels.md has a table of
/// them.
///
///   build/host/bin/bench_stages --rows=1000000 --features=28 --density=1 --threads=2 [Google Benchmark's options]

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "generated_data.h"
#include "gradient/gradient.h"
#include "histogram/histogram.h"
#include "matrix/matrix.h"
#include "options.h"
#include "partition/partition.h"
#include "predict/predict.h"
#include "quantile/quantile.h"
#include "sample/sample.h"
#include "split/split.h"
#include "trees_host/hist_host.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::bench {
namespace {

struct Setup {
  std::uint64_t rows{1000000};
  FeatureIndex features{28};
  double density{1.0};
  int threads{2};
  int max_bin{256};

  std::unique_ptr<GeneratedRows> source;
  std::unique_ptr<QuantisedMatrix> matrix;
  std::vector<NarrowGradient> narrow;
  std::vector<GradientSum> wide;
  std::vector<RowRecord> root;  ///< every row, with its gradient
  GradientView gradients;

  void Make() {
    source = std::make_unique<GeneratedRows>(rows, features, density);
    matrix = host::QuantiseMatrix(*source, host::ComputeCuts(*source, {}, max_bin, threads), threads);
    GradientFormat const format =
        host::ChooseGradientFormat(source->gradients(), source->gradients().size(), 1.0f, threads);
    narrow.resize(rows);
    wide.resize(rows);
    host::QuantiseGradients(source->gradients(), format, {0, RandomPurpose::kRounding, 0, 0}, narrow, wide, threads);
    gradients = {format, narrow.data(), wide.data()};
    root.resize(rows);
    std::vector<std::size_t> counts(host::SampleChunks(rows));
    host::SampleRows({0, RandomPurpose::kRowSample, 0, 0}, 1.0f, rows, counts, root, threads);
    host::AttachGradients(gradients, root, threads);
  }
};

Setup& Data() {
  static Setup setup;
  return setup;
}

void ReportBytes(benchmark::State& state, double bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes * static_cast<double>(state.iterations())));
}

/// What rows are given as.
enum class Form { kEntries, kArray };

/// Calls f(rows in that form, bytes that one reading of them moves).
template <typename F>
void WithRows(Setup const& d, Form form, F&& f) {
  if (form == Form::kArray) {
    f(d.source->array(d.threads), sizeof(float) * static_cast<double>(d.rows) * d.features);
  } else {
    f(*d.source, sizeof(Entry) * static_cast<double>(d.source->stored()));
  }
}

void Quantile(benchmark::State& state, Form form) {
  Setup& d = Data();
  WithRows(d, form, [&](RowSource const& source, double bytes) {
    for (auto _ : state) {
      benchmark::DoNotOptimize(host::ComputeCuts(source, {}, d.max_bin, d.threads).values.data());
    }
    ReportBytes(state, bytes);
  });
}

void Quantise(benchmark::State& state, Form form) {
  Setup& d = Data();
  WithRows(d, form, [&](RowSource const& source, double bytes) {
    for (auto _ : state) {
      benchmark::DoNotOptimize(host::QuantiseMatrix(source, d.matrix->cuts, d.threads).get());
    }
    ReportBytes(state, bytes + static_cast<double>(d.matrix->bytes()));
  });
}

/// From raw rows to the margins of the first round, a tree of depth 6: all that the engine does before the second.
void FirstRound(benchmark::State& state, Form form) {
  Setup& d = Data();
  std::vector<float> margins(d.rows);
  WithRows(d, form, [&](RowSource const& source, double bytes) {
    for (auto _ : state) {
      Trainer trainer{Dataset::Build(source, {}, d.max_bin, d.threads), BackendKind::kHost, d.threads};
      Tree const tree = trainer.Grow(TrainParams{}, d.source->gradients(), {});
      trainer.AddLeafValues(tree.leaf_value, margins.data(), 1);
    }
    ReportBytes(state, bytes);
  });
}

void GradientToFixedPoint(benchmark::State& state) {
  Setup& d = Data();
  for (auto _ : state) {
    GradientFormat const format =
        host::ChooseGradientFormat(d.source->gradients(), d.source->gradients().size(), 1.0f, d.threads);
    host::QuantiseGradients(d.source->gradients(), format, {0, RandomPurpose::kRounding, 0, 0}, d.narrow, d.wide,
                            d.threads);
  }
  ReportBytes(state, 12.0 * static_cast<double>(d.rows));  // 8 read, 4 written
}

/// Logistic loss, range(0) = 1, or softmax over range(0) classes.
void Objectives(benchmark::State& state) {
  Setup& d = Data();
  auto const outputs = static_cast<std::uint32_t>(state.range(0));
  ObjectiveParams const params{outputs == 1 ? Objective::kLogistic : Objective::kSoftmax};
  std::vector<float> const labels(d.rows, 0.0f);
  std::vector<float> margins(d.rows * outputs);
  for (std::size_t i = 0; i < margins.size(); ++i) margins[i] = static_cast<float>(i * 2654435761U % 4096) * 0x1p-9f;
  std::vector<GradientPair> out(margins.size());
  TargetView targets;
  targets.labels = labels.data();
  for (auto _ : state) {
    host::ComputeGradients(params, targets, RowMajor<float const>(margins.data(), d.rows, outputs),
                           RowMajor(out.data(), d.rows, outputs), d.threads);
  }
  // A margin read and a pair written; a label of each row.
  ReportBytes(state, (12.0 * outputs + 4.0) * static_cast<double>(d.rows));
}

void SampleHalf(benchmark::State& state) {
  Setup& d = Data();
  std::vector<RowRecord> rows(d.rows);
  std::vector<std::size_t> counts(host::SampleChunks(d.rows));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        host::SampleRows({0, RandomPurpose::kRowSample, 0, 0}, 0.5f, d.rows, counts, rows, d.threads));
  }
  ReportBytes(state, 4.0 * static_cast<double>(d.rows));
}

/// Every `range(0)`-th row, as a node at depth log2 range(0) of a random tree has them.
void Histogram(benchmark::State& state) {
  Setup& d = Data();
  std::vector<RowRecord> rows;
  std::size_t const step = static_cast<std::size_t>(state.range(0));
  for (std::size_t r = 0; r < d.rows; r += step) rows.push_back(d.root[r]);
  Buffer<GradientSum> sums{d.matrix->cells()};
  host::HistogramBuilder builder{*d.matrix, d.threads};
  std::vector<host::HistogramJob> const jobs{{rows, sums.data()}};
  for (auto _ : state) builder.Build(*d.matrix, d.gradients, jobs);
  double const bytes_per_row = static_cast<double>(d.matrix->data.bytes()) / static_cast<double>(d.rows) + 8.0;
  ReportBytes(state, bytes_per_row * static_cast<double>(rows.size()));
  state.counters["ns/value"] = benchmark::Counter(
      static_cast<double>(rows.size()) * static_cast<double>(d.matrix->stored) / static_cast<double>(d.rows) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void SubtractAndEvaluate(benchmark::State& state) {
  Setup& d = Data();
  Buffer<GradientSum> parent{d.matrix->cells()}, child{d.matrix->cells()};
  host::HistogramBuilder builder{*d.matrix, d.threads};
  std::vector<host::HistogramJob> const jobs{{d.root, parent.data()},
                                             {{d.root.data(), d.root.size() / 4}, child.data()}};
  builder.Build(*d.matrix, d.gradients, jobs);
  GradientSum const total = host::AttachGradients(d.gradients, d.root, d.threads);
  SplitParams const params{TrainParams{}, d.gradients.format};
  for (auto _ : state) {
    for (host::FeatureBlock const& block : builder.blocks()) {
      host::SubtractHistogram(block, child.data(), parent.data());
      benchmark::DoNotOptimize(host::EvaluateSplits(params, *d.matrix, parent.data(), total, block.features).gain);
    }
  }
  ReportBytes(state, 48.0 * d.matrix->cells());  // 16 bytes a cell: child read, parent read and written
}

void Partition(benchmark::State& state) {
  Setup& d = Data();
  std::vector<RowRecord> to(d.rows);
  host::RowPartitioner partitioner{d.threads};
  std::vector<host::PartitionJob> jobs{
      {0, d.matrix->cuts.bins(0) / 2, false, d.root.data(), to.data(), static_cast<std::uint32_t>(d.rows), 1, 0}};
  for (auto _ : state) partitioner.Partition(*d.matrix, jobs);
  ReportBytes(state, 17.0 * static_cast<double>(d.rows));  // record read and written, one bin
}

void AddLeafValues(benchmark::State& state) {
  Setup& d = Data();
  std::vector<NodeIndex> positions(d.rows);
  for (std::size_t i = 0; i < d.rows; ++i) positions[i] = static_cast<NodeIndex>(i * 7919 % 127);
  std::vector<float> const values(127, 0.01f);
  std::vector<float> margins(d.rows);
  for (auto _ : state) host::AddLeafValues(positions, values, margins.data(), 1, d.threads);
  ReportBytes(state, 12.0 * static_cast<double>(d.rows));
}

/// Predictions of 2^16 levels, labels 0 and 1.
void Evaluate(benchmark::State& state, Metric metric) {
  Setup& d = Data();
  std::vector<float> labels(d.rows), predictions(d.rows);
  for (std::size_t i = 0; i < d.rows; ++i) {
    predictions[i] = static_cast<float>(i * 40503 % 65536) * 0x1p-16f;
    labels[i] = i * 7919 % 100 < 30 ? 1.0f : 0.0f;
  }
  TargetView targets;
  targets.labels = labels.data();
  OutputView<float const> const view = RowMajor<float const>(predictions.data(), d.rows, 1);
  for (auto _ : state) benchmark::DoNotOptimize(host::Evaluate({metric}, targets, view, d.threads));
  ReportBytes(state, 8.0 * static_cast<double>(d.rows));
}

/// From gradients to updated margins: what a boosting round does in the engine.
void WholeTree(benchmark::State& state) {
  Setup& d = Data();
  TrainParams params;
  params.max_depth = static_cast<int>(state.range(0));
  auto const builder = MakeHostTreeBuilder(*d.matrix, d.threads);
  std::vector<float> margins(d.rows);
  for (auto _ : state) {
    Tree const tree = builder->Grow(params, d.source->gradients(), {});
    builder->AddLeafValues(tree.leaf_value, margins.data(), 1);
  }
  // The limit: each level reads the rows of the smaller children, half of all at most, and one bin of every row.
  double const row_bytes = static_cast<double>(d.matrix->data.bytes()) / static_cast<double>(d.rows);
  ReportBytes(state,
              static_cast<double>(d.rows) * (row_bytes * (1.0 + (params.max_depth - 1) / 2.0) + params.max_depth));
}

BENCHMARK_CAPTURE(Quantile, entries, Form::kEntries)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(Quantile, array, Form::kArray)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(Quantise, entries, Form::kEntries)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(Quantise, array, Form::kArray)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(FirstRound, entries, Form::kEntries)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(FirstRound, array, Form::kArray)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(GradientToFixedPoint)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(Objectives)->Arg(1)->Arg(10)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(SampleHalf)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(Histogram)->Arg(1)->Arg(2)->Arg(8)->Arg(32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(SubtractAndEvaluate)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(Partition)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(AddLeafValues)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(Evaluate, rmse, Metric::kRmse)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(Evaluate, logloss, Metric::kLogloss)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(Evaluate, auc, Metric::kAuc)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(WholeTree)->Arg(6)->Arg(8)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  auto& data = xgbgpu::bench::Data();
  auto rest = xgbgpu::bench::TakeOptions(
      argc, argv,
      {{"rows", [&](auto const& v) { data.rows = std::stoull(v); }},
       {"features", [&](auto const& v) { data.features = static_cast<xgbgpu::FeatureIndex>(std::stoul(v)); }},
       {"density", [&](auto const& v) { data.density = std::stod(v); }},
       {"threads", [&](auto const& v) { data.threads = std::stoi(v); }}});
  int n = static_cast<int>(rest.size());
  benchmark::Initialize(&n, rest.data());
  if (benchmark::ReportUnrecognizedArguments(n, rest.data())) return 1;
  data.Make();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
