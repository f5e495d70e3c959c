// Grows trees by histograms on the host, in core or in pages.
#include "trees_host/hist_host.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backend/copy_positions.h"
#include "backend/finished_tree.h"
#include "backend/validate_vectors.h"
#include "base/buffer.h"
#include "base/host_memory.h"
#include "base/parallel.h"
#include "base/stage_timer.h"
#include "base/stages.h"
#include "gradient/gradient.h"
#include "growth/growth.h"
#include "growth/level.h"
#include "growth/make_tree.h"
#include "growth/symmetric.h"
#include "histogram/histogram.h"
#include "histogram/histogram_slots.h"
#include "page/page.h"
#include "partition/node_rows.h"
#include "partition/paged_rows.h"
#include "partition/row_lists.h"
#include "partition/sampled_page.h"
#include "predict/predict.h"
#include "sample/sample.h"
#include "split/level_split.h"
#include "split/split_finder.h"
#include "trees_host/vector_trees.h"

namespace xgbgpu {

namespace {

/// Holds the gradients of one tree after the other, in fixed point.
class TreeGradients {
 public:
  void Quantise(Span<GradientPair const> gradients, GradientFormat format, RandomStream const& rounding,
                std::uint64_t first_row, int threads) {
    if (format.narrow) {
      narrow_.Reserve(gradients.size());
    } else {
      wide_.Reserve(gradients.size());
    }
    host::QuantiseGradients(gradients, format, rounding, narrow_.span(), wide_.span(), threads, first_row);
    view_ = {format, narrow_.data(), wide_.data()};
  }
  GradientView const& view() const { return view_; }
  std::size_t bytes() const { return narrow_.bytes() + wide_.bytes(); }

 private:
  Buffer<NarrowGradient> narrow_;
  Buffer<GradientSum> wide_;
  GradientView view_;
};

/// Bytes of a matrix in pages that are for histograms, beside a sample or without one, and for the sample.
struct WorkingMemory {
  std::size_t sampled_histograms, all_histograms, sample;
};
WorkingMemory ShareOut(std::size_t bytes, QuantisedMatrix const& matrix) {
  std::size_t const two = 2 * std::size_t{matrix.cells()} * sizeof(GradientSum);
  std::size_t const left = bytes - std::min(bytes, two), most = HostHistogramPolicy{}.cache_bytes;
  std::size_t const half = std::min(left / 2, most);
  return {two + half, two + std::min(left, most), left - half};
}

class HostTreeBuilder final : public TreeBuilder {
 public:
  HostTreeBuilder(QuantisedMatrix const& matrix, Shard const& shard, int threads, std::size_t histogram_bytes)
      : HostTreeBuilder{matrix, nullptr, shard, threads, histogram_bytes} {
    rows_ = std::make_unique<host::RowLists>(positions_.span(), threads);
  }
  HostTreeBuilder(PagedMatrix const& matrix, Shard const& shard, int threads, WorkingMemory const& memory)
      : HostTreeBuilder{matrix.whole(), std::make_unique<PageReader>(matrix), shard, threads, memory.all_histograms} {
    memory_ = memory;
    rows_ = std::make_unique<host::PagedRows>(positions_.span(), matrix.most_rows(), threads);
    sample_ = std::make_unique<host::SampledPage>(matrix.whole(), memory.sample, threads);
  }

  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) override {
    finished_.Forget();
    finished_.CheckGradients(gradients.size());
    peak_bytes_ = memory().peak_bytes;
    ++begun_;
    BeginTree(params, gradients, TreeNumber(key));
    auto const sum = [&](auto const& page, auto const& jobs) {
      histograms_.Sum(page, &rows(), this->gradients(), jobs);
    };
    auto const grow = [&](auto* growth) {
      GrowLevels(growth, sum);
      Tree tree = MakeGrownTree();
      FinishRows(tree, *growth);
      return tree;
    };
    Tree tree = IsSymmetric() ? grow(&symmetric_) : grow(&growth_);
    finished_.Set(tree.size());
    return tree;
  }

