// Makes the parts of a tree, each from the parts above it.
#include "trees_cuda/tree_parts_cuda.h"

#include <limits>

#include "sample/sample_ops.h"

namespace xgbgpu::cuda {

TreeParts::TreeParts(DeviceMatrix const& trained, PageStream* pages, ColumnLists* lists, DeviceShard const& shard,
                     DeviceArena* arena, Stream const& stream, std::size_t histogram_budget, std::uint32_t outputs)
    : matrix{trained},
      device{shard, arena, stream},
      memory{&device.workspace},
      order{&device.workspace},
      gradients{&device},
      rows{trained, pages, lists, &device, request, memory, gradients},
      histograms{trained.view.cells * outputs, histogram_budget, &device, memory},
      splits{trained, &device, request, memory, rows, histograms} {}

TreeSettings TreeParts::Settings(GrowthLimits const& limits) const {
  TrainParams const& params = request.params;
  DeviceShard const& shard = device.shard;
  TreeDraw const draw{params.seed, request.number, shard.first_row(), gradients.margins(), params.min_child_weight};
  return {SplitParams{params, {}},
          limits.min_split_loss,
          limits.max_depth == 0 ? std::numeric_limits<int>::max() : limits.max_depth,
          limits.max_leaves,
          params.learning_rate,
          {draw, SampleThreshold(params.subsample), MakeSampleTarget(params, shard.all_rows())},
          request.features->counts()};
}

}  // namespace xgbgpu::cuda
