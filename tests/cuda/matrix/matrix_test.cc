// Matrices built on a device equal, byte for byte, those that the host quantised and copied; datasets and trainers on
// either.
#include "matrix/matrix.h"

#include <gtest/gtest.h>

#include <cstring>

#include "matrix/lower_ends.h"
#include "matrix/matrix_cuda.h"
#include "quantile/quantile.h"
#include "support/dataset_forms.h"
#include "support/grow.h"
#include "user_arrays/array_case.h"
#include "user_arrays/data_case.h"
#include "xgbgpu/devices.h"
#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::testing {
namespace {

template <typename T>
std::vector<std::uint8_t> Bytes(DeviceBuffer<T> const& buffer) {
  std::vector<std::uint8_t> bytes(buffer.bytes());
  CheckCuda(cudaMemcpy(bytes.data(), buffer.data(), bytes.size(), cudaMemcpyDeviceToHost), "reading a matrix back");
  return bytes;
}

/// Returns what differs first; empty if nothing does.
std::string Difference(DeviceMatrix const& a, DeviceMatrix const& b) {
  DeviceMatrixView const &v = a.view, &w = b.view;
  if (v.rows != w.rows || v.features != w.features || a.stored != b.stored) return "size";
  if (v.dense != w.dense || v.symbol_bytes != w.symbol_bytes || v.tile_columns != w.tile_columns) return "layout";
  if (v.tiles != w.tiles || v.cells != w.cells) return "tiles";
  if (a.tiles.size() != b.tiles.size() || !(a.cuts == b.cuts)) return "tiles or cuts on the host";
  for (std::size_t t = 0; t < a.tiles.size(); ++t) {
    DeviceTile const &s = a.tiles[t], &u = b.tiles[t];
    if (s.first_cell != u.first_cell || s.bins != u.bins || s.symbols != u.symbols) return "a tile on the host";
  }
  if (Bytes(a.records) != Bytes(b.records)) return "records";
  if (Bytes(a.tile_array) != Bytes(b.tile_array)) return "tiles on the device";
  if (Bytes(a.row_ptr) != Bytes(b.row_ptr)) return "row_ptr";
  if (Bytes(a.row_cells) != Bytes(b.row_cells)) return "row_cells";
  if (Bytes(a.tile_ptr) != Bytes(b.tile_ptr)) return "tile_ptr";
  if (Bytes(a.tile_cells) != Bytes(b.tile_cells)) return "tile_cells";
  if (Bytes(a.cut_ptr) != Bytes(b.cut_ptr)) return "cut_ptr";
  if (v.records != a.records.data() || v.tile != a.tile_array.data() || v.row_ptr != a.row_ptr.data() ||
      v.row_cells != a.row_cells.data() || v.tile_ptr != a.tile_ptr.data() || v.tile_cells != a.tile_cells.data() ||
      v.cut_ptr != a.cut_ptr.data()) {
    return "pointers of the view";
  }
  return {};
}

/// The lower ends of a matrix's bins, read in two parts.
class LowerEnds final : public RowSource {
 public:
  explicit LowerEnds(DeviceMatrix const& matrix) : matrix_{matrix} {}

  std::uint64_t rows() const override { return matrix_.view.rows; }
  FeatureIndex features() const override { return matrix_.view.features; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override {
    std::uint64_t const half = rows() / 2;
    cuda::VisitLowerEnds(matrix_, 0, half, 1, visit);
    cuda::VisitLowerEnds(matrix_, half, rows() - half, 3, [&](RowBatch batch) {
      batch.first_row += half;
      visit(batch);
    });
  }

 private:
  DeviceMatrix const& matrix_;
};

class CudaMatrixTest : public ::testing::TestWithParam<DataCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }
};

TEST_P(CudaMatrixTest, EqualsTheHosts) {
  DataCase const& c = GetParam();
  auto const weights = RandomWeights(c.shape.rows, 81);
  auto const plain = MakeSource(c, 0);
  for (Reading const& reading : Readings(c)) {
    auto const batches = MakeSource(c, reading.batch_rows);
    for (int const max_bin : reading.max_bins) {
      Cuts const cuts = host::ComputeCuts(plain, weights, max_bin, 2);
      auto const expected = cuda::UploadMatrix(*host::QuantiseMatrix(plain, cuts, 2), 0, 2);
      cuda::BuildOptions const options{0, reading.threads, reading.memory_bytes};
      ASSERT_EQ(Difference(*cuda::BuildMatrix(batches, {max_bin, weights}, options), *expected), "")
          << "cuts and bins, max_bin " << max_bin << ", " << NameOf(reading);
      ASSERT_EQ(Difference(*cuda::QuantiseMatrix(batches, cuts, options), *expected), "")
          << "bins, max_bin " << max_bin << ", " << NameOf(reading);
    }
  }
}

