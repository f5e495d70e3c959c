/// Which rows of a shard each node of a growing tree holds.
#ifndef XGBGPU_PARTITION_ROW_LISTS_H_
#define XGBGPU_PARTITION_ROW_LISTS_H_

#include <cstdint>
#include <vector>

#include "core/buffer.h"
#include "core/fixed_point.h"
#include "matrix/matrix.h"
#include "page/page.h"
#include "partition/partition.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// A split that was made: the rows of `parent` go to its children.
struct Division {
  NodeIndex parent;
  NodeIndex left;  ///< the right child is left + 1
  FeatureIndex feature;
  BinIndex bin;  ///< first feature-local bin that goes right
  bool default_left;
  std::uint32_t const* right_categories;  ///< bit set, instead of `bin`; nullptr: a split by numbers
  bool is_last;                           ///< the children stay leaves: nobody asks for their rows
};

/// Rows are listed in two arrays that divisions move them between. A node's rows lie together, in ascending order.
///
/// Memory  17 bytes a row
class RowLists {
 public:
  RowLists(std::uint64_t rows, int threads);

  /// Where the caller lists the rows of the next tree's root, ascending; [rows of the shard].
  Span<RowRecord> root() { return lists_[0].span(); }
  /// Forgets the last tree. The first `rows` of root() are in the sample; `positions` [rows of the shard] will hold the
  /// leaf of each.
  void Begin(std::size_t rows, NodeIndex* positions);

  void Divide(Page<QuantisedMatrix> const& page, Span<Division const> divisions);
  /// The rows of the root, or of a child of a division that was not its branch's last. Once the node has been divided,
  /// only their number is right.
  Span<RowRecord const> rows(NodeIndex node) const {
    Place const& place = places_[static_cast<std::size_t>(node)];
    return {lists_[place.list].data() + place.first, place.rows};
  }
  /// Writes the positions of all rows that are still listed. Others in the sample have theirs already.
  void WritePositions();

  std::size_t bytes() const { return lists_[0].bytes() + lists_[1].bytes(); }

 private:
  /// Where a node's rows are: at the same place in both arrays.
  struct Place {
    std::uint32_t first{0};
    std::uint32_t rows{0};
    std::uint8_t list{0};   ///< the array that they are in
    bool is_listed{false};  ///< the node has not been divided, and its rows are there
  };
  PartitionJob MakeJob(Division const& division);

  int threads_;
  RowPartitioner partitioner_;
  Buffer<RowRecord> lists_[2];
  std::vector<Place> places_;  ///< [nodes]
  NodeIndex* positions_{nullptr};
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_PARTITION_ROW_LISTS_H_
