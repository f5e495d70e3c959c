// Computes Shapley values of small trees by their definition: sums over all sets of features.
#include "support/covered_trees.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace xgbgpu::testing {

double MeanKnowing(CoveredTree const& t, reference::Values const& values, std::size_t row, std::uint32_t known,
                   std::size_t n) {
  if (t.tree.left[n] == kNoNode) return t.Leaf(n);
  auto const left = static_cast<std::size_t>(t.tree.left[n]), right = static_cast<std::size_t>(t.tree.right[n]);
  if (t.tree.feature[n] < 32 && (known >> t.tree.feature[n] & 1) != 0) {
    return MeanKnowing(t, values, row, known, t.tree.GoesLeft(n, values, row) ? left : right);
  }
  return t.Share(n, left) * MeanKnowing(t, values, row, known, left) +
         t.Share(n, right) * MeanKnowing(t, values, row, known, right);
}

double Mean(CoveredTree const& t) { return MeanKnowing(t, reference::Values{1, 0}, 0, 0); }

void ForEachPath(CoveredTree const& t, reference::Values const& values, std::size_t row,
                 std::function<void(Players const&, double)> const& use) {
  struct Visit {
    std::size_t node;
    Players players;
  };
  std::vector<Visit> stack{{0, {}}};
  while (!stack.empty()) {
    Visit const visit = stack.back();
    stack.pop_back();
    std::size_t const n = visit.node;
    if (t.tree.left[n] == kNoNode) {
      use(visit.players, t.Leaf(n));
      continue;
    }
    for (bool const left : {true, false}) {
      auto const child = static_cast<std::size_t>(left ? t.tree.left[n] : t.tree.right[n]);
      Visit next{child, visit.players};
      Player& player = next.players[t.tree.feature[n]];
      player.zero *= t.Share(n, child);
      if (t.tree.GoesLeft(n, values, row) != left) player.one = 0;
      stack.push_back(std::move(next));
    }
  }
}

std::vector<long double> SumsOverSets(Players const& players, std::vector<FeatureIndex> const& but) {
  std::vector<long double> sets{1};
  for (auto const& [feature, player] : players) {
    if (std::find(but.begin(), but.end(), feature) != but.end()) continue;
    sets.push_back(0);
    for (std::size_t s = sets.size(); s-- > 0;) {
      sets[s] = sets[s] * player.zero + (s == 0 ? 0 : sets[s - 1] * player.one);
    }
  }
  return sets;
}

PathForest CoveredModel::Forest() const {
  PathForest forest;
  for (CoveredTree const& t : trees) t.tree.AddTo(&forest, t.covers);
  return forest;
}

CoveredModel RandomCoveredModel(std::vector<std::size_t> const& leaves, FeatureIndex features, std::uint32_t outputs,
                                bool chains, reference::Values const& values, std::uint64_t seed,
                                std::uint32_t levels) {
  Random random{seed};
  CoveredModel model;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    auto const output = static_cast<std::uint32_t>(i % outputs);
    GivenTree tree = RandomTree({leaves[i], features, output, chains, levels}, values, &random);
    if (i % 3 == 2) tree.weight = 0.7f;
    auto covers = RandomCovers(tree, &random);
    model.trees.push_back({std::move(tree), std::move(covers)});
  }
  return model;
}

}  // namespace xgbgpu::testing
