// Builds the matrices of several devices step by step, with common cuts and layout.
#include "matrix/shards_cuda.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "base/message.h"
#include "collective/on_devices_cuda.h"
#include "core/reading_turns.h"
#include "core/row_slice.h"
#include "core/work_sizes.h"
#include "matrix/matrix_builder_cuda.h"
#include "matrix/matrix_cuda.h"
#include "matrix/paged_builder_cuda.h"
#include "page/memory_policy.h"
#include "quantile/columns.h"
#include "quantile/feature_cuts.h"
#include "quantile/fit_cuts.h"
#include "quantile/key_shards_cuda.h"
#include "quantile/quantile_policy.h"
#include "quantile/shared_quantiles_cuda.h"
#include "quantile/sorted_columns_cuda.h"

namespace xgbgpu::cuda {

namespace {

void CheckShards(RowSource const& source, RowShards const& shards) {
  if (source.rows() == 0) throw InvalidArgument{"The training data on a device have 0 rows; allowed: 1 or more"};
  host::CheckShape(source);
  auto const& bounds = shards.bounds;
  bool const whole = bounds.size() == shards.devices.size() + 1 && bounds.size() > 1 && bounds.front() == 0 &&
                     bounds.back() == source.rows();
  if (whole && std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>{}) == bounds.end()) return;
  Throw<InvalidArgument>("The shards do not divide the ", source.rows(), " rows among ", shards.devices.size(),
                         " devices; allowed: bounds that ascend from 0 to the number of rows");
}

/// Returns the number of the group's processes whose shard is on this process's device.
int SharersOfDevice(int device, Collective* group) {
  std::vector<std::uint32_t> own(sizeof(cudaUUID_t) / sizeof(std::uint32_t));
  AllOrNone(*group, [&] {
    cudaDeviceProp properties{};
    CheckCuda(cudaGetDeviceProperties(&properties, device), "asking for a device's properties");
    std::memcpy(own.data(), properties.uuid.bytes, sizeof(cudaUUID_t));
  });
  auto const all = group->Gather(Span<std::uint32_t const>{own});
  return static_cast<int>(std::count(all.begin(), all.end(), own));
}

/// A shard under construction. Memory that other devices read is freed after all devices have finished.
struct Part {
  Part(RowSource const& source, std::uint64_t first, std::uint64_t n, BuildOptions const& build_options)
      : rows{source, first, n}, options{build_options} {}

  RowSlice rows;
  BuildOptions options;
  DeviceArena arena{"Quantising the matrix on the GPU"};
  std::size_t limit{0};                 ///< device memory of a training
  std::size_t budget{0};                ///< device memory of the construction
  std::optional<KeyColumns> keys;       ///< all columns of the shard's rows
  std::optional<host::RowSizes> sizes;  ///< if the host has measured the rows
  std::optional<std::uint64_t> stored;  ///< number of the shard's values that are not missing, if counted
  std::unique_ptr<MatrixBuilder> builder;
  bool short_of_memory{false};  ///< in the last step
};

/// Builds shards in steps. All devices make a step at the same time, and the host looks at the results before the next.
class Build {
 public:
  Build(RowSource const& source, RowShards const& shards, ShardOptions const& options);

  /// Finds cuts, and keeps the rows' data if they serve for bins.
  Cuts FindCuts(CutRequest const& wanted);
  /// Counts the values of the columns unless FindCuts has counted them.
  void CountValues();
  std::vector<std::unique_ptr<DeviceMatrix>> Bin(Cuts const& cuts);

 private:
  using Step = std::function<void(std::size_t s, Part* part)>;
  void OnAll(Step const& step);
  /// Makes a step that may run out of memory without an error. Returns true if no device did.
  bool Try(Step const& step);
  bool is_array() const { return source_.dense().has_value(); }
  bool has_keys() const { return parts_.front().keys.has_value(); }
  /// Copies the rows to the devices as columns of keys, if that serves for cuts or, without `wanted`, for bins.
  void GatherKeys(CutRequest const* wanted);
  bool FitsAsKeys(Part const& part, CutRequest const* wanted) const;
  void DropKeys();
  std::vector<ColumnCuts> SearchKeys(CutRequest const& wanted);
  std::vector<ColumnCuts> SearchSource(CutRequest const& wanted);
  LayoutFacts Facts() const;
  /// Returns true if the training of a shard would exceed its limit in core.
  bool NeedsPages(DeviceLayout const& layout, LayoutFacts const& facts);
  LayoutFacts FactsOf(Part const& part, LayoutFacts const& all) const;

