/// The rows of a shard in each node of a growing tree.
#ifndef XGBGPU_PARTITION_NODE_ROWS_H_
#define XGBGPU_PARTITION_NODE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fixed_point.h"
#include "gradient/gradient.h"
#include "matrix/matrix.h"
#include "page/page.h"
#include "sample/sample.h"
#include "xgbgpu/params.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// A split of a node: the rows of `parent` go to its children.
struct Division {
  NodeIndex parent;
  NodeIndex left;  ///< the right child is left + 1
  FeatureIndex feature;
  BinIndex bin;  ///< first feature-local bin that goes right
  bool default_left;
  std::uint32_t const* right_categories;  ///< bit set, instead of `bin`; nullptr: a split by numbers
  bool is_last;                           ///< the children stay leaves, and their rows are not listed
};

/// Follows the rows of one tree after another. The calls of a tree: Sample, if rows are sampled; Begin; Divide, then
/// List for each level and page; Finish.
class NodeRows {
 public:
  virtual ~NodeRows() = default;

  /// Draws the sample of the next tree. Arguments, result and errors are host::SampleRows's.
  virtual std::size_t Sample(TrainParams const& params, std::uint32_t tree, Span<GradientPair const> gradients,
                             Span<GradientPair> sampled, Shard const& shard) = 0;
  /// Puts the rows into the root: the `rows` rows of the last sample, or all rows. Returns the sum of their gradients.
  virtual GradientSum Begin(std::size_t rows, GradientView const& gradients) = 0;

  /// Moves the page's rows from the parents to the children.
  virtual void Divide(Page<QuantisedMatrix> const& page, Span<Division const> divisions) = 0;
  /// Returns the page's rows in each of the nodes, ascending, with their gradients. No node may have been divided, or
  /// be a child of a division with is_last. The lists are valid until the next call.
  virtual std::vector<Span<RowRecord const>> List(Page<QuantisedMatrix> const& page, GradientView const& gradients,
                                                  Span<NodeIndex const> nodes) = 0;

  /// Writes the leaf of each row to its position. Returns false if rows outside the sample have the position ~0
  /// instead.
  virtual bool Finish() = 0;

  virtual std::size_t bytes() const = 0;
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_PARTITION_NODE_ROWS_H_
