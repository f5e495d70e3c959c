// Divides the features of a matrix into groups for blocks and warps.
#include "split/split_groups.h"

#include <algorithm>

namespace xgbgpu::cuda {

std::vector<SplitGroup> MakeSplitGroups(DeviceMatrixView const& m, std::vector<DeviceTile> const& tiles,
                                        Cuts const& cuts) {
  std::vector<SplitGroup> groups;
  for (FeatureIndex first = 0; first < m.columns();) {
    if (cuts.IsCategorical(first)) {
      groups.push_back({first, 1, 1, true});
      ++first;
      continue;
    }
    FeatureIndex limit = m.dense ? std::min(m.columns(), (first / m.tile_columns + 1) * m.tile_columns) : m.columns();
    BinIndex bins = m.dense ? tiles[first / m.tile_columns].bins : cuts.bins(first);
    if (!cuts.categorical.empty()) {  // up to the next categorical feature, whose bins do not count
      FeatureIndex const most = std::min(limit, first + FeatureIndex{kSplitThreads});
      BinIndex largest = 0;
      for (limit = first; limit < most && !cuts.IsCategorical(limit); ++limit) {
        largest = std::max(largest, cuts.bins(limit));
      }
      if (m.dense) bins = largest;
    }
    std::uint32_t segments = 1;
    while (segments < FeatureIndex{kSplitThreads} && segments * BinIndex{kSplitBins} < bins) segments *= 2;
    FeatureIndex end = std::min<FeatureIndex>(limit, first + FeatureIndex{kSplitThreads} / segments);
    if (!m.dense) {  // a feature with many more bins than the first begins a new group
      FeatureIndex f = first;
      while (f < end && cuts.bins(f) <= segments * BinIndex{kSplitBins}) ++f;
      end = std::max(first + 1, f);
    }
    groups.push_back({first, static_cast<std::uint16_t>(end - first), static_cast<std::uint16_t>(segments), false});
    first = end;
  }
  return groups;
}

namespace {

/// Returns log2 of the lanes for `bins` bins.
int SegmentBits(BinIndex bins) {
  int bits = 0;
  while ((kWarpSplitBins << bits) < bins) ++bits;
  return bits;
}

}  // namespace

std::vector<WarpGroup> MakeWarpGroups(Cuts const& cuts, std::size_t places) {
  if (!cuts.categorical.empty()) return {};
  std::vector<WarpGroup> groups;
  for (FeatureIndex first = 0, end; first < cuts.features(); first = end) {
    int const bits = SegmentBits(cuts.bins(first));
    if (bits > 5) return {};  // 32 lanes
    auto const limit = std::min<FeatureIndex>(cuts.features(), first + (kWarpSplitRounds * 32 >> bits));
    for (end = first + 1; end < limit; ++end) {
      // Features with many fewer bins begin a new group, too: lanes would be idle.
      int const fewer = bits - SegmentBits(cuts.bins(end));
      if (fewer < 0 || fewer > 2) break;
    }
    groups.push_back({cuts.ptr[first], first, static_cast<std::uint16_t>(end - first),
                      static_cast<std::uint16_t>(cuts.ptr[end] - cuts.ptr[first]), static_cast<std::uint8_t>(bits)});
  }
  // A child's blocks have runs of at least kWarpRun groups, except the first block, which may have the end of a run
  // only.
  if (groups.size() + kWarpRun - 2 >= places * kWarpRun) return {};
  return groups;
}

}  // namespace xgbgpu::cuda
