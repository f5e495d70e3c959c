/// The rows of a growing tree's nodes, in lists.
#ifndef XGBGPU_PARTITION_ROW_LISTS_H_
#define XGBGPU_PARTITION_ROW_LISTS_H_

#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "core/fixed_point.h"
#include "matrix/matrix.h"
#include "page/page.h"
#include "partition/node_rows.h"
#include "partition/partition.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// Rows of an in-core matrix, which is one page. Divisions move rows between two arrays. A node's rows are contiguous
/// and ascending.
///
/// Memory  17 bytes a row
class RowLists final : public NodeRows {
 public:
  /// `positions` [rows of the shard] receive the leaf of each row. They must outlive this object.
  RowLists(Span<NodeIndex> positions, int threads);

  std::size_t Sample(TrainParams const& params, std::uint32_t tree, Span<GradientPair const> gradients,
                     Span<GradientPair> sampled, Shard const& shard) override;
  GradientSum Begin(std::size_t rows, GradientView const& gradients) override;
  void Divide(Page<QuantisedMatrix> const& page, Span<Division const> divisions) override;
  std::vector<Span<RowRecord const>> List(Page<QuantisedMatrix> const& page, GradientView const& gradients,
                                          Span<NodeIndex const> nodes) override;
  bool Finish() override;
  std::size_t bytes() const override { return lists_[0].bytes() + lists_[1].bytes(); }

 private:
  /// The place of a node's rows, equal in both arrays.
  struct Place {
    std::uint32_t first{0};
    std::uint32_t rows{0};
    std::uint8_t list{0};   ///< number of the rows' array
    bool is_listed{false};  ///< the node has not been divided, and its rows are listed
  };
  Span<RowRecord const> rows(NodeIndex node) const {
    Place const& place = places_[static_cast<std::size_t>(node)];
    return {lists_[place.list].data() + place.first, place.rows};
  }
  PartitionJob MakeJob(Division const& division);

  Span<NodeIndex> positions_;
  int threads_;
  std::vector<std::size_t> sample_counts_;
  RowPartitioner partitioner_;
  Buffer<RowRecord> lists_[2];
  std::vector<Place> places_;  ///< [nodes]
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_PARTITION_ROW_LISTS_H_
