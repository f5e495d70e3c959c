/// The rows of a growing tree's nodes, by a node number for each row.
#ifndef XGBGPU_PARTITION_PAGED_ROWS_H_
#define XGBGPU_PARTITION_PAGED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "partition/node_rows.h"

namespace xgbgpu::host {

/// Rows of a matrix in pages. A row's position is its node. A row outside the sample has the node's complement. Rows
/// outside the sample are divided, too: no further visit has to find their leaves.
///
/// Memory  8 bytes for each row of a page
class PagedRows final : public NodeRows {
 public:
  /// `positions` [rows of the shard] must outlive this object. Pages have at most `most_page_rows` rows.
  PagedRows(Span<NodeIndex> positions, std::uint64_t most_page_rows, int threads)
      : positions_{positions}, threads_{threads}, records_{most_page_rows} {}

  std::size_t Sample(TrainParams const& params, std::uint32_t tree, Span<GradientPair const> gradients,
                     Span<GradientPair> sampled, Shard const& shard) override;
  GradientSum Begin(std::size_t rows, GradientView const& gradients) override;
  void Divide(Page<QuantisedMatrix> const& page, Span<Division const> divisions) override;
  std::vector<Span<RowRecord const>> List(Page<QuantisedMatrix> const& page, GradientView const& gradients,
                                          Span<NodeIndex const> nodes) override;
  bool Finish() override { return true; }
  std::size_t bytes() const override { return records_.bytes(); }

 private:
  /// A number for each node of a tree, or kNone.
  class NodeNumbers {
   public:
    static constexpr std::int32_t kNone = -1;
    void ClearAll() { numbers_.clear(); }
    void Set(NodeIndex node, std::size_t number);
    void Clear(NodeIndex node) { numbers_[static_cast<std::size_t>(node)] = kNone; }
    std::int32_t operator[](NodeIndex node) const {
      auto const n = static_cast<std::size_t>(node);
      return n < numbers_.size() ? numbers_[n] : kNone;
    }

   private:
    std::vector<std::int32_t> numbers_;
  };

  Span<NodeIndex> positions_;
  int threads_;
  NodeNumbers numbers_;
  std::vector<std::uint32_t> counts_;  ///< [chunks of rows, listed nodes]
  Buffer<RowRecord> records_;
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_PARTITION_PAGED_ROWS_H_
