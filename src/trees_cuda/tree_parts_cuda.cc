// Makes the parts of a tree, each from the parts above it.
#include "trees_cuda/tree_parts_cuda.h"

#include <algorithm>

#include "base/stages.h"
#include "objective/quantise_losses_cuda.h"
#include "sample/sample_ops.h"
#include "sample/sample_policy.h"
namespace xgbgpu::cuda {

TreeParts::TreeParts(DeviceMatrix const& trained, PageStream* pages, ColumnLists* lists, DeviceShard const& shard,
                     DeviceArena* arena, Stream const& stream, std::size_t histogram_budget)
    : matrix{trained},
      device{shard, arena, stream},
      memory{&device.workspace},
      order{&device.workspace},
      gradients{&device},
      rows{trained, pages, lists, &device, request, memory, gradients},
      histograms{trained.view.cells, histogram_budget, &device, memory},
      splits{trained, &device, request, memory, rows, histograms} {}

}  // namespace xgbgpu::cuda
