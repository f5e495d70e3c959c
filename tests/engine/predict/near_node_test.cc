// predict: a node in one word sends every symbol where its split does, and a leaf keeps every row.
#include <gtest/gtest.h>

#include <set>

#include "predict/near_node_ops.h"

namespace xgbgpu::cuda {
namespace {

constexpr NodeIndex kLast = NearNode::kNodes - 1;

WalkNode Split(NodeIndex left, FeatureIndex feature, std::uint16_t bin, std::uint16_t missing_left) {
  return {left, {feature, bin, missing_left, 7}};
}

TEST(NearNodeTest, EverySymbolGoesWhereTheSplitSays) {
  for (NodeIndex const left : {1, 511, 1022}) {
    for (FeatureIndex const feature : {0U, 6U, 31U}) {
      for (std::uint32_t missing = 1; missing <= 256; ++missing) {  // 256: symbols go up to 255, and none is missing
        for (std::uint32_t bin = 0; bin <= missing; ++bin) {
          for (bool const missing_left : {false, true}) {
            if (missing_left && missing == 256) continue;
            auto const symbol_left = missing_left ? static_cast<std::uint16_t>(missing) : kNoSymbol;
            NearNode const node = NearNode::Make(0, Split(left, feature, static_cast<std::uint16_t>(bin), symbol_left));
            for (std::uint32_t symbol = 0; symbol <= missing && symbol < 256; ++symbol) {
              bool const goes_left = symbol < bin || symbol == symbol_left;
              ASSERT_EQ(node.Next(symbol), static_cast<std::uint32_t>(left + (goes_left ? 0 : 1)))
                  << symbol << " of " << missing << ", from " << bin << (missing_left ? ", left" : "");
            }
            ASSERT_EQ(node.Place(), feature / 4 * 1024 + feature % 4);
          }
        }
      }
    }
  }
}

TEST(NearNodeTest, LeavesAndNodesWithFarChildrenKeepEverySymbol) {
  for (NodeIndex n = 0; n <= kLast; ++n) {
    for (NodeIndex const left : {kNoNode, kLast, kLast + 1, 1 << 20}) {
      NearNode const node = NearNode::Make(n, Split(left, 31, 3, 5));
      EXPECT_LE(node.Place(), 7U * 1024 + 3);  // the last symbol of any record
      for (std::uint32_t symbol = 0; symbol < 256; ++symbol) {
        ASSERT_EQ(node.Next(symbol), static_cast<std::uint32_t>(n)) << "left child " << left;
      }
    }
  }
}

TEST(NearNodeTest, NoTwoColumnsHaveOnePlaceNorBitsOfAThread) {
  std::set<std::uint32_t> places;
  for (FeatureIndex f = 0; f < 32; ++f) places.insert(NearNode::Make(0, Split(1, f, 255, kNoSymbol)).Place());
  EXPECT_EQ(places.size(), 32U);
  for (std::uint32_t const place : places) EXPECT_EQ(place & 255U * 4, 0U);
}

}  // namespace
}  // namespace xgbgpu::cuda
