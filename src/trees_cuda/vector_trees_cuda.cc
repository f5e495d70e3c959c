// Grows trees of vectors on a device, in batches of nodes that the host chooses.
#include "trees_cuda/vector_trees_cuda.h"

#include <algorithm>
#include <utility>

#include "base/stages.h"
#include "cuda/long_copies.h"
#include "gradient/gradient_ops.h"
#include "growth/growth_policy.h"
#include "growth/make_tree.h"
#include "histogram/histogram_cuda.h"
#include "partition/partition_cuda.h"
#include "split/split_policy.h"
#include "split/vector_categories_cuda.h"

namespace xgbgpu::cuda {

namespace {

constexpr char kPart[] = "vectors";
constexpr char kSharing[] = "sharing what decides on formats";

/// Makes room for `size` elements; the first `kept` stay.
template <typename T>
void Extend(DeviceBuffer<T>* buffer, std::size_t size, std::size_t kept, TreeDevice const& device) {
  Enlarge(buffer, device.workspace.arena(), kPart, kept, size, device.stream);
}

}  // namespace

VectorTrees::VectorTrees(DeviceMatrix const& matrix, ColumnLists* lists, DeviceShard const& shard, DeviceArena* arena,
                         Stream const& stream, std::size_t histogram_budget, std::uint32_t outputs)
    : outputs_{outputs},
      histogram_budget_{histogram_budget},
      parts_{matrix, nullptr, lists, shard, arena, stream, histogram_budget, outputs},
      device_{parts_.device},
      leaves_{&parts_},
      symmetric_{&parts_, &leaves_},
      facts_{arena, kPart, sizeof(VectorFacts) + outputs * sizeof(OutputFacts)},
      formats_{arena, kPart, outputs},
      states_{arena, kPart, outputs},
      units_{arena, kPart, outputs},
      host_facts_{facts_.size()},
      host_formats_{outputs},
      host_states_{outputs},
      host_units_{outputs} {
  if (!matrix.cuts.HasCategories()) return;
  std::vector<std::uint8_t> is_categorical;
  std::vector<FeatureIndex> categorical;
  for (FeatureIndex f = 0; f < matrix.view.features; ++f) {
    is_categorical.push_back(matrix.cuts.IsCategorical(f) ? 1 : 0);
    if (matrix.cuts.IsCategorical(f)) categorical.push_back(f);
  }
  is_categorical_ = xgbgpu::Upload(arena, "categories", is_categorical.data(), is_categorical.size());
  categorical_ = xgbgpu::Upload(arena, "categories", categorical.data(), categorical.size());
  ends_ = {arena, "categories", CategoryBlocks(device_.limits) * std::size_t{2} * outputs};
}

VectorTrees::~VectorTrees() {
  cudaStreamSynchronize(device_.stream);  // nothing may run on the buffers that go
}

VectorGradients VectorTrees::Upload(Span<GradientPair const> gradients, int threads) {
  std::uint64_t const rows = parts_.matrix.view.rows, stride = (rows + 31) / 32 * 32;
  device_.workspace.Reserve(&row_major_, "gradients", gradients.size());
  device_.workspace.Reserve(&columns_, "gradients", outputs_ * stride);
  CopyLongToDevice(row_major_.data(), gradients.data(), gradients.size() * sizeof(GradientPair), threads,
                   device_.stream, "copying gradients");
  VectorGradients const view{columns_.data(), rows, stride, outputs_};
  ToOutputs(row_major_.data(), view, columns_.data(), device_.limits, device_.stream);
  return view;
}

std::optional<VectorTree> VectorTrees::Grow(TreeRequest request, VectorGradients const& gradients) {
  FeatureIndex const features = parts_.matrix.view.features;
  Constraints constraints{request.params, features};  // throws, if parameters do not fit the features
  params_ = request.params;
  request.params.monotone_constraints.clear();
  request.params.grow_policy = GrowPolicy::kDepthWise;
  parts_.request = std::move(request);
  gradients_ = gradients;
  if (device_.timed()) device_.timer.timeline()->BeginTree();
  Reserve();
  parts_.splits.SetConstraints(Constraints{parts_.request.params, features});
  monotone_.Set(std::move(constraints), 1, device_.workspace.arena(), device_.stream);
  parts_.splits.SetFeatures(IsSymmetric() ? 0 : 2 * batch_, 0);
  parts_.gradients.Set({gradients.of(0)});
  parts_.memory.Tell(parts_.Settings({params_.min_split_loss, params_.max_depth, params_.max_leaves}));
  parts_.EnqueueStart(0);
  if (!ChooseFormats()) return std::nullopt;
  ReserveHistograms();
  Quantise();
  return IsSymmetric() ? GrowSymmetric() : GrowBatches();
}

VectorTree VectorTrees::GrowBatches() {
  growth_.Reset(params_, parts_.histograms.slots(), parts_.request.features->per_node());
  ReserveNodes(0);
  device_.timer.Run(kRoot, 0, [&] { StartVectorRoot(Splits(), device_.stream); });
  Evaluate(BoundsOf(1), true, 0);
  LearnBack(0, 1);
  for (int batch = 1; growth_.MaySplit(); ++batch) GrowBatch(batch);
  return Take();
}

VectorTree VectorTrees::GrowSymmetric() {
  std::vector<GradientSum> root(outputs_);
  CopyToHost(root.data(), sums_.data(), outputs_, device_.stream, "reading the root");
  device_.stream.Wait("reading the root");
  device_.shard.devices->Check();
  symmetric_.Begin(params_, split_params_, monotone_.constraints(), root);
  symmetric_.Grow(Splits(), [&](std::uint32_t families, int depth) { SumOverDevices(BoundsOf(families), depth); });
  VectorTree tree = symmetric_.Take();
  if (device_.timed()) device_.timer.timeline()->Resolve();
  return tree;
}

/// Reserves all but histograms and nodes, whose sizes depend on gradients and growth.
void VectorTrees::Reserve() {
  if (!device_.shard.alone()) {
    constexpr std::uint32_t kSums = sizeof(FormatSums) / sizeof(std::int64_t);
    device_.workspace.Reserve(&largest_, kPart, 2 + 2 * outputs_);
    device_.workspace.Reserve(&format_sums_, kPart, (2 + kSums * std::size_t{outputs_}) / 2 * 2);  // an even number
  }
  parts_.splits.SearchTree();
  parts_.order.Leave();
  leaves_.BeginHostDriven();
  if (IsSymmetric()) {
    batch_ = symmetric_.Reserve(params_, outputs_);
    return;
  }
  batch_ = std::max<std::size_t>(1, std::min<std::size_t>(GrowthPolicy{}.host_driven_batch, device_.shard.all_rows()));
  parts_.rows.ReserveBatches(batch_);
  parts_.memory.Reserve(1 + 2 * batch_, batch_, 1 + 2 * batch_);
  parts_.splits.ReserveCategories(parts_.memory.node_capacity(), 0);
  device_.workspace.Reserve(&best_, kPart, 2 * batch_);
  device_.workspace.Reserve(&misses_, kPart, 2 * batch_ * parts_.matrix.view.features);
  if (host_families_.size() < batch_) host_families_ = PinnedBuffer<Family>{batch_};
}

/// Makes room for the numbers of all nodes that there is memory for; those of the first `kept` stay.
void VectorTrees::ReserveNodes(std::size_t kept) {
  std::size_t const nodes = IsSymmetric() ? 1 : parts_.memory.node_capacity(), all = nodes * outputs_;
  Extend(&sums_, all, kept * outputs_, device_);
  Extend(&left_, all, kept * outputs_, device_);
  Extend(&weights_, all, kept * outputs_, device_);
  Extend(&gain_, nodes, kept, device_);
  if (monotone_.constraints().monotone()) Extend(&bounds_, all, kept * outputs_, device_);
}

RowsOfTree VectorTrees::Rows() const {
  return {parts_.request.sampled() ? parts_.rows.Lists().lists[0] : nullptr, &parts_.memory.header()->state.rows};
}

/// Finds the facts about gradients that formats depend on, over the rows of all devices. Waits.
void VectorTrees::FindFacts() {
  device_.timer.Run(kGradients, 0, [&] {
    FillBytes(facts_.data(), 0, facts_.size(), device_.stream, "looking for the largest gradient");
    FindLargestOfOutputs(gradients_, Rows(), facts(), outputs(facts()), device_.limits, device_.stream);
    host_cannot_sum_[0] = CanSumVectors(parts_.matrix.view, parts_.rows.symbols(), device_.limits) ? 0 : 1;
    if (!device_.shard.alone()) ShareLargest();
    if (device_.shard.all_rows() >= kNarrowMinRows) {
      SumForFormats(gradients_, Rows(), outputs(facts()), device_.limits, device_.stream);
    }
    if (!device_.shard.alone()) ShareFormatSums();
    CopyToHost(host_facts_.data(), facts_.data(), facts_.size(), device_.stream, "reading gradients");
  });
  device_.stream.Wait("reading gradients");
  device_.shard.devices->Check();
}

/// Takes the maxima of gradients over all devices. Tells whether a row of any device has different hessians, and
/// whether a device cannot sum vectors.
void VectorTrees::ShareLargest() {
  std::uint32_t const count = 2 + 2 * outputs_;
  CopyToDevice(largest_.data(), host_cannot_sum_.data(), 1, device_.stream, kSharing);
  CopyOnDevice(largest_.data() + 1, &facts()->hessians_differ, sizeof(std::uint32_t));
  CopyColumns(largest_.data() + 2, &outputs(facts())->maxima, sizeof(GradientMaxima), true);
  for (std::uint32_t first = 0; first < count; first += DeviceNumbers::kMost) {
    DeviceNumbers numbers;
    numbers.largest = numbers.largest_of_all = largest_.data() + first;
    numbers.largest_count = std::min(DeviceNumbers::kMost, count - first);
    device_.shard.devices->Combine(numbers, nullptr, device_.stream);
  }
  CopyToHost(host_cannot_sum_.data(), largest_.data(), 1, device_.stream, kSharing);
  CopyOnDevice(&facts()->hessians_differ, largest_.data() + 1, sizeof(std::uint32_t));
  CopyColumns(largest_.data() + 2, &outputs(facts())->maxima, sizeof(GradientMaxima), false);
}

/// Takes the sums of rows and of what formats depend on over all devices.
void VectorTrees::ShareFormatSums() {
  std::size_t const count = format_sums_.size();
  FillBytes(format_sums_.data(), 0, count, device_.stream, kSharing);
  CopyOnDevice(format_sums_.data(), &facts()->rows, sizeof(std::uint32_t));  // the low half of a number
  CopyColumns(format_sums_.data() + 1, &outputs(facts())->sums, sizeof(FormatSums), true);
  device_.shard.devices->Sum(format_sums_.data(), count, device_.stream);
  CopyOnDevice(&facts()->rows, format_sums_.data(), sizeof(std::uint32_t));
  CopyColumns(format_sums_.data() + 1, &outputs(facts())->sums, sizeof(FormatSums), false);
}

void VectorTrees::CopyOnDevice(void* to, void const* from, std::size_t bytes) const {
  CheckCuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, device_.stream), kSharing);
}