  RowSource const& source_;
  ReadingTurns turns_;
  RowShards const& shards_;
  ShardOptions shard_options_;
  int threads_;
  std::uint64_t entries_;
  std::vector<std::uint64_t>
      present_;  ///< [features] number of values that are not missing over all rows, once counted
  std::deque<Part> parts_;
};

Build::Build(RowSource const& source, RowShards const& shards, ShardOptions const& options)
    : source_{source},
      turns_{source},
      shards_{shards},
      shard_options_{options},
      threads_{options.threads},
      entries_{CountEntries(source)} {
  // Devices that take turns need not share the threads.
  int const n = static_cast<int>(shards.devices.size());
  shard_options_.limits = ShareOfHost(options.limits, shards.devices.size());
  int const threads = is_array() ? std::max(1, options.threads / n) : options.threads;
  for (std::size_t s = 0; s < shards.devices.size(); ++s) {
    int const device = shards.devices[s];
    auto const sharers = static_cast<int>(std::count(shards.devices.begin(), shards.devices.end(), device));
    parts_.emplace_back(turns_, shards.bounds[s], shards.bounds[s + 1] - shards.bounds[s],
                        BuildOptions{device, threads, options.memory_bytes, sharers});
  }
  OnAll([&](std::size_t, Part* part) {
    part->limit = LimitInBytes(options.limits, part->options.sharers);
    part->budget = MemoryBudget(part->options);
  });
}

void Build::OnAll(Step const& step) {
  OnDevices(shards_.devices, [&](std::size_t s) {
    Part& part = parts_[s];
    auto const sizes = [&] {
      return WorkSizes{part.options.device, part.rows.rows(), part.rows.features(), part.arena.bytes()};
    };
    NamingSizes(sizes, [&] { step(s, &part); });
  });
}

bool Build::Try(Step const& step) {
  OnAll([&](std::size_t s, Part* part) {
    part->short_of_memory = false;
    try {
      step(s, part);
    } catch (OutOfDeviceMemory const&) {
      part->short_of_memory = true;
    }
  });
  return std::none_of(parts_.begin(), parts_.end(), [](Part const& part) { return part.short_of_memory; });
}

bool Build::FitsAsKeys(Part const& part, CutRequest const* wanted) const {
  constexpr std::size_t kKey = sizeof(std::uint32_t);
  std::uint64_t const own = part.rows.rows(), rows = source_.rows();
  std::size_t sort_bytes = 0;
  if (wanted != nullptr) {
    if (own < QuantilePolicy{}.least_shared_rows) return false;
    bool const weighted = !wanted->weights.empty();
    sort_bytes = rows * (kKey + (weighted ? kKey + PairSorter::BytesPerPair(true) : KeySorter::BytesPerKey()));
  }
  RowUpload const upload{part.rows, part.options.threads};
  FeatureIndex const features = part.rows.features();
  return own * features * kKey + std::max(sort_bytes, upload.device_bytes(features)) <= part.budget;
}

void Build::GatherKeys(CutRequest const* wanted) {
  if (!ReadAsColumns(source_, entries_)) return;
  bool const fit = Try([&](std::size_t, Part* part) { part->short_of_memory = !FitsAsKeys(*part, wanted); });
  FeatureIndex const features = source_.features();
  bool const gathered = fit && Try([&](std::size_t, Part* part) {
                          RowUpload upload{part->rows, part->options.threads};
                          part->keys = GatherColumns({0, features, features}, &part->arena, &upload);
                        });
  if (!gathered) {
    DropKeys();
    return;
  }
  present_.assign(features, 0);
  for (Part& part : parts_) {
    auto const& own = part.keys->present;
    std::transform(own.begin(), own.end(), present_.begin(), present_.begin(), std::plus<>{});
    part.stored = std::accumulate(own.begin(), own.end(), std::uint64_t{0});
  }
}

void Build::DropKeys() {
  OnAll([](std::size_t, Part* part) { part->keys.reset(); });
}

std::vector<ColumnCuts> Build::SearchKeys(CutRequest const& wanted) {
  KeyShards keys{{}, shards_.devices};
  for (Part const& part : parts_) keys.shards.push_back(&*part.keys);
  auto const shares = ShareColumns(source_.features(), {}, parts_.size());
  std::vector<ColumnCuts> found(parts_.size());
  bool const searched = Try([&](std::size_t s, Part* part) {
    if (shares[s].size() != 0) {
      found[s] = FindColumnCuts(turns_, keys, shares[s], wanted, part->options, &part->arena);
    }
  });
  if (searched) return found;
  DropKeys();
  return SearchSource(wanted);
}

std::vector<ColumnCuts> Build::SearchSource(CutRequest const& wanted) {
  std::vector<std::uint64_t> sizes;
  if (!ReadAsColumns(source_, entries_)) sizes = host::CountColumns(source_, threads_);
  auto const shares = ShareColumns(source_.features(), sizes, parts_.size());
  std::vector<ColumnCuts> found(parts_.size());
  OnAll([&](std::size_t s, Part* part) {
    if (shares[s].size() != 0) {
      found[s] = FindColumnCuts(turns_, shares[s], sizes, wanted, part->options, &part->arena);
    }
  });
  return found;
}

Cuts Build::FindCuts(CutRequest const& wanted) {
  CheckWeights(source_.rows(), wanted.weights);
  std::vector<FeatureCuts> features;
  if (entries_ == 0) {
    features.assign(source_.features(), CutsOfEmptyColumn());
    present_.assign(source_.features(), 0);
  } else {
    GatherKeys(&wanted);
    auto const found = has_keys() ? SearchKeys(wanted) : SearchSource(wanted);
    present_.clear();
    for (ColumnCuts const& share : found) {
      features.insert(features.end(), share.features.begin(), share.features.end());
      present_.insert(present_.end(), share.present.begin(), share.present.end());
    }
  }
  return CutsOfAllRows(features, source_, wanted.weights, threads_, NoOtherShards());
}

void Build::CountValues() {
  GatherKeys(nullptr);
  if (has_keys()) return;
  OnAll([](std::size_t, Part* part) {
    part->sizes = host::MeasureRows(part->rows, part->options.threads);
    part->stored = part->sizes->stored;
  });
  present_.assign(source_.features(), 0);
  for (Part const& part : parts_) {
    std::transform(part.sizes->column.begin(), part.sizes->column.end(), present_.begin(), present_.begin(),
                   std::plus<>{});
  }
}

LayoutFacts Build::Facts() const {
  LayoutFacts facts{};
  {
    DeviceScope const scope{shards_.devices.front()};
    facts = FactsOnDevice(source_.rows(), present_);
  }
  facts.room /= static_cast<std::size_t>(parts_.front().options.sharers);
  facts.most_rows = facts.most_stored = 0;
  for (Part const& part : parts_) {
    std::uint64_t const rows = part.rows.rows();
    facts.most_rows = std::max(facts.most_rows, rows);
    facts.most_stored = std::max(
        facts.most_stored, part.stored.value_or(std::min<std::uint64_t>(facts.stored, rows * source_.features())));
    DeviceScope const scope{part.options.device};
    facts.block_bytes = std::min(facts.block_bytes, CurrentDeviceLimits().block_bytes);
  }
  return facts;
}

LayoutFacts Build::FactsOf(Part const& part, LayoutFacts const& all) const {
  LayoutFacts own = all;
  own.rows = part.rows.rows();
  bool const complete = all.stored == all.rows * source_.features();
  own.stored = part.stored.value_or(complete ? own.rows * source_.features() : all.stored * own.rows / all.rows);
  return own;
}

bool Build::NeedsPages(DeviceLayout const& layout, LayoutFacts const& facts) {
  return std::any_of(parts_.begin(), parts_.end(), [&](Part const& part) {
    return InCoreBytes(layout, FactsOf(part, facts), shard_options_.pages) > part.limit;
  });
}

std::vector<std::unique_ptr<DeviceMatrix>> Build::Bin(Cuts const& cuts) {
  LayoutFacts facts = Facts();
  if (facts.stored == facts.rows * source_.features()) {
    for (Part& part : parts_) part.stored = part.rows.rows() * source_.features();
  }
  DeviceLayout layout = ChooseDeviceLayout(cuts, facts);
  std::vector<std::unique_ptr<DeviceMatrix>> matrices(parts_.size());
  if (NeedsPages(layout, facts)) {
    OnAll([&](std::size_t s, Part* part) {
      part->keys.reset();
      matrices[s] = MakePages(part->rows, cuts, layout, FactsOf(*part, facts), part->options, shard_options_.limits,
                              part->limit, shard_options_.pages);
    });
    return matrices;
  }
  auto const bin = [&](Part* part) {
    part->builder->SetLayout(layout, part->stored);
    return part->builder->Bin(&part->keys, part->sizes, part->budget);
  };
  OnAll([&](std::size_t, Part* part) {
    part->builder = std::make_unique<MatrixBuilder>(part->rows, cuts, part->options, &part->arena);
    part->short_of_memory = !bin(part);
  });
  if (std::any_of(parts_.begin(), parts_.end(), [](Part const& part) { return part.short_of_memory; })) {
    facts.room = 0;
    layout = ChooseDeviceLayout(cuts, facts);
    OnAll([&](std::size_t, Part* part) { bin(part); });
  }
  OnAll([&](std::size_t s, Part* part) {
    matrices[s] = part->builder->Finish();
    part->builder.reset();
    part->keys.reset();
  });
  return matrices;
}

/// Runs a step on one shard, which counts rows from its own first. If data are refused, reads the whole source for an
/// error with the row's number there.
template <typename F>
auto NamingRows(RowSource const& source, int threads, F&& build) {
  try {
    return build();
  } catch (InvalidArgument const&) {
    if (!source.arrays()) {  // arrays have no such values
      host::CountColumns(source, threads);
      host::MeasureRows(source, threads);
    }
    throw;
  }
}

/// Bins the rows of this process in the layout that the rows of all processes ask for. `sizes`: of the rows, if the
/// host has measured them.
std::unique_ptr<DeviceMatrix> BinOwnShard(RowSource const& source, Quantiles quantiles,
                                          std::optional<host::RowSizes> const& sizes, BuildOptions const& options,
                                          Collective* group, MemoryLimits const& limits, DeviceArena* arena) {
  std::vector<std::int64_t> counts(quantiles.present.begin(), quantiles.present.end());  // of values, then of rows
  std::uint64_t const stored = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  counts.push_back(static_cast<std::int64_t>(source.rows()));
  std::optional<MatrixBuilder> builder;
  AllOrNone(*group, [&] { builder.emplace(source, std::move(quantiles.cuts), options, arena); });
  group->Sum(Span<std::int64_t>{counts});
  LayoutFacts facts = FactsOnDevice(static_cast<std::uint64_t>(counts.back()), {counts.begin(), counts.end() - 1});
  std::int64_t most[] = {static_cast<std::int64_t>(source.rows()), static_cast<std::int64_t>(stored),
                         -static_cast<std::int64_t>(facts.block_bytes), -static_cast<std::int64_t>(facts.room)};
  group->Max({most, 4});
  facts.most_rows = static_cast<std::uint64_t>(most[0]);
  facts.most_stored = static_cast<std::uint64_t>(most[1]);
  facts.block_bytes = static_cast<std::size_t>(-most[2]);
  facts.room = static_cast<std::size_t>(-most[3]);
  LayoutFacts own = facts;
  own.rows = source.rows();
  own.stored = stored;
  std::size_t const limit = LimitInBytes(limits, options.sharers);
  if (DeviceLayout layout = ChooseDeviceLayout(builder->cuts(), facts);
      group->AnyOf(InCoreBytes(layout, own) > limit)) {
    quantiles.columns.reset();
    std::unique_ptr<DeviceMatrix> paged;
    AllOrNone(*group,
              [&] { paged = MakePages(source, builder->cuts(), std::move(layout), own, options, limits, limit); });
    return paged;
  }
  for (;; facts.room = 0) {
    bool fits = false;
    AllOrNone(*group, [&] {
      builder->SetLayout(ChooseDeviceLayout(builder->cuts(), facts), stored);
      fits = builder->Bin(&quantiles.columns, sizes, MemoryBudget(options));
    });
    if (!group->AnyOf(!fits)) return builder->Finish();
  }
}

}  // namespace

