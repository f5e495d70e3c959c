#include "trees_cuda/tree_parts_cuda.h"

#include <algorithm>

#include "core/stages.h"
#include "objective/quantise_losses_cuda.h"
#include "sample/sample_ops.h"
#include "sample/sample_policy.h"

namespace xgbgpu::cuda {

TreeParts::TreeParts(DeviceMatrix const& trained, PageStream* pages, DeviceShard const& own_shard, DeviceArena* arena,
                     Stream const& own_stream, std::size_t histogram_budget)
    : matrix{trained},
      shard{own_shard},
      stream{own_stream},
      limits{CurrentDeviceLimits()},
      workspace{arena, own_stream},
      memory{&workspace},
      histograms{trained.view.cells, histogram_budget, &workspace},
      splits{trained, limits, &workspace},
      shares{MakeSplitShares(trained, splits.groups(), own_shard.devices->devices(), own_shard.least_shared_bytes)},
      level_search{trained, &workspace},
      lists{&workspace},
      paths{trained, own_shard.all_rows(), &workspace},
      paged_rows{trained.pages ? trained.pages->most_rows() : 0, &workspace},
      page_stream{pages},
      order{&workspace},
      sample_workspace{trained.view, arena} {
  for (DeviceTile const& tile : trained.tiles) symbols = std::max(symbols, tile.symbols);
  positions = {arena, "positions", trained.view.rows};
}

SampleView TreeParts::Sample() const {
  SampleView sample = sample_workspace.View();
  sample.state = &memory.header()->sample;
  if (copies_sample) {
    if (!by_paths) return sample;
    sample.early = {paths.narrow(), maxima_before.data()};
    sample.paths = paths.next_path();
  } else if (!in_pages()) {
    sample.capacity = static_cast<std::uint32_t>(matrix.view.rows);
    sample.rows = lists.first_list();
  }
  return sample;
}

PartitionView TreeParts::Partition(DeviceMatrixView const& page) const {
  return {memory.View(), page, splits.categories().View(), histograms.View(), &memory.header()->gradient};
}

RowLists TreeParts::Lists() const {
  GradientPair const* const pairs = copies_sample || weighted() ? sample_workspace.gradients() : gradients.pairs;
  return lists.View(tree_matrix(), pairs, positions.data(), limits);
}

PagedRowsView TreeParts::PagedRows() const {
  PagedRowsView rows = paged_rows.View(matrix.view, positions.data(), gradients.pairs, limits);
  if (weighted()) rows.chances = {sample_workspace.View().keys, &memory.header()->sample.rule};
  return rows;
}

RowPaths TreeParts::RootPaths() const {
  return paths.View(sampled() ? sample_workspace.gradients() : gradients.pairs, limits);
}

HistogramView TreeParts::Histogram(DeviceMatrixView const& page) const {
  return {page, histograms.View(), &memory.header()->state, &memory.header()->gradient};
}

SplitView TreeParts::Split() const {
  SplitView view = splits.View(memory.View(), tree_matrix(), histograms.View(), &memory.settings()->split,
                               &memory.header()->gradient);
  view.all_rows_here = shard.alone() && !in_pages();
  if (searches_shares()) {
    std::uint32_t const* const own = &shares.group[static_cast<std::size_t>(shard.devices->device())];
    view.groups += own[0];
    view.group_count = own[1] - own[0];
  }
  return view;
}

GrowthView TreeParts::Growth(RowPaths const& rows) const {
  bool const reduces = splits.PlanReduces() && !searches_shares() && !symmetric();
  return {memory.settings(), reduces, Lists(), rows, order.View(), symmetric() ? level_search.View(0).nodes : nullptr};
}

std::uint32_t TreeParts::LikelySample(TrainParams const& of) const {
  double const of_all = MakeSampleTarget(of, shard.all_rows()).expected;
  double const share = static_cast<double>(shard.rows) / static_cast<double>(shard.all_rows());
  return SampleCapacity(of_all * share, shard.rows);
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
      QuantiseLosses(shard, draw, RootPaths().next_path, *losses, early, state, limits, stream);
    } else {
      ChooseGradientFormat(gradients, shard, draw, state, limits, stream);
    }
  });
  timer.Run(kRoot, 0, [&] {
    if (in_pages()) {
      FillBytes(positions.data(), 0, positions.size(), stream, "listing the rows of the root");
      SumRootRows(view, PagedRows(), matrix.view.rows, nullptr, draw, shard, limits, stream);
    } else if (by_paths) {
      StartPaths(view, RootPaths(), draw, early, gradients.pairs, paths.narrow(), shard, limits, stream);
    } else {
      ListRootRows(view, Lists(), draw, shard, limits, stream);
    }
  });
}

/// Enqueues the sample, its gradients in fixed point, and the root.
void TreeParts::EnqueueSample() {
  PartitionView const view = Partition(tree_matrix());
  SampleView const sample = Sample();
  SampleDraw const* const draw = &memory.settings()->draw;
  if (in_pages()) {
    timer.Run(kGradients, 0, [&] {
      MarkRows(gradients, matrix.view.rows, draw, sample, positions.data(), &memory.header()->gradient, shard, limits,
               stream);
    });
    timer.Run(kRoot, 0, [&] {
      SumRootRows(view, PagedRows(), matrix.view.rows, &memory.header()->sample.rows, draw, shard, limits, stream);
    });
    return;
  }
  timer.Run(kGradients, 0, [&] {
    SampleView drawn = sample;
    if (page_stream) drawn.records = nullptr;  // they are copied page by page
    SampleRows(gradients, losses ? &*losses : nullptr, matrix.view, draw, drawn, &memory.header()->gradient, shard,
               limits, stream);
    if (!page_stream) return;
    page_stream->ForEach([&](Page<DeviceMatrixView> const& page) {
      CopySampledRecords(page.matrix, page.first_row, sample, limits, stream);
    });
  });
  timer.Run(kRoot, 0, [&] {
    if (by_paths) {
      StartSampledPaths(view, RootPaths(), draw, sample, paths.narrow(), shard, limits, stream);
    } else {
      if (!copies_sample) FillBytes(positions.data(), 0xFF, positions.size(), stream, "clearing positions");
      ListSampledRows(view, Lists(), draw, sample, shard, limits, stream);
    }
  });
}

}  // namespace xgbgpu::cuda