/// Copies a field of `bytes` bytes of the facts of all outputs to `packed`, or back.
void VectorTrees::CopyColumns(void* packed, void* field, std::size_t bytes, bool to_packed) const {
  std::size_t const apart = sizeof(OutputFacts);
  CheckCuda(
      to_packed
          ? cudaMemcpy2DAsync(packed, bytes, field, apart, bytes, outputs_, cudaMemcpyDeviceToDevice, device_.stream)
          : cudaMemcpy2DAsync(field, apart, packed, bytes, bytes, outputs_, cudaMemcpyDeviceToDevice, device_.stream),
      kSharing);
}

/// Chooses the formats of all outputs, as the host does. Returns false if a gradient is not finite. Waits.
bool VectorTrees::ChooseFormats() {
  FindFacts();
  auto const* const found = reinterpret_cast<VectorFacts const*>(host_facts_.data());
  auto const* const of_outputs = reinterpret_cast<OutputFacts const*>(found + 1);
  for (std::uint32_t k = 0; k < outputs_; ++k) {
    OutputFacts const& of_output = of_outputs[k];
    bad_output_ = k;
    if (!IsFinite(of_output.maxima)) return false;
    bool const narrow =
        found->rows >= kNarrowMinRows && MayBeNarrow(of_output.sums, found->rows, 0.0f, of_output.maxima);
    host_formats_[k] = MakeGradientFormat(found->rows, of_output.maxima.grad, of_output.maxima.hess, narrow);
  }
  host::AgreeOnFormats({host_formats_.data(), outputs_}, found->rows);
  narrow_ = host_formats_[0].narrow;
  one_hessian_ = found->hessians_differ == 0;
  in_planes_ = narrow_ && host_cannot_sum_[0] == 0;
  return true;
}