std::vector<std::unique_ptr<DeviceMatrix>> BuildShards(RowSource const& source, CutRequest const& wanted,
                                                       RowShards const& shards, ShardOptions const& options) {
  CheckShards(source, shards);
  return NamingRows(source, options.threads, [&] {
    Build build{source, shards, options};
    Cuts const cuts = build.FindCuts(wanted);
    return build.Bin(cuts);
  });
}

std::vector<std::unique_ptr<DeviceMatrix>> QuantiseShards(RowSource const& source, Cuts const& cuts,
                                                          RowShards const& shards, ShardOptions const& options) {
  CheckShards(source, shards);
  return NamingRows(source, options.threads, [&] {
    Build build{source, shards, options};
    build.CountValues();
    return build.Bin(cuts);
  });
}

std::unique_ptr<DeviceMatrix> BuildOwnShard(RowSource const& source, CutRequest const& wanted, int device, int threads,
                                            Collective* group, MemoryLimits const& limits) {
  AllOrNone(*group, [&] { CheckShape(source); });
  DeviceScope const scope{device};
  BuildOptions const options{device, threads, 0, SharersOfDevice(device, group)};
  DeviceArena arena{"Quantising the matrix on the GPU"};
  auto quantiles = FindSharedQuantiles(source, wanted, options, group, &arena);
  if (!quantiles) return nullptr;
  return BinOwnShard(source, std::move(*quantiles), {}, options, group, limits, &arena);
}

