/// Stage 6: rows of nodes → sums per bin.
#ifndef XGBGPU_HISTOGRAM_HISTOGRAM_H_
#define XGBGPU_HISTOGRAM_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/buffer.h"
#include "gradient/gradient.h"
#include "matrix/matrix.h"
#include "page/page.h"
#include "partition/node_rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// Rows to sum.
struct HistogramJob {
  Span<RowRecord const> rows;  ///< ascending
  GradientSum* sums;           ///< [cells]
};

/// A node of a growing tree whose rows are summed.
struct NodeHistogram {
  NodeIndex node;
  GradientSum* sums;  ///< [cells]
};

/// A run of a tree's features whose cells fit the cache together: the unit of work of loops over histograms.
struct FeatureBlock {
  Span<FeatureIndex const> features;  ///< ascending
  bool contiguous;                    ///< no gaps
  BinIndex begin;                     ///< cells [begin, end) of the features
  BinIndex end;
  Span<BinIndex const> offsets;  ///< [features] first cell of each, relative to `begin`
};

/// Sums gradients into cells: sums[c] = Σ gradient of the rows that have a value in cell c.
///
/// Work is divided into (node, block of features, chunk of rows). A task sums into a scratch table of its thread,
/// narrow gradients as two 32-bit halves of one word, and adds the result to the node's 64-bit sums at the end. A small
/// node is summed directly.
///
/// Cost    reads the bins and gradients of the jobs' rows once; writes cells · jobs; allocates only to grow its scratch
/// Same    bit-equal on every backend and thread count: integer sums
class HistogramBuilder {
 public:
  /// `matrix` has the cells of all pages.
  HistogramBuilder(QuantisedMatrix const& matrix, int threads);

  /// Limits dense layouts to the ascending `features` (a tree's column sample). Sparse rows are always summed whole.
  void SetFeatures(Span<FeatureIndex const> features);
  /// Sums the page's rows of each job's node, which `rows` lists. The first page of a pass overwrites the jobs' sums,
  /// later pages add to them.
  void Sum(Page<QuantisedMatrix> const& page, NodeRows* rows, GradientView const& gradients,
           Span<NodeHistogram const> jobs);
  /// Overwrites the sums of the jobs or, with `add`, adds to them.
  void Build(QuantisedMatrix const& matrix, GradientView const& gradients, Span<HistogramJob const> jobs,
             bool add = false);

  std::vector<FeatureBlock> const& blocks() const { return blocks_; }
  std::size_t cells() const { return matrix_.cells(); }  ///< of one histogram
  std::size_t bytes() const;

 private:
  struct Task {
    std::uint32_t job;
    std::uint32_t block;
    std::uint32_t first_row;
    std::uint32_t rows;
    bool whole;  ///< the only task of its (job, block)
    bool add;    ///< to the contents of the sums
  };
  static constexpr std::size_t kStripes = 16;
  struct Stripe {
    std::mutex mutex;
    bool written{false};
  };
  /// One (job, block), which several tasks may share. Tasks merge stripe by stripe, each from another stripe on.
  struct Target {
    Stripe stripes[kStripes];
  };

  void MakeTasks(double values_per_row, bool narrow, Span<HistogramJob const> jobs, bool add);
  void RunTask(QuantisedMatrix const& matrix, GradientView const& gradients, HistogramJob const& job, Task const& task,
               std::size_t thread);
  template <typename Scratch>
  void Merge(Scratch const* scratch, FeatureBlock const& block, Task const& task, std::size_t thread,
             GradientSum* sums);

  QuantisedMatrix const& matrix_;
  int threads_;
  bool dense_;
  std::vector<FeatureIndex> features_;
  std::vector<BinIndex> offsets_;
  std::vector<FeatureBlock> blocks_;  ///< for loops; sparse rows are summed as one block, `all_`
  FeatureBlock all_;
  std::vector<Buffer<std::int64_t>> packed_;  ///< [threads] scratch of narrow sums
  std::vector<Buffer<GradientSum>> wide_;     ///< [threads] scratch of wide sums
  std::vector<Task> tasks_;
  std::unique_ptr<Target[]> targets_;
  std::size_t target_capacity_{0};
};

/// Does parent[c] -= child[c] for the cells of a block: the parent becomes the sibling. Exact.
void SubtractHistogram(FeatureBlock const& block, GradientSum const* child, GradientSum* parent);

}  // namespace xgbgpu::host

#endif  // XGBGPU_HISTOGRAM_HISTOGRAM_H_
