/// Rounds of exact trees on a CUDA device, without XGBoost: gradients, a tree, margins, all on the device.
///
///   build/cuda/bin/bench_exact [--set=NAME,…] [--depth=N,…] [--rounds=N] [--host=ROWS] [--stages]
///
/// Prints for every set the seconds to sort its columns on the host and to copy them, the median milliseconds of a
/// round, and the device's memory a stored value at the peak. The objective is binary:logistic; of yahoo, whose rows
/// are those of queries, rank:ndcg. --host: the first so many rows on the host backend, too. --stages: also the time of
/// every stage and level, timed one by one in rounds of their own, the bytes that it must move at least, and their
/// rate.

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/parallel.h"
#include "base/stages.h"
#include "core/random.h"
#include "exact/sorted_matrix.h"
#include "options.h"
#include "training/dataset_storage.h"
#include "trees_cuda/cuda_builder.h"
#include "trees_cuda/cuda_exact_builder.h"
#include "xgbgpu/resident_rows.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::bench {
namespace {

struct Set {
  char const* name;
  std::uint64_t rows;
  FeatureIndex features;
  double density;
  std::vector<int> depths;
  bool ranking{false};
};

std::vector<Set> const kSets{{"higgs", 10500000, 28, 1.0, {6, 12}},
                             {"yahoo", 473000, 700, 1.0, {6}, true},
                             {"bosch", 1000000, 968, 0.19, {6}},
                             {"small", 10000, 28, 1.0, {6}}};

/// Numbers of 20 bits, and labels that depend on some of them: 0 and 1, or of ranking relevances 0 … 4 in the shares of
/// Yahoo's learning to rank challenge, in queries of 4 to 43 rows (there 473,134 in 19,944: 23.7 on average).
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
        labels_[r] = set.ranking ? Relevance(score, set) : (score > 0 ? 1.0f : 0.0f);
      }
    });
    if (!set.ranking) return;
    constexpr std::uint32_t kSmallest = 4, kSizes = 40;
    for (std::uint64_t row = 0; row < rows;
         row += kSmallest + Draw(row, features_, RandomPurpose::kRounding) % kSizes) {
      group_ptr_.push_back(static_cast<std::uint32_t>(row));
    }
    group_ptr_.push_back(static_cast<std::uint32_t>(rows));
  }

  std::uint64_t rows() const override { return offsets_.size() - 1; }
  FeatureIndex features() const override { return features_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    visit({0, {offsets_.data(), offsets_.size()}, {entries_.data(), entries_.size()}});
  }
  TargetView targets() const {
    TargetView view{labels_.data()};
    if (group_ptr_.empty()) return view;
    view.group_ptr = group_ptr_.data();
    view.groups = static_cast<std::uint32_t>(group_ptr_.size() - 1);
    return view;
  }
  double stored() const { return static_cast<double>(entries_.size()); }

 private:
  /// A term of a score has a variance of 1/12 + 6² / 12², a third.
  static float Relevance(float score, Set const& set) {
    float const z = score / std::sqrt(static_cast<float>(set.density) * static_cast<float>(set.features) / 15.0f);
    constexpr float kFrom[] = {-0.64f, 0.31f, 1.28f, 2.05f};  // of a normal number: 26, 36, 28, 8 and 2 percent
    return static_cast<float>(std::upper_bound(std::begin(kFrom), std::end(kFrom), z) - std::begin(kFrom));
  }
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
  std::vector<std::uint32_t> group_ptr_;  ///< of ranking, else empty
};

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

ObjectiveParams ObjectiveOf(Set const& set, std::uint32_t round) {
  ObjectiveParams objective{set.ranking ? Objective::kRankNdcg : Objective::kLogistic};
  objective.iteration = round;
  return objective;
}

std::vector<double> HostRounds(LabelledRows const& data, Set const& set, TrainParams const& params,
                               std::uint32_t rounds) {
  int const threads = omp_get_max_threads();
  Trainer trainer{Dataset::BuildSorted(data, threads), BackendKind::kHost, threads};
  std::vector<float> margins(data.rows());
  std::vector<GradientPair> gradients(data.rows());
  std::vector<double> times;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    host::ComputeGradients(ObjectiveOf(set, round), data.targets(),
                           RowMajor<float const>(margins.data(), data.rows(), 1),
                           RowMajor(gradients.data(), data.rows(), 1), threads);
    double const start = Seconds();
    Tree const tree = trainer.Grow(params, gradients, {round, 0});
    times.push_back(Seconds() - start);
    trainer.AddLeafValues(tree.leaf_value, margins.data(), 1);
  }
  return times;
}