TEST_P(CudaMatrixTest, LowerEndsHaveTheBinsThatTheyAreTheEndsOf) {
  auto const source = MakeSource(GetParam(), 0);
  for (int const max_bin : {4, 1000}) {
    Cuts const cuts = host::ComputeCuts(source, {}, max_bin, 2);
    auto const matrix = cuda::QuantiseMatrix(source, cuts, 0, 2);
    EXPECT_EQ(Difference(*cuda::QuantiseMatrix(LowerEnds{*matrix}, cuts, 0, 2), *matrix), "") << "max_bin " << max_bin;
  }
}

INSTANTIATE_TEST_SUITE_P(Data, CudaMatrixTest, ::testing::ValuesIn(DataCases()), DataCaseName{});

class CudaArrayMatrixTest : public ::testing::TestWithParam<ArrayCase> {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  /// Matrices of `source` on device 0 are what the host makes of `expected`.
  static void ExpectTheHosts(RowSource const& source, DeviceMatrix const& expected, int max_bin, int threads) {
    std::uint64_t const column = source.rows() * sizeof(float);
    for (std::size_t const bytes : {std::size_t{0}, column * source.features() * 2, column}) {
      if (bytes == column && (source.features() > 1000 || max_bin != 16)) continue;  // a pass for every column
      cuda::BuildOptions const options{0, threads, bytes};
      ASSERT_EQ(Difference(*cuda::BuildMatrix(source, {max_bin, {}}, options), expected), "")
          << "cuts and bins, max_bin " << max_bin << ", device " << source.arrays()->device << ", " << bytes
          << " bytes";
    }
    ASSERT_EQ(Difference(*cuda::QuantiseMatrix(source, expected.cuts, 0, threads), expected), "")
        << "bins, max_bin " << max_bin << ", device " << source.arrays()->device;
  }
};

