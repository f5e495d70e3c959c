// Reserves the memory of the rows of a tree, and enqueues the root with its rows.
#include "trees_cuda/tree_rows_cuda.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/stages.h"
#include "growth/choose_shape.h"
#include "histogram/histogram_cuda.h"
#include "partition/partition_policy.h"
#include "sample/column_copy_policy.h"
#include "sample/sample_ops.h"
#include "sample/sample_policy.h"

namespace xgbgpu::cuda {

namespace {

constexpr std::uint64_t kNoMemoryHas = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TreeRows::TreeRows(DeviceMatrix const& matrix, PageStream* pages, ColumnLists* lists, TreeDevice* device,
                   TreeRequest const& request, TreeMemory const& memory, TreeGradients const& gradients)
    : matrix_{matrix},
      pages_{pages},
      device_{*device},
      request_{request},
      memory_{memory},
      gradients_{gradients},
      lists_{&device->workspace},
      paths_{matrix, device->shard.all_rows(), &device->workspace},
      paged_rows_{matrix.pages ? matrix.pages->most_rows() : 0, &device->workspace},
      sample_{matrix.view, device->workspace.arena()},
      columns_{matrix, lists, &device->workspace} {
  for (DeviceTile const& tile : matrix.tiles) symbols_ = std::max(symbols_, tile.symbols);
}

/// Returns the layout of the matrix that trees of `params` are grown on.
DeviceMatrixView TreeRows::LayoutFor(TrainParams const& params) const {
  return CopiesColumns(params) ? columns_.LayoutOf(ColumnsFor(params)) : matrix_.view;
}

/// Returns the columns of the levels of trees of `params`, if levels sample features and are known ahead.
std::optional<LevelColumns> TreeRows::LevelsFor(TrainParams const& params) const {
  bool const sampled = params.colsample_bylevel < 1.0f && params.grow_policy != GrowPolicy::kSymmetric;
  TreeShape const shape = sampled ? ShapeOf(params, device_.shard.all_rows()) : TreeShape{};
  if (shape.levels == 0 || shape.open) return std::nullopt;
  return LevelColumns{params, matrix_.view.features, shape.levels};
}

/// Returns about how many columns trees of `params` may use.
FeatureIndex TreeRows::ColumnsFor(TrainParams const& params) const {
  auto const levels = LevelsFor(params);
  return levels ? levels->columns() : FeaturesOfTree(params, matrix_.view.features);
}

/// Returns the layout of the largest copy that trees of `params` are expected to have: with a tile more, where levels
/// sample features, for trees that need more columns than most.
DeviceMatrixView TreeRows::LargestLayoutFor(TrainParams const& params) const {
  FeatureIndex const columns = ColumnsFor(params);
  DeviceMatrixView const layout = columns_.LayoutOf(columns);
  if (!LevelsFor(params)) return layout;
  return columns_.LayoutOf(std::min(matrix_.view.features, columns + layout.tile_columns));
}

bool TreeRows::CopiesColumns(TrainParams const& params) const {
  FeatureIndex const columns = ColumnsFor(params);
  if (columns == matrix_.view.features || !columns_.Serves(columns, params.SamplesRows())) return false;
  return fits_columns_.Answer(params, [&] {
    if (!columns_.Pays(columns)) return AllDevicesHave(kNoMemoryHas);  // shards of a sparse matrix differ
    return AllDevicesHave(BytesOf(LargestLayoutFor(params), params) + columns_.ListBytes());
  });
}

/// Tells whether rows of a matrix of this layout can go by paths.
bool TreeRows::CanUsePaths(DeviceMatrixView const& layout) const {
  PartitionPolicy const policy;
  bool const copied = layout.copied.columns != 0;
  return SumsFitShared(layout, copied ? columns_.symbols() : symbols_, device_.limits) &&
         layout.tiles <= (copied ? policy.most_copied_path_tiles : policy.most_path_tiles);
}

bool TreeRows::CanUsePaths(TrainParams const& params) const { return CanUsePaths(LayoutFor(params)); }

bool TreeRows::AllDevicesHave(std::uint64_t bytes) const {
  auto const in_core = [] {
    return static_cast<std::uint64_t>(ColumnCopyPolicy{}.most_free * static_cast<double>(CurrentMemory().free));
  };
  return !device_.AnyDevice(bytes > (pages_ != nullptr ? pages_->room() : in_core()));
}

/// Tells whether rows may be moved by paths. Moves take memory that pages can have: a page that stays on the device
/// saves more time than moves do.
bool TreeRows::MayMove(DeviceMatrixView const& layout, TrainParams const& params, TreeShape const& shape) const {
  bool const all_rows_of_pages = pages_ != nullptr && layout.copied.columns != 0 && !params.SamplesRows();
  return !all_rows_of_pages || shape.levels > kMostLevelsWithoutMoves;
}

/// Returns how many of its rows the device is expected to have memory for, in the copy of a tree.
std::uint32_t TreeRows::LikelyRows(TrainParams const& params) const {
  DeviceShard const& shard = device_.shard;
  if (!params.SamplesRows()) return static_cast<std::uint32_t>(matrix_.view.rows);
  double const of_all = MakeSampleTarget(params, shard.all_rows()).expected;
  double const share = static_cast<double>(shard.rows) / static_cast<double>(shard.all_rows());
  return SampleCapacity(of_all * share, shard.rows);
}

std::uint64_t TreeRows::BytesOfCopy(TrainParams const& params) const {
  return BytesOf(CopiesColumns(params) ? LargestLayoutFor(params) : matrix_.view, params);
}

/// BytesOfCopy of this layout.
std::uint64_t TreeRows::BytesOf(DeviceMatrixView const& m, TrainParams const& params) const {
  TreeShape const shape = ShapeOf(params, device_.shard.all_rows());
  std::uint64_t const bins = m.tiles * m.record_bytes();
  std::uint64_t row_bytes = bins;
  if (params.SamplesRows()) row_bytes += sizeof(RowRecord) + sizeof(GradientPair);
  if (CanUsePaths(m)) {
    std::uint64_t const moves =
        MayMove(m, params, shape) ? std::min(2, (shape.levels - 1) / PartitionPolicy{}.move_every) : 0;
    row_bytes += moves * bins + (1 + moves) * sizeof(NarrowGradient) + (moves != 0 ? 3 : 2);
  } else {
    row_bytes += 2 * sizeof(RowRecord);
  }
  bool const has_keys = params.SamplesRows() && params.sampling_method != SamplingMethod::kUniform;
  return LikelyRows(params) * row_bytes + (has_keys ? KeyCapacity(m.rows) * sizeof(std::uint16_t) : 0) +
         (CanUsePaths(m) ? 0 : m.rows * sizeof(NodeIndex));
}

bool TreeRows::TakeLevels() {
  TrainParams const& params = request_.params;
  auto levels = CopiesColumns(params) ? LevelsFor(params) : std::nullopt;
  if (!levels || !level_columns_ || !level_columns_->IsLike(*levels)) level_columns_ = std::move(levels);
  return level_columns_ && level_columns_->Take(*request_.features);
}

void TreeRows::ReserveCopy() {
  TrainParams const& params = request_.params;
  by_paths_ = CanUsePaths(params);
  copies_columns_ = CopiesColumns(params);
  ReserveColumns();
  copies_sample_ = request_.sampled() && (by_paths_ || pages_ != nullptr || copies_columns_);
  ReserveSampleOf(LikelyRows(params));
}

void TreeRows::ReserveColumns() {
  tiles_of_levels_.clear();
  if (!copies_columns_) return;
  columns_.Reserve(level_columns_ ? level_columns_->columns() : ColumnsFor(request_.params),
                   request_.sampled() ? 0 : matrix_.view.rows);
  for (int level = 0; level_columns_ && level < level_columns_->levels(); ++level) {
    FeatureIndex const of_tile = columns_.view().tile_columns;
    tiles_of_levels_.push_back((level_columns_->columns(level) + of_tile - 1) / of_tile);
  }
}

void TreeRows::TellColumns() {
  if (!copies_columns_) return;
  columns_.Tell(level_columns_ ? level_columns_->Order(columns_.view().tile_columns) : request_.features->Tree());
}

DeviceMatrixView TreeRows::AtLevel(DeviceMatrixView page, int level) const {
  if (!by_levels()) return page;
  page.tiles = tiles_of_levels_[static_cast<std::size_t>(level)];
  page.copied.columns = std::min(page.copied.columns, page.tiles * page.tile_columns);
  return page;
}

/// Reserves a sample of `rows` rows, if the sample is copied. Otherwise lists have memory for all rows. In pages a
/// sample is marked, which takes none.
void TreeRows::ReserveSampleOf(std::uint32_t rows) {
  bool const weighted = request_.weighted();
  device_.workspace.Note([&] {
    return in_pages() ? sample_.ReserveMarks(weighted, device_.stream)
                      : sample_.Reserve(copies_sample_ ? rows : 0, copies_columns_ ? columns_.view() : matrix_.view,
                                        weighted, device_.stream);
  });
  if (in_pages() && weighted) paged_rows_.ReserveWeighed();
}

void TreeRows::ReserveLevels(TreeShape const& shape) {
  if (by_paths_) {
    paths_.Reserve(shape, matrix(), copies_sample_, MayMove(matrix(), request_.params, shape));
  } else {
    std::size_t const widest = shape.WidestNodes();
    lists_.Reserve(matrix().rows, widest, widest);
  }
  bool const all_rows_of_pages = pages_ != nullptr && by_paths_ && !request_.sampled();
  if (!all_rows_of_pages || paths_.narrow() == nullptr) ReservePositions();
}

void TreeRows::ReservePositions() {
  device_.workspace.Reserve(&positions_, "positions", matrix_.view.rows);
  keeps_positions_ = true;
}

Span<NodeIndex> TreeRows::positions() const {
  static_assert(sizeof(NodeIndex) == sizeof(NarrowGradient) && alignof(NodeIndex) >= alignof(NarrowGradient));
  NodeIndex* const left = reinterpret_cast<NodeIndex*>(paths_.narrow());
  return {keeps_positions_ ? positions_.data() : left, static_cast<std::size_t>(matrix_.view.rows)};
}

void TreeRows::ReserveBatches(std::size_t families) {
  by_paths_ = copies_sample_ = copies_columns_ = false;
  tiles_of_levels_.clear();
  ReserveSampleOf(0);
  ReservePositions();
  if (in_pages()) {
    lists_.ReserveJobs(families);
    paged_rows_.Reserve(families);
  } else {
    lists_.Reserve(matrix_.view.rows, families, 2 * families);
  }
}

bool TreeRows::ReserveMore(TreeHeader const& returned, TreeShape const& shape) {
  if (!by_paths_ && !copies_sample_) return false;
  bool sample = request_.sampled() && returned.sample.rows > sample_.copied();
  bool moves = returned.state.no_room != 0;
  // All devices have the same format. With narrow gradients of all rows no device can be short of memory.
  if (request_.sampled() || !returned.gradient.format.narrow) {
    sample = device_.AnyDevice(sample);
    moves = device_.AnyDevice(moves);
  }
  if (!sample && !moves) return false;
  device_.stream.Wait("growing a tree");  // rows that walk read the memory that goes
  if (sample) {
    ReserveSampleOf(std::max(returned.sample.rows, sample_.copied()));
  } else {
    paths_.SetMoveWide(true);  // the first tree of the wide format on moved rows
  }
  try {
    ReserveLevels(shape);
  } catch (OutOfDeviceMemory const&) {
    if (!sample) paths_.SetMoveWide(false);  // narrow trees still fit
    throw;
  }
  return true;
}

SampleView TreeRows::Sample() const {
  SampleView sample = sample_.View();
  sample.state = &memory_.header()->sample;
  if (copies_sample_) {
    if (!by_paths_) return sample;
    sample.early = gradients_.EarlyTo(paths_.narrow());
    sample.paths = paths_.next_path();
  } else if (!in_pages()) {
    sample.capacity = static_cast<std::uint32_t>(matrix_.view.rows);
    sample.rows = lists_.first_list();
  }
  return sample;
}

RowLists TreeRows::Lists() const {
  bool const are_divided = copies_sample_ || request_.weighted();  // by chances
  GradientPair const* const pairs = are_divided ? sample_.gradients() : gradients_.all_rows().pairs;
  return lists_.View(matrix(), pairs, positions_.data(), device_.limits);
}

PagedRowsView TreeRows::PagedRows() const {
  PagedRowsView rows = paged_rows_.View(matrix_.view, positions_.data(), gradients_.all_rows().pairs, device_.limits);
  if (request_.weighted()) rows.chances = {sample_.View().keys, &memory_.header()->sample.rule};
  return rows;
}

RowPaths TreeRows::RootPaths() const {
  if (!by_paths_) return {};
  return paths_.View(request_.sampled() ? sample_.gradients() : gradients_.all_rows().pairs, device_.limits);
}

void TreeRows::EnqueueRoot(PartitionView const& view) const {
  if (!request_.sampled()) {
    EnqueueRootOfAll(view);
  } else if (in_pages()) {
    MarkSample(view);
  } else {
    EnqueueRootOfSample(view);
  }
}

void TreeRows::EnqueueRootOfAll(PartitionView const& view) const {
  TreeDraw const* const draw = &memory_.settings()->draw;
  DeviceLimits const& limits = device_.limits;
  Stream const& stream = device_.stream;
  device_.timer.Run(kGradients, 0, [&] {
    gradients_.EnqueueFormat(draw, RootPaths().next_path, paths_.narrow(), &memory_.header()->gradient);
    if (copies_columns_) CopyRecords(nullptr);
  });
  device_.timer.Run(kRoot, 0, [&] {
    if (in_pages()) {
      FillBytes(positions_.data(), 0, positions_.size(), stream, "listing the rows of the root");
      SumRootRows(view, PagedRows(), matrix_.view.rows, nullptr, draw, device_.shard, limits, stream);
    } else if (by_paths_) {
      StartPaths(view, RootPaths(), draw, gradients_.EarlyOfAll(paths_.narrow()), gradients_.all_rows().pairs,
                 paths_.narrow(), device_.shard, limits, stream);
    } else {
      ListRootRows(view, Lists(), draw, device_.shard, limits, stream);
    }
  });
}

/// Rows stay in their pages. Rows outside the sample are marked.
void TreeRows::MarkSample(PartitionView const& view) const {
  SampleDraw const* const draw = &memory_.settings()->draw;
  DeviceLimits const& limits = device_.limits;
  device_.timer.Run(kGradients, 0, [&] {
    MarkRows(gradients_.all_rows(), matrix_.view.rows, draw, Sample(), positions_.data(), &memory_.header()->gradient,
             device_.shard, limits, device_.stream);
  });
  device_.timer.Run(kRoot, 0, [&] {
    SumRootRows(view, PagedRows(), matrix_.view.rows, &memory_.header()->sample.rows, draw, device_.shard, limits,
                device_.stream);
  });
}

/// Copies the records of the sample, or of all rows if there is none, from the pages of the matrix.
void TreeRows::CopyRecords(SampleView const* sample) const {
  DeviceLimits const& limits = device_.limits;
  std::uint8_t* const records = sample != nullptr ? sample->records : columns_.records();
  pages_of_all().ForEach([&](Page<DeviceMatrixView> const& page) {
    if (copies_columns_ && !page.matrix.dense) {
      CopyLists(columns_.lists(), matrix(), records, limits, device_.stream);
    } else if (copies_columns_) {
      auto* const copy = by_levels() ? CopyScatteredColumns : CopyColumns;
      copy(page.matrix, page.first_row, sample, matrix(), records, limits, device_.stream);
    } else {
      CopySampledRecords(page.matrix, page.first_row, *sample, limits, device_.stream);
    }
  });
}

/// Rows of the sample are listed, or copied side by side.
void TreeRows::EnqueueRootOfSample(PartitionView const& view) const {
  SampleView const sample = Sample();
  SampleDraw const* const draw = &memory_.settings()->draw;
  DeviceLimits const& limits = device_.limits;
  Stream const& stream = device_.stream;
  device_.timer.Run(kGradients, 0, [&] {
    bool const copies_later = pages_ != nullptr || copies_columns_;  // page by page, or column by column
    SampleView drawn = sample;
    if (copies_later) drawn.records = nullptr;
    SampleRows(gradients_.all_rows(), gradients_.losses(), matrix_.view, draw, drawn, &memory_.header()->gradient,
               device_.shard, limits, stream);
    if (copies_later) CopyRecords(&sample);
  });
  device_.timer.Run(kRoot, 0, [&] {
    if (by_paths_) {
      StartSampledPaths(view, RootPaths(), draw, sample, paths_.narrow(), device_.shard, limits, stream);
    } else {
      if (!copies_sample_) FillBytes(positions_.data(), 0xFF, positions_.size(), stream, "clearing positions");
      ListSampledRows(view, Lists(), draw, sample, device_.shard, limits, stream);
    }
  });
}

}  // namespace xgbgpu::cuda