  VectorTree GrowVectors(TrainParams const& params, Span<GradientPair const> gradients, std::uint32_t outputs,
                         TreeKey key) override {
    finished_.Forget();
    finished_.CheckGradients(gradients.size(), outputs);
    ValidateVectors(params);
    peak_bytes_ = memory().peak_bytes;
    ++begun_;
    if (vectors_ == nullptr || vectors_->outputs() != outputs) MakeVectors(outputs);
    BeginVectors(params, gradients, TreeNumber(key));
    auto const grow = [&](auto* growth) {
      GrowLevels(growth, [&](auto const& page, auto const& jobs) { vectors_->Sum(page, rows_.get(), jobs); });
      VectorTree tree = vectors_->Make();
      FinishRows(tree.shape, *growth);
      return tree;
    };
    VectorTree tree = IsSymmetric() ? grow(&vectors_->symmetric()) : grow(&vectors_->growth());
    finished_.Set(tree.shape.size());
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
    report.parts = {{"levels", rows_->bytes() + histograms_.bytes() + slots_.bytes() + level_splits_.bytes()},
                    {"positions", positions_.bytes()},
                    {"gradients", gradients_.bytes() + sampled_.bytes()}};
    if (vectors_ != nullptr) report.parts.push_back({"vectors", vectors_->bytes()});
    if (reader_ != nullptr) {
      report.parts.push_back({"pages", reader_->bytes()});
      report.parts.push_back({"sample", sample_->bytes()});
      PageStore const& store = reader_->matrix().store();
      report.pages = {reader_->matrix().pages(), 0, store.memory_bytes(), store.file_bytes(), reader_->read_bytes()};
    }
    for (auto const& part : report.parts) report.bytes += part.bytes;
    report.peak_bytes = std::max(report.bytes, peak_bytes_);  // while a tree grows, buffers never shrink
    return report;
  }
  std::uint64_t memory_version() const override {
    return reader_ == nullptr ? memory().bytes : begun_;  // in core, buffers never shrink
  }

 private:
  HostTreeBuilder(QuantisedMatrix const& matrix, std::unique_ptr<PageReader> reader, Shard const& shard, int threads,
                  std::size_t histogram_bytes)
      : matrix_{matrix},
        reader_{std::move(reader)},
        shard_{shard},
        threads_{threads},
        histogram_bytes_{histogram_bytes},
        histograms_{matrix, threads},
        slots_{matrix.cells(), histogram_bytes},
        splits_{matrix, threads},
        level_splits_{matrix, threads},
        growth_{histograms_, &splits_, &slots_, threads},
        symmetric_{histograms_, &level_splits_, &slots_},
        positions_{matrix.rows},
        finished_{matrix.rows} {}

  bool IsSymmetric() const { return train_.grow_policy == GrowPolicy::kSymmetric; }

  /// Goes through the levels of a tree. `Growth` is the policy that plans them, and how the best splits are found.
  /// sum(page, jobs) sums the rows of nodes.
  template <typename Growth, typename F>
  void GrowLevels(Growth* growth, F&& sum) {
    host::Level level;
    auto const run = [&](char const* stage, auto const& jobs, auto&& work) {
      if (!jobs.empty()) timer_.Run(stage, level.depth, work);
    };
    while (growth->Plan(&level)) {
      VisitPages([&](Page<QuantisedMatrix> const& page) {
        run(kMove, level.divisions, [&] { rows().Divide(page, level.divisions); });
        run(kSum, level.jobs, [&] { sum(page, level.jobs); });
      });
      shard_.collective->Sum(level.sums);
      run(kSplit, level.families, [&] { growth->Find(&level); });
    }
  }

  /// What the tree grows on: all rows, or those of the sample that have been copied.
  host::NodeRows& rows() { return on_copy_ ? *sample_->rows() : *rows_; }
  GradientView const& gradients() const { return on_copy_ ? sample_->gradients() : gradients_.view(); }
  Span<NodeIndex> positions() const { return on_copy_ ? sample_->positions() : positions_.span(); }

  /// Calls visit(page) for each page of these rows. A page that cannot be read is an error of all shards.
  template <typename F>
  void VisitPages(F&& visit) {
    if (on_copy_) {
      visit(sample_->page());
    } else if (reader_ == nullptr) {
      Pages<QuantisedMatrix>{matrix_}.ForEach(visit);
    } else {
      AllOrNone(*shard_.collective, [&] { Pages<QuantisedMatrix>{*reader_}.ForEach(visit); });
    }
  }

