/// The sampled rows of a matrix in pages, copied into one page in memory for the growth of a tree.
#ifndef XGBGPU_PARTITION_SAMPLED_PAGE_H_
#define XGBGPU_PARTITION_SAMPLED_PAGE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "base/buffer.h"
#include "core/fixed_point.h"
#include "gradient/gradient.h"
#include "matrix/matrix.h"
#include "page/page.h"
#include "partition/paged_rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu::host {

/// Holds the bins, gradients and positions of the sample's rows, in the order of the matrix. The calls of a tree:
/// Begin; Copy for each page of the matrix; WritePositions when the rows are in their leaves.
///
/// Memory  32 bytes for each row of the sample, and its bins; cuts and cells of the matrix
class SampledPage {
 public:
  /// `whole` is the matrix without its bins. It must outlive this object, which takes at most `most_bytes`.
  SampledPage(QuantisedMatrix const& whole, std::size_t most_bytes, int threads);

  /// Returns true if a sample of `rows` rows fits. False for a sparse matrix, because the number of values is unknown
  /// before the rows are read.
  bool Fits(std::size_t rows) const;
  /// Makes room for the sample: the `rows` rows with a non-negative position. `positions` and `gradients`, here and
  /// below, belong to all rows.
  void Begin(std::size_t rows, Span<NodeIndex const> positions, GradientView const& gradients);
  /// Copies the page's sampled rows. Pages may come in any order.
  void Copy(Page<QuantisedMatrix> const& page, Span<NodeIndex const> positions, GradientView const& gradients);
  /// Frees the memory of the last sample.
  void Free();
  /// Writes the positions of the sample's rows among all rows. All other rows keep their negative positions.
  void WritePositions(Span<NodeIndex> positions) const;

  Page<QuantisedMatrix> page() const { return {page_}; }
  GradientView const& gradients() const { return gradients_; }  ///< [rows of the sample]
  NodeRows* rows() { return &*rows_; }                          ///< moves the sample's rows to their leaves
  Span<NodeIndex> positions() const { return {positions_.data(), page_.rows}; }
  std::size_t bytes() const;

 private:
  QuantisedMatrix const& whole_;
  int threads_;
  std::size_t row_budget_{0};  ///< bytes for rows; 0: no sample fits
  QuantisedMatrix page_;
  Buffer<NarrowGradient> narrow_;
  Buffer<GradientSum> wide_;
  Buffer<NodeIndex> positions_;
  GradientView gradients_;
  std::optional<PagedRows> rows_;
  std::vector<std::size_t> before_;  ///< number of sampled rows before each chunk of all rows
};

}  // namespace xgbgpu::host

#endif  // XGBGPU_PARTITION_SAMPLED_PAGE_H_
