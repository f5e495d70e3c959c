/// Rounds of the engine on a CUDA device, without XGBoost: from gradients on the device to updated margins on the
/// device.
///
///   build/cuda/bin/bench_cuda [--set=NAME,…] [--depth=N] [--rounds=N] [--subsample=F]
///                             [--sampling=uniform|gradient_based|goss] [--lanes=N,…] [--share=F] [--stages]
///                             [--leaves=N] [--prefer-shared]
///
/// Sets have the shape of the field's benchmark data; bins are made on the device, the label depends on some of them.
/// Prints the median time of a round; with --stages also a table of the stages, timed one by one without a graph. Sets
/// of several classes are trained with each number of trees at the same time that --lanes names (default: 1, and as
/// many as the library takes). --share: LanePolicy::share.
/// --leaves: loss-guided trees of N leaves of any depth, in place of trees of each depth.
/// --prefer-shared divides every multiprocessor's first-level cache alike for all kernels, so that different ones can
/// share it at any time.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda/grid.h"
#include "cuda/timeline.h"
#include "options.h"
#include "trees_cuda/cuda_tree_builder.h"

namespace xgbgpu::bench {
namespace {

struct Set {
  char const* name;
  std::uint64_t rows;
  FeatureIndex features;
  std::uint32_t continuous;  ///< features of 256 bins; the others have 3, or 2 where there are classes
  int classes;
  std::vector<int> depths;
};

std::vector<Set> const kSets{{"higgs", 10500000, 28, 24, 1, {6, 8, 12}},
                             {"airline", 115000000, 13, 13, 1, {8}},
                             {"m1", 1000000, 28, 24, 1, {6}},
                             {"mid", 100000, 28, 24, 1, {6}},
                             {"small", 10000, 28, 24, 1, {6}},
                             {"cover", 464000, 54, 10, 7, {8}},
                             {"classes", 10000, 28, 24, 10, {6}},
                             {"many", 10000, 28, 24, 100, {6}},
                             {"wide", 100000, 500, 500, 1, {6}}};

__device__ std::uint32_t Mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<std::uint32_t>(x >> 32);
}

/// One record of each tile per thread, and the row's label: a sum of effects and interactions of its first bins.
__global__ void MakeRows(DeviceMatrixView m, std::uint8_t* records, float* labels, int classes) {
  for (std::uint64_t row = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; row < m.rows;
       row += std::uint64_t{gridDim.x} * blockDim.x) {
    float score = 0, before = 0;
    for (FeatureIndex f = 0; f < m.features; ++f) {
      std::uint32_t const bin = Mix(row * 1024 + f) % m.bins(f);
      records[(f / m.tile_columns * m.rows + row) * m.tile_columns + f % m.tile_columns] =
          static_cast<std::uint8_t>(bin);
      float const x = static_cast<float>(bin) / static_cast<float>(m.bins(f)) - 0.5f;
      if (f < 12) score += x * (f % 3 == 0 ? 1.5f : 1.0f) + 6.0f * x * before;
      before = x;
    }
    float const noise = static_cast<float>(Mix(row * 1024 + 1023)) * 0x1p-32f - 0.5f;
    score += 2.0f * noise;
    float const place = fminf(fmaxf(score / 12.0f + 0.5f, 0.0f), 0.999f);
    labels[row] = classes == 1 ? (score > 0 ? 1.0f : 0.0f) : floorf(place * static_cast<float>(classes));
  }
}

class Rounds {
 public:
  Rounds(Set const& set, LanePolicy const& lanes) : set_{set} {
    auto matrix = std::make_shared<DeviceMatrix>(0);
    matrix->cuts.ptr.push_back(0);
    for (FeatureIndex f = 0; f < set.features; ++f) {
      BinIndex const bins = f < set.continuous ? 256 : (set.classes > 1 ? 2 : 3);
      for (BinIndex b = 0; b < bins; ++b) matrix->cuts.values.push_back(static_cast<float>(b + 1));
      matrix->cuts.ptr.push_back(matrix->cuts.ptr.back() + bins);
      matrix->cuts.min_values.push_back(-1);
    }
    ChooseDeviceLayout(matrix.get(), set.rows, set.rows * set.features, std::vector<std::uint8_t>(set.features));
    DeviceMatrixView& view = matrix->view;
    matrix->records = {&matrix->arena, "bins", view.tiles * view.rows * view.record_bytes()};
    matrix->cut_ptr = {&matrix->arena, "cuts", matrix->cuts.ptr.size()};
    matrix->tile_array = {&matrix->arena, "tiles", matrix->tiles.size()};
    CheckCuda(cudaMemset(matrix->records.data(), 0, matrix->records.bytes()), "clearing");
    CheckCuda(
        cudaMemcpy(matrix->cut_ptr.data(), matrix->cuts.ptr.data(), matrix->cut_ptr.bytes(), cudaMemcpyHostToDevice),
        "cuts");
    CheckCuda(
        cudaMemcpy(matrix->tile_array.data(), matrix->tiles.data(), matrix->tile_array.bytes(), cudaMemcpyHostToDevice),
        "tiles");
    view.records = matrix->records.data();
    view.cut_ptr = matrix->cut_ptr.data();
    view.tile = matrix->tile_array.data();
    std::vector<float> labels(set.rows);
    {
      DeviceArena arena{"The benchmark"};
      DeviceBuffer<float> on_device{&arena, "labels", set.rows};
      MakeRows<<<2048, 256>>>(view, matrix->records.data(), on_device.data(), set.classes);
      CheckCuda(cudaMemcpy(labels.data(), on_device.data(), on_device.bytes(), cudaMemcpyDeviceToHost), "making rows");
    }
    matrix_ = matrix;
    builder_ = std::make_unique<CudaTreeBuilder>(matrix_, 16, lanes);
    rows_ = builder_->MakeRows(static_cast<std::uint32_t>(set.classes));
    rows_->SetTargets({labels.data()});
    Restart();
  }

