// When a training on a device is in core, and when in pages. No device is needed.
#include <gtest/gtest.h>

#include "matrix/paged_builder_cuda.h"

namespace xgbgpu::cuda {
namespace {

/// Returns what a training takes on complete rows of columns of 256 bins.
std::size_t BytesOf(std::uint64_t rows, FeatureIndex columns) {
  constexpr BinIndex kBins = 256;
  Cuts cuts;
  cuts.ptr = {0};
  for (FeatureIndex f = 0; f < columns; ++f) cuts.ptr.push_back(cuts.ptr.back() + kBins);
  cuts.min_values.resize(columns);
  cuts.values.resize(cuts.ptr.back());
  std::uint64_t const stored = rows * columns;
  std::size_t constexpr kBlockBytes = std::size_t{227} << 10, kRoom = std::size_t{80} << 30;
  LayoutFacts const facts{rows, stored, std::vector<std::uint8_t>(columns), rows, stored, kBlockBytes, kRoom};
  return InCoreBytes(ChooseDeviceLayout(cuts, facts), facts);
}

constexpr std::size_t k16GiB = std::size_t{16} << 30;

// Rows of more columns than paths are used for are never copied in the order of nodes.
TEST(InCoreBytesTest, WideDataHaveNoCopies) {
  EXPECT_LT(BytesOf(30'000'000, 500), k16GiB);
  EXPECT_GT(BytesOf(31'000'000, 500), k16GiB);
}

TEST(InCoreBytesTest, OtherDenseDataHaveTwo) {
  EXPECT_GT(BytesOf(10'000'000, 128), std::size_t{3} * 10'000'000 * 128);
  EXPECT_LT(BytesOf(10'000'000, 128), std::size_t{3} * 10'000'000 * 144);
}

// Large histograms count, but not for more than the copies would that few rows might have.
TEST(InCoreBytesTest, HistogramsOfWideDataCount) {
  std::size_t const histogram = std::size_t{2000} * 256 * sizeof(GradientSum), rows = 1'000'000;
  EXPECT_GT(BytesOf(rows, 2000), rows * 2000 + 256 * histogram);
  EXPECT_LT(BytesOf(1000, 2000), 256 * histogram);
}

}  // namespace
}  // namespace xgbgpu::cuda
