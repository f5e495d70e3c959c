/// Rows of a matrix in pages on a CUDA device. Each row knows its node, and a page's rows are listed during its visit.
/// docs/adr/0024-pages.md
#ifndef XGBGPU_PARTITION_PAGED_ROWS_CUDA_H_
#define XGBGPU_PARTITION_PAGED_ROWS_CUDA_H_

#include <cstdint>

#include "cuda/cleared_workspace.h"
#include "cuda/device.h"
#include "gradient/gradient_cuda.h"
#include "page/page.h"
#include "partition/partition_cuda.h"
#include "sample/sample_cuda.h"

namespace xgbgpu::cuda {

/// A view of rows in pages. Arrays are on the device. A *job* is a child whose rows are summed: number 2·f is the built
/// child of family f, number 2·f + 1 its sibling, which has no rows if it is subtracted.
struct PagedRowsView {
  NodeIndex* nodes;               ///< [rows] the node of each row; its complement outside the sample
  GradientPair const* gradients;  ///< [rows]
  RowChances chances;             ///< of sampled rows
  GradientPair* weighed;          ///< [rows of a page] gradients divided by the chances, if the format is wide
  std::uint32_t* job_of_row;      ///< [rows of a page]
  std::uint32_t* counts;          ///< [jobs] number of the page's rows; zero between visits
  std::uint32_t* places;          ///< [jobs] place of the next row in the list
  RowRecord* list;                ///< [rows of a page] summed rows, job by job
  SumJob* sum_jobs;               ///< [jobs]
  std::uint32_t unit_rows;        ///< RowLists::unit_rows
};

/// The work of a visit to a page.
struct PageStep {
  std::uint32_t families;
  bool divides;               ///< rows of the families' parents go to the children; false: the only family is the root
  bool sums;                  ///< rows of jobs are listed
  std::uint32_t siblings{0};  ///< LevelBounds::siblings
};

/// Memory  12 bytes for each row of the largest page, 20 if chances depend on gradients, and a few for each family. The
///         caller owns the nodes of rows
class PagedRowsWorkspace {
 public:
  PagedRowsWorkspace(std::uint64_t page_rows, ClearedWorkspace* workspace)
      : page_rows_{page_rows}, workspace_{workspace} {}

  /// Makes room for the families of a step.
  void Reserve(std::size_t families);
  /// Makes room for samples with chances that depend on gradients.
  void ReserveWeighed() { workspace_->Reserve(&weighed_, "rows of a page", page_rows_); }
  /// `matrix`: a page has its shape.
  PagedRowsView View(DeviceMatrixView const& matrix, NodeIndex* nodes, GradientPair const* gradients,
                     DeviceLimits const& limits) const;

 private:
  std::uint64_t page_rows_;
  ClearedWorkspace* workspace_;
  DeviceBuffer<std::uint32_t> job_of_row_;
  DeviceBuffer<std::uint32_t> counts_;
  DeviceBuffer<std::uint32_t> places_;
  DeviceBuffer<RowRecord> list_;
  DeviceBuffer<SumJob> sum_jobs_;
  DeviceBuffer<GradientPair> weighed_;
};

/// Sums the gradients of sampled rows among `count` rows, and makes the root with the sum over all devices and
/// histogram slot 0. All rows are in the root already. `sampled`: the number of sampled rows, on the device, or
/// nullptr: all.
void SumRootRows(PartitionView const& view, PagedRowsView const& rows, std::uint64_t count,
                 std::uint32_t const* sampled, TreeDraw const* draw, DeviceShard const& shard,
                 DeviceLimits const& limits, cudaStream_t stream);

/// The two parts of a visit. The first sends the page's rows to the children and finds their jobs. The second lists the
/// rows, if step.sums. It sets first_row, rows and list of the jobs' nodes for this page. The lists are valid until the
/// next visit.
void DividePagedRows(PartitionView const& view, PagedRowsView const& rows, std::uint64_t first_row,
                     PageStep const& step, DeviceLimits const& limits, cudaStream_t stream);
RowLists ListPagedRows(PartitionView const& view, PagedRowsView const& rows, std::uint64_t first_row,
                       PageStep const& step, TreeDraw const* draw, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PAGED_ROWS_CUDA_H_
