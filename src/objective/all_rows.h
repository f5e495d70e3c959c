/// The rows of all shards in every shard, for computations over all rows at once.
#ifndef XGBGPU_OBJECTIVE_ALL_ROWS_H_
#define XGBGPU_OBJECTIVE_ALL_ROWS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/collective.h"
#include "xgbgpu/row_views.h"

namespace xgbgpu {

/// Copies of the labels, weights and values (margins or predictions) of all shards' rows, shard 0 first.
///
/// In      one label a row; all shards have the same number of outputs. If some shards have weights, the rows of all
///         other shards weigh 1
/// Cost    4 bytes a row for labels, for weights and for each output: memory, and transfer of every shard
class AllRows {
 public:
  /// All shards must construct it at the same time.
  AllRows(TargetView const& targets, OutputView<float const> const& values, Collective& collective);

  std::uint64_t rows() const { return labels_.size(); }
  std::uint64_t first_row() const { return first_row_; }  ///< number of this shard's first row
  /// Returns labels and weights. There are no groups.
  TargetView targets() const;
  /// Returns the values, row-major.
  OutputView<float const> values() const { return RowMajor(values_.data(), rows(), outputs_); }

 private:
  std::uint64_t first_row_{0};
  std::uint32_t outputs_;
  std::vector<float> labels_, weights_, values_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_OBJECTIVE_ALL_ROWS_H_
