// Computes contributions and interactions on the host, in tiles of rows.
#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "predict/contributions.h"
#include "predict/interactions.h"
#include "predict/interactions_ops.h"
#include "predict/raw_rows.h"

namespace xgbgpu::host {

namespace {

constexpr int kTile = 32;                 // rows that share weights and vector instructions
constexpr std::size_t kTilesPerTask = 4;  // tiles per task

/// The working memory of a thread.
struct Tile {
  Tile(FeatureIndex features, FeatureIndex tested, std::size_t sums_of_row)
      : rows(features * std::size_t{kTile}),
        values(tested * std::size_t{kTile}),
        sums(sums_of_row * kTile),
        weights(kChunkEntries) {}

  std::vector<float> rows;    ///< [kTile, features]
  std::vector<float> values;  ///< [tested features, kTile]
  std::vector<double> sums;   ///< [sums of a row, kTile]
  std::vector<ElementWeights> weights;
};

void MakeChunkWeights(PathForest const& forest, PathChunk const& chunk, ElementWeights* weights) {
  if (chunk.entries == 0) return;
  for (std::uint32_t p = 0; p < chunk.paths; ++p) {
    Path const& path = forest.paths()[chunk.first + p];
    ElementWeights* to = weights + path.entry;
    for (std::uint32_t g = 0; g < path.groups(); ++g) {
      QuadratureGroup const& group = forest.groups()[path.first_group + g];
      for (std::uint32_t i = 0; i < path.elements; ++i) *to++ = MakeWeights(forest.elements()[path.first + i], group);
    }
  }
}

/// Calls use(elements, path, groups, weights of its elements) for the paths of a chunk.
template <typename Sets, typename Use>
void ForEachPath(PathElements<Sets> const& all_elements, Path const* paths, QuadratureGroup const* all_groups,
                 PathChunk const& chunk, ElementWeights const* weights, Use const& use) {
  for (std::uint32_t p = 0; p < chunk.paths; ++p) {
    Path const& path = paths[chunk.first + p];
    PathElements<Sets> const elements = all_elements.From(path.first);
    QuadratureGroup const* const groups = all_groups + path.first_group;
    if (chunk.entries != 0) {
      auto const made = [&](std::uint32_t i, std::uint32_t g) { return weights[path.entry + g * path.elements + i]; };
      use(elements, path, groups, made);
    } else {
      auto const make = [&](std::uint32_t i, std::uint32_t g) { return MakeWeights(elements[i], groups[g]); };
      use(elements, path, groups, make);
    }
  }
}

/// Returns the place of element (i, row r) in arrays of a tile.
constexpr std::size_t InTile(std::size_t i, int r) { return i * kTile + static_cast<std::size_t>(r); }

/// Adds the contributions of a chunk's paths. Flattened, because functions outside would be compiled for the oldest
/// processors.
template <typename Sets>
XGBGPU_VECTOR __attribute__((flatten)) void AddChunk(PathElements<Sets> const& all_elements, Path const* paths,
                                                     QuadratureGroup const* all_groups, PathChunk const& chunk,
                                                     ElementWeights const* weights, float const* values, double* sums) {
  auto const value = [values](FeatureIndex f, int r) { return values[InTile(f, r)]; };
  auto const add = [sums](FeatureIndex f, int r, float what) {
    double& sum = sums[InTile(f, r)];
    sum = sum + what;
  };
  ForEachPath(all_elements, paths, all_groups, chunk, weights,
              [&](auto const& elements, Path const& path, QuadratureGroup const* groups, auto const& own) {
                AddPath<kTile>(elements, path, groups, own, value, add);
              });
}

/// Adds the shared terms of pairs of features in a chunk's paths.
template <typename Sets>
XGBGPU_VECTOR __attribute__((flatten)) void AddChunkPairs(PathElements<Sets> const& all_elements, Path const* paths,
                                                          QuadratureGroup const* all_groups, PathChunk const& chunk,
                                                          ElementWeights const* weights, float const* values,
                                                          InteractionSums layout, double* sums) {
  auto const value = [values](FeatureIndex f, int r) { return values[InTile(f, r)]; };
  auto const add = [=](FeatureIndex a, FeatureIndex b, int r, float what) {
    double& sum = sums[InTile(layout.of(a, b), r)];
    sum = sum + what;
  };
  ForEachPath(all_elements, paths, all_groups, chunk, weights,
              [&](auto const& elements, Path const& path, QuadratureGroup const* groups, auto const& own) {
                AddPathPairs<kTile>(elements, path, groups, own, value, add);
              });
}

/// Computes contributions, and with `pairs` shared terms of pairs, whose sums follow the contributions.
template <typename Sets>
void AddExact(PathForest const& forest, Sets const& sets, PathSelection const& selection, std::uint32_t output,
              bool pairs, Tile* tile) {
  InteractionSums const layout{forest.features()};
  PathElements<Sets> const elements{forest.elements().data(), sets};
  for (std::size_t c = selection.chunk_ptr[output]; c < selection.chunk_ptr[output + 1]; ++c) {
    PathChunk const& chunk = selection.chunks[c];
    Path const* const paths = forest.paths().data();
    QuadratureGroup const* const groups = forest.groups().data();
    ElementWeights* const weights = tile->weights.data();
    MakeChunkWeights(forest, chunk, weights);
    AddChunk(elements, paths, groups, chunk, weights, tile->values.data(), tile->sums.data());
    if (!pairs) continue;
    AddChunkPairs(elements, paths, groups, chunk, weights, tile->values.data(), layout, tile->sums.data());
  }
}

void AddExact(PathForest const& forest, PathSelection const& selection, std::uint32_t output, bool pairs, Tile* tile) {
  if (forest.forest().categorical()) {
    AddExact(forest, forest.element_sets(), selection, output, pairs, tile);
  } else {
    AddExact(forest, NoElementSets{}, selection, output, pairs, tile);
  }
}

template <typename Nodes>
void AddStepsOf(PathForest const& forest, std::uint32_t t, Tile* tile) {
  Forest const& trees = forest.forest();
  for (int r = 0; r < kTile; ++r) {
    auto const value = [&](FeatureIndex f) { return tile->values[InTile(f, r)]; };
    auto const add = [&](FeatureIndex f, double what) {
      double& sum = tile->sums[InTile(f, r)];
      sum = sum + what;
    };
    if (trees.categorical()) {
      AddSteps<Nodes>(trees.words(t), trees.sets(t), forest.means(t), value, add);
    } else {
      AddSteps<Nodes>(trees.words(t), NoSets{}, forest.means(t), value, add);
    }
  }
}

void AddApproximate(PathForest const& forest, PathSelection const& selection, std::uint32_t output, Tile* tile) {
  for (std::size_t i = selection.tree_ptr[output]; i < selection.tree_ptr[output + 1]; ++i) {
    std::uint32_t const t = selection.trees[i];
    if (forest.forest().tree(t).wide()) {
      AddStepsOf<WideNodes>(forest, t, tile);
    } else {
      AddStepsOf<NarrowNodes>(forest, t, tile);
    }
  }
}

/// Loads the values of the run's rows, at most kTile. Further rows of the tile keep their last values.
void Load(RowRun const& run, FeatureIndex features, FeatureIndex tested, Tile* tile) {
  PackDenseRows(run, features, tile->rows.data(), 1);
  for (std::size_t r = 0; r < run.n; ++r) {
    for (FeatureIndex f = 0; f < tested; ++f) {
      tile->values[f * std::size_t{kTile} + r] = tile->rows[r * features + f];
    }
  }
}

void Store(Tile const& tile, std::uint64_t n, FeatureIndex tested, FeatureIndex features, float mean, float* to,
           std::size_t stride) {
  for (std::size_t r = 0; r < n; ++r, to += stride) {
    for (FeatureIndex f = 0; f < tested; ++f) to[f] = static_cast<float>(tile.sums[f * std::size_t{kTile} + r]);
    std::fill(to + tested, to + features, 0.0f);
    to[features] = mean;
  }
}

/// Stores interactions. Lines and columns of untested features become 0.
void StoreInteractions(Tile* tile, std::uint64_t n, InteractionSums const& layout, float mean,
                       InteractionsView const& out, std::uint64_t first_row, std::uint32_t output) {
  std::size_t const columns = out.columns();
  for (int r = 0; r < static_cast<int>(n); ++r) {
    auto const at = [&](std::size_t i) -> double& { return tile->sums[InTile(i, r)]; };
    KeepOwnEffects(layout, at);
    float* const to = out.at(first_row + static_cast<std::uint64_t>(r), output);
    std::fill(to, to + columns * columns, 0.0f);
    for (FeatureIndex a = 0; a < layout.features; ++a) {
      for (FeatureIndex b = 0; b < layout.features; ++b) {
        to[a * columns + b] = static_cast<float>(at(a == b ? layout.of(a) : layout.of(a, b)));
      }
    }
    to[columns * columns - 1] = mean;
  }
}

/// Calls compute(tile, its rows, output) for all tiles of rows and all outputs.
template <typename Compute>
void ForEachTile(RowSource const& source, FeatureIndex features, FeatureIndex tested, std::uint32_t outputs,
                 std::size_t sums_of_row, std::size_t tiles_of_task, int threads, Compute const& compute) {
  source.ForEachBatch([&](RowBatch const& batch) {
    ParallelChunks(threads, batch.rows(), kTile * tiles_of_task, [&](std::size_t begin, std::size_t end) {
      Tile tile{features, tested, sums_of_row};
      for (std::size_t row = begin; row < end; row += kTile) {
        RowRun const run{&batch, row, std::min<std::uint64_t>(kTile, end - row)};
        Load(run, features, tested, &tile);
        for (std::uint32_t o = 0; o < outputs; ++o) {
          std::fill(tile.sums.begin(), tile.sums.end(), 0.0);
          compute(&tile, run, o);
        }
      }
    });
  });
}

}  // namespace

void PredictContributions(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                          bool approximate, ContributionsView out, int threads) {
  CheckContributions(out, source, forest);
  PathSelection const selection = SelectPaths(forest, first, last, out.outputs);
  FeatureIndex const tested = forest.features();
  ForEachTile(source, out.features, tested, out.outputs, tested, kTilesPerTask, threads,
              [&](Tile* tile, RowRun const& run, std::uint32_t o) {
                if (approximate) {
                  AddApproximate(forest, selection, o, tile);
                } else {
                  AddExact(forest, selection, o, false, tile);
                }
                Store(*tile, run.n, tested, out.features, selection.means[o], out.at(run.first_row(), o),
                      out.row_size());
              });
}

void PredictInteractions(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                         InteractionsView out, int threads) {
  CheckInteractions(out, source, forest);
  PathSelection const selection = SelectPaths(forest, first, last, out.outputs);
  InteractionSums const layout{forest.features()};
  ForEachTile(source, out.features, layout.features, out.outputs, layout.size(), 1, threads,
              [&](Tile* tile, RowRun const& run, std::uint32_t o) {
                AddExact(forest, selection, o, true, tile);
                StoreInteractions(tile, run.n, layout, selection.means[o], out, run.first_row(), o);
              });
}

}  // namespace xgbgpu::host
