#include <algorithm>
#include <vector>

#include "core/parallel.h"
#include "predict/contributions.h"
#include "predict/raw_rows.h"

namespace xgbgpu::host {

namespace {

constexpr int kTile = 32;          // rows that share weights, and vector instructions
constexpr std::size_t kGrain = 4;  // tiles per task

/// What a thread works with.
struct Tile {
  Tile(ContributionsView const& out, FeatureIndex tested)
      : rows(out.features * std::size_t{kTile}),
        values(tested * std::size_t{kTile}),
        sums(values.size()),
        weights(kChunkEntries) {}

  std::vector<float> rows;    ///< [kTile, features]
  std::vector<float> values;  ///< [tested features, kTile]
  std::vector<double> sums;   ///< as values
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

/// Flattened: what is not inlined is compiled for the oldest processors.
XGBGPU_VECTOR __attribute__((flatten)) void AddChunk(PathElement const* all_elements, Path const* paths,
                                                     QuadratureGroup const* all_groups, PathChunk const& chunk,
                                                     ElementWeights const* weights, float const* values, double* sums) {
  auto const value = [values](FeatureIndex f, int r) {
    return values[f * std::size_t{kTile} + static_cast<std::size_t>(r)];
  };
  auto const add = [sums](FeatureIndex f, int r, float what) {
    double& sum = sums[f * std::size_t{kTile} + static_cast<std::size_t>(r)];
    sum = sum + what;
  };
  for (std::uint32_t p = 0; p < chunk.paths; ++p) {
    Path const& path = paths[chunk.first + p];
    PathElement const* const elements = all_elements + path.first;
    QuadratureGroup const* const groups = all_groups + path.first_group;
    if (chunk.entries != 0) {
      auto const made = [&](std::uint32_t i, std::uint32_t g) { return weights[path.entry + g * path.elements + i]; };
      AddPath<kTile>(elements, path, groups, made, value, add);
    } else {
      auto const make = [&](std::uint32_t i, std::uint32_t g) { return MakeWeights(elements[i], groups[g]); };
      AddPath<kTile>(elements, path, groups, make, value, add);
    }
  }
}

void AddExact(PathForest const& forest, PathSelection const& selection, std::uint32_t output, Tile* tile) {
  for (std::size_t c = selection.chunk_ptr[output]; c < selection.chunk_ptr[output + 1]; ++c) {
    PathChunk const& chunk = selection.chunks[c];
    MakeChunkWeights(forest, chunk, tile->weights.data());
    AddChunk(forest.elements().data(), forest.paths().data(), forest.groups().data(), chunk, tile->weights.data(),
             tile->values.data(), tile->sums.data());
  }
}

void AddApproximate(PathForest const& forest, PathSelection const& selection, std::uint32_t output, Tile* tile) {
  for (std::size_t i = selection.tree_ptr[output]; i < selection.tree_ptr[output + 1]; ++i) {
    std::uint32_t const t = selection.trees[i];
    ForestWord const* const words = forest.forest().words(t);
    for (std::size_t r = 0; r < kTile; ++r) {
      auto const value = [&](FeatureIndex f) { return tile->values[f * std::size_t{kTile} + r]; };
      auto const add = [&](FeatureIndex f, double what) {
        double& sum = tile->sums[f * std::size_t{kTile} + r];
        sum = sum + what;
      };
      if (forest.forest().tree(t).wide()) {
        AddSteps<WideNodes>(words, forest.means(t), value, add);
      } else {
        AddSteps<NarrowNodes>(words, forest.means(t), value, add);
      }
    }
  }
}

/// Values of the run's rows, at most kTile; rows beyond them are as the tile before left them.
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

}  // namespace

void PredictContributions(RowSource const& source, PathForest const& forest, std::size_t first, std::size_t last,
                          bool approximate, ContributionsView out, int threads) {
  CheckContributions(out, source, forest);
  PathSelection const selection = SelectPaths(forest, first, last, out.outputs);
  FeatureIndex const tested = forest.features();
  source.ForEachBatch([&](RowBatch const& batch) {
    ParallelChunks(threads, batch.rows(), kTile * kGrain, [&](std::size_t begin, std::size_t end) {
      Tile tile{out, tested};
      for (std::size_t row = begin; row < end; row += kTile) {
        RowRun const run{&batch, row, std::min<std::uint64_t>(kTile, end - row)};
        Load(run, out.features, tested, &tile);
        for (std::uint32_t o = 0; o < out.outputs; ++o) {
          std::fill(tile.sums.begin(), tile.sums.end(), 0.0);
          if (approximate) {
            AddApproximate(forest, selection, o, &tile);
          } else {
            AddExact(forest, selection, o, &tile);
          }
          Store(tile, run.n, tested, out.features, selection.means[o], out.at(run.first_row(), o), out.row_size());
        }
      }
    });
  });
}

}  // namespace xgbgpu::host
