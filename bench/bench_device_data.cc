/// How long a dataset takes to get onto a device, and where the time goes: what host threads pack, what is copied, what
/// kernels do. Everything is measured alone and together; the dataset is whole when all are.
///
///   build/cuda/bin/bench_device_data --rows=10500000 --features=28 --threads=16 --type=float --entries=1
///     [Google Benchmark's options]

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "complete_rows.h"
#include "cuda/array_upload.h"
#include "matrix/matrix_cuda.h"
#include "matrix/shards_cuda.h"
#include "options.h"
#include "quantile/pack.h"
#include "quantile/quantile_cuda.h"
#include "quantile/quantile_policy.h"
#include "quantile/sorted_columns_cuda.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/params.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::bench {
namespace {

struct Setup {
  std::uint64_t rows{10500000};
  FeatureIndex features{28};
  int threads{16};
  int max_bin{256};
  std::string type{"float"};  ///< of the array: float, uint8 or uint16; what entries are made of is float
  bool entries{true};         ///< measures entries, too; without, memory for the array is enough
  std::unique_ptr<CompleteRows> source;
  std::vector<std::uint8_t> values;
  std::unique_ptr<ArraySource> array;

  double count() const { return static_cast<double>(rows) * features; }
  double array_bytes() const { return static_cast<double>(values.size()); }
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
  ReportBytes(state, 8.0 * d.count());
}

/// From an array of the host to a matrix on the device.
void WholeArray(benchmark::State& state) {
  Setup& d = Data();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Dataset::Build(*d.array, {}, d.max_bin, d.threads, {BackendKind::kCuda, 0})->cuts().values.data());
  }
  ReportBytes(state, d.array_bytes());
}

/// An array that is on the device already.
void WholeDeviceArray(benchmark::State& state) {
  Setup& d = Data();
  DeviceArena arena{"The benchmark"};
  auto const copy = Upload(&arena, "an array", d.values.data(), d.values.size());
  DenseValues values = *d.array->dense();
  values.data = copy.data();
  values.device = 0;
  ArraySource const source{values, d.rows, d.features, d.threads};  // its entries are not asked for
  for (auto _ : state) {
    benchmark::DoNotOptimize(cuda::BuildMatrix(source, {d.max_bin, {}}, {0, d.threads}).get());
  }
  ReportBytes(state, d.array_bytes());
}

/// The array in shards, one for each device that there is, the first rows on the first.
void WholeArrayInShards(benchmark::State& state) {
  Setup& d = Data();
  auto const n = static_cast<std::uint64_t>(CudaDeviceCount());
  cuda::RowShards shards{{0}, {}};
  for (std::uint64_t s = 1; s <= n; ++s) {
    shards.bounds.push_back(s == n ? d.rows : d.rows * s / n / 2048 * 2048);
    shards.devices.push_back(static_cast<int>(s - 1));
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(cuda::BuildShards(*d.array, {d.max_bin, {}}, shards, {d.threads}).data());
  }
  state.counters["devices"] = static_cast<double>(n);
  ReportBytes(state, d.array_bytes());
}

/// The array through rings, transposed.
void GatherArray(benchmark::State& state) {
  Setup& d = Data();
  for (auto _ : state) {
    DeviceArena arena{"The benchmark"};
    cuda::RowUpload upload{*d.array, d.threads};
    benchmark::DoNotOptimize(cuda::GatherColumns(d.all(), &arena, &upload).keys.data());
  }
  ReportBytes(state, d.array_bytes());
}

/// Uploads into rings and columns that are there already. What the benchmark above takes longer is the making of them.
void GatherArrayAgain(benchmark::State& state) {
  Setup& d = Data();
  DeviceArena arena{"The benchmark"};
  ArrayUpload upload{*d.array->dense(), d.rows, d.features, d.threads};
  DeviceBuffer<std::uint32_t> const keys{&arena, "columns in flight", d.rows * d.features};
  for (auto _ : state) {
    upload.Run({*d.array->dense(), 0, d.rows}, 0, d.features, &arena,
               [&](ArrayPiece const& piece, std::size_t, cudaStream_t stream) {
                 cuda::TransposeToKeys(piece, d.features, keys.data() + piece.first_row, d.rows, nullptr, stream);
               });
  }
  ReportBytes(state, d.array_bytes());
}