  /// Takes the parameters of the tree, and forgets the last one.
  void Take(TrainParams const& params, std::uint32_t tree) {
    train_ = params;
    on_copy_ = false;  // an error may have ended the last tree anywhere
    timer_.BeginTree();
    features_.emplace(params, matrix_.features(), tree);
  }
  std::size_t RowsOfAllShards(std::size_t rows) {
    return static_cast<std::size_t>(shard_.collective->SumOf(static_cast<std::int64_t>(rows)));
  }

  void BeginTree(TrainParams const& params, Span<GradientPair const> gradients, std::uint32_t tree) {
    Take(params, tree);
    std::size_t rows = 0;  // rows of the shard that are in the sample
    timer_.Run(kGradients, 0, [&] {
      rows = SampleRows(&gradients, tree);
      GradientFormat const format = host::ChooseGradientFormat(gradients, RowsOfAllShards(rows),
                                                               train_.min_child_weight, threads_, *shard_.collective);
      gradients_.Quantise(gradients, format, {params.seed, RandomPurpose::kRounding, tree, 0}, shard_.first_row,
                          threads_);
      split_params_.emplace(params, format);
    });
    timer_.Run(kRoot, 0, [&] {
      if (reader_ != nullptr) CopySample(rows);
      BeginRoot(rows);
    });
  }

  /// Takes memory for trees of vectors, in all shards or in none.
  void MakeVectors(std::uint32_t outputs) {
    vectors_ = nullptr;  // before the new ones need memory
    std::unique_ptr<host::VectorTrees> made;
    AllOrNone(*shard_.collective, [&] {
      made = WithMemoryFor("gradients of trees of vectors", [&] {
        return std::make_unique<host::VectorTrees>(matrix_, &histograms_, outputs, histogram_bytes_, threads_);
      });
    });
    vectors_ = std::move(made);
  }

  /// Does what BeginTree does, for a tree of vectors. Rows are sampled as for any tree, by a gradient of 1 for each.
  void BeginVectors(TrainParams const& params, Span<GradientPair const> gradients, std::uint32_t tree) {
    Take(params, tree);
    std::size_t rows = 0;
    timer_.Run(kGradients, 0, [&] {
      std::vector<GradientPair> const ones(train_.SamplesRows() ? matrix_.rows : 0, GradientPair{1.0f, 1.0f});
      Span<GradientPair const> sample = ones;
      rows = SampleRows(&sample, tree);
      vectors_->Quantise(params, gradients, sample, tree, RowsOfAllShards(rows), shard_);
    });
    timer_.Run(kRoot, 0,
               [&] { vectors_->Begin(params, *features_, rows, rows_.get(), reader_ != nullptr, shard_.collective); });
  }

  /// Draws the sample; makes `gradients` those that count. Returns the number of rows that the tree grows on.
  std::size_t SampleRows(Span<GradientPair const>* gradients, std::uint32_t tree) {
    if (!train_.SamplesRows()) return matrix_.rows;
    sampled_.Reserve(matrix_.rows);
    std::size_t const rows = rows_->Sample(train_, tree, *gradients, sampled_.span(), shard_);
    *gradients = {sampled_.data(), matrix_.rows};
    return rows;
  }

  /// Copies the sample's rows, if there is one and those of all shards fit. Else its room is for histograms.
  void CopySample(std::size_t rows) {
    bool const fits = train_.SamplesRows() && !shard_.collective->AnyOf(!sample_->Fits(rows));
    slots_.SetBytes(fits ? memory_.sampled_histograms : memory_.all_histograms);
    if (!fits) {
      sample_->Free();
      return;
    }
    sample_->Begin(rows, positions_.span(), gradients_.view());
    VisitPages([&](Page<QuantisedMatrix> const& page) { sample_->Copy(page, positions_.span(), gradients_.view()); });
    on_copy_ = true;
  }

  void BeginRoot(std::size_t sampled) {
    GradientSum root = rows().Begin(sampled, gradients());
    shard_.collective->Sum(Integers({&root, 1}));
    constraints_ = Constraints{train_, matrix_.features()};
    histograms_.SetFeatures(features_->Tree());
    if (IsSymmetric()) {
      LevelParams const of_level{&*split_params_, 1};
      level_splits_.Begin(of_level, constraints_, histograms_.blocks());
      symmetric_.Begin(train_, of_level, *features_, constraints_, {&root, 1});
    } else {
      splits_.Begin(*split_params_, constraints_, histograms_.blocks());
      growth_.Begin(train_, *split_params_, *features_, constraints_, root, reader_ != nullptr);
    }
  }

