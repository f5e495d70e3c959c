/// Rows of a matrix in pages, on a CUDA device: each knows its node, and those of a page are listed while it is visited.
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

/// Arrays are on the device. A *job* is a child whose rows are summed: number 2·f is the built child of family f, number
/// 2·f + 1 its sibling, which has no rows if it is subtracted.
struct PagedRowsView {
  NodeIndex* nodes;               ///< [rows] the node of each row as it was made; its complement outside the sample
  GradientPair const* gradients;  ///< [rows]
  RowChances chances;             ///< of rows in the sample
  GradientPair* weighed;          ///< [rows of a page] gradients by these chances, if the format is wide
  std::uint32_t* job_of_row;      ///< [rows of a page]
  std::uint32_t* counts;          ///< [jobs] rows of the page; zero between visits
  std::uint32_t* places;          ///< [jobs] where the next row of each is listed
  RowRecord* list;                ///< [rows of a page] those that are summed, job by job
  SumJob* sum_jobs;               ///< [jobs]
  std::uint32_t unit_rows;        ///< RowLists::unit_rows
};

/// What a visit of a page does with its rows.
struct PageStep {
  std::uint32_t families;
  bool divides;               ///< rows of the families' parents go to the children; else the only family is the root
  bool sums;                  ///< rows of jobs are listed
  std::uint32_t siblings{0};  ///< LevelBounds::siblings
};

/// Memory  12 bytes for each row of the largest page, 20 if gradients decide on samples, and some for each family; the nodes of rows belong to the caller
class PagedRowsWorkspace {
 public:
  PagedRowsWorkspace(std::uint64_t page_rows, ClearedWorkspace* workspace)
      : page_rows_{page_rows}, workspace_{workspace} {}

  /// Makes room for so many families of a step.
  void Reserve(std::size_t families);
  /// Makes room for samples that gradients decide on.
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

/// Sums the gradients of the rows that are in the sample, of `count`, and makes the root, which has the sum over all
/// devices, with histogram slot 0. All rows are in it already. `sampled`: their number on the device, or nullptr: all.
void SumRootRows(PartitionView const& view, PagedRowsView const& rows, std::uint64_t count,
                 std::uint32_t const* sampled, TreeDraw const* draw, DeviceShard const& shard,
                 DeviceLimits const& limits, cudaStream_t stream);

/// The two parts of a visit. The first sends rows of the page to the children and finds their jobs, the second, if
/// step.sums, lists them. It also sets first_row, rows and list of the nodes of jobs, for this page. The lists serve
/// until the next visit.
void DividePagedRows(PartitionView const& view, PagedRowsView const& rows, std::uint64_t first_row,
                     PageStep const& step, DeviceLimits const& limits, cudaStream_t stream);
RowLists ListPagedRows(PartitionView const& view, PagedRowsView const& rows, std::uint64_t first_row,
                       PageStep const& step, TreeDraw const* draw, DeviceLimits const& limits, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PARTITION_PAGED_ROWS_CUDA_H_