void VectorTrees::ReserveHistograms() {
  DeviceMatrixView const& m = parts_.matrix.view;
  std::uint64_t const sums = in_planes_ && one_hessian_ ? outputs_ + 1 : 2 * outputs_;
  std::uint64_t const cells = (sums * m.cells + 1) / 2;  // of a pair of sums each
  GrowthPolicy const policy;
  std::size_t const leaves =
      params_.max_leaves == 0 ? policy.host_driven_slots : 2 * static_cast<std::size_t>(params_.max_leaves);
  int const depth = params_.max_depth;
  std::size_t const widest = depth == 0 || depth >= 16 ? policy.host_driven_slots : std::size_t{1} << depth;
  std::size_t const wanted = IsSymmetric() ? symmetric_.HistogramsFor(params_)
                                           : std::min({leaves, static_cast<std::size_t>(device_.shard.all_rows()),
                                                       widest, std::size_t{policy.host_driven_slots}});
  std::size_t const slots =
      std::max<std::size_t>(2, std::min(histogram_budget_ / (cells * sizeof(GradientSum)), wanted));
  parts_.histograms.ReserveCells(slots, cells);
  FillBytes(parts_.histograms.View().slot(0), 0, cells, device_.stream, "clearing histograms");
}

/// Brings gradients to fixed point, and sums them for the root.
void VectorTrees::Quantise() {
  split_params_.clear();
  for (std::uint32_t k = 0; k < outputs_; ++k) {
    SplitParams p = ParamsOfOutput(params_, host_formats_[k]);
    if (IsSymmetric()) p.min_child_weight = params_.min_child_weight;
    split_params_.push_back(p);
    host_units_[k] = {p.grad_unit, p.hess_unit};
    GradientState state{};
    // Whole numbers need no scale.
    state.grad_scale = narrow_ ? 1.0 : ScaleByPowerOfTwo(1.0, host_formats_[k].grad_shift);
    state.hess_scale = narrow_ ? 1.0 : ScaleByPowerOfTwo(1.0, host_formats_[k].hess_shift);
    host_states_[k] = state;
  }
  ReserveNodes(0);
  if (in_planes_) {
    device_.workspace.Reserve(&narrow_rows_, "gradients", parts_.matrix.view.rows * NarrowGradients().row_words());
  } else if (narrow_) {
    device_.workspace.Reserve(&narrow_pairs_, "gradients", outputs_ * gradients_.stride);
  }
  device_.timer.Run(kGradients, 0, [&] {
    CopyToDevice(formats_.data(), host_formats_.data(), outputs_, device_.stream, "choosing formats");
    CopyToDevice(states_.data(), host_states_.data(), outputs_, device_.stream, "choosing formats");
    CopyToDevice(units_.data(), host_units_.data(), outputs_, device_.stream, "choosing formats");
    FillBytes(sums_.data(), 0, outputs_, device_.stream, "summing the root");
    VectorIntegers const to{formats_.data(), one_hessian_, in_planes_ ? NarrowGradients() : NarrowRows{},
                            narrow_ && !in_planes_ ? narrow_pairs_.data() : nullptr, sums_.data()};
    QuantiseVectors(gradients_, Rows(), &parts_.memory.settings()->draw, to, device_.stream);
    device_.shard.devices->Sum(reinterpret_cast<std::int64_t*>(sums_.data()), 2 * std::uint64_t{outputs_},
                               device_.stream);
  });
}