  GrownTree Grown() const {
    if (!IsSymmetric()) return {growth_.nodes(), {}, splits_.category_sets()};
    SymmetricTree const& grown = symmetric_.tree();
    return {grown.nodes(), grown.weights(), level_splits_.category_sets()};
  }
  Tree MakeGrownTree() const {
    return MakeTree(Grown(), matrix_.cuts, *split_params_, train_.learning_rate, constraints_);
  }

  /// Rows of nodes that were made and are not in the tree are in the leaves above them.
  template <typename Growth>
  void RenumberPositions(Growth const& growth) {
    if (!growth.MadeOtherNodes()) return;
    auto const& leaves = growth.LeafNumbers();
    auto const leaf_of = [&](NodeIndex node) { return leaves[static_cast<std::size_t>(node)]; };
    constexpr std::size_t kGrain = 1 << 16;
    Span<NodeIndex> const positions = this->positions();
    ParallelChunks(threads_, positions.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        NodeIndex& position = positions[row];
        position = position < 0 ? ~leaf_of(~position) : leaf_of(position);
      }
    });
  }

  /// Lets the rows walk through the tree whose leaves are not known: those outside the sample.
  void FindLeaves(Tree const& tree) {
    VisitPages([&](Page<QuantisedMatrix> const& page) {
      host::FindLeaves(page.matrix, tree, positions_.span().subspan(page.first_row, page.matrix.rows), threads_);
    });
  }

  /// Brings all rows to their leaves in the finished tree.
  template <typename Growth>
  void FinishRows(Tree const& tree, Growth const& growth) {
    timer_.Run(kWalk, train_.max_depth, [&] {
      bool all_are_known = rows().Finish();
      RenumberPositions(growth);
      if (on_copy_) {
        sample_->WritePositions(positions_.span());
        on_copy_ = all_are_known = false;
      }
      if (!all_are_known) FindLeaves(tree);
    });
  }

  QuantisedMatrix const& matrix_;       ///< without bins if they are in pages
  std::unique_ptr<PageReader> reader_;  ///< of the pages; null: the matrix is in core
  Shard shard_;
  int threads_;
  std::size_t histogram_bytes_;
  std::size_t peak_bytes_{0};  ///< of the trees before the last one
  std::uint64_t begun_{0};     ///< number of trees
  std::shared_ptr<TraceFile> trace_;
  HostStageTimer timer_;

  Buffer<GradientPair> sampled_;  ///< gradients of the rows in the sample; zeros
  TreeGradients gradients_;
  std::unique_ptr<host::NodeRows> rows_;       ///< all of them
  std::unique_ptr<host::SampledPage> sample_;  ///< of a matrix in pages; so is what it shares
  WorkingMemory memory_{};
  bool on_copy_{false};  ///< the tree grows on sample_
  host::HistogramBuilder histograms_;
  host::HistogramSlots slots_;
  host::SplitFinder splits_;
  host::LevelSplitFinder level_splits_;
  host::Growth growth_;
  host::SymmetricGrowth symmetric_;
  std::unique_ptr<host::VectorTrees> vectors_;  ///< null: no tree of vectors has been asked for
  Buffer<NodeIndex> positions_;  ///< leaf of each row of the last tree, its complement for rows outside the sample

  TrainParams train_;  ///< parameters of the tree; what is made of them follows
  std::optional<SplitParams> split_params_;
  std::optional<FeatureSampler> features_;
  Constraints constraints_;
  FinishedTree finished_;
};

}  // namespace

std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(QuantisedMatrix const& matrix, Shard const& shard, int threads,
                                                 std::size_t histogram_bytes) {
  return std::make_unique<HostTreeBuilder>(matrix, shard, threads, histogram_bytes);
}

std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(PagedMatrix const& matrix, Shard const& shard, int threads,
                                                 std::size_t working_bytes) {
  return std::make_unique<HostTreeBuilder>(matrix, shard, threads, ShareOut(working_bytes, matrix.whole()));
}

std::unique_ptr<TreeBuilder> MakeHostTreeBuilder(QuantisedMatrix const& matrix, int threads) {
  return MakeHostTreeBuilder(matrix, Shard::Whole(matrix.rows), threads);
}

}  // namespace xgbgpu
