/// The rows of all shards in every shard, for what needs all of them in one place.
#ifndef XGBGPU_OBJECTIVE_ALL_ROWS_H_
#define XGBGPU_OBJECTIVE_ALL_ROWS_H_

#include <cstdint>
#include <vector>

#include "xgbgpu/collective.h"
#include "xgbgpu/row_views.h"

namespace xgbgpu {

/// Copies of labels, weights of rows, and values (margins or predictions) of all shards, those of shard 0 first.
///
/// In      one label a row; as many outputs in all shards. Where some shards have weights, the others' rows weigh 1
/// Cost    4 bytes a row for labels, for weights and for each output: memory, and on every shard's way
class AllRows {
 public:
  /// All shards must make one at the same time.
  AllRows(TargetView const& targets, OutputView<float const> const& values, Collective& collective);

  std::uint64_t rows() const { return labels_.size(); }
  std::uint64_t first_row() const { return first_row_; }  ///< of this shard
  /// Returns what is known about the rows. There are no groups.
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