/// One training on the device.
class Training {
 public:
  Training(Set const& set, LabelledRows const& data) : set_{set}, stored_{data.stored()} {
    int const threads = omp_get_max_threads();
    double const start = Seconds();
    auto const dataset = Dataset::BuildSorted(data, threads, {BackendKind::kCuda, 0});
    double const sorted = Seconds();
    builder_ = MakeCudaExactBuilder(MatrixOf<SortedColumns>(*dataset).matrix, 0, threads);
    rows_ = builder_->rounds()->MakeResidentRows(1);
    rows_->SetTargets(data.targets());
    sort_seconds_ = sorted - start;
    copy_seconds_ = Seconds() - sorted;
  }

  void Restart() { rows_->SetMargins(std::vector<float>(set_.rows)); }
  Tree Round(TrainParams const& params, std::uint32_t round) {
    rows_->ComputeGradients(ObjectiveOf(set_, round));
    Tree tree = rows_->Grow(params, 0, {round, 0});
    rows_->AddLeafValues(tree.leaf_value, 0);
    return tree;
  }
  void PrintStages(TrainParams const& params, std::uint32_t rounds);

  double sort_seconds() const { return sort_seconds_; }
  double copy_seconds() const { return copy_seconds_; }
  double bytes_a_value() const { return static_cast<double>(builder_->memory().peak_bytes) / stored_; }

 private:
  std::vector<std::uint64_t> RowsOfLevels(Tree const& tree) const;
  std::uint64_t BytesAtLeast(TraceStage const& stage, Tree const& tree,
                             std::vector<std::uint64_t> const& rows_of_levels) const;

  Set const& set_;
  double stored_;
  double sort_seconds_, copy_seconds_;
  std::unique_ptr<TreeBuilder> builder_;
  std::unique_ptr<ResidentRows> rows_;
};

/// Rows in the nodes of each depth of the last tree.
std::vector<std::uint64_t> Training::RowsOfLevels(Tree const& tree) const {
  std::vector<NodeIndex> positions(set_.rows);
  builder_->LeafPositions(positions, {});
  std::vector<std::uint64_t> rows(tree.size());
  for (NodeIndex const leaf : positions) ++rows[static_cast<std::size_t>(leaf)];
  for (std::size_t n = tree.size(); n-- > 1;) rows[static_cast<std::size_t>(tree.parent[n])] += rows[n];
  std::vector<std::size_t> depth(tree.size());
  std::vector<std::uint64_t> of_levels(1, rows[0]);
  for (std::size_t n = 1; n < tree.size(); ++n) {
    depth[n] = depth[static_cast<std::size_t>(tree.parent[n])] + 1;
    if (depth[n] == of_levels.size()) of_levels.push_back(0);
    of_levels[depth[n]] += rows[n];
  }
  return of_levels;
}

/// What has to be read and written once, however it is done: 4 bytes for an entry of a list and for a row's number, 8
/// for its gradient, 1 for the side that it goes to. 0: not known.
std::uint64_t Training::BytesAtLeast(TraceStage const& stage, Tree const& tree,
                                     std::vector<std::uint64_t> const& rows_of_levels) const {
  std::string const name = stage.name;
  if (name == kObjective) return set_.rows * (sizeof(float) * 2 + sizeof(GradientPair));
  if (name == kMargins) return set_.rows * (sizeof(NodeIndex) + sizeof(float) * 2);
  if (name == kGradients) return set_.rows * sizeof(GradientPair);
  if (name == kRoot) return set_.rows * (sizeof(GradientPair) + 8 + sizeof(NodeIndex));
  if (name == kThresholds) {  // columns that the tree splits by
    std::set<FeatureIndex> columns;
    for (std::size_t n = 0; n < tree.size(); ++n) {
      if (!tree.IsLeaf(static_cast<NodeIndex>(n))) columns.insert(tree.feature[n]);
    }
    return static_cast<std::uint64_t>(stored_ * static_cast<double>(columns.size()) / set_.features) * 4;
  }
  if (stage.level < 0 || static_cast<std::size_t>(stage.level) >= rows_of_levels.size()) return 0;
  std::uint64_t const rows = rows_of_levels[static_cast<std::size_t>(stage.level)];
  auto const entries = static_cast<std::uint64_t>(static_cast<double>(rows) * stored_ / static_cast<double>(set_.rows));
  if (name == kSplit) return entries * 4 + rows * 8;
  if (name == kSides) return rows * (4 + 8 + 1);
  if (name == kMove) {  // below the last level there are no lists any more
    bool const to_leaves = static_cast<std::size_t>(stage.level) + 1 == rows_of_levels.size();
    return to_leaves ? rows * (4 + 1 + sizeof(NodeIndex)) : entries * 8 + rows * (2 * (8 + 4) + 1);
  }
  return 0;
}

