/// Rounds of exact trees on a CUDA device, without XGBoost: logistic gradients, a tree, margins, all on the device.
///
///   build/cuda/bin/bench_exact [--set=NAME,…] [--depth=N,…] [--rounds=N] [--host=ROWS]
///
/// Prints for every set the seconds to sort its columns on the host and to copy them, the median milliseconds of a
/// round, and the device's memory a stored value at the peak. --host: the first so many rows on the host backend, too.

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/buffer.h"
#include "core/parallel.h"
#include "core/random.h"
#include "options.h"
#include "rounds/resident_rows.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::bench {
namespace {

struct Set {
  char const* name;
  std::uint64_t rows;
  FeatureIndex features;
  double density;
  std::vector<int> depths;
};

std::vector<Set> const kSets{{"higgs", 10500000, 28, 1.0, {6, 12}},
                             {"yahoo", 473000, 700, 1.0, {6}},
                             {"bosch", 1000000, 968, 0.19, {6}},
                             {"small", 10000, 28, 1.0, {6}}};

/// Numbers of 20 bits, and labels that depend on some of them.
class LabelledRows final : public RowSource {
 public:
  LabelledRows(Set const& set, std::uint64_t rows, int threads)
      : features_{set.features}, offsets_(rows + 1), labels_(rows) {
    auto const most = static_cast<std::uint32_t>(set.density * 4294967295.0);
    auto const is_stored = [&](std::uint64_t r, FeatureIndex f) {
      return set.density >= 1.0 || Draw(r, f, RandomPurpose::kRowSample) < most;
    };
    constexpr std::size_t kGrain = 1 << 12;
    offsets_[0] = 0;
    ParallelChunks(threads, rows, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        std::uint64_t stored = 0;
        for (FeatureIndex f = 0; f < features_; ++f) stored += is_stored(r, f) ? 1 : 0;
        offsets_[r + 1] = stored;
      }
    });
    for (std::size_t r = 0; r < rows; ++r) offsets_[r + 1] += offsets_[r];
    entries_ = Buffer<Entry>{offsets_[rows]};
    ParallelChunks(threads, rows, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        std::uint64_t place = offsets_[r];
        float score = 0, before = 0;
        for (FeatureIndex f = 0; f < features_; ++f) {
          if (!is_stored(r, f)) continue;
          float const x = static_cast<float>(Draw(r, f, RandomPurpose::kRounding) >> 12) * 0x1p-20f - 0.5f;
          entries_[place++] = {f, x};
          if (f % 5 == 0) score += x + 6.0f * x * before;
          before = x;
        }
        labels_[r] = score > 0 ? 1.0f : 0.0f;
      }
    });
  }

  std::uint64_t rows() const override { return offsets_.size() - 1; }
  FeatureIndex features() const override { return features_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    visit({0, {offsets_.data(), offsets_.size()}, {entries_.data(), entries_.size()}});
  }
  std::vector<float> const& labels() const { return labels_; }
  double stored() const { return static_cast<double>(entries_.size()); }

 private:
  static std::uint32_t Draw(std::uint64_t row, FeatureIndex f, RandomPurpose purpose) {
    std::uint64_t x = (row << 20) + f * 8 + static_cast<std::uint64_t>(purpose);
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<std::uint32_t>((x ^ (x >> 31)) >> 32);
  }

  FeatureIndex features_;
  Buffer<std::uint64_t> offsets_;
  Buffer<Entry> entries_;
  std::vector<float> labels_;
};

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<double> HostRounds(LabelledRows const& data, TrainParams const& params, int rounds) {
  int const threads = omp_get_max_threads();
  Trainer trainer{Dataset::BuildSorted(data, threads), BackendKind::kHost, threads};
  std::vector<float> margins(data.rows());
  std::vector<GradientPair> gradients(data.rows());
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    host::ComputeGradients({Objective::kLogistic}, {data.labels().data()},
                           RowMajor<float const>(margins.data(), data.rows(), 1),
                           RowMajor(gradients.data(), data.rows(), 1), threads);
    double const start = Seconds();
    Tree const tree = trainer.Grow(params, gradients, {static_cast<std::uint32_t>(round), 0});
    times.push_back(Seconds() - start);
    trainer.AddLeafValues(tree.leaf_value, margins.data(), 1);
  }
  return times;
}

void Run(Set const& set, std::vector<int> const& depths, int rounds, std::uint64_t host_rows) {
  int const threads = omp_get_max_threads();
  LabelledRows const data{set, set.rows, threads};
  double const start = Seconds();
  auto const dataset = Dataset::BuildSorted(data, threads, {BackendKind::kCuda, 0});
  double const sorted = Seconds();
  Trainer trainer{dataset, BackendKind::kCuda, threads};
  auto const rows = trainer.MakeResidentRows(1);
  rows->SetTargets({data.labels().data()});
  double const copied = Seconds();
  for (int const depth : depths) {
    TrainParams params;
    params.max_depth = depth;
    rows->SetMargins(std::vector<float>(set.rows));
    std::vector<double> times;
    std::size_t nodes = 0;
    for (int round = 0; round < rounds; ++round) {
      double const begin = Seconds();
      rows->ComputeGradients({Objective::kLogistic});
      Tree const tree = trainer.Grow(params, rows.get(), 0, {static_cast<std::uint32_t>(round), 0});
      trainer.AddLeafValues(tree.leaf_value, rows.get(), 0);
      if (round > 0) times.push_back(Seconds() - begin);
      nodes += tree.size();
    }
    std::printf("%-6s depth %2d: sort %.2f s, copy %.2f s, round %.3f ms, %zu nodes a tree, %.2f bytes a value\n",
                set.name, depth, sorted - start, copied - sorted, 1e3 * Median(times),
                nodes / static_cast<std::size_t>(rounds),
                static_cast<double>(trainer.memory().peak_bytes) / data.stored());
    std::fflush(stdout);
    if (host_rows == 0) continue;
    LabelledRows const part{set, std::min(host_rows, set.rows), threads};
    std::printf("       host backend, %d threads, %llu rows: %.1f ms\n", threads,
                static_cast<unsigned long long>(part.rows()), 1e3 * Median(HostRounds(part, params, 5)));
  }
}

std::vector<std::string> Split(std::string const& list) {
  std::vector<std::string> parts;
  std::istringstream stream{list};
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  using namespace xgbgpu::bench;
  std::string sets = "higgs,yahoo,bosch,small";
  std::vector<int> depths;
  int rounds = 12;
  std::uint64_t host_rows = 0;
  auto const rest = TakeOptions(argc, argv,
                                {{"set", [&](std::string const& v) { sets = v; }},
                                 {"depth",
                                  [&](std::string const& v) {
                                    for (auto const& part : Split(v)) depths.push_back(std::stoi(part));
                                  }},
                                 {"rounds", [&](std::string const& v) { rounds = std::stoi(v); }},
                                 {"host", [&](std::string const& v) { host_rows = std::stoull(v); }}});
  if (rest.size() > 1) {
    std::fprintf(stderr, "What is %s? The options are --set, --depth, --rounds, --host\n", rest[1]);
    return 1;
  }
  for (std::string const& name : Split(sets)) {
    for (Set const& set : kSets) {
      if (name == set.name) Run(set, depths.empty() ? set.depths : depths, rounds, host_rows);
    }
  }
}
