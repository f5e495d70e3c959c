#include "driver/tree_parts_cuda.h"

#include <algorithm>

#include "core/stages.h"
#include "objective/quantise_losses_cuda.h"

namespace xgbgpu::cuda {

TreeParts::TreeParts(DeviceMatrix const& trained, DeviceArena* arena, Stream const& own_stream,
                     std::size_t histogram_budget)
    : matrix{trained},
      stream{own_stream},
      limits{CurrentDeviceLimits()},
      room{arena, own_stream},
      memory{&room},
      histograms{trained.view.cells, histogram_budget, &room},
      splits{trained, limits, &room},
      lists{trained.view.rows, &room},
      paths{trained, &room},
      order{&room},
      sample_room{trained.view.rows, arena} {
  for (DeviceTile const& tile : trained.tiles) symbols = std::max(symbols, tile.symbols);
  positions = {arena, "positions", trained.view.rows};
}

SampleView TreeParts::Sample() const {
  SampleView sample = sample_room.View();
  sample.state = &memory.header()->sample;
  if (copies_sample()) {
    sample.records = paths.sampled_records();
    sample.early = {paths.narrow(), maxima_before.data()};
    sample.paths = paths.next_path();
  } else {
    sample.capacity = static_cast<std::uint32_t>(matrix.view.rows);
    sample.rows = lists.first_list();
  }
  return sample;
}

PartitionView TreeParts::Partition(DeviceMatrixView const& page) const {
  return {memory.View(), page, splits.categories().View(), histograms.View(), &memory.header()->gradient};
}

RowLists TreeParts::Lists() const {
  GradientPair const* const pairs = weighted() && !by_paths ? sample_room.gradients() : gradients.pairs;
  return lists.View(matrix.view, pairs, positions.data(), limits);
}

RowPaths TreeParts::RootPaths() const {
  return paths.View(sampled() ? sample_room.gradients() : gradients.pairs, limits);
}

HistogramView TreeParts::Histogram(DeviceMatrixView const& page) const {
  return {page, histograms.View(), &memory.header()->state, &memory.header()->gradient};
}

SplitView TreeParts::Split() const {
  return splits.View(memory.View(), tree_matrix(), histograms.View(), &memory.settings()->split,
                     &memory.header()->gradient);
}

GrowthView TreeParts::Growth(RowPaths const& rows) const {
  return {memory.settings(), splits.PlanReduces(), Lists(), rows, order.View()};
}

void TreeParts::EnqueueStart(std::size_t clear_slots) {
  memory.Begin(histograms.View(), clear_slots * histograms.View().cells, limits);
  if (sampled()) {
    EnqueueSample();
    return;
  }
  TreeDraw const* const draw = &memory.settings()->draw;
  PartitionView const view = Partition(tree_matrix());
  GradientState* const state = &memory.header()->gradient;
  EarlyGradients const early = losses ? EarlyGradients{paths.narrow(), maxima_before.data()} : EarlyGradients{};
  timer.Run(kGradients, 0, [&] {
    if (losses) {
      QuantiseLosses({matrix.view.rows, draw, state, RootPaths().next_path}, *losses, early, limits, stream);
    } else {
      ChooseGradientFormat(gradients, matrix.view.rows, state, limits, stream);
    }
  });
  timer.Run(kRoot, 0, [&] {
    if (by_paths) {
      StartPaths(view, RootPaths(), draw, early, gradients.pairs, paths.narrow(), limits, stream);
    } else {
      ListRootRows(view, Lists(), draw, limits, stream);
    }
  });
}

/// Enqueues the sample, its gradients in fixed point, and the root.
void TreeParts::EnqueueSample() {
  PartitionView const view = Partition(tree_matrix());
  SampleView const sample = Sample();
  SampleDraw const* const draw = &memory.settings()->draw;
  timer.Run(kGradients, 0, [&] {
    SampleRows(gradients, losses ? &*losses : nullptr, matrix.view, draw, sample, &memory.header()->gradient, limits,
               stream);
  });
  timer.Run(kRoot, 0, [&] {
    if (by_paths) {
      StartSampledPaths(view, RootPaths(), draw, sample, paths.narrow(), limits, stream);
    } else {
      FillBytes(positions.data(), 0xFF, positions.size(), stream, "clearing positions");
      ListSampledRows(view, Lists(), draw, sample, limits, stream);
    }
  });
}

}  // namespace xgbgpu::cuda
