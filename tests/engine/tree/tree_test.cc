// tree: leaf weights, thresholds, equality; the queue that decides which node is split next.
#include "xgbgpu/tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "growth/grow_queue.h"
#include "growth/make_tree.h"

namespace xgbgpu {
namespace {

Node Leaf(NodeIndex parent, int depth, float gain) {
  Node n;
  n.parent = parent;
  n.depth = depth;
  n.split.gain = gain;
  return n;
}

TEST(MakeTreeTest, NodesBecomeArrays) {
  Cuts const cuts{{0, 3, 5}, {1, 2, 3, 10, 20}, {-1, 5}};
  std::vector<Node> nodes(5);
  nodes[0].left = 1;
  nodes[0].sum = {-6, 11};
  nodes[0].split = {2.5f, 1, 1, true, false, {}, {}};
  nodes[1] = Leaf(0, 1, 0);
  nodes[1].left = 3;
  nodes[1].sum = {8, 7};
  nodes[1].split = {1.5f, 0, 0, false, false, {}, {}};
  nodes[2] = Leaf(0, 1, 99);
  nodes[2].sum = {4, 3};
  nodes[3] = Leaf(1, 2, 0);
  nodes[4] = Leaf(1, 2, 0);
  TrainParams params;
  params.reg_lambda = 1;
  params.min_child_weight = 0;
  Tree const tree = MakeTree({nodes}, cuts, SplitParams{params, {false, 1, 0}}, 0.5f);  // a gradient's unit is 1/2
  EXPECT_EQ(tree.parent, (std::vector<NodeIndex>{-1, 0, 0, 1, 1}));
  EXPECT_EQ(tree.left, (std::vector<NodeIndex>{1, 3, -1, -1, -1}));
  EXPECT_EQ(tree.feature, (std::vector<FeatureIndex>{1, 0, 0, 0, 0}));
  EXPECT_EQ(tree.split_bin, (std::vector<BinIndex>{4, 0, 0, 0, 0}));
  EXPECT_EQ(tree.threshold, (std::vector<float>{10, -1, 0, 0, 0}));  // a split at local bin 0 has the value below all
  EXPECT_EQ(tree.default_left, (std::vector<std::uint8_t>{1, 0, 0, 0, 0}));
  EXPECT_EQ(tree.gain, (std::vector<float>{2.5f, 1.5f, 0, 0, 0}));
  EXPECT_EQ(tree.sum_hess, (std::vector<float>{11, 7, 3, 0, 0}));
  EXPECT_EQ(tree.weight, (std::vector<float>{0.25f, -0.5f, -0.5f, 0, 0}));
  EXPECT_EQ(tree.leaf_value, (std::vector<float>{0.125f, -0.25f, -0.25f, 0, 0}));
  EXPECT_EQ(tree.Leaves(), 3U);
  EXPECT_FALSE(tree.IsLeaf(0));
  EXPECT_TRUE(tree.IsLeaf(2));
}

TEST(MakeTreeTest, SetsOfCategoriesStandTogether) {
  Cuts cuts{{0, 35, 40, 42}, std::vector<float>(42), {0, 0, 0}};
  cuts.categorical = {1, 1, 0};
  std::vector<Node> nodes(7);
  nodes[0].left = 1;
  nodes[0].split = {3, 1, 0, true, true, {}, {}};
  nodes[1].left = 3;
  nodes[1].split = {2, 2, 1, false, false, {}, {}};
  nodes[2].left = 5;
  nodes[2].split = {1, 0, 2, false, true, {}, {}};
  nodes[4].split = {1, 0, 1, false, true, {}, {}};  // a leaf, whose best split was not made
  std::vector<std::uint32_t> const bits{0xFFFFFFF6U, 0, 1, 2, 0x80000001U, 0xFFFFFFFCU};
  Tree const tree = MakeTree({nodes, {}, {bits, 2}}, cuts, SplitParams{TrainParams{}, {}}, 1);
  EXPECT_EQ(tree.category_ptr, (std::vector<std::uint32_t>{0, 1, 1, 3, 3, 3, 3, 3}));
  // Bits beyond the last category do not count: from 5 on of feature 1, and from 35 on of feature 0.
  EXPECT_EQ(tree.category_bits, (std::vector<std::uint32_t>{0x16U, 0x80000001U, 4}));
  EXPECT_EQ(tree.RightCategories(2).size(), 2U);
  EXPECT_TRUE(tree.RightCategories(1).empty());
  EXPECT_TRUE(std::isnan(tree.threshold[0]));
  EXPECT_EQ(tree.split_bin, (std::vector<BinIndex>{35, 41, 0, 0, 0, 0, 0}));
}

TEST(TreeEqualityTest, EveryArrayCounts) {
  Tree tree;
  tree.Resize(3);
  tree.category_ptr = {0, 1, 1, 2};
  tree.category_bits = {1, 2};
  EXPECT_EQ(tree, tree);
  auto const differs = [&](auto member) {
    Tree other = tree;
    (other.*member)[1] = static_cast<std::decay_t<decltype((other.*member)[1])>>(5);
    return other != tree;
  };
  EXPECT_TRUE(differs(&Tree::parent));
  EXPECT_TRUE(differs(&Tree::left));
  EXPECT_TRUE(differs(&Tree::feature));
  EXPECT_TRUE(differs(&Tree::split_bin));
  EXPECT_TRUE(differs(&Tree::threshold));
  EXPECT_TRUE(differs(&Tree::default_left));
  EXPECT_TRUE(differs(&Tree::gain));
  EXPECT_TRUE(differs(&Tree::sum_hess));
  EXPECT_TRUE(differs(&Tree::weight));
  EXPECT_TRUE(differs(&Tree::leaf_value));
  EXPECT_TRUE(differs(&Tree::category_ptr));
  EXPECT_TRUE(differs(&Tree::category_bits));
  Tree larger = tree;
  larger.Resize(4);
  EXPECT_NE(larger, tree);
}

TEST(TreeEqualityTest, ComparesBits) {
  Tree a, b;
  a.Resize(1);
  b.Resize(1);
  b.weight[0] = -0.0f;
  EXPECT_NE(a, b);
  a.weight[0] = b.weight[0] = std::nanf("");
  EXPECT_EQ(a, b);
}

TrainParams QueueParams(GrowPolicy policy, int max_depth, int max_leaves, float gamma = 0) {
  TrainParams p;
  p.grow_policy = policy;
  p.max_depth = max_depth;
  p.max_leaves = max_leaves;
  p.min_split_loss = gamma;
  return p;
}

using Chosen = std::vector<NodeIndex>;

TEST(GrowQueueTest, DepthWiseTakesALevelInTheOrderOfNumbers) {
  GrowQueue queue;
  queue.Reset(QueueParams(GrowPolicy::kDepthWise, 3, 0));
  std::vector<Node> const nodes{Leaf(-1, 0, 1), Leaf(0, 1, 2), Leaf(0, 1, 3), Leaf(1, 2, 9), Leaf(1, 2, 1)};
  EXPECT_TRUE(queue.Push(nodes, 0));
  EXPECT_EQ(queue.Pop(nodes), Chosen{0});
  EXPECT_TRUE(queue.Push(nodes, 2));  // the child that is built comes first
  EXPECT_TRUE(queue.Push(nodes, 1));
  EXPECT_EQ(queue.Pop(nodes), (Chosen{1, 2}));
  EXPECT_EQ(queue.Pop(nodes), Chosen{});
}

TEST(GrowQueueTest, DepthWiseSpendsLeavesInTheOrderOfNumbers) {
  GrowQueue queue;
  queue.Reset(QueueParams(GrowPolicy::kDepthWise, 0, 3));
  std::vector<Node> const nodes{Leaf(-1, 0, 1), Leaf(0, 1, 2), Leaf(0, 1, 3)};
  queue.Push(nodes, 0);
  EXPECT_EQ(queue.Pop(nodes), Chosen{0});
  EXPECT_TRUE(queue.ChildrenMaySplit(0));
  queue.Push(nodes, 2);
  queue.Push(nodes, 1);
  EXPECT_EQ(queue.Pop(nodes), Chosen{1});
  EXPECT_FALSE(queue.ChildrenMaySplit(1));
}

TEST(GrowQueueTest, LossGuidedTakesTheLargestGainThenTheSmallerNumber) {
  GrowQueue queue;
  queue.Reset(QueueParams(GrowPolicy::kLossGuide, 0, 0));
  std::vector<Node> const nodes{Leaf(-1, 0, 5), Leaf(0, 1, 2), Leaf(0, 1, 7), Leaf(2, 2, 2), Leaf(2, 2, 4)};
  for (NodeIndex n : {3, 4, 1, 2}) EXPECT_TRUE(queue.Push(nodes, n));
  for (NodeIndex expected : {2, 4, 1, 3}) EXPECT_EQ(queue.Pop(nodes), Chosen{expected});
  EXPECT_EQ(queue.Pop(nodes), Chosen{});
}

TEST(GrowQueueTest, LossGuidedStopsAtTheLeaves) {
  GrowQueue queue;
  queue.Reset(QueueParams(GrowPolicy::kLossGuide, 0, 2));
  std::vector<Node> const nodes{Leaf(-1, 0, 5), Leaf(0, 1, 2), Leaf(0, 1, 7)};
  queue.Push(nodes, 0);
  EXPECT_EQ(queue.Pop(nodes), Chosen{0});
  EXPECT_FALSE(queue.ChildrenMaySplit(0));
  queue.Push(nodes, 1);
  EXPECT_EQ(queue.Pop(nodes), Chosen{});
}

TEST(GrowQueueTest, Limits) {
  GrowQueue queue;
  queue.Reset(QueueParams(GrowPolicy::kDepthWise, 2, 0, 1.5f));
  std::vector<Node> const nodes{Leaf(-1, 0, 1.5f), Leaf(0, 1, 1.4999f), Leaf(0, 2, 10), Leaf(0, 1, 0)};
  EXPECT_TRUE(queue.Push(nodes, 0));   // the gain reaches gamma
  EXPECT_FALSE(queue.Push(nodes, 1));  // this gain does not
  EXPECT_FALSE(queue.Push(nodes, 2));  // too deep
  EXPECT_FALSE(queue.Push(nodes, 3));  // no split
  EXPECT_TRUE(queue.ChildrenMaySplit(0));
  EXPECT_FALSE(queue.ChildrenMaySplit(1));
  queue.Reset(QueueParams(GrowPolicy::kDepthWise, 0, 0));
  std::vector<Node> const tiny{Leaf(-1, 1000000, kLeastGain), Leaf(-1, 1000000, std::nextafter(kLeastGain, 1.0f))};
  EXPECT_FALSE(queue.Push(tiny, 0));
  EXPECT_TRUE(queue.Push(tiny, 1));
  EXPECT_EQ(queue.Pop(tiny), Chosen{1});  // Reset has left nothing
}

}  // namespace
}  // namespace xgbgpu
