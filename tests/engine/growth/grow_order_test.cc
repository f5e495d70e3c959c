// growth: the order that a device keeps level by level is that of the queue, node for node, whatever the gains. Trees
// that are split by it keep to their shape.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "growth/choose_shape.h"
#include "growth/grow_order_ops.h"
#include "growth/grow_queue.h"

namespace xgbgpu {
namespace {

/// Gains are a function of a node's way from the root.
enum class Gains { kFew, kAny, kEqual, kRising, kFalling, kChain };
constexpr Gains kAllGains[] = {Gains::kFew, Gains::kAny, Gains::kEqual, Gains::kRising, Gains::kFalling, Gains::kChain};

std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

constexpr int kDeepest = 60;

struct MadeNode {
  std::uint64_t way;
  Node node;
};

MadeNode MakeNode(Gains gains, std::uint64_t way, int depth, bool right) {
  MadeNode made{way, {}};
  made.node.depth = depth;
  auto const draw = Mix(way) % 1000;
  float const any = 1 + static_cast<float>(draw);
  float gain = 0;
  switch (gains) {
    case Gains::kFew:
      gain = static_cast<float>(1 + draw % 4);
      break;
    case Gains::kAny:
      gain = any / static_cast<float>(1 + depth);
      break;
    case Gains::kEqual:
      gain = 1;
      break;
    case Gains::kRising:
      gain = any * std::exp2(static_cast<float>(depth));
      break;
    case Gains::kFalling:
      gain = any * std::exp2(-3.0f * static_cast<float>(depth));
      break;
    case Gains::kChain:
      gain = right ? any : 0;
      break;
  }
  bool const may_be_split = depth == 0 || Mix(way + 7) % 9 != 0 || gains == Gains::kChain;
  made.node.split.gain = may_be_split && depth < kDeepest ? gain : 0;
  return made;
}

/// Returns the place of the first node behind the parent that the queue takes after a new one, if both wait.
std::uint32_t PlainGapOf(std::vector<OrderedNode> const& order, float gain, std::uint32_t parent) {
  std::size_t i = std::min<std::size_t>(parent + 1, order.size());
  while (i < order.size() && !(order[i].gain != gain ? order[i].gain < gain : order[i].parent > parent)) ++i;
  return static_cast<std::uint32_t>(i);
}

/// Plays the device: makes nodes as it does, and keeps the order (grow_order_cuda.cu).
struct Device {
  Gains gains;
  TreeShape shape;
  GrowQueue queue;  ///< says which nodes are candidates
  std::vector<MadeNode> made{};
  std::vector<std::uint32_t> places{};  ///< places of all nodes whose level was inserted
  std::vector<OrderedNode> order{};
  std::size_t first{0};  ///< first node of the level

