// rounds: weighed leaf columns on the host.
#include "xgbgpu/leaf_columns.h"

#include <gtest/gtest.h>

#include "support/column_case.h"

namespace xgbgpu::testing {
namespace {

TEST(LeafColumns, AreWeighedInOrder) {
  for (std::size_t const rows : {1, 4095, 4097, 20000}) {
    for (std::uint32_t const outputs : {1, 3}) {
      for (int const threads : {1, 3}) {
        auto const columns = host::MakeLeafColumns(rows, outputs, threads);
        ColumnCase{rows, outputs, 40}.Check(columns.get());
      }
    }
  }
}

TEST(LeafColumns, WrongSizesAreErrors) {
  auto const columns = host::MakeLeafColumns(3, 2, 1);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { columns->BeginColumns(std::vector<float>(3)); }, {"3 margins", "2 for"}),
            "");
  columns->BeginColumns(std::vector<float>(6));
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { columns->AddColumn(std::vector<float>(2), 0); }, {"2 leaf values"}), "");
  std::vector<float> margins(5);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { columns->CopyMargins(margins); },
                                         {"5 margins", "allowed: 2 for each of the 3 rows"}),
            "");
}

TEST(LeafColumns, LeaveMemoryToOthers) {
  auto const columns = host::MakeLeafColumns(1 << 20, 1, 1);
  columns->BeginColumns(std::vector<float>(1 << 20));
  EXPECT_FALSE(columns->ReserveColumns(std::size_t{1} << 24));  // 64 TiB
  EXPECT_TRUE(columns->has_columns());
}

}  // namespace
}  // namespace xgbgpu::testing
