/// Stage 5: split, rows → rows of the left and of the right child.
#ifndef XGBGPU_PARTITION_PARTITION_H_
#define XGBGPU_PARTITION_PARTITION_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "core/fixed_point.h"
#include "matrix/matrix.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// A node to divide. The children's rows take the place of the node's rows in the other array, left before right.
struct PartitionJob {
  FeatureIndex feature;
  BinIndex bin;  ///< first feature-local bin that goes right
  bool default_left;
  RowRecord const* from;  ///< [rows] ascending
  RowRecord* to;          ///< [rows]; unused by AssignChildren
  std::uint32_t rows;
  NodeIndex left;                                  ///< the right child is left + 1
  std::uint32_t n_left;                            ///< output: number of rows that go left
  std::uint32_t const* right_categories{nullptr};  ///< bit set, instead of `bin`; nullptr: a split by numbers
};

/// A bit for each of some neighbouring rows.
class MarkedRows {
 public:
  /// Returns marks of a first row and of `apart` rows behind it. All are clear, and the caller clears what it sets.
  std::uint64_t* From(RowIndex apart);

 private:
  Buffer<std::uint64_t> marks_;
};

/// Divides the rows of many nodes at once. Inside a child rows keep their order.
///
/// Cost    reads one bin per row, reads and writes 8 bytes per row; allocates only to grow its scratch
/// Same    bit-equal on every backend and thread count
class RowPartitioner {
 public:
  explicit RowPartitioner(int threads) : threads_{threads}, marked_(static_cast<std::size_t>(std::max(1, threads))) {}

  /// Fills to[] and n_left of every job.
  void Partition(QuantisedMatrix const& matrix, Span<PartitionJob> jobs);
  /// Sets positions[row] = child for children that stay leaves and need no lists. Does not set n_left.
  void AssignChildren(QuantisedMatrix const& matrix, Span<PartitionJob const> jobs, NodeIndex* positions);

 private:
  struct Chunk {
    std::uint32_t job;
    std::uint32_t first;  ///< first row of the chunk in the job
    std::uint32_t rows;
    std::uint32_t left;  ///< number of rows that go left; then of the job's earlier chunks
    std::size_t flags;   ///< offset of the chunk's decisions in flags_
  };
  void MakeChunks(Span<PartitionJob const> jobs);

  int threads_;
  std::vector<Chunk> chunks_;
  Buffer<std::uint8_t> flags_;
  std::vector<MarkedRows> marked_;  ///< [threads]
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_PARTITION_PARTITION_H_