void Training::PrintStages(TrainParams const& params, std::uint32_t rounds) {
  auto& device = static_cast<CudaBuilder&>(*builder_);
  Timeline timeline{device.stream()};
  device.SetTimeline(&timeline);
  struct Times {
    std::vector<double> ms;
    double bytes{0};
  };
  std::map<std::pair<std::string, int>, Times> stages;
  std::size_t told = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    Tree const tree = Round(params, round);
    device.stream().Wait("a round");
    timeline.Resolve();
    auto const of_levels = RowsOfLevels(tree);
    for (; told < timeline.entries().size(); ++told) {
      TraceStage const& stage = timeline.entries()[told];
      Times& times = stages[{stage.name, stage.level}];
      times.ms.push_back(stage.duration_us * 1e-3);
      times.bytes = std::max(times.bytes, static_cast<double>(BytesAtLeast(stage, tree, of_levels)));
    }
  }
  device.SetTimeline(nullptr);
  for (auto const& [stage, times] : stages) {
    double const ms = Median(times.ms);
    std::string const level = stage.second < 0 ? "" : "level " + std::to_string(stage.second);
    std::printf("    %-12s %-9s %9.3f ms", stage.first.c_str(), level.c_str(), ms);
    if (times.bytes > 0) std::printf("  %10.2f MB at least  %6.0f GB/s", times.bytes * 1e-6, times.bytes / ms * 1e-6);
    std::printf("\n");
  }
}

void Run(Set const& set, std::vector<int> const& depths, std::uint32_t rounds, std::uint64_t host_rows, bool stages) {
  int const threads = omp_get_max_threads();
  LabelledRows const data{set, set.rows, threads};
  Training training{set, data};
  for (int const depth : depths) {
    TrainParams params;
    params.max_depth = depth;
    training.Restart();
    std::vector<double> times;
    std::size_t nodes = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      double const begin = Seconds();
      nodes += training.Round(params, round).size();
      if (round > 0 || rounds == 1) times.push_back(Seconds() - begin);
    }
    std::printf("%-6s depth %2d: sort %.2f s, copy %.2f s, round %.3f ms, %zu nodes a tree, %.2f bytes a value\n",
                set.name, depth, training.sort_seconds(), training.copy_seconds(), 1e3 * Median(times), nodes / rounds,
                training.bytes_a_value());
    if (stages) {
      training.Restart();
      training.PrintStages(params, 5);
    }
    std::fflush(stdout);
    if (host_rows == 0) continue;
    LabelledRows const part{set, std::min(host_rows, set.rows), threads};
    std::printf("       host backend, %d threads, %llu rows: %.1f ms\n", threads,
                static_cast<unsigned long long>(part.rows()), 1e3 * Median(HostRounds(part, set, params, 5)));
  }
}

}  // namespace
}  // namespace xgbgpu::bench

int main(int argc, char** argv) {
  using namespace xgbgpu::bench;
  std::string sets = "higgs,yahoo,bosch,small";
  std::vector<int> depths;
  std::uint32_t rounds = 12;
  std::uint64_t host_rows = 0;
  bool stages = false;
  auto const rest = TakeOptions(argc, argv,
                                {{"set", [&](std::string const& v) { sets = v; }},
                                 {"depth",
                                  [&](std::string const& v) {
                                    for (auto const& part : Split(v)) depths.push_back(std::stoi(part));
                                  }},
                                 {"rounds", [&](std::string const& v) { rounds = std::max(1, std::stoi(v)); }},
                                 {"host", [&](std::string const& v) { host_rows = std::stoull(v); }}});
  for (std::size_t i = 1; i < rest.size(); ++i) {
    stages = std::string{rest[i]} == "--stages";
    if (stages) continue;
    std::fprintf(stderr, "The option is '%s'; allowed: --set=NAME,… --depth=N,… --rounds=N --host=N --stages\n",
                 rest[i]);
    return 2;
  }
  if (!AreSets(Split(sets), kSets)) return 2;
  for (std::string const& name : Split(sets)) {
    for (Set const& set : kSets) {
      if (name == set.name) Run(set, depths.empty() ? set.depths : depths, rounds, host_rows, stages);
    }
  }
}
