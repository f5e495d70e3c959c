/// How long a dataset takes to get onto a device, and where the time goes: what host threads pack, what is copied, what
/// kernels do. Everything is measured alone and together; the dataset is whole when all are.
///
///   build/cuda/bin/bench_device_data --rows=10500000 --features=28 --threads=16 [Google Benchmark's options]

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "complete_rows.h"
#include "matrix/matrix_cuda.h"
#include "options.h"
#include "quantile/pack.h"
#include "quantile/quantile_cuda.h"
#include "quantile/sorted_columns_cuda.h"
#include "xgbgpu/params.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::bench {
namespace {

struct Setup {
  std::uint64_t rows{10500000};
  FeatureIndex features{28};
  int threads{16};
  int max_bin{256};
  std::unique_ptr<CompleteRows> source;

  ColumnRange all() const { return {0, features, features}; }
};

Setup& Data() {
  static Setup setup;
  return setup;
}

void ReportBytes(benchmark::State& state, double bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes * static_cast<double>(state.iterations())));
  state.counters["MB"] = bytes * 1e-6;
}

/// From the host's entries to a matrix on the device: what a user waits for.
void WholeDataset(benchmark::State& state) {
  Setup& d = Data();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Dataset::Build(*d.source, {}, d.max_bin, d.threads, {BackendKind::kCuda, 0})->cuts().values.data());
  }
  ReportBytes(state, 8.0 * d.source->values());
}

/// With memory for a third of the columns: they are read in three passes, and once more for their bins.
void WholeDatasetInPasses(benchmark::State& state) {
  Setup& d = Data();
  std::size_t const bytes = d.rows * d.features * 4 / 3 + (std::size_t{512} << 20);
  for (auto _ : state) {
    benchmark::DoNotOptimize(cuda::BuildMatrix(*d.source, {d.max_bin, {}}, {0, d.threads, bytes}).get());
  }
  ReportBytes(state, 8.0 * d.source->values());
}

/// The host's share: entries to floats, piece after piece into pinned memory. Nothing is copied.
void Pack(benchmark::State& state) {
  Setup& d = Data();
  PinnedBuffer<float> const piece{kPieceBytes / sizeof(float)};
  std::uint64_t const most = piece.size() / d.features;
  for (auto _ : state) {
    d.source->ForEachBatch([&](RowBatch const& batch) {
      for (std::uint64_t row = 0; row < batch.rows(); row += most) {
        PackRows(batch, row, std::min(most, batch.rows() - row), d.all(), piece.data(), d.threads);
      }
    });
  }
  ReportBytes(state, 12.0 * d.source->values());  // 8 read, 4 written
}

/// The copies alone, from one pinned piece.
void Copy(benchmark::State& state) {
  Setup& d = Data();
  PinnedBuffer<float> const piece{kPieceBytes / sizeof(float)};
  DeviceArena arena{"The benchmark"};
  DeviceBuffer<float> const to{&arena, "a piece", piece.size()};
  Stream const stream;
  auto const values = static_cast<std::uint64_t>(d.source->values());
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < values; i += piece.size()) {
      CopyToDevice(to.data(), piece.data(), std::min<std::uint64_t>(piece.size(), values - i), stream, "copying");
    }
    stream.Wait("copying");
  }
  ReportBytes(state, 4.0 * d.source->values());
}

/// Pack, copy and transposition, overlapped.
void Gather(benchmark::State& state) {
  Setup& d = Data();
  for (auto _ : state) {
    DeviceArena arena{"The benchmark"};
    cuda::RowUpload upload{*d.source, d.threads};
    benchmark::DoNotOptimize(cuda::GatherColumns(d.all(), &arena, &upload).keys.data());
  }
  ReportBytes(state, 4.0 * d.source->values());
}

/// Pinned memory and device memory taken and given back, without anything done.
void Allocate(benchmark::State& state) {
  Setup& d = Data();
  for (auto _ : state) {
    DeviceArena arena{"The benchmark"};
    PieceStream const pieces;
    DeviceBuffer<std::uint32_t> const keys{&arena, "columns in flight", d.rows * d.features};
    cuda::PairSorter const sorter{&arena, std::uint64_t{1} << 24, false};
    benchmark::DoNotOptimize(keys.data());
  }
}

/// Kernels from columns on the device to cuts.
void SortColumns(benchmark::State& state) {
  Setup& d = Data();
  DeviceArena arena{"The benchmark"};
  PieceStream pieces;
  auto const columns = cuda::GatherColumns(*d.source, d.all(), &arena, &pieces, d.threads);
  cuda::PairSorter sorter{&arena, d.rows, false};
  cuda::CutRule const rule{static_cast<std::uint64_t>(d.max_bin) + 1, d.max_bin};
  for (auto _ : state) {
    for (FeatureIndex f = 0; f < d.features; ++f) {
      cuda::MakePairs(columns.keys.data() + f * d.rows, d.rows, 1, nullptr, sorter.keys(), nullptr, pieces.stream());
      benchmark::DoNotOptimize(sorter.Run(d.rows, 1, 1.0, rule, pieces.stream()).lists.data());
    }
  }
  ReportBytes(state, 4.0 * d.source->values());
}

/// The kernel from columns on the device to records.
void BinColumns(benchmark::State& state) {
  Setup& d = Data();
  DeviceArena arena{"The benchmark"};
  PieceStream pieces;
  auto const matrix = cuda::BuildMatrix(*d.source, {d.max_bin, {}}, {0, d.threads});
  auto const columns = cuda::GatherColumns(*d.source, d.all(), &arena, &pieces, d.threads);
  DeviceBuffer<float> const cuts{&arena, "cuts", matrix->cuts.values.size()};
  CopyToDevice(cuts.data(), matrix->cuts.values.data(), cuts.size(), pieces.stream(), "copying cuts");
  pieces.Wait("copying cuts");
  for (auto _ : state) {
    cuda::BinColumns(matrix->view, cuts.data(), columns.keys.data(), d.rows, 0, d.rows, matrix->records.data(),
                     pieces.stream());
    pieces.Wait("finding bins");
  }
  ReportBytes(state, 4.0 * d.source->values() + static_cast<double>(matrix->records.bytes()));
}

BENCHMARK(WholeDataset)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(WholeDatasetInPasses)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(Pack)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(Copy)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(Gather)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(Allocate)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(SortColumns)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BinColumns)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  auto& data = xgbgpu::bench::Data();
  auto rest = xgbgpu::bench::TakeOptions(
      argc, argv,
      {{"rows", [&](auto const& v) { data.rows = std::stoull(v); }},
       {"features", [&](auto const& v) { data.features = static_cast<xgbgpu::FeatureIndex>(std::stoul(v)); }},
       {"threads", [&](auto const& v) { data.threads = std::stoi(v); }},
       {"max_bin", [&](auto const& v) { data.max_bin = std::stoi(v); }}});
  int n = static_cast<int>(rest.size());
  benchmark::Initialize(&n, rest.data());
  if (benchmark::ReportUnrecognizedArguments(n, rest.data())) return 1;
  data.source = std::make_unique<xgbgpu::bench::CompleteRows>(data.rows, data.features, data.threads);
  // The driver's start and the loading of kernels are not measured.
  xgbgpu::Dataset::Build(xgbgpu::bench::CompleteRows{100000, data.features, data.threads}, {}, data.max_bin,
                         data.threads, {xgbgpu::BackendKind::kCuda, 0});
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