/// With memory for a third of the columns: they are read in three passes, and once more for their bins.
void WholeDatasetInPasses(benchmark::State& state) {
  Setup& d = Data();
  std::size_t const bytes = d.rows * d.features * 4 / 3 + (std::size_t{512} << 20);
  for (auto _ : state) {
    benchmark::DoNotOptimize(cuda::BuildMatrix(*d.source, {d.max_bin, {}}, {0, d.threads, bytes}).get());
  }
  ReportBytes(state, 8.0 * d.count());
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
  ReportBytes(state, 12.0 * d.count());  // 8 read, 4 written
}

/// The copies alone, from one pinned piece.
void Copy(benchmark::State& state) {
  Setup& d = Data();
  PinnedBuffer<float> const piece{kPieceBytes / sizeof(float)};
  DeviceArena arena{"The benchmark"};
  DeviceBuffer<float> const to{&arena, "a piece", piece.size()};
  Stream const stream;
  auto const values = static_cast<std::uint64_t>(d.count());
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < values; i += piece.size()) {
      CopyToDevice(to.data(), piece.data(), std::min<std::uint64_t>(piece.size(), values - i), stream, "copying");
    }
    stream.Wait("copying");
  }
  ReportBytes(state, 4.0 * d.count());
}

/// Pack, copy and transposition, overlapped.
void Gather(benchmark::State& state) {
  Setup& d = Data();
  for (auto _ : state) {
    DeviceArena arena{"The benchmark"};
    cuda::RowUpload upload{*d.source, d.threads};
    benchmark::DoNotOptimize(cuda::GatherColumns(d.all(), &arena, &upload).keys.data());
  }
  ReportBytes(state, 4.0 * d.count());
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

/// Kernels from columns on the device to cuts, one column at a time as pairs.
void SortPairs(benchmark::State& state) {
  Setup& d = Data();
  DeviceArena arena{"The benchmark"};
  cuda::RowUpload upload{*d.array, d.threads};
  auto const columns = cuda::GatherColumns(d.all(), &arena, &upload);
  cuda::PairSorter sorter{&arena, d.rows, false};
  cuda::CutRule const rule{static_cast<std::uint64_t>(d.max_bin) + 1, d.max_bin};
  Stream const stream;
  for (auto _ : state) {
    for (FeatureIndex f = 0; f < d.features; ++f) {
      cuda::MakePairs(columns.keys.data() + f * d.rows, d.rows, 1, nullptr, sorter.keys(), nullptr, stream);
      benchmark::DoNotOptimize(sorter.Run(d.rows, 1, 1.0, rule, stream).lists.data());
    }
  }
  ReportBytes(state, 4.0 * d.count());
}

/// Sorts the columns as keys, in the batches that a build of a matrix uses.
void SortKeys(benchmark::State& state) {
  Setup& d = Data();
  DeviceArena arena{"The benchmark"};
  cuda::RowUpload upload{*d.array, d.threads};
  auto const columns = cuda::GatherColumns(d.all(), &arena, &upload);
  auto const at_once =
      static_cast<FeatureIndex>(std::clamp<std::uint64_t>(QuantilePolicy{}.keys_at_once / d.rows, 1, d.features));
  cuda::KeySorter sorter{&arena, d.rows, at_once};
  cuda::CutRule const rule{static_cast<std::uint64_t>(d.max_bin) + 1, d.max_bin};
  for (auto _ : state) {
    for (FeatureIndex f = 0; f < d.features; f += at_once) {
      FeatureIndex const n = std::min(at_once, d.features - f);
      benchmark::DoNotOptimize(sorter.Run(columns.keys.data() + f * d.rows, n, rule).lists.data());
    }
  }
  ReportBytes(state, 4.0 * d.count());
}

/// The kernel from columns on the device to records.
void BinColumns(benchmark::State& state) {
  Setup& d = Data();
  DeviceArena arena{"The benchmark"};
  Stream const stream;
  auto const matrix = cuda::BuildMatrix(*d.array, {d.max_bin, {}}, {0, d.threads});
  cuda::RowUpload upload{*d.array, d.threads};
  auto const columns = cuda::GatherColumns(d.all(), &arena, &upload);
  auto const cuts = Upload(&arena, "cuts", matrix->cuts.values.data(), matrix->cuts.values.size());
  for (auto _ : state) {
    cuda::BinColumns(matrix->view, cuts.data(), columns.keys.data(), d.rows, 0, d.rows, matrix->records.data(), stream);
    stream.Wait("finding bins");
  }
  ReportBytes(state, 4.0 * d.count() + static_cast<double>(matrix->records.bytes()));
}

/// An array with the values of the entries, cut to its type.
template <typename T>
void FillArray(ValueType type) {
  Setup& d = Data();
  constexpr std::size_t kGrain = 1 << 16;
  d.values.resize(d.rows * d.features * sizeof(T));
  auto* const to = reinterpret_cast<T*>(d.values.data());
  ParallelChunks(d.threads, d.rows * d.features, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      RandomStream const stream{1, RandomPurpose::kRounding, static_cast<std::uint32_t>(i % d.features), 0};
      std::uint32_t const word = stream.Word(static_cast<std::uint32_t>(i / d.features)) >> 12;
      to[i] = std::is_same_v<T, float> ? static_cast<T>(static_cast<float>(word) - 3e5f) : static_cast<T>(word);
    }
  });
  d.array = std::make_unique<ArraySource>(DenseValues{d.values.data(), type}, d.rows, d.features, d.threads);
}

