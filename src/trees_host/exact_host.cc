// Grows exact trees on the host, with the host implementations of exact/.
#include "trees_host/exact_host.h"

#include <optional>
#include <vector>

#include "backend/copy_positions.h"
#include "backend/finished_tree.h"
#include "base/buffer.h"
#include "base/parallel.h"
#include "base/stage_timer.h"
#include "base/stages.h"
#include "exact/exact.h"
#include "gradient/gradient.h"
#include "gradient/gradient_ops.h"
#include "sample/sample.h"

namespace xgbgpu {

namespace {

constexpr std::size_t kRowsPerTask = 1 << 14;  // rows a task

class HostExactBuilder final : public TreeBuilder {
 public:
  HostExactBuilder(std::shared_ptr<SortedMatrix const> matrix, int threads)
      : matrix_{std::move(matrix)},
        threads_{threads},
        rows_{matrix_->rows},
        sampled_{matrix_->rows},
        sample_counts_(host::SampleChunks(matrix_->rows)),
        finished_{matrix_->rows} {}

  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) override {
    finished_.Forget();
    finished_.CheckGradients(gradients.size());
    ValidateExact(params);
    Begin(params, gradients, key);
    FindSplits(0);
    for (auto selected = SelectExactNodes(nodes_, level_, train_); !selected.empty();
         selected = SelectExactNodes(nodes_, level_, train_)) {
      ExpandNodes(selected);
    }
    nodes_ = Prune(nodes_, train_.min_split_loss, &node_of_);
    Tree tree = MakeExactTree(nodes_, *split_params_, train_.learning_rate, constraints_);
    finished_.Set(tree.size());
    return tree;
  }

  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const override {
    finished_.CheckPositions(positions, sampled_out);
    CopyPositions(positions, sampled_out, threads_, [&](std::size_t row) {
      NodeIndex const leaf = LeafOf(row);
      return rows_[row].node < 0 ? ~leaf : leaf;
    });
  }

  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const override {
    finished_.CheckNodes("AddLeafValues", node_values.size());
    timer_.Run(kMargins, kNoLevel, [&] {
      ParallelChunks(threads_, matrix_->rows, kRowsPerTask, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          margins[i * stride] += node_values[static_cast<std::size_t>(LeafOf(i))];
      });
    });
  }

  void Trace(std::shared_ptr<TraceFile> file) override {
    trace_ = std::move(file);
    timer_.SetFile(trace_.get());
  }

  MemoryReport memory() const override {
    MemoryReport report;
    report.parts = {{"rows", rows_.bytes()}, {"sampled rows", sampled_.bytes()}};
    for (auto const& part : report.parts) report.bytes += part.bytes;
    report.peak_bytes = report.bytes;  // buffers never shrink
    return report;
  }
  std::uint64_t memory_version() const override { return rows_.bytes(); }  // bytes change only when a buffer grows

 private:
  /// Brings gradients to fixed point, samples rows and features, and makes the root with its sum.
  void Begin(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
    train_ = params;
    constraints_ = Constraints{params, matrix_->features()};
    limits_.Reset(constraints_);
    timer_.BeginTree();
    GradientFormat const format =
        ToExactFormat(host::ChooseGradientFormat(gradients, gradients.size(), train_.min_child_weight, threads_));
    split_params_.emplace(params, format);
    features_.emplace(params, matrix_->features(), TreeNumber(key));
    timer_.Run(kRoot, 0, [&] {
      TakeRows(gradients, format, {params.seed, RandomPurpose::kRowSample, TreeNumber(key), 0});
    });
    nodes_ = {};
    nodes_.Add(kNoNode, SumOfSample());
    level_ = 0;
  }

  void ExpandNodes(std::vector<NodeIndex> const& selected) {
    auto const children = static_cast<NodeIndex>(nodes_.nodes.size());
    for (NodeIndex const parent : selected) {
      SplitCandidate const split = nodes_[parent].split;
      nodes_[parent].left = nodes_.Add(parent, split.left);
      nodes_.Add(parent, split.right);
      limits_.AddChildren(*split_params_, parent, nodes_[parent].left, split);
    }
    timer_.Run(kMove, nodes_.nodes.back().depth,
               [&] { host::ApplyExactSplits(*matrix_, nodes_, level_, rows_.span(), threads_); });
    level_ = children;
    if (nodes_.nodes.back().depth < train_.max_depth) FindSplits(children);
  }

  /// Brings gradients to fixed point, and puts every row of the sample at the root.
  void TakeRows(Span<GradientPair const> gradients, GradientFormat format, RandomStream const& stream) {
    std::size_t const in =
        host::SampleRows(stream, train_.subsample, matrix_->rows, sample_counts_, sampled_.span(), threads_);
    double const grad_scale = ScaleByPowerOfTwo(1.0, format.grad_shift);
    double const hess_scale = ScaleByPowerOfTwo(1.0, format.hess_shift);
    NodeIndex const start = in == matrix_->rows ? 0 : ~NodeIndex{0};
    ParallelChunks(threads_, matrix_->rows, kRowsPerTask, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        rows_[i] = {QuantiseWide(gradients[i], grad_scale, hess_scale), start};
      }
    });
    if (start == 0) return;
    for (std::size_t i = 0; i < in; ++i) rows_[sampled_[i].row].node = 0;
  }

  GradientSum SumOfSample() const {
    GradientSum sum;
    for (host::ExactRow const& row : rows_.span()) {
      if (row.node >= 0) sum += row.gradient;
    }
    return sum;
  }

  void FindSplits(NodeIndex first) {
    std::vector<std::vector<FeatureIndex>> allowed;
    bool const all = features_->all() && !constraints_.interaction();
    for (auto n = static_cast<std::size_t>(first); n < nodes_.nodes.size() && !all; ++n) {
      allowed.push_back(features_->Node(nodes_.nodes[n].depth, static_cast<NodeIndex>(n)));
      limits_.Filter(static_cast<NodeIndex>(n), &allowed.back());
    }
    timer_.Run(kSplit, nodes_[first].depth, [&] {
      host::FindExactSplits({*matrix_, rows_.span(), *split_params_, constraints_, limits_, first, allowed}, threads_,
                            &nodes_);
    });
  }

  NodeIndex LeafOf(std::size_t row) const {
    NodeIndex const grown = rows_[row].node < 0 ? ~rows_[row].node : rows_[row].node;
    return node_of_[static_cast<std::size_t>(grown)];
  }

  std::shared_ptr<SortedMatrix const> matrix_;
  int threads_;
  Buffer<host::ExactRow> rows_;
  Buffer<RowRecord> sampled_;
  std::vector<std::size_t> sample_counts_;
  TrainParams train_;
  std::optional<SplitParams> split_params_;
  std::optional<FeatureSampler> features_;
  Constraints constraints_;
  NodeLimits limits_;
  std::shared_ptr<TraceFile> trace_;
  HostStageTimer timer_;
  ExactNodes nodes_;
  NodeIndex level_{0};              ///< first node of the level to split next
  std::vector<NodeIndex> node_of_;  ///< number in the pruned tree of every node that was grown
  FinishedTree finished_;
};

}  // namespace

std::unique_ptr<TreeBuilder> MakeHostExactBuilder(std::shared_ptr<SortedMatrix const> matrix, int threads) {
  return std::make_unique<HostExactBuilder>(std::move(matrix), threads);
}

}  // namespace xgbgpu
