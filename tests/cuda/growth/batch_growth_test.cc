// Growth in batches gives the tree that growth by one node at a time gives, for any batches and however few slots there
// are. A function plays the device: the gain of a node depends only on its way from the root. No device is needed.

#include "growth/batch_growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace xgbgpu::cuda {
namespace {

/// Returns the identity of a child, made from its way. It is kept in the node's sum.
std::int64_t Mix(std::int64_t way, int side) {
  auto x = static_cast<std::uint64_t>(way) * 2 + static_cast<std::uint64_t>(side) + 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return static_cast<std::int64_t>(x ^ (x >> 31));
}

/// Makes a node. One in six may not be split. There are few gains, so that there are ties.
Node MakeNode(std::int64_t way, NodeIndex parent, int depth) {
  Node node;
  node.parent = parent;
  node.depth = depth;
  node.sum.grad = way;
  auto const draw = static_cast<std::uint64_t>(way) % 60;
  node.split.gain = draw < 10 || depth > 12 ? 0.0f : static_cast<float>(1 + draw % 13);
  return node;
}

constexpr std::int64_t kRootWay = 12;  // it may be split

/// Grows the queue's tree, node after node.
std::vector<Node> GrowOneByOne(TrainParams const& params) {
  GrowQueue queue;
  queue.Reset(params);
  std::vector<Node> nodes{MakeNode(kRootWay, kNoNode, 0)};
  queue.Push(nodes, 0);
  for (auto chosen = queue.Pop(nodes); !chosen.empty(); chosen = queue.Pop(nodes)) {
    std::size_t const before = nodes.size();
    for (NodeIndex parent : chosen) {
      Node const from = nodes[static_cast<std::size_t>(parent)];
      nodes[static_cast<std::size_t>(parent)].left = static_cast<NodeIndex>(nodes.size());
      for (int side = 0; side < 2; ++side) nodes.push_back(MakeNode(Mix(from.sum.grad, side), parent, from.depth + 1));
    }
    for (std::size_t n = before; n < nodes.size(); ++n) queue.Push(nodes, static_cast<NodeIndex>(n));
  }
  return nodes;
}

/// Plays the device for a growth, and checks what it is told.
class Device {
 public:
  Device(BatchGrowth* growth, std::uint32_t slots) : growth_{growth}, slots_{slots} {}

  void Grow(std::size_t most) {
    Node root = MakeNode(kRootWay, kNoNode, 0);
    root.slot = 0;
    growth_->Learn(std::vector<Node>{root});
    while (growth_->MaySplit()) {
      auto const batch = growth_->NextBatch(most);
      ASSERT_FALSE(batch.empty());
      ASSERT_LE(batch.size(), most);
      ++batches;
      Expand(batch);
    }
  }
  int batches{0};

 private:
  void Expand(std::vector<Family> const& batch) {
    std::vector<Node> children;
    std::set<std::int32_t> used;
    for (Family const& family : batch) {
      ASSERT_EQ(family.left, static_cast<NodeIndex>(growth_->made().size() + children.size()));
      Node const& parent = growth_->made()[static_cast<std::size_t>(family.parent)];
      for (std::int32_t slot : {family.built_slot, family.sibling_slot}) {
        ASSERT_TRUE(slot >= 0 && slot < static_cast<std::int32_t>(slots_));
        ASSERT_TRUE(used.insert(slot).second) << "slot " << slot << " twice in a batch";
      }
      if (family.subtract != 0) {
        ASSERT_EQ(histogram_of_[family.sibling_slot], parent.sum.grad) << "not the parent's histogram";
      }
      for (int side = 0; side < 2; ++side) {
        Node child = MakeNode(Mix(parent.sum.grad, side), family.parent, parent.depth + 1);
        child.slot = side == 0 ? family.built_slot : family.sibling_slot;
        children.push_back(child);
      }
    }
    for (Node const& child : children) histogram_of_[child.slot] = child.sum.grad;
    growth_->Learn(children);
  }

  BatchGrowth* growth_;
  std::uint32_t slots_;
  std::map<std::int32_t, std::int64_t> histogram_of_{{0, kRootWay}};  ///< the node whose histogram a slot holds
};

void ExpectSameTree(std::vector<Node> const& found, std::vector<Node> const& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t n = 0; n < found.size(); ++n) {
    ASSERT_EQ(found[n].parent, expected[n].parent) << "node " << n;
    ASSERT_EQ(found[n].left, expected[n].left) << "node " << n;
    ASSERT_EQ(found[n].sum.grad, expected[n].sum.grad) << "node " << n;
  }
}