std::unique_ptr<DeviceMatrix> QuantiseOwnShard(RowSource const& source, Cuts cuts, int device, int threads,
                                               Collective* group, MemoryLimits const& limits) {
  DeviceScope const scope{device};
  BuildOptions const options{device, threads, 0, SharersOfDevice(device, group)};
  DeviceArena arena{"Quantising the matrix on the GPU"};
  std::optional<host::RowSizes> sizes;
  AllOrNone(*group, [&] {
    CheckShape(source);
    sizes = host::MeasureRows(source, threads);
  });
  std::vector<std::uint64_t> present = sizes->column;
  return BinOwnShard(source, {std::move(cuts), std::move(present), {}}, sizes, options, group, limits, &arena);
}

std::vector<ColumnRange> ShareColumns(FeatureIndex columns, Span<std::uint64_t const> sizes, std::size_t parts) {
  auto const size = [&](FeatureIndex f) { return sizes.empty() ? std::uint64_t{1} : sizes[f]; };
  double all = 0;
  for (FeatureIndex f = 0; f < columns; ++f) all += static_cast<double>(size(f));
  std::vector<ColumnRange> shares;
  FeatureIndex next = 0;
  double taken = 0;
  for (std::size_t p = 1; p <= parts; ++p) {
    ColumnRange share{next, next, columns};
    double const end = all * static_cast<double>(p) / static_cast<double>(parts);
    // A column goes to the range that has its larger part.
    while (next < columns && (p == parts || taken + static_cast<double>(size(next)) / 2 <= end)) {
      taken += static_cast<double>(size(next++));
    }
    share.last = next;
    shares.push_back(share);
  }
  return shares;
}

}  // namespace xgbgpu::cuda
