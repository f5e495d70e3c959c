/// Trees on one CUDA device and on several, also where the library would use one (backend/device_policy.h): with all sums
/// for every device, and with sums and splits of a share of the features for each (split/split_shares.h).
///
///   build/cuda/bin/bench_shards [--rows=400000] [--features=2000] [--bins=256] [--depth=8] [--rounds=20] [--gpus=2]
///
/// Bins are even, the label depends on some of them. Prints the median time of a round, the ways in turns. Exit status 1
/// if trees differ.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "backend_cuda/device_matrices.h"
#include "base/parallel.h"
#include "options.h"
#include "shards/sharded_builder.h"
#include "trees_cuda/cuda_tree_builder.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/error.h"

namespace xgbgpu::bench {
namespace {

constexpr int kThreads = 16;

struct Options {
  std::uint64_t rows{400'000};
  FeatureIndex features{2000};
  int bins{256}, depth{8}, rounds{20}, gpus{2};
};

std::uint32_t Mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<std::uint32_t>(x >> 32);
}

struct Data {
  explicit Data(Options const& options) : values(options.rows * options.features), labels(options.rows) {
    auto const bins = static_cast<std::uint32_t>(options.bins);
    ParallelChunks(kThreads, options.rows, 1024, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        std::uint16_t* const row = values.data() + r * options.features;
        for (FeatureIndex f = 0; f < options.features; ++f) {
          row[f] = static_cast<std::uint16_t>(Mix(r * options.features + f) % bins);
        }
        float score = 0, before = 0;
        for (FeatureIndex f = 0; f < std::min<FeatureIndex>(options.features, 12); ++f) {
          // Columns from all over the matrix, so that no device has them all.
          float const x = static_cast<float>(row[f * (options.features / 12)]) / static_cast<float>(bins) - 0.5f;
          score += x + 6.0f * x * before;
          before = x;
        }
        labels[r] = score + static_cast<float>(Mix(~r)) * 0x1p-32f > 0.5f ? 1.0f : 0.0f;
      }
    });
  }

  std::vector<std::uint16_t> values;
  std::vector<float> labels;
};

/// A training on some devices.
class Way {
 public:
  Way(std::string name, std::unique_ptr<TreeBuilder> builder, Data const& data)
      : name_{std::move(name)}, builder_{std::move(builder)}, rows_{builder_->rounds()->MakeResidentRows(1)} {
    TargetView targets;
    targets.labels = data.labels.data();
    rows_->SetTargets(targets);
    rows_->SetEqualMargins(std::vector<float>{0});
  }

  void Round(TrainParams const& params) {
    auto const begin = std::chrono::steady_clock::now();
    rows_->ComputeGradients({Objective::kLogistic});
    tree_ = rows_->Grow(params, 0, {static_cast<std::uint32_t>(times_.size()), 0});
    rows_->AddLeafValues(tree_.leaf_value, 0);
    times_.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  /// Leaves out the first rounds, in which memory is taken and graphs are recorded.
  double MedianMs() const {
    std::vector<double> times(times_.begin() + 3, times_.end());
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }
  std::string const& name() const { return name_; }
  Tree const& tree() const { return tree_; }

 private:
  std::string name_;
  std::unique_ptr<TreeBuilder> builder_;
  std::unique_ptr<ResidentRows> rows_;
  std::vector<double> times_;
  Tree tree_;
};

int Run(Options const& options) {
  Data const data{options};
  ArraySource const source{{data.values.data(), ValueType::kUInt16}, options.rows, options.features, kThreads};
  std::vector<int> devices(static_cast<std::size_t>(options.gpus));
  std::iota(devices.begin(), devices.end(), 0);
  auto const one = BuildDeviceMatrix(source, CutRequest{options.bins, {}}, 0, kThreads);
  auto const shards = BuildDeviceShards(source, CutRequest{options.bins, {}}, devices, kThreads);

  std::vector<std::unique_ptr<Way>> ways;
  ways.push_back(std::make_unique<Way>("one GPU", MakeCudaTreeBuilder(one, kThreads), data));
  constexpr double kPatience = 20;
  auto const add = [&](char const* name, std::size_t least_shared_bytes) {
    auto builder = std::make_unique<ShardedBuilder>(shards, kThreads, kPatience, least_shared_bytes);
    bool const shares = builder->deals_features();
    if (shares != (least_shared_bytes == 0)) return;  // data are sparse or have few features
    ways.push_back(std::make_unique<Way>(std::to_string(options.gpus) + name, std::move(builder), data));
  };
  add(" GPUs, whole sums", std::numeric_limits<std::size_t>::max());
  add(" GPUs, shares", 0);

  TrainParams params;
  params.max_depth = options.depth;
  params.learning_rate = 0.1f;
  params.Validate();
  bool equal = true;
  for (int round = 0; round < options.rounds + 3; ++round) {
    for (auto const& way : ways) {
      way->Round(params);
      equal = equal && way->tree() == ways[0]->tree();
    }
  }
  std::printf("%llu x %u, %d bins, depth %d, %zu nodes, trees %s\n", static_cast<unsigned long long>(options.rows),
              options.features, options.bins, options.depth, ways[0]->tree().size(), equal ? "equal" : "DIFFERENT");
  for (auto const& way : ways) {
    std::printf("%-20s %8.3f ms a round, %.2f times as fast\n", way->name().c_str(), way->MedianMs(),
                ways[0]->MedianMs() / way->MedianMs());
  }
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  xgbgpu::bench::Options o;
  auto const rest = xgbgpu::bench::TakeOptions(
      argc, argv,
      {{"rows", [&](std::string const& v) { o.rows = std::stoull(v); }},
       {"features", [&](std::string const& v) { o.features = static_cast<unsigned>(std::stoul(v)); }},
       {"bins", [&](std::string const& v) { o.bins = std::stoi(v); }},
       {"depth", [&](std::string const& v) { o.depth = std::stoi(v); }},
       {"rounds", [&](std::string const& v) { o.rounds = std::stoi(v); }},
       {"gpus", [&](std::string const& v) { o.gpus = std::stoi(v); }}});
  bool const good = rest.size() == 1 && o.features >= 12 && o.bins >= 2 && o.bins <= 65535 && o.rounds >= 1 &&
                    o.gpus >= 2 && o.rows >= 1;
  if (!good) {
    if (rest.size() > 1) std::fprintf(stderr, "The option is '%s'. ", rest[1]);
    std::fprintf(stderr, "Allowed: --rows=1… --features=12… --bins=2…65535 --depth=N --rounds=1… --gpus=2…\n");
    return 2;
  }
  try {
    return xgbgpu::bench::Run(o);
  } catch (xgbgpu::Error const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