/// Expects that the rows of every node that the device made last are in the tree's leaf at or above it.
void ExpectLeavesHoldTheirRows(BatchGrowth const& growth) {
  auto const numbers = growth.LeafNumbers();
  auto const& made = growth.made();
  ASSERT_EQ(numbers.size(), made.size());
  std::set<NodeIndex> leaves;
  for (std::size_t n = 0; n < made.size(); ++n) {
    ASSERT_EQ(numbers[n] == kNoNode, made[n].left != kNoNode) << "node " << n;
    if (numbers[n] == kNoNode) continue;
    Node const& leaf = growth.tree()[static_cast<std::size_t>(numbers[n])];
    ASSERT_EQ(leaf.left, kNoNode);
    leaves.insert(numbers[n]);
    std::size_t above = n;
    while (made[above].sum.grad != leaf.sum.grad && made[above].parent != kNoNode) {
      above = static_cast<std::size_t>(made[above].parent);
    }
    ASSERT_EQ(made[above].sum.grad, leaf.sum.grad) << "node " << n << " is not below leaf " << numbers[n];
  }
  EXPECT_EQ(leaves.size(), (growth.tree().size() + 1) / 2) << "a leaf has no rows";
}

TEST(BatchGrowthTest, GivesTheTreeOfOneNodeAtATime) {
  int cases = 0, largest = 0, ahead = 0;
  for (GrowPolicy policy : {GrowPolicy::kLossGuide, GrowPolicy::kDepthWise}) {
    for (int max_depth : {0, 3, 8}) {
      for (int max_leaves : {0, 1, 2, 7, 100}) {
        TrainParams params;
        params.grow_policy = policy;
        params.max_depth = max_depth;
        params.max_leaves = max_leaves;
        auto const expected = GrowOneByOne(params);
        largest = std::max(largest, static_cast<int>(expected.size()));
        for (std::size_t most : {1, 3, 64}) {
          for (std::uint32_t slots : {2U, 5U, 1000U}) {
            BatchGrowth growth;
            growth.Reset(params, slots, false);
            Device{&growth, slots}.Grow(most);
            ExpectSameTree(growth.tree(), expected);
            ExpectLeavesHoldTheirRows(growth);
            ahead += growth.made().size() > growth.tree().size();
            ++cases;
          }
        }
      }
    }
  }
  EXPECT_EQ(cases, 270);
  EXPECT_GT(largest, 500);
  EXPECT_GT(ahead, 10) << "nothing was expanded ahead of its turn in vain: the hardest case is missing";
}

// A node that is in the tree is expanded as soon as it is known.
TEST(BatchGrowthTest, LossGuidedTakesABatchForEachLevel) {
  for (int max_leaves : {2, 7, 31, 100, 250}) {
    TrainParams params;
    params.grow_policy = GrowPolicy::kLossGuide;
    params.max_depth = 0;
    params.max_leaves = max_leaves;
    BatchGrowth growth;
    growth.Reset(params, 1000, false);
    Device device{&growth, 1000};
    device.Grow(1000);
    int deepest = 0;
    for (Node const& node : growth.tree()) deepest = std::max(deepest, node.depth);
    EXPECT_LE(device.batches, deepest) << max_leaves << " leaves";
  }
}

TEST(BatchGrowthTest, IsCutOutOfTheWholeTree) {
  for (int max_depth : {1, 3, 8}) {
    for (int max_leaves : {0, 1, 2, 7, 100}) {
      TrainParams params;
      params.max_depth = max_depth;
      auto const made = GrowOneByOne(params);
      params.grow_policy = GrowPolicy::kLossGuide;
      params.max_leaves = max_leaves;
      BatchGrowth growth;
      growth.Reset(params, 2, false);
      growth.Learn(made);
      EXPECT_FALSE(growth.MaySplit());
      ExpectSameTree(growth.tree(), GrowOneByOne(params));
      ExpectLeavesHoldTheirRows(growth);
    }
  }
}

TEST(BatchGrowthTest, InOrderTheDeviceNumbersNodesAsTheTreeDoes) {
  for (GrowPolicy policy : {GrowPolicy::kLossGuide, GrowPolicy::kDepthWise}) {
    TrainParams params;
    params.grow_policy = policy;
    params.max_depth = 7;
    params.max_leaves = 40;
    BatchGrowth growth;
    growth.Reset(params, 100, true);
    Node root = MakeNode(kRootWay, kNoNode, 0);
    root.slot = 0;
    growth.Learn(std::vector<Node>{root});
    std::map<std::int64_t, NodeIndex> promised;  // way → number in the tree
    while (growth.MaySplit()) {
      auto const batch = growth.NextBatch(8);
      std::vector<Node> children;
      for (std::size_t f = 0; f < batch.size(); ++f) {
        Node const& parent = growth.made()[static_cast<std::size_t>(batch[f].parent)];
        for (int side = 0; side < 2; ++side) {
          children.push_back(MakeNode(Mix(parent.sum.grad, side), batch[f].parent, parent.depth + 1));
          children.back().slot = side == 0 ? batch[f].built_slot : batch[f].sibling_slot;
          promised[children.back().sum.grad] = batch[f].left + side;
        }
      }
      growth.Learn(children);
    }
    ExpectSameTree(growth.tree(), GrowOneByOne(params));
    ASSERT_EQ(promised.size() + 1, growth.tree().size());
    for (std::size_t n = 1; n < growth.tree().size(); ++n) {
      EXPECT_EQ(promised.at(growth.tree()[n].sum.grad), static_cast<NodeIndex>(n));
    }
  }
}

}  // namespace
}  // namespace xgbgpu::cuda