TEST_P(CudaArrayMatrixTest, EqualsTheHosts) {
  CaseArray array{GetParam()};
  for (int const max_bin : {16, 256, 1000}) {
    if (max_bin != 16 && GetParam().features > 1000) continue;  // so many columns take their time on the host
    Cuts const cuts = host::ComputeCuts(array.on_host(), {}, max_bin, 2);
    auto const expected = cuda::UploadMatrix(*host::QuantiseMatrix(array.on_host(), cuts, 2), 0, 2);
    ExpectTheHosts(array.on_host(), *expected, max_bin, max_bin == 16 ? 1 : 3);
    auto const copy = array.on_device(0);
    ExpectTheHosts(copy, *expected, max_bin, 2);
    ExpectTheHosts(ArraysSource{array.on_host(), GetParam().rows / 3 + 1}, *expected, max_bin, 2);
    ExpectTheHosts(ArraysSource{copy, GetParam().rows / 5 + 1}, *expected, max_bin, 2);
    if (CudaDeviceCount() > 1) ExpectTheHosts(array.on_device(1), *expected, max_bin, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Arrays, CudaArrayMatrixTest, ::testing::ValuesIn(ArrayCases()), ArrayCaseName{});

TEST(CudaLongRowTest, RowsMayBeLongerThanAPiece) {
  XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda);
  constexpr FeatureIndex kFeatures = 2500000;  // a row is 10 MB of floats; 1.25 million entries take as much
  for (FeatureIndex const step : {1U, 2U, 3U}) {
    std::vector<std::vector<Entry>> rows(3);
    Random random{87};
    for (auto& row : rows) {
      for (FeatureIndex f = 0; f < kFeatures; f += step) row.push_back({f, random.Between(-1, 1)});
    }
    rows[1].clear();
    MemorySource const source{rows, kFeatures};
    Cuts const cuts = host::ComputeCuts(source, {}, 4, 2);
    auto const expected = cuda::UploadMatrix(*host::QuantiseMatrix(source, cuts, 2), 0, 2);
    EXPECT_EQ(expected->view.dense, step == 1);
    EXPECT_EQ(Difference(*cuda::BuildMatrix(source, {4, {}}, {0, 2}), *expected), "") << step;
    EXPECT_EQ(Difference(*cuda::QuantiseMatrix(source, cuts, 0, 2), *expected), "") << step;
  }
}

class CudaDatasetTest : public ::testing::Test {
 protected:
  void SetUp() override { XGBGPU_SKIP_UNLESS_HERE(BackendKind::kCuda); }

  Place const kDevice{BackendKind::kCuda, 0};

  static std::size_t FreeMemory() {
    std::size_t free = 0, total = 0;
    CheckCuda(cudaMemGetInfo(&free, &total), "asking for free memory");
    return free;
  }
};

TEST_F(CudaDatasetTest, TellsWhereItLies) {
  MemorySource const source{RandomValues({1000, 5, 0.1}, 82)};
  auto const on_host = Dataset::Build(source, {}, 64, 2);
  auto const on_device = Dataset::Build(source, {}, 64, 2, kDevice);
  EXPECT_EQ(on_host->place().backend, BackendKind::kHost);
  EXPECT_EQ(on_host->devices(), 0);
  EXPECT_EQ(on_device->place().backend, BackendKind::kCuda);
  EXPECT_EQ(on_device->place().device, 0);
  EXPECT_EQ(on_device->rows(), 1000U);
  EXPECT_EQ(on_device->features(), 5U);
  EXPECT_EQ(on_device->cuts(), on_host->cuts());
  EXPECT_EQ(on_device->bytes(), testing::DeviceMatrixOf(*on_device).arena.bytes());
  EXPECT_GE(on_device->bytes(), 5000U);
  EXPECT_EQ(Dataset::Build(source, {}, 64, 2, {BackendKind::kAuto, 0})->place().backend, BackendKind::kCuda);
}

TEST_F(CudaDatasetTest, TreesAreTheSameFromEitherPlace) {
  for (double const missing : {0.1, 0.8}) {
    auto const values = RandomValues({3000, 8, missing, 40}, 83);
    auto const gradients = RandomGradients(values, 84);
    MemorySource const source{values};
    for (bool const edges : {false, true}) {
      auto const build = [&](Place place) {
        return edges ? Dataset::FromBinEdges(source, 2, place) : Dataset::Build(source, {}, 32, 2, place);
      };
      auto const on_host = build({}), on_device = build(kDevice);
      Tree const expected = Trainer{on_host, BackendKind::kHost, 2}.Grow({}, gradients, {});
      EXPECT_GT(expected.size(), 20U);
      for (auto const& data : {on_host, on_device}) {
        for (BackendKind const kind : {BackendKind::kAuto, BackendKind::kCuda}) {
          Trainer trainer{data, kind, 2};
          EXPECT_EQ(trainer.backend(), BackendKind::kCuda);
          EXPECT_EQ(trainer.Grow({}, gradients, {}), expected);
        }
      }
    }
  }
}

TEST_F(CudaDatasetTest, Errors) {
  MemorySource const source{RandomValues({100, 3}, 85)};
  auto const data = Dataset::Build(source, {}, 16, 1, kDevice);
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Trainer(data, BackendKind::kHost, 1); },
                                         {"gpu_backend", "host", "device 0", "auto, cuda"}),
            "");
  int const devices = CudaDeviceCount();
  EXPECT_GE(devices, 1);
  for (int const bad : {-1, devices}) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                  [&] {
                    Dataset::Build(source, {}, 16, 1, {BackendKind::kCuda, bad});
                  },
                  {"gpu_id", "is " + std::to_string(bad), "0 to"}),
              "");
  }
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Dataset::Build(source, {}, 16, 0, kDevice); }, {"threads is 0"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Dataset::Build(source, {}, 1, 1, kDevice); }, {"max_bin", "is 1"}), "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] {
                  Dataset::Build(MemorySource{std::vector<std::vector<Entry>>{}, 3}, {}, 16, 1, kDevice);
                },
                {"0 rows", "1 or more"}),
            "");
  EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                [&] {
                  Dataset::Build(MemorySource{std::vector<std::vector<Entry>>(2), 0}, {}, 16, 1, kDevice);
                },
                {"0 features", "1 or more"}),
            "");
}

TEST_F(CudaDatasetTest, AFeatureTwiceInARowIsNamed) {
  MemorySource const dense{{{{0, 1.0f}, {1, 2.0f}}, {{1, 1.0f}, {1, 2.0f}}}, 2};
  MemorySource const sparse{{{{0, 1.0f}}, {{1, 1.0f}, {0, 3.0f}, {1, 2.0f}}, {}, {}, {}}, 2};
  for (MemorySource const* source : {&dense, &sparse}) {
    EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { Dataset::Build(*source, {}, 16, 2, kDevice); },
                                           {"Row 1", "feature 1", "at most one value"}),
              "");
    EXPECT_EQ(WhatIsWrong<InvalidArgument>(
                  [&] {
                    cuda::QuantiseMatrix(
                        *source, cuda::ComputeCuts(MemorySource{std::vector<std::vector<Entry>>{}, 2}, {}, 16, 0, 1), 0,
                        2);
                  },
                  {"Row 1", "feature 1", "at most one value"}),
              "");
  }
}