void MakeData() {
  Setup& d = Data();
  if (d.type == "uint8") {
    FillArray<std::uint8_t>(ValueType::kUInt8);
  } else if (d.type == "uint16") {
    FillArray<std::uint16_t>(ValueType::kUInt16);
  } else {
    FillArray<float>(ValueType::kFloat32);
  }
  if (d.entries) d.source = std::make_unique<CompleteRows>(d.rows, d.features, d.threads);
}

void RegisterAll() {
  auto const add = [](char const* name, void (*f)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name, f)->Unit(benchmark::kMillisecond)->UseRealTime();
  };
  if (Data().entries) {
    add("WholeDataset", WholeDataset);
    add("WholeDatasetInPasses", WholeDatasetInPasses);
    add("Pack", Pack);
    add("Gather", Gather);
  }
  add("WholeArray", WholeArray);
  add("WholeArrayInShards", WholeArrayInShards);
  add("WholeDeviceArray", WholeDeviceArray);
  add("GatherArray", GatherArray);
  add("GatherArrayAgain", GatherArrayAgain);
  add("Copy", Copy);
  add("Allocate", Allocate);
  add("SortPairs", SortPairs);
  add("SortKeys", SortKeys);
  add("BinColumns", BinColumns);
}

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  auto& data = xgbgpu::bench::Data();
  auto rest = xgbgpu::bench::TakeOptions(
      argc, argv,
      {{"rows", [&](auto const& v) { data.rows = std::stoull(v); }},
       {"features", [&](auto const& v) { data.features = static_cast<xgbgpu::FeatureIndex>(std::stoul(v)); }},
       {"threads", [&](auto const& v) { data.threads = std::stoi(v); }},
       {"max_bin", [&](auto const& v) { data.max_bin = std::stoi(v); }},
       {"type", [&](auto const& v) { data.type = v; }},
       {"entries", [&](auto const& v) { data.entries = std::stoi(v) != 0; }}});
  int n = static_cast<int>(rest.size());
  benchmark::Initialize(&n, rest.data());
  if (benchmark::ReportUnrecognizedArguments(n, rest.data())) return 1;
  xgbgpu::bench::MakeData();
  xgbgpu::bench::RegisterAll();
  // The driver's start and the loading of kernels are not measured.
  xgbgpu::Dataset::Build(xgbgpu::bench::CompleteRows{100000, data.features, data.threads}, {}, data.max_bin,
                         data.threads, {xgbgpu::BackendKind::kCuda, 0});
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