  std::vector<OrderKey> Least() const {
    std::size_t size = 1;
    while (size <= order.size()) size *= 2;
    std::vector<OrderKey> least(2 * size);
    for (std::size_t i = 0; i < order.size(); ++i) least[size + i] = PrecedenceOf(order[i].gain, order[i].parent);
    for (std::size_t j = size - 1; j > 0; --j) least[j] = std::min(least[2 * j], least[2 * j + 1]);
    return least;
  }
  void InsertLevel() {
    auto const least = Least();
    auto const size = static_cast<std::uint32_t>(least.size() / 2), old = static_cast<std::uint32_t>(order.size());
    std::vector<OrderKey> keys;
    std::vector<std::uint32_t> parents;  // their places in the old order
    for (std::size_t n = first; n < made.size(); ++n) {
      keys.push_back(kNoOrderKey);
      parents.push_back(n == 0 ? 0 : places[static_cast<std::size_t>(made[n].node.parent)]);
      if (!queue.IsCandidate(made[n].node)) continue;
      float const gain = made[n].node.split.gain;
      std::uint32_t const gap = GapOf(least.data(), size, old, gain, parents.back());
      EXPECT_EQ(gap, PlainGapOf(order, gain, parents.back()));
      keys.back() = KeyOfNew(gap, gain, parents.back(), IsRight(static_cast<NodeIndex>(n)));
    }
    auto const count = static_cast<std::uint32_t>(keys.size());
    auto sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    std::vector<OrderedNode> next(shape.most_splits, {0, 0, kNoNode});
    std::vector<std::uint32_t> moved;
    for (std::uint32_t i = 0; i < order.size(); ++i) moved.push_back(PlaceOf(KeyOfOld(i), sorted.data(), count));
    auto const put = [&](std::uint32_t place, OrderedNode node) {
      ASSERT_EQ(next[place].node, kNoNode) << "two nodes in one place";
      next[place] = node;
    };
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      bool const stays = moved[i] < shape.most_splits;
      places[static_cast<std::size_t>(order[i].node)] = stays ? moved[i] : kNoPlace;
      if (stays) put(moved[i], {order[i].gain, moved[order[i].parent], order[i].node});
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t const place = PlaceOf(keys[i], sorted.data(), count);
      places.push_back(place < shape.most_splits ? place : kNoPlace);
      if (places.back() == kNoPlace) continue;
      std::uint32_t const parent = order.empty() ? 0 : moved[parents[i]];
      put(place, {made[first + i].node.split.gain, parent, static_cast<NodeIndex>(first + i)});
    }
    next.erase(std::remove_if(next.begin(), next.end(), [](OrderedNode const& o) { return o.node == kNoNode; }),
               next.end());
    order = std::move(next);
  }
  std::vector<NodeIndex> Ordered() const {
    std::vector<NodeIndex> nodes;
    for (OrderedNode const& o : order) nodes.push_back(o.node);
    return nodes;
  }
  /// Splits the nodes of the level that are in the order. Returns how many.
  std::size_t SplitLevel() {
    std::size_t const end = made.size();
    std::size_t split = 0;
    for (std::size_t n = first; n < end; ++n) {
      if (places[n] == kNoPlace) continue;
      ++split;
      made[n].node.left = static_cast<NodeIndex>(made.size());
      for (std::uint64_t right = 0; right < 2; ++right) {
        auto child = MakeNode(gains, Mix(2 * made[n].way + right + 1), made[n].node.depth + 1, right != 0);
        child.node.parent = static_cast<NodeIndex>(n);
        made.push_back(child);
      }
    }
    first = end;
    return split;
  }
};

/// Returns the device's numbers of nodes that are made, in the order in which the queue takes them.
std::vector<NodeIndex> OrderOfQueue(TrainParams const& params, std::vector<MadeNode> const& made) {
  GrowQueue queue;
  queue.Reset(params);
  std::vector<Node> tree{made[0].node};
  std::vector<NodeIndex> numbers{0}, order;
  queue.Push(tree, 0);
  for (auto chosen = queue.Pop(tree); !chosen.empty(); chosen = queue.Pop(tree)) {
    NodeIndex const n = numbers[static_cast<std::size_t>(chosen[0])];
    order.push_back(n);
    NodeIndex const left = made[static_cast<std::size_t>(n)].node.left;
    if (left == kNoNode) continue;  // made later
    for (NodeIndex right = 0; right < 2; ++right) {
      tree.push_back(made[static_cast<std::size_t>(left + right)].node);
      numbers.push_back(left + right);
      queue.Push(tree, static_cast<NodeIndex>(tree.size()) - 1);
    }
  }
  return order;
}

/// Compares the tree in its own numbers, and the nodes where rows end, with those of the queue.
void CompareNumbers(TrainParams const& params, Device const& device) {
  std::vector<Node> made;
  for (MadeNode const& m : device.made) made.push_back(m.node);
  GrowQueue queue;
  queue.Reset(params);
  std::vector<Node> tree{made[0]};
  std::vector<NodeIndex> made_number{0}, number(made.size(), kNoNode);
  number[0] = 0;
  tree[0].left = kNoNode;
  queue.Push(tree, 0);
  for (auto chosen = queue.Pop(tree); !chosen.empty(); chosen = queue.Pop(tree)) {
    auto const parent = static_cast<std::size_t>(chosen[0]);
    NodeIndex const left = made[static_cast<std::size_t>(made_number[parent])].left;
    ASSERT_NE(left, kNoNode);
    tree[parent].left = static_cast<NodeIndex>(tree.size());
    for (NodeIndex child : {left, left + 1}) {
      number[static_cast<std::size_t>(child)] = static_cast<NodeIndex>(tree.size());
      made_number.push_back(child);
      tree.push_back(made[static_cast<std::size_t>(child)]);
      tree.back().parent = chosen[0];
      tree.back().left = kNoNode;
      queue.Push(tree, static_cast<NodeIndex>(tree.size()) - 1);
    }
  }
  ASSERT_EQ(tree.size(), 2 * device.order.size() + 1);
  ASSERT_LE(tree.size(), device.shape.ReturnedAfter(device.shape.levels));
  std::uint32_t const looked_at = static_cast<std::uint32_t>(device.places.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    NodeIndex const n = MadeNodeOf(static_cast<NodeIndex>(i), made.data(), device.order.data());
    ASSERT_EQ(n, made_number[i]);
    ASSERT_EQ(LeftInTree(n, device.places.data(), looked_at), tree[i].left);
    if (i > 0) {
      ASSERT_EQ(NumberOf(device.order[(i - 1) / 2]), tree[i].parent);
    }
  }
  for (std::size_t n = 0; n < made.size(); ++n) {
    if (number[n] == kNoNode) number[n] = number[static_cast<std::size_t>(made[n].parent)];
    ASSERT_EQ(NumberAtOrAbove(static_cast<NodeIndex>(n), made.data(), device.places.data()), number[n]);
  }
}

/// Grows a tree, and compares the order with the queue's after each level. Returns the number of levels.
int GrowAndCompare(Gains gains, TrainParams const& params, std::uint64_t seed, std::size_t* idle) {
  Device device{gains, ShapeOf(params, std::uint64_t{1} << 32), {}};
  EXPECT_TRUE(device.shape.ordered);
  device.queue.Reset(params);
  device.made.push_back(MakeNode(gains, seed, 0, true));
  for (int level = 0;; ++level) {
    EXPECT_LE(device.made.size() - device.first, device.shape.Nodes(level));
    device.InsertLevel();
    EXPECT_EQ(device.Ordered(), OrderOfQueue(params, device.made)) << "level " << level;
    std::size_t const split = device.SplitLevel();
    EXPECT_LE(split, device.shape.Split(level));
    EXPECT_LE(device.made.size(), device.shape.NodesAfter(level + 1));
    EXPECT_TRUE(split == 0 || level < device.shape.possible_levels);
    if (split == 0 || ::testing::Test::HasFailure()) {
      *idle += (device.made.size() - 1) / 2 - device.order.size();
      CompareNumbers(params, device);
      return level;
    }
  }
}

TEST(GrowOrderTest, IsThatOfTheQueue) {
  int trees = 0, deepest = 0;
  std::size_t idle = 0;  // nodes that were split and are not in the tree
  for (Gains gains : kAllGains) {
    for (int max_leaves : {1, 2, 3, 4, 7, 31, 64, 255, 513, 1024}) {
      for (int max_depth : {0, 11, 45}) {
        for (float min_split_loss : {0.0f, 2.0f}) {
          for (std::uint64_t seed = 1; seed <= (max_leaves < 255 ? 20 : 2); ++seed) {
            TrainParams params;
            params.grow_policy = GrowPolicy::kLossGuide;
            params.max_leaves = max_leaves;
            params.max_depth = max_depth;
            params.min_split_loss = min_split_loss;
            int const levels = GrowAndCompare(gains, params, Mix(seed), &idle);
            ASSERT_FALSE(HasFailure()) << "gains " << static_cast<int>(gains) << ", " << max_leaves << " leaves, depth "
                                       << max_depth << ", seed " << seed;
            deepest = std::max(deepest, levels);
            ++trees;
          }
        }
      }
    }
  }
  EXPECT_EQ(trees, 6 * (7 * 20 + 3 * 2) * 6);
  EXPECT_EQ(deepest, kDeepest);
  EXPECT_GT(idle, 10000U) << "the order never left out what had been in it";
}

TEST(GrowOrderTest, ShapesAreThoseOfWhatMayGrowDeviceDriven) {
  constexpr std::uint64_t kRows = std::uint64_t{1} << 32;
  TrainParams params;
  params.max_depth = 8;
  TreeShape shape = ShapeOf(params, kRows);
  EXPECT_EQ(shape.levels, 8);
  EXPECT_FALSE(shape.cut);
  EXPECT_EQ(shape.WidestNodes(), 128U);
  EXPECT_EQ(shape.Split(7), 128U);
  EXPECT_EQ(shape.NodesAfter(8), 511U);
  params.max_depth = 0;
  EXPECT_EQ(ShapeOf(params, kRows).levels, 0);
  params.max_leaves = 61;  // depth-wise growth goes level by level until there are so many
  shape = ShapeOf(params, kRows);
  EXPECT_TRUE(shape.open && !shape.ordered && !shape.cut);
  EXPECT_EQ(shape.levels, GrowthPolicy{}.most_open_levels);
  EXPECT_GE(shape.WidestNodes(), 61U);
  EXPECT_EQ(shape.ReturnedAfter(20), 121U);
  EXPECT_EQ(shape.NodesAfter(20), 121U);
  shape = ShapeOf(params, 10);  // a tree has no more leaves than rows
  EXPECT_EQ(shape.levels, 9);
  EXPECT_EQ(shape.NodesAfter(9), 19U);
  params.max_depth = 8;
  EXPECT_TRUE(ShapeOf(params, kRows).open);
  EXPECT_EQ(ShapeOf(params, kRows).levels, 8);
  params.max_leaves = 200;
  EXPECT_FALSE(ShapeOf(params, kRows).open);
  params.max_depth = 0;
  params.max_leaves = std::numeric_limits<int>::max();
  EXPECT_EQ(ShapeOf(params, kRows).WidestNodes(), std::uint64_t{1} << 31);
  params.max_leaves = 1;
  EXPECT_EQ(ShapeOf(params, kRows).levels, 1);
  EXPECT_EQ(ShapeOf(params, kRows).ReturnedAfter(1), 1U);

  params = TrainParams{};
  params.max_depth = 0;
  params.grow_policy = GrowPolicy::kLossGuide;
  EXPECT_EQ(ShapeOf(params, kRows).levels, 0);  // no limit at all
  params.max_leaves = 256;
  shape = ShapeOf(params, kRows);
  EXPECT_TRUE(shape.open && shape.ordered && shape.cut);
  EXPECT_EQ(shape.levels, GrowthPolicy{}.most_open_levels);
  EXPECT_EQ(shape.possible_levels, 255);
  EXPECT_EQ(shape.most_splits, 255U);
  EXPECT_EQ(shape.WidestNodes(), 256U);
  EXPECT_EQ(shape.NodesAfter(9), 767U);
  params.max_depth = 8;
  EXPECT_TRUE(ShapeOf(params, kRows).cut);
  EXPECT_FALSE(ShapeOf(params, kRows).ordered);  // all nodes may be in the tree
  params.max_leaves = 128;
  EXPECT_TRUE(ShapeOf(params, kRows).ordered);
  EXPECT_EQ(ShapeOf(params, kRows).levels, 8);
  params.max_leaves = 3;
  EXPECT_EQ(ShapeOf(params, kRows).levels, 2);
  params.max_leaves = 65536;
  EXPECT_TRUE(ShapeOf(params, kRows).cut);
  params.max_depth = 16;
  EXPECT_TRUE(ShapeOf(params, kRows).cut);
  params.max_leaves = 5000;  // the order would be too long, and most of all nodes would not be used
  EXPECT_EQ(ShapeOf(params, kRows).levels, 0);
  params.max_leaves = 2000000000;
  EXPECT_FALSE(ShapeOf(params, kRows).ordered);
  params.max_leaves = 100;
  params.colsample_bynode = 0.5f;
  EXPECT_EQ(ShapeOf(params, kRows).levels, 0);
}

}  // namespace
}  // namespace xgbgpu
