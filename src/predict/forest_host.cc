#include <limits>
#include <vector>

#include "core/parallel.h"
#include "predict/forest.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kGrain = 1 << 10;  // rows per task

/// f(row in the whole matrix, look-up of its values) for every row, in parallel.
template <typename F>
void ForEachRow(RowSource const& source, FeatureIndex features, int threads, F&& f) {
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  source.ForEachBatch([&](RowBatch const& batch) {
    ParallelChunks(threads, batch.rows(), kGrain, [&](std::size_t begin, std::size_t end) {
      std::vector<float> values(features, kMissing);
      for (std::size_t i = begin; i < end; ++i) {
        for (Entry const& e : batch.row(i)) {
          if (e.feature < features) values[e.feature] = e.value;
        }
        f(batch.first_row + i, [&values](FeatureIndex feature) { return values[feature]; });
        for (Entry const& e : batch.row(i)) {
          if (e.feature < features) values[e.feature] = kMissing;
        }
      }
    });
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
  ForEachRow(source, forest.features(), threads, [&](std::uint64_t r, auto const& row) {
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
  ForEachRow(source, forest.features(), threads, [&](std::uint64_t r, auto const& row) {
    for (std::size_t t = first; t < last; ++t) {
      std::uint32_t const node_words = forest.tree(t).wide() ? WideNodes::kWords : NarrowNodes::kWords;
      std::uint64_t const place = std::uint64_t{LeafOf(forest, t, row).node} * node_words;
      out[r * (last - first) + (t - first)] = static_cast<float>(forest.ids(t)[place]);
    }
  });
}

}  // namespace xgbgpu::host