TEST_F(CudaDatasetTest, RawDataDoNotStayOnTheDevice) {
  DataCase const c{"Large", {400000, 10}};
  auto const source = MakeSource(c, 0);
  Dataset::Build(source, {}, 256, 2, kDevice);  // what the driver takes at first use is taken
  std::size_t const before = FreeMemory();
  auto data = Dataset::Build(source, {}, 256, 2, kDevice);
  // Three arrays are held, and the driver may round each up to its pages of 2 MiB. Raw values would take 16 MB.
  EXPECT_GE(FreeMemory() + data->bytes() + 3 * (std::size_t{2} << 20), before);
  data.reset();
  EXPECT_EQ(FreeMemory(), before);
}

TEST(DeviceLayout, RefusesMoreRowsThanKernelsCount) {
  Cuts cuts;
  cuts.ptr = {0, 1};
  LayoutFacts const facts{0xFFFFFFFEU, 0xFFFFFFFEU, {0}, 0xFFFFFFFEU, 0xFFFFFFFEU, 1 << 16, 0};
  EXPECT_EQ(WhatIsWrong<InvalidArgument>([&] { ChooseDeviceLayout(cuts, facts); },
                                         {"4294967294 rows", "allowed on a CUDA device: 1 to 4294934528"}),
            "");
}

TEST_F(CudaDatasetTest, EveryAllocationMayFail) {
  struct Layout {
    std::size_t rows, columns;
    double missing;
    int max_bin;
    bool in_tiles;
    int may_fail;  ///< allocations that only serve speed, and those that follow them
  };
  for (Layout const layout : {Layout{500, 6, 0.0, 32, false, 0},
                              {500, 6, 0.8, 32, false, 0},
                              {500, 30, 0.8, 32, true, 4},
                              {4000, 6, 0.0, 4000, true, 6}}) {
    SCOPED_TRACE(::testing::Message() << layout.columns << " columns, " << layout.missing << " missing, "
                                      << layout.max_bin << " bins");
    MemorySource const source{RandomValues({layout.rows, layout.columns, layout.missing}, 86)};
    std::vector<float> const weights(layout.rows, 1.0f);
    auto const build = [&] { return Dataset::Build(source, weights, layout.max_bin, 2, kDevice); };
    build();  // what the driver takes at first use is taken
    std::size_t const before = FreeMemory();
    FailDeviceAllocation(-1);
    build();
    std::int64_t const allocations = FailDeviceAllocation(-1);
    EXPECT_GE(allocations, 8);
    int failed = 0;
    for (std::int64_t n = 0; n < allocations; ++n) {
      FailDeviceAllocation(n);
      std::shared_ptr<Dataset const> data;
      std::string const wrong = WhatIsWrong<OutOfDeviceMemory>(
          [&] { data = build(); }, {"bytes of GPU memory for", "are free", "gpu_backend=host"});
      if (data == nullptr) {
        EXPECT_EQ(wrong, "") << "allocation " << n;
        continue;
      }
      // Without tiles the matrix is CSR, or records if these take less.
      DeviceMatrix const& matrix = testing::DeviceMatrixOf(*data);
      EXPECT_EQ(matrix.view.dense, layout.missing == 0.0) << "allocation " << n;
      EXPECT_FALSE(matrix.view.sparse_in_tiles()) << "allocation " << n;
      EXPECT_EQ(matrix.row_cells.size(), matrix.view.dense ? 0 : matrix.stored);
      EXPECT_EQ(matrix.tile_ptr.size() + matrix.tile_cells.size(), 0U);
      EXPECT_EQ(matrix.tiles.size(), matrix.view.dense ? matrix.view.tiles : 0);
      ++failed;
    }
    EXPECT_EQ(failed, layout.may_fail);
    FailDeviceAllocation(-1);
    EXPECT_EQ(FreeMemory(), before);
    auto const data = build();
    EXPECT_EQ(data->cuts(), host::ComputeCuts(source, weights, layout.max_bin, 2));
    EXPECT_EQ(testing::DeviceMatrixOf(*data).view.sparse_in_tiles(), layout.in_tiles);
    EXPECT_EQ(testing::DeviceMatrixOf(*data).view.dense, !layout.in_tiles && layout.missing == 0.0);
  }
}

}  // namespace
}  // namespace xgbgpu::testing
