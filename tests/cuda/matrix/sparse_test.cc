// Sparse matrices on a device, and dense ones that are stored like them: which are in tiles, and that trees on them are
// the host's bit for bit.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "matrix/device_matrix.h"
#include "matrix/device_matrix_policy.h"
#include "support/grow.h"
#include "support/layouts.h"
#include "trees_cuda/equality_case.h"

namespace xgbgpu::testing {
namespace {

struct SparseCase {
  char const* name;
  RowIndex rows;
  FeatureIndex columns;
  double density;
  int max_bin;
  std::uint32_t least_tiles, most_tiles;  ///< 0: the matrix is CSR
};

SparseCase const kCases[] = {
    {"OneTile", 3000, 60, 0.1, 64, 1, 1},
    {"SeveralTiles", 5000, 600, 0.06, 256, 4, 40},
    {"SeveralTilesOfFewRows", 300, 1500, 0.3, 256, 4, 60},
    {"Csr", 20000, 2500, 0.0006, 256, 0, 0},
    {"ManyRows", 150000, 120, 0.12, 256, 1, 4},  // nodes have more rows than 32-bit sums allow, or fewer
    {"ManyBins", 6000, 90, 0.4, 1000, 1, 10},    // more bins than a warp looks at
    // Dense data have so many bins that their sums do not fit shared memory otherwise.
    {"DenseOfManyBins", 6000, 30, 1.0, 5000, 2, 30},
    {"DenseOfManyBinsMissing", 5000, 9, 0.7, 3000, 1, 9},
    {"DenseAFeatureATile", 70000, 4, 1.0, 20000, 4, 4},
};

EqualityCase CaseOf(SparseCase const& c, Loss loss) {
  return {980, c.rows, c.columns, c.density, Values::kContinuous, c.max_bin, loss, {}, 1, {}};
}

void PrintTo(SparseCase const& c, std::ostream* os) { *os << c.name; }
std::string NameOfParam(::testing::TestParamInfo<SparseCase> const& info) { return info.param.name; }

class SparseTest : public ::testing::TestWithParam<SparseCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

template <typename T>
std::vector<T> Download(DeviceBuffer<T> const& buffer) {
  std::vector<T> values(buffer.size());
  CheckCuda(cudaMemcpy(values.data(), buffer.data(), buffer.bytes(), cudaMemcpyDeviceToHost), "reading a matrix back");
  return values;
}

/// The cells of all rows, and how many of them each row has.
struct CellsOfRows {
  std::vector<std::uint32_t> cells, counts;
  bool operator==(CellsOfRows const& other) const { return cells == other.cells && counts == other.counts; }
};

CellsOfRows ReadBack(DeviceMatrix const& matrix) {
  DeviceMatrixView const& m = matrix.view;
  auto const ptr = Download(matrix.tile_ptr);
  auto const cells = Download(matrix.tile_cells);
  CellsOfRows found;
  for (std::uint64_t r = 0; r < m.rows; ++r) {
    found.counts.push_back(0);
    for (std::uint32_t t = 0; t < m.tiles; ++t) {
      for (std::uint32_t i = ptr[t * m.rows + r]; i < ptr[t * m.rows + r + 1]; ++i, ++found.counts.back()) {
        EXPECT_LT(cells[i], matrix.tiles[t].bins);
        found.cells.push_back(static_cast<std::uint32_t>(matrix.tiles[t].first_cell) + cells[i]);
      }
    }
  }
  return found;
}

TEST_P(SparseTest, TilesHoldTheRows) {
  SparseCase const& c = GetParam();
  auto const host = HostMatrix(CaseRows{CaseOf(c, Loss::kLogistic)}, c.max_bin, 2);
  auto const device = cuda::UploadMatrix(*host, 0, 2);
  DeviceMatrixView const& m = device->view;
  ASSERT_FALSE(m.dense);
  ASSERT_EQ(m.sparse_in_tiles(), c.most_tiles != 0);
  if (c.most_tiles == 0) {
    EXPECT_EQ(device->tile_cells.size(), 0U);
    EXPECT_EQ(device->row_cells.size(), host->stored);
    return;
  }
  EXPECT_EQ(device->row_cells.size(), 0U);
  EXPECT_GE(m.tiles, c.least_tiles);
  EXPECT_LE(m.tiles, c.most_tiles);
  std::uint64_t cell = 0;
  for (DeviceTile const& tile : device->tiles) {
    EXPECT_EQ(tile.first_cell, cell);
    EXPECT_GT(tile.bins, 0U);
    EXPECT_EQ(tile.symbols, tile.bins);
    EXPECT_LE(2 * SparsePlane(tile.bins) * sizeof(std::uint32_t), CurrentDeviceLimits().block_bytes);
    // No feature is divided between tiles.
    EXPECT_TRUE(std::binary_search(host->cuts.ptr.begin(), host->cuts.ptr.end(), static_cast<BinIndex>(cell)));
    cell += tile.bins;
  }
  EXPECT_EQ(cell, m.cells);
  CellsOfRows expected;
  host->Visit([&](auto const& view) {
    for (RowIndex r = 0; r < c.rows; ++r) {
      std::size_t const before = expected.cells.size();
      ForEachCell(view, *host, r, [&](FeatureIndex f, std::uint32_t cell_of_row) {
        std::uint32_t const bin = cell_of_row - host->cell_ptr[f];
        if (bin != host->cuts.bins(f)) expected.cells.push_back(host->cuts.ptr[f] + bin);  // else the value is missing
      });
      expected.counts.push_back(static_cast<std::uint32_t>(expected.cells.size() - before));
    }
  });
  EXPECT_TRUE(ReadBack(*device) == expected);
}

struct Setting {
  char const* name;
  Loss loss;
  std::function<void(TrainParams*, FeatureIndex)> set;
};

std::vector<Setting> Settings() {
  return {
      {"plain", Loss::kLogistic, [](TrainParams* p, FeatureIndex) { p->max_depth = 8; }},
      {"wide format", Loss::kHeavyTail, [](TrainParams*, FeatureIndex) {}},
      {"one huge gradient", Loss::kOneHuge, [](TrainParams* p, FeatureIndex) { p->max_depth = 8; }},
      {"ties", Loss::kConstant, [](TrainParams* p, FeatureIndex) { p->min_child_weight = 0; }},
      {"negative hessians", Loss::kNegativeHessians, [](TrainParams* p, FeatureIndex) { p->max_depth = 4; }},
      {"directions", Loss::kLogistic, [](TrainParams* p, FeatureIndex columns) { SetDirections(p, columns); }},
      {"sets", Loss::kLogistic, [](TrainParams* p, FeatureIndex columns) { SetInteractions(p, columns); }},
      {"penalties", Loss::kLogistic,
       [](TrainParams* p, FeatureIndex) {
         p->reg_alpha = 0.5f;
         p->max_delta_step = 0.2f;
         p->min_child_weight = 3;
       }},
      {"some features", Loss::kLogistic,
       [](TrainParams* p, FeatureIndex) {
         p->colsample_bytree = 0.7f;
         p->colsample_bynode = 0.3f;
       }},
      {"some rows", Loss::kHeavyTail, [](TrainParams* p, FeatureIndex) { p->subsample = 0.3f; }},
      {"an order", Loss::kLogistic,
       [](TrainParams* p, FeatureIndex) {
         p->grow_policy = GrowPolicy::kLossGuide;
         p->max_depth = 0;
         p->max_leaves = 40;
       }},
      {"host_driven", Loss::kLogistic,
       [](TrainParams* p, FeatureIndex) {
         p->grow_policy = GrowPolicy::kLossGuide;
         p->max_depth = 0;
         p->max_leaves = 1500;
       }},
  };
}

TEST_P(SparseTest, SameTrees) {
  SparseCase const& c = GetParam();
  int const threads = omp_get_max_threads();
  EqualityCase const data = CaseOf(c, Loss::kLogistic);
  CaseRows const rows{data};
  auto const matrix = HostMatrix(rows, c.max_bin, threads);
  auto const host = MakeTreeBuilder(BackendKind::kHost, *matrix, threads);
  auto const cuda = MakeTreeBuilder(BackendKind::kCuda, *matrix, threads);
  std::uint32_t number = 0;
  std::size_t most_leaves = 0;
  for (Setting const& setting : Settings()) {
    SCOPED_TRACE(setting.name);
    EqualityCase tree_case = data;
    tree_case.loss = setting.loss;
    setting.set(&tree_case.params, c.columns);
    auto const gradients = CaseLoss{tree_case, rows}.Gradients(std::vector<float>(c.rows));
    TreeKey const key{number++, 0};
    Tree const expected = host->Grow(tree_case.params, gradients, key);
    ASSERT_EQ(cuda->Grow(tree_case.params, gradients, key), expected);
    std::vector<NodeIndex> of_host(c.rows), of_cuda(c.rows);
    std::vector<std::uint8_t> out_of_host(c.rows), out_of_cuda(c.rows);
    host->LeafPositions(of_host, out_of_host);
    cuda->LeafPositions(of_cuda, out_of_cuda);
    ASSERT_EQ(of_cuda, of_host);
    ASSERT_EQ(out_of_cuda, out_of_host);
    most_leaves = std::max(most_leaves, expected.Leaves());
  }
  EXPECT_GT(most_leaves, 20U);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SparseTest, ::testing::ValuesIn(kCases), NameOfParam);

/// Columns of 1, 2, 9, 40 and many values lie side by side. A warp looks at many features of few bins, or at one
/// feature. Where columns of many values and of one take turns, each group would have one feature, and there would be
/// more groups than candidates have places.
TEST(SparseColumnsTest, OfFewAndManyBins) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  constexpr FeatureIndex kColumns = 400;
  constexpr std::size_t kRows = 4000;
  std::uint32_t const values[] = {1, 2, 9, 40, 100000};
  enum class Order { kMixed, kInBlocks, kInTurn };
  for (Order const order : {Order::kMixed, Order::kInBlocks, Order::kInTurn}) {
    SCOPED_TRACE(static_cast<int>(order));
    auto const values_of = [&](FeatureIndex f) {
      if (order == Order::kInTurn) return f % 2 == 0 ? 64U : 1U;
      return values[order == Order::kInBlocks ? f / 80 : f % 5];
    };
    Random random{97};
    std::vector<std::vector<Entry>> entries(kRows);
    std::vector<GradientPair> gradients;
    for (auto& row : entries) {
      float sum = 0;
      for (FeatureIndex f = 0; f < kColumns; ++f) {
        if (random.Below(10) != 0) continue;
        float const x = static_cast<float>(random.Below(values_of(f))) / static_cast<float>(values_of(f));
        row.push_back({f, x});
        sum += (f % 7 < 3 ? 1.0f : -1.0f) * (x - 0.4f);
      }
      gradients.push_back({sum + random.Between(-1, 1), 1.0f});
    }
    MemorySource const source{entries, kColumns};
    auto const matrix = HostMatrix(source, 256, 2);
    ASSERT_GT(matrix->cuts.bins(), 12U << 10);  // more bins than the block that chooses splits looks through
    TrainParams params;
    params.max_depth = 8;
    params.min_child_weight = 0;
    auto const host = MakeTreeBuilder(BackendKind::kHost, *matrix, 2);
    auto const cuda = MakeTreeBuilder(BackendKind::kCuda, *matrix, 2);
    Tree const expected = host->Grow(params, gradients, {});
    EXPECT_GT(expected.Leaves(), 50U);
    EXPECT_EQ(cuda->Grow(params, gradients, {}), expected);
  }
}

}  // namespace
}  // namespace xgbgpu::testing
