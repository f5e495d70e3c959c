/// The host backend: forwards to the stages' host implementations.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/copy_positions.h"
#include "backend/finished_tree.h"
#include "core/parallel.h"
#include "core/stages.h"
#include "gradient/gradient.h"
#include "histogram/histogram_policy.h"
#include "level/level.h"
#include "predict/predict.h"
#include "sample/sample.h"
#include "tree/leaf.h"

namespace xgbgpu {

namespace {

class HostTreeBuilder final : public TreeBuilder {
 public:
  HostTreeBuilder(QuantisedMatrix const& matrix, int threads)
      : matrix_{matrix},
        threads_{threads},
        level_{matrix, threads, HostHistogramPolicy{}.cache_bytes, &timer_},
        positions_{matrix.rows},
        sample_counts_(host::SampleChunks(matrix.rows)),
        finished_{matrix.rows} {}

  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) override {
    finished_.Forget();
    finished_.CheckGradients(gradients.size());
    Begin(params, gradients, key);
    level_.BuildRoot();
    while (level_.SelectNodes()) level_.ExpandNodes();
    Tree tree = Finish();
    finished_.Set(tree.size());
    return tree;
  }

  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const override {
    finished_.CheckPositions(positions, sampled_out);
    CopyPositions(positions, sampled_out, threads_, [&](std::size_t row) { return positions_[row]; });
  }

  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const override {
    finished_.CheckNodes("AddLeafValues", node_values.size());
    timer_.Run(kMargins, kNoLevel,
               [&] { host::AddLeafValues(positions_.span(), node_values, margins, stride, threads_); });
  }

  void Trace(std::shared_ptr<TraceFile> file) override {
    trace_ = std::move(file);
    timer_.SetFile(trace_.get());
  }
  MemoryReport memory() const override {
    MemoryReport report;
    report.parts = {{"levels", level_.bytes()},
                    {"positions", positions_.bytes()},
                    {"gradients", narrow_.bytes() + wide_.bytes() + sampled_.bytes()}};
    for (auto const& part : report.parts) report.bytes += part.bytes;
    report.peak_bytes = report.bytes;  // buffers never shrink
    return report;
  }
  std::uint64_t memory_version() const override {
    return level_.bytes() + positions_.bytes() + narrow_.bytes() + wide_.bytes() + sampled_.bytes();  // the same reason
  }

 private:
  /// Gradients to fixed point, rows and features sampled, sums of the root.
  void Begin(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
    train_ = params;
    std::uint32_t const tree = TreeNumber(key);
    timer_.BeginTree();
    std::size_t rows = matrix_.rows;
    timer_.Run(kGradients, 0, [&] {
      if (params.SamplesRows()) {
        sampled_.Reserve(matrix_.rows);
        rows = host::SampleRows(params, tree, gradients, sample_counts_, level_.RootRows(), sampled_.span(), threads_);
        gradients = {sampled_.data(), matrix_.rows};
      }
      QuantiseGradients(gradients, rows, {params.seed, RandomPurpose::kRounding, tree, 0});
    });
    features_.emplace(params, matrix_.features(), tree);
    timer_.Run(kRoot, 0, [&] { BeginRoot(tree, rows); });
  }

  Tree Finish() {
    Tree tree = MakeTree(level_.nodes(), matrix_.cuts, *split_params_, train_.learning_rate, level_.constraints(),
                         level_.category_sets());
    timer_.Run(kWalk, train_.max_depth, [&] {
      level_.LeafPositions(positions_.data());
      if (level_.nodes()[0].rows < matrix_.rows) host::FindLeaves(matrix_, tree, positions_.span(), threads_);
    });
    return tree;
  }

  /// Samples are listed already.
  void BeginRoot(std::uint32_t tree, std::size_t rows) {
    if (!train_.SamplesRows()) {
      host::SampleRows({train_.seed, RandomPurpose::kRowSample, tree, 0}, 1.0f, rows, sample_counts_, level_.RootRows(),
                       threads_);
    }
    if (rows < matrix_.rows) std::fill_n(positions_.data(), matrix_.rows, host::kUnknownLeaf);
    level_.SetPositions(positions_.data());
    level_.Begin(gradients_, *split_params_, *features_, train_, rows);
  }

  void QuantiseGradients(Span<GradientPair const> gradients, std::size_t rows, RandomStream const& rounding) {
    GradientFormat const format = host::ChooseGradientFormat(gradients, rows, threads_);
    if (format.narrow) {
      narrow_.Reserve(matrix_.rows);
    } else {
      wide_.Reserve(matrix_.rows);
    }
    host::QuantiseGradients(gradients, format, rounding, narrow_.span(), wide_.span(), threads_);
    gradients_ = {format, narrow_.data(), wide_.data()};
    split_params_.emplace(train_, format);
  }

  QuantisedMatrix const& matrix_;
  int threads_;
  std::shared_ptr<TraceFile> trace_;
  HostStageTimer timer_;
  host::LevelBuilder level_;
  Buffer<NodeIndex> positions_;  ///< leaf of each row of the last tree, its complement for rows outside the sample
  std::vector<std::size_t> sample_counts_;
  Buffer<GradientPair> sampled_;  ///< gradients of the rows in the sample; zeros
  Buffer<NarrowGradient> narrow_;
  Buffer<GradientSum> wide_;
  TrainParams train_;
  GradientView gradients_;
  std::optional<SplitParams> split_params_;
  std::optional<FeatureSampler> features_;
  FinishedTree finished_;
};

}  // namespace

std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(QuantisedMatrix const& matrix, int threads) {
  return std::make_unique<HostTreeBuilder>(matrix, threads);
}

}  // namespace xgbgpu