LevelBounds VectorTrees::BoundsOf(std::uint32_t families, std::uint32_t siblings) const {
  return {families, parts_.rows.symbols(), true, siblings};
}

/// Sums the rows of all sum jobs, of all devices, for each output.
void VectorTrees::SumOverDevices(LevelBounds const& bounds, int level) const {
  device_.timer.Run(kSum, level, [&] { Sum(bounds); });
  parts_.histograms.SumOverDevices(nullptr, bounds, level);
}

/// Sums the rows of all sum jobs, for each output.
void VectorTrees::Sum(LevelBounds const& bounds) const {
  DeviceMatrixView const& m = parts_.matrix.view;
  DeviceHistograms const histograms = parts_.histograms.View();
  LevelState const* const state = &parts_.memory.header()->state;
  if (in_planes_) {
    SumVectors({m, histograms, state, nullptr}, parts_.rows.Lists(), parts_.memory.nodes(), NarrowGradients(),
               Splits().cells, device_.limits, device_.stream);
    return;
  }
  RowLists lists = parts_.rows.Lists();
  for (std::uint32_t k = 0; k < outputs_; ++k) {
    lists.gradients = narrow_ ? narrow_pairs_.data() + k * gradients_.stride : gradients_.of(k);
    DeviceHistograms const of_output{histograms.sums + k * m.cells, histograms.cells};
    SumRows({m, of_output, state, states_.data() + k}, lists, parts_.memory.nodes(), bounds, device_.limits,
            device_.stream);
  }
}

