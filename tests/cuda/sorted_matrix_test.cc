// Columns that a device sorts are those that the host sorts, bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "backend/backend.h"
#include "core/device.h"
#include "exact/sorted_matrix_cuda.h"
#include "support/data.h"
#include "support/grow.h"

namespace xgbgpu::testing {
namespace {

void ExpectSame(SortedMatrix const& found, SortedMatrix const& expected) {
  EXPECT_EQ(found.rows, expected.rows);
  ASSERT_EQ(found.column_ptr, expected.column_ptr);
  for (FeatureIndex f = 0; f < expected.features(); ++f) {
    for (std::size_t i = 0; i < expected.column(f).size(); ++i) {
      ASSERT_EQ(std::memcmp(&found.column(f)[i], &expected.column(f)[i], sizeof(SortedValue)), 0)
          << "column " << f << ", place " << i << ": row " << found.column(f)[i].row << ", " << found.column(f)[i].value
          << "; on the host " << expected.column(f)[i].row << ", " << expected.column(f)[i].value;
    }
  }
}

void ExpectSortedAsByTheHost(RowSource const& rows) {
  auto const expected = host::SortColumns(rows, 2);
  for (int const threads : {1, 3, 8}) ExpectSame(*cuda::SortColumns(rows, 0, threads), *expected);
}

TEST(CudaSortedMatrixTest, RandomColumns) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  for (DataShape const& shape : {DataShape{1, 1}, DataShape{33, 13, 0.3}, DataShape{5000, 7, 0.9}, DataShape{200001, 3},
                                 DataShape{100000, 6, 0.1, 5}}) {
    ExpectSortedAsByTheHost(MemorySource{RandomValues(shape, 7)});
  }
}

/// Equal values keep the order of their rows, zeros of both signs among themselves too, and their signs.
TEST(CudaSortedMatrixTest, UnusualValues) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  using Limits = std::numeric_limits<float>;
  std::vector<float> const values{0.0f,
                                  -0.0f,
                                  Limits::denorm_min(),
                                  -Limits::denorm_min(),
                                  Limits::max(),
                                  Limits::lowest(),
                                  Limits::min(),
                                  -Limits::min(),
                                  1.0f,
                                  -1.0f};
  Random random{3};
  std::vector<std::vector<Entry>> rows(70000);
  for (auto& row : rows) {  // column 1 has no values, column 2 only zeros, column 3 one value
    row.push_back({0, values[random.Below(values.size())]});
    row.push_back({2, values[random.Below(2)]});
  }
  rows[123].push_back({3, -0.0f});
  ExpectSortedAsByTheHost(MemorySource{rows, 4});
}

TEST(CudaSortedMatrixTest, TheHostSortsWhereMemoryIsShort) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  MemorySource const rows{RandomValues({150000, 2, 0.2}, 9)};  // more rows than the host sorts in any case
  auto const expected = host::SortColumns(rows, 2);
  FailDeviceAllocation(-1);
  ExpectSame(*SortColumnsForDevice(rows, 0, 2), *expected);
  std::int64_t const allocations = FailDeviceAllocation(-1);
  ASSERT_GT(allocations, 0) << "the device was not asked";
  for (std::int64_t n = 0; n < allocations; ++n) {
    FailDeviceAllocation(n);
    ExpectSame(*SortColumnsForDevice(rows, 0, 2), *expected);
  }
  FailDeviceAllocation(-1);
}

}  // namespace
}  // namespace xgbgpu::testing
