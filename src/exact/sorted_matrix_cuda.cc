#include "exact/sorted_matrix_cuda.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/parallel.h"
#include "exact/column_sorter_cuda.h"
#include "exact/device_columns.h"

namespace xgbgpu::cuda {

namespace {

constexpr int kAtATime = 4;  // columns: while one is sorted others are copied

}  // namespace

std::unique_ptr<SortedMatrix> SortColumns(RowSource const& source, int device, int threads) {
  CheckExactRows(source.rows());
  auto matrix = host::GatherColumns(source, threads);
  std::uint64_t longest = 0;
  for (FeatureIndex f = 0; f < matrix->features(); ++f) {
    longest = std::max<std::uint64_t>(longest, matrix->column(f).size());
  }
  DeviceScope const scope{device};  // sorters end on this thread
  std::vector<std::optional<ColumnSorter>> sorters(kAtATime);
  ParallelTasks(std::min(threads, kAtATime), matrix->features(), [&](std::size_t f, int thread) {
    DeviceScope const own{device};
    auto& sorter = sorters[static_cast<std::size_t>(thread)];
    if (!sorter) sorter.emplace(longest);
    sorter->Sort({matrix->values.data() + matrix->column_ptr[f], matrix->column(static_cast<FeatureIndex>(f)).size()});
  });
  return matrix;
}

}  // namespace xgbgpu::cuda