  void Restart() {
    round_ = 0;
    rows_->SetMargins(std::vector<float>(set_.rows * static_cast<std::size_t>(set_.classes)));
  }
  void EnqueueGradients() { rows_->ComputeGradients({set_.classes == 1 ? Objective::kLogistic : Objective::kSoftmax}); }
  void Round(TrainParams const& params) {
    EnqueueGradients();
    std::vector<RoundTree> trees;
    for (std::uint32_t c = 0; c < rows_->outputs(); ++c) trees.push_back({c, {round_, c}});
    builder_->Begin(params, rows_.get(), trees);
    for (RoundTree const& begun : trees) {
      Tree const tree = builder_->FinishNext();
      nodes_ = tree.size();
      builder_->AddLeafValues(tree.leaf_value, rows_.get(), begun.output);
    }
    ++round_;
  }
  void Wait() { builder_->stream().Wait("a round"); }
  CudaTreeBuilder& builder() { return *builder_; }
  std::size_t nodes() const { return nodes_; }
  std::size_t matrix_bytes() const { return matrix_->arena.bytes(); }

 private:
  Set set_;
  std::shared_ptr<DeviceMatrix const> matrix_;
  std::unique_ptr<CudaTreeBuilder> builder_;
  std::unique_ptr<cuda::DeviceResidentRows> rows_;
  std::uint32_t round_{0};
  std::size_t nodes_{0};
};

template <typename F>
double MedianMs(int n, F&& f) {
  std::vector<double> times;
  for (int i = 0; i < n; ++i) {
    auto const start = std::chrono::steady_clock::now();
    f();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void PrintStages(Rounds* rounds, TrainParams const& params) {
  Timeline timeline{rounds->builder().stream()};
  rounds->builder().SetTimeline(&timeline);
  for (int i = 0; i < 5; ++i) rounds->Round(params);
  rounds->Wait();
  rounds->builder().SetTimeline(nullptr);
  std::map<std::string, std::map<int, std::vector<TraceStage>>> stages;
  for (TraceStage const& e : timeline.entries()) stages[e.name][e.level].push_back(e);
  for (auto& [stage, levels] : stages) {
    double all = 0, bytes = 0;
    std::printf("    %-11s", stage.c_str());
    for (auto& [level, entries] : levels) {
      std::sort(entries.begin(), entries.end(),
                [](auto const& a, auto const& b) { return a.duration_us < b.duration_us; });
      TraceStage const& e = entries[entries.size() / 2];
      std::printf(" %.3f", e.duration_us * 1e-3);
      all += e.duration_us * 1e-3;
      bytes += static_cast<double>(e.bytes);
    }
    std::printf(" | %.3f ms, %.1f MB, %.0f GB/s\n", all, bytes * 1e-6, bytes / all * 1e-6);
  }
}

/// Of the rows that a tree is grown on.
double SampleShare(TrainParams const& params) {
  return static_cast<double>(params.sampling_method == SamplingMethod::kGoss ? params.top_rate + params.other_rate
                                                                             : params.subsample);
}

/// With goss, `subsample` is split evenly between the rows with the largest gradients and the others.
TrainParams SampleParams(std::string const& sampling, float subsample) {
  TrainParams params;
  if (sampling == "goss") {
    params.sampling_method = SamplingMethod::kGoss;
    params.top_rate = params.other_rate = subsample / 2;
    return params;
  }
  if (sampling == "gradient_based") params.sampling_method = SamplingMethod::kGradientBased;
  params.subsample = subsample;
  return params;
}

void Run(Set const& set, int depth, int rounds, TrainParams params, LanePolicy const& lanes, bool stages) {
  Rounds training{set, lanes};
  for (int d : set.depths) {
    if (depth != 0 && d != depth) continue;
    params.max_depth = params.max_leaves == 0 ? d : 0;
    params.learning_rate = 0.1f;
    params.Validate();
    training.Restart();
    for (int i = 0; i < 3; ++i) training.Round(params);
    training.Wait();
    double const round = MedianMs(rounds, [&] {
      training.Round(params);
      training.Wait();
    });
    std::printf(
        "%-8s %9llu x %3u d%-2d  sample %g  %3d trees, %2u lanes at most  round %.3f ms  "
        "%zu nodes  arena %.0f MB, matrix %.0f MB\n",
        set.name, static_cast<unsigned long long>(set.rows), set.features, d, SampleShare(params), set.classes,
        lanes.most_lanes, round, training.nodes(), 1e-6 * static_cast<double>(training.builder().arena().peak_bytes()),
        1e-6 * static_cast<double>(training.matrix_bytes()));
    if (stages) PrintStages(&training, params);
  }
}

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  std::string sets = "higgs,airline,m1,mid,small,cover,classes,many,wide";
  int depth = 0, rounds = 30;
  int leaves = 0;
  float subsample = 1;
  std::string sampling = "uniform";
  xgbgpu::LanePolicy policy;
  std::string lanes = "1," + std::to_string(policy.most_lanes);
  bool stages = false;
  auto const rest = xgbgpu::bench::TakeOptions(argc, argv,
                                               {{"set", [&](std::string const& v) { sets = v; }},
                                                {"depth", [&](std::string const& v) { depth = std::stoi(v); }},
                                                {"rounds", [&](std::string const& v) { rounds = std::stoi(v); }},
                                                {"subsample", [&](std::string const& v) { subsample = std::stof(v); }},
                                                {"sampling", [&](std::string const& v) { sampling = v; }},
                                                {"lanes", [&](std::string const& v) { lanes = v; }},
                                                {"leaves", [&](std::string const& v) { leaves = std::stoi(v); }},
                                                {"share", [&](std::string const& v) { policy.share = std::stod(v); }}});
  for (std::size_t i = 1; i < rest.size(); ++i) {
    std::string const flag = rest[i];
    if (flag == "--stages") {
      stages = true;
    } else if (flag == "--prefer-shared") {
      xgbgpu::CheckCuda(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared), "dividing the first-level cache");
    } else {
      std::fprintf(stderr,
                   "The option is '%s'; allowed: --set=NAME,… --depth=N --rounds=N --subsample=F "
                   "--sampling=uniform|gradient_based|goss --lanes=N,… --share=F --leaves=N --stages --prefer-shared\n",
                   rest[i]);
      return 2;
    }
  }
  auto const names = xgbgpu::bench::Split(sets);
  if (!xgbgpu::bench::AreSets(names, xgbgpu::bench::kSets)) return 2;
  xgbgpu::TrainParams params = xgbgpu::bench::SampleParams(sampling, subsample);
  params.max_leaves = leaves;
  if (leaves != 0) params.grow_policy = xgbgpu::GrowPolicy::kLossGuide;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (auto const& set : xgbgpu::bench::kSets) {
    if (std::find(names.begin(), names.end(), set.name) == names.end()) continue;
    for (std::string const& number : xgbgpu::bench::Split(set.classes == 1 ? "1" : lanes)) {
      policy.most_lanes = static_cast<std::uint32_t>(std::stoul(number));
      xgbgpu::bench::Run(set, depth, rounds, params, policy, stages);
    }
  }
  return 0;
}