VectorSplitView VectorTrees::Splits() const {
  std::uint64_t const cells = parts_.matrix.view.cells;
  VectorSplitView view{};
  view.of = parts_.splits.View();
  view.cells = in_planes_ ? PlaneCells(cells, outputs_, one_hessian_) : PairCells(cells, outputs_);
  bool const monotone = monotone_.constraints().monotone();
  view.nodes = {sums_.data(), left_.data(), weights_.data(), monotone ? bounds_.data() : nullptr, gain_.data()};
  view.params = ParamsOfOutput(params_, {});
  view.units = units_.data();
  view.min_child_weight = params_.min_child_weight;
  view.directions = monotone_.View().directions;
  view.best = best_.data();
  view.misses = misses_.data();
  view.categories = {is_categorical_.data(), categorical_.data(), static_cast<std::uint32_t>(categorical_.size()),
                     ends_.data()};
  return view;
}

/// Sums the rows of the nodes just made, and looks for their splits.
void VectorTrees::Evaluate(LevelBounds const& bounds, bool root, int batch) {
  SumOverDevices(bounds, batch);
  device_.timer.Run(kSplit, batch, [&] {
    SplitView const view = parts_.splits.View();
    if (view.features.are_chosen()) {
      TreeSettings const* const settings = parts_.memory.settings();
      ChooseFeatures({view.tree, &settings->draw, &settings->features, view.matrix.features, view.features}, bounds,
                     device_.limits, device_.stream);
    }
    FindVectorSplits(Splits(), static_cast<std::uint32_t>(bounds.families), root, device_.limits, device_.stream);
  });
}

