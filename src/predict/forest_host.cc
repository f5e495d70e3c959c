// Walks rows through the trees of a forest on the host.
#include <limits>
#include <vector>

#include "core/row_values.h"
#include "predict/forest.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kRowsPerTask = 1 << 10;  // rows per task

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Calls f(look-up of the row's values). `values`, one for each feature of the forest, are missing before and after.
template <typename F>
void LookUp(EntryRow const& row, std::vector<float>* values, F&& f) {
  for (Entry const& e : row.entries()) {
    if (e.feature < values->size()) (*values)[e.feature] = e.value;
  }
  f([values](FeatureIndex feature) { return (*values)[feature]; });
  for (Entry const& e : row.entries()) {
    if (e.feature < values->size()) (*values)[e.feature] = kMissing;
  }
}

template <typename T, typename F>
void LookUp(ArrayRow<T> const& row, std::vector<float>*, F&& f) {
  f([&row](FeatureIndex feature) { return feature < row.features() ? row[feature] : kMissing; });
}

/// Calls f(row in the whole matrix, look-up of its values) for every row, in parallel.
template <typename F>
void ForEachLookUp(RowSource const& source, FeatureIndex features, int threads, F&& f) {
  std::vector<std::vector<float>> values(static_cast<std::size_t>(threads), std::vector<float>(features, kMissing));
  ForEachRow(source, threads, kRowsPerTask, [&](std::uint64_t r, auto const& row, int thread) {
    LookUp(row, &values[static_cast<std::size_t>(thread)], [&](auto const& look_up) { f(r, look_up); });
  });
}

template <typename Sets, typename Row>
ForestLeaf LeafOf(Forest const& forest, std::size_t t, Sets const& sets, Row const& row) {
  return forest.tree(t).wide() ? FindLeaf<WideNodes>(forest.words(t), sets, row)
                               : FindLeaf<NarrowNodes>(forest.words(t), sets, row);
}

template <typename Row>
ForestLeaf LeafOf(Forest const& forest, std::size_t t, Row const& row) {
  bool const has_sets = forest.first_set(t) != forest.first_set(t + 1);
  return has_sets ? LeafOf(forest, t, forest.sets(t), row) : LeafOf(forest, t, NoSets{}, row);
}

}  // namespace

void PredictMargins(RowSource const& source, Forest const& forest, std::size_t first, std::size_t last,
                    OutputView<float> margins, int threads) {
  CheckTreeRange(first, last, forest.trees());
  CheckMargins(margins, source.rows(), forest.outputs());
  ForEachLookUp(source, forest.features(), threads, [&](std::uint64_t r, auto const& row) {
    for (std::size_t t = first; t < last; ++t) {
      float& margin = margins.at(r, forest.tree(t).output());
      float const weight = forest.weights()[t], leaf = LeafOf(forest, t, row).value;
      margin = margin + (weight == 1.0f ? leaf : WeightedLeaf(leaf, weight));
    }
  });
}

void PredictLeaves(RowSource const& source, Forest const& forest, std::size_t first, std::size_t last, float* out,
                   int threads) {
  CheckTreeRange(first, last, forest.trees());
  ForEachLookUp(source, forest.features(), threads, [&](std::uint64_t r, auto const& row) {
    for (std::size_t t = first; t < last; ++t) {
      std::uint32_t const node_words = forest.tree(t).wide() ? WideNodes::kWords : NarrowNodes::kWords;
      std::uint64_t const place = std::uint64_t{LeafOf(forest, t, row).node} * node_words;
      out[r * (last - first) + (t - first)] = static_cast<float>(forest.ids(t)[place]);
    }
  });
}

}  // namespace xgbgpu::host
