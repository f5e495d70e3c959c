// Reserves the memory of the search for splits, and makes the view of its kernels.
#include "trees_cuda/tree_splits_cuda.h"

#include <algorithm>
#include <utility>

#include "split/split_policy.h"

namespace xgbgpu::cuda {

TreeSplits::TreeSplits(DeviceMatrix const& matrix, TreeDevice* device, TreeRequest const& request,
                       TreeMemory const& memory, TreeRows const& rows, TreeHistograms const& histograms)
    : device_{*device},
      request_{request},
      memory_{memory},
      rows_{rows},
      histograms_{histograms},
      matrix_{matrix},
      workspace_{matrix, device->limits, &device->workspace},
      shares_of_whole_{SharesOf(matrix.view, matrix.tiles)},
      shares_{shares_of_whole_},
      level_search_{matrix, &device->workspace} {}

/// Returns the shares of the devices in the groups that are searched.
SplitShares TreeSplits::SharesOf(DeviceMatrixView const& view, std::vector<DeviceTile> const& tiles) const {
  DeviceShard const& shard = device_.shard;
  return MakeSplitShares(view, tiles, matrix_.cuts, workspace_.groups(), shard.devices->devices(),
                         shard.least_shared_bytes);
}

void TreeSplits::SearchTree() {
  ColumnCopy const* const columns = rows_.columns();
  workspace_.SetColumns(columns);
  shares_ = columns != nullptr ? SharesOf(columns->view(), columns->tiles()) : shares_of_whole_;
}

bool TreeSplits::CanChoose(TrainParams const& params, std::size_t nodes) const {
  bool const symmetric = params.grow_policy == GrowPolicy::kSymmetric;
  if (symmetric && has_categories()) return false;  // the host sorts categories
  SplitPolicy const policy;
  std::size_t const sets = nodes * params.interaction_constraints.size() / 2;  // a bit each for four nodes
  return (symmetric || nodes * workspace_.candidate_bytes() <= policy.most_candidate_bytes) &&
         sets <= policy.most_candidate_bytes;
}

std::size_t TreeSplits::MostFamilies() const {
  return std::max<std::size_t>(1, SplitPolicy{}.most_candidate_bytes / (2 * workspace_.candidate_bytes()));
}

std::uint64_t TreeSplits::BytesFor(TrainParams const& params, std::size_t tree_nodes, std::uint64_t widest) const {
  return params.grow_policy == GrowPolicy::kSymmetric ? level_search_.BytesFor(tree_nodes, widest)
                                                      : 2 * widest * workspace_.candidate_bytes();
}

void TreeSplits::ReserveLevels(std::size_t tree_nodes, std::size_t widest) {
  workspace_.Reserve(request_.symmetric() ? 0 : 2 * widest, tree_nodes);
  if (request_.symmetric()) level_search_.Reserve(tree_nodes, widest);
}

void TreeSplits::SetFeatures(std::size_t nodes, int levels) {
  FeatureSampler const& features = *request_.features;
  device_.workspace.Note([&] {
    if (request_.symmetric()) return level_search_.SetFeatures(features, levels);
    if (rows_.by_levels() && !features.per_node()) {
      return workspace_.features().SetLevels(features, rows_.level_columns().sets(), device_.stream);
    }
    return workspace_.features().Set(features, request_.params.feature_weights, nodes, device_.stream);
  });
}

void TreeSplits::SetConstraints(Constraints constraints) {
  workspace_.constraints().Set(std::move(constraints), memory_.node_capacity(), device_.workspace.arena(),
                               device_.stream);
}

void TreeSplits::ExtendConstraints(std::size_t kept, std::size_t nodes) {
  workspace_.constraints().Extend(kept, nodes, device_.workspace.arena(), device_.stream);
}

SplitView TreeSplits::View() const {
  SplitView view = workspace_.View(memory_.View(), rows_.matrix(), histograms_.View(), &memory_.settings()->split,
                                   &memory_.header()->gradient);
  DeviceShard const& shard = device_.shard;
  view.all_rows_here = shard.alone() && !rows_.in_pages();
  if (searches_share()) {
    std::uint32_t const* const own = &shares_.group[static_cast<std::size_t>(shard.devices->device())];
    view.groups += own[0];
    view.group_count = own[1] - own[0];
  }
  return view;
}

SplitView TreeSplits::AtLevel(int level) const {
  SplitView view = View();
  if (!rows_.by_levels()) return view;
  view.features = workspace_.features().View(level);
  if (searches_share()) return view;
  FeatureIndex const columns = rows_.AtLevel(rows_.matrix(), level).columns();
  auto const& groups = workspace_.groups();
  auto const end = std::partition_point(groups.begin(), groups.end(),
                                        [&](SplitGroup const& group) { return group.first < columns; });
  view.group_count = static_cast<std::uint32_t>(end - groups.begin());
  return view;
}

std::uint32_t const* TreeSplits::UploadCategories(LevelSplit const& split, CategorySets const& sets) {
  if (!split.categorical) return nullptr;
  DeviceCategories const categories = Categories();
  FeatureIndex const f = split.feature;
  BinIndex const bins = matrix_.cuts.bins(f);
  BinIndex const missing = matrix_.view.dense ? matrix_.tiles[f / matrix_.view.tile_columns].bins : bins;
  host_set_.assign(categories.words, 0);
  std::copy_n(sets.set(split.bin), (bins + 31) / 32, host_set_.begin());
  if (!split.default_left) host_set_[missing / 32] |= 1U << (missing % 32);  // missing values have a symbol there, too
  CopyToDevice(categories.set(split.bin), host_set_.data(), host_set_.size(), device_.stream, "dividing a level");
  return categories.set(split.bin);
}

CategorySets TreeSplits::ReadCategories(std::size_t nodes) {
  if (!has_categories()) return {};
  return workspace_.categories().Read(nodes, device_.stream);
}

}  // namespace xgbgpu::cuda