/// Reads `n` nodes that were just made back, waits, and hands them to the growth.
void VectorTrees::LearnBack(std::size_t first, std::size_t n) {
  parts_.memory.ReadNodes(first, n);
  device_.shard.devices->Check();
  growth_.Learn({parts_.memory.returned_nodes(), n});
}

/// Chooses the next nodes, divides them, and looks for the splits of their children, if these may be split.
void VectorTrees::GrowBatch(int batch) {
  std::vector<Family> const families = growth_.NextBatch(batch_);
  auto const n = static_cast<std::uint32_t>(families.size());
  auto const siblings =
      std::count_if(families.begin(), families.end(), [](Family const& family) { return family.subtract == 0; });
  LevelBounds const bounds = BoundsOf(n, static_cast<std::uint32_t>(siblings));
  auto const first = static_cast<std::size_t>(families.front().left);
  std::size_t const end = first + 2 * families.size();
  bool const extends = parts_.memory.node_capacity() < end;
  parts_.memory.Extend(end, first);
  parts_.splits.ReserveCategories(parts_.memory.node_capacity(), first);
  parts_.splits.ExtendConstraints(first, end);
  ReserveNodes(first);
  if (extends) device_.WaitUntilAllHaveMemory();
  std::copy(families.begin(), families.end(), host_families_.data());  // the last copy from there is over
  CopyToDevice(parts_.memory.View().families, host_families_.data(), families.size(), device_.stream, "choosing nodes");
  int const most = params_.max_depth;
  bool const evaluates = most == 0 || std::any_of(families.begin(), families.end(), [&](Family const& family) {
                           return growth_.made()[static_cast<std::size_t>(family.parent)].depth + 1 < most;
                         });
  PrepareFamilies(parts_.splits.View(), parts_.Growth(), n, device_.stream);
  MakeVectorChildren(Splits(), n, device_.stream);
  device_.timer.Run(kMove, batch, [&] {
    PartitionView view = parts_.Partition(parts_.matrix.view);
    if (!evaluates) view.histograms.cells = 0;  // nothing is to be cleared
    MoveRows(view, parts_.rows.Lists(), bounds, LevelKind::kInner, device_.limits, device_.stream);
  });
  if (evaluates) Evaluate(bounds, false, batch);
  LearnBack(first, 2 * families.size());
}

VectorTree VectorTrees::Take() {
  std::size_t const numbers = growth_.made().size() * outputs_;
  if (host_sums_.size() < numbers) host_sums_ = PinnedBuffer<GradientSum>{2 * numbers};
  if (host_weights_.size() < numbers) host_weights_ = PinnedBuffer<float>{2 * numbers};
  CopyToHost(host_sums_.data(), sums_.data(), numbers, device_.stream, "reading leaves");
  CopyToHost(host_weights_.data(), weights_.data(), numbers, device_.stream, "reading leaves");
  leaves_.FindHostDriven(growth_.made(), growth_.LeafNumbers(), growth_.tree());  // waits
  CategorySets const sets = parts_.splits.ReadCategories(growth_.made().size());
  if (device_.timed()) device_.timer.timeline()->Resolve();
  auto const numbers_of = [&](NodeIndex n) {
    std::size_t const at = static_cast<std::size_t>(growth_.MadeNumber(n)) * outputs_;
    return VectorNumbers{host_sums_.data() + at, host_weights_.data() + at};
  };
  return MakeVectorTree({growth_.tree(), {}, sets}, parts_.matrix.cuts, split_params_, params_.learning_rate,
                        numbers_of);
}

}  // namespace xgbgpu::cuda
