// Grows exact trees on a device, level by level.
#include "exact/exact_growth.h"

#include <algorithm>
#include <utility>

#include "base/stages.h"
#include "core/random.h"
#include "exact/exact_ops.h"
#include "gradient/gradient_ops.h"
#include "predict/predict_cuda.h"
#include "sample/sample_ops.h"
#include "split/constraint_ops.h"

namespace xgbgpu::cuda {

namespace {

/// Returns [sets, words] bit sets of features.
std::vector<std::uint32_t> BitSets(std::vector<std::vector<FeatureIndex>> const& sets, std::uint32_t words) {
  std::vector<std::uint32_t> bits(sets.size() * words);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (FeatureIndex const f : sets[s]) bits[s * words + f / 32] |= 1U << (f % 32);
  }
  return bits;
}

}  // namespace

ExactGrowth::ExactGrowth(std::shared_ptr<SortedMatrix const> matrix, int threads, DeviceArena* arena,
                         Stream const& stream)
    : matrix_{std::move(matrix)},
      arena_{arena},
      stream_{stream},
      copies_{stream},
      limits_{CurrentDeviceLimits()},
      columns_{*matrix_, threads, arena} {
  std::vector<std::uint64_t> begin;
  for (FeatureIndex f = 0; f < matrix_->features(); ++f) {
    begin.push_back(matrix_->column_ptr[f]);
    begin.push_back(matrix_->column_ptr[f + 1]);
  }
  begin.push_back(0);
  begin.push_back(matrix_->rows);
  CopyIn(&root_begin_, "nodes", begin);
  std::size_t const tiles = std::max<std::size_t>(columns_.View().tile_count, matrix_->rows / kPackRows + 1);
  Clear(&states_, "tiles", kStateWords * tiles);
  spans_ = {arena_, "tiles", columns_.View().tile_count};
  positions_ = {arena_, "positions", matrix_->rows};
  Clear(&sides_, "positions", 32 * RowWords(matrix_->rows));
  words_ = {arena_, "positions", RowWords(matrix_->rows)};
}

/// Enqueues a copy of `from` to the device.
template <typename T>
void ExactGrowth::CopyIn(DeviceBuffer<T>* to, char const* part, std::vector<T> const& from) {
  Reserve(to, arena_, part, from.size());
  copies_.ToDevice(to->data(), from.data(), from.size(), "growing an exact tree");
}

/// Reserves `size` elements and enqueues their clearing.
template <typename T>
void ExactGrowth::Clear(DeviceBuffer<T>* buffer, char const* part, std::size_t size) {
  Reserve(buffer, arena_, part, size);
  FillBytes(buffer->data(), 0, size, stream_, "clearing for an exact tree");
}

/// Returns the workspace of a search: the spare list, if it is large enough. A search takes up to 24 bytes for a node
/// and a feature, and an entry of the list 4 bytes. So a search has its own memory only if nodes have fewer than six
/// values of a feature.
char* ExactGrowth::SearchWorkspace(std::size_t bytes) {
  if (list_[spare_].bytes() >= bytes) return reinterpret_cast<char*>(list_[spare_].data());
  Reserve(&search_, arena_, "nodes", bytes);
  return search_.data();
}

TileStates ExactGrowth::NextStates() {
  if (epoch_ == kMostEpochs) {
    FillBytes(states_.data(), 0, states_.size(), stream_, "counting kernels");
    epoch_ = 0;
  }
  return {states_.data(), ++epoch_};
}

bool ExactGrowth::Begin(TrainParams const& params, FeatureSampler const& features, DeviceGradients const& gradients,
                        std::uint32_t tree_number) {
  ValidateExact(params);
  params_ = params;
  features_ = &features;
  constraints_ = Constraints{params, matrix_->features()};
  node_limits_.Reset(constraints_);
  if (constraints_.monotone()) CopyIn(&directions_, "nodes", constraints_.directions());
  if (timer_.timeline() != nullptr) timer_.timeline()->BeginTree();
  nodes_ = {};
  neighbours_.clear();
  made_.clear();
  level_ = 0;
  columns_.Use(features.Tree(), stream_);

  Clear(&gradient_state_, "gradients", 1);
  CopyIn(&draw_, "gradients", std::vector<TreeDraw>{{params.seed, tree_number, 0, nullptr, params.min_child_weight}});
  timer_.Run(kGradients, 0, [&] {
    ChooseGradientFormat(gradients, DeviceShard::Whole(matrix_->rows), draw_.data(), gradient_state_.data(), limits_,
                         stream_);
  });
  GradientState state{};
  copies_.ToHost(&state, gradient_state_.data(), 1, "choosing the format of the gradients");
  if (state.maxima.grad >= kNotFiniteBits || state.maxima.hess >= kNotFiniteBits) return false;
  is_compact_ = state.format.narrow;
  GradientFormat const format = ToExactFormat(state.format);
  split_params_.emplace(params, format);
  if (is_compact_) {
    Reserve(&compact_[0], arena_, "gradients", matrix_->rows);
  } else {
    Reserve(&wide_[0], arena_, "gradients", matrix_->rows);
  }
  rows_at_ = 0;
  renumbered_ = false;
  rows_in_tree_ = true;
  Clear(&sum_, "gradients", 1);
  timer_.Run(kRoot, 0, [&] {
    SetLists({columns_.View().entries, root_begin_.data(), 1, spans_.data()});
    ExactRootView root{};
    root.gradients = gradients.pairs;
    root.rows = matrix_->rows;
    root.grad_scale = ScaleByPowerOfTwo(1.0, format.grad_shift);
    root.hess_scale = ScaleByPowerOfTwo(1.0, format.hess_shift);
    root.draws = {params.seed, RandomPurpose::kRowSample, tree_number, 0};
    root.threshold = SampleThreshold(params.subsample);
    root.sampled = Sampled();
    root.quantised = GradientsAt(0);
    root.positions = positions_.data();
    root.sides = sides_.data();
    root.sum = sum_.data();
    QuantiseExact(root, limits_, stream_);
  });
  GradientSum sum;
  copies_.ToHost(&sum, sum_.data(), 1, "summing gradients");
  nodes_.Add(kNoNode, sum);
  if (Sampled()) {  // the root's sample is its left child
    CopyIn(&splits_, "nodes", std::vector<ExactSplit>(1));
    CopyIn(&split_of_, "nodes", std::vector<std::int32_t>(1));
    split_count_ = 1;
    pieces_ = 0;
    Divide(0, true);
  }
  return true;
}

/// Makes `lists` the level's lists.
void ExactGrowth::SetLists(ExactLists const& lists) {
  lists_ = lists;
  SpanTiles(columns_.View(), lists_, spans_.data(), stream_);
}

/// Finds the best split of every node from level_ on.
void ExactGrowth::FindSplits() {
  std::size_t const nodes = nodes_.nodes.size() - static_cast<std::size_t>(level_);
  std::size_t const features = matrix_->features();
  std::vector<SearchedNode> searched;
  bool const all = features_->all() && !constraints_.interaction();
  std::vector<std::vector<FeatureIndex>> sets;
  for (std::size_t n = nodes_.nodes.size() - nodes; n < nodes_.nodes.size(); ++n) {
    Node const& node = nodes_.nodes[n];
    auto const number = static_cast<NodeIndex>(n);
    WeightBounds const bounds = node_limits_.bounds(number);
    searched.push_back({node.sum, constraints_.monotone() ? TermsOf<true>(*split_params_, node.sum, bounds)
                                                          : TermsOf<false>(*split_params_, node.sum, bounds)});
    if (all) continue;
    sets.push_back(features_->Node(node.depth, number));
    node_limits_.Filter(number, &sets.back());
  }
  CopyIn(&searched_, "nodes", searched);
  if (!sets.empty()) CopyIn(&allowed_, "nodes", BitSets(sets, (matrix_->features() + 31) / 32));
  std::size_t const present_bytes = columns_.has_missing() ? features * nodes * sizeof(GradientSum) : 0;
  std::size_t const best_bytes = features * nodes * sizeof(unsigned long long);
  std::size_t const workspace_bytes = present_bytes + best_bytes + nodes * sizeof(std::uint32_t);
  if (nodes_[level_].depth + 1 < params_.max_depth) {  // the next division needs the list anyway
    Reserve(&list_[spare_], arena_, "row lists", matrix_->stored());
  }
  char* const workspace = SearchWorkspace(workspace_bytes);
  FillBytes(workspace, 0, workspace_bytes, stream_, "clearing for exact splits");
  Reserve(&choices_on_device_, arena_, "nodes", nodes);

  ExactColumns const columns = columns_.View();
  ExactLevel const level{lists_,
                         searched_.data(),
                         constraints_.monotone() ? directions_.data() : nullptr,
                         reinterpret_cast<GradientSum*>(workspace),
                         reinterpret_cast<unsigned long long*>(workspace + present_bytes),
                         reinterpret_cast<std::uint32_t*>(workspace + present_bytes + best_bytes),
                         sets.empty() ? nullptr : allowed_.data()};
  timer_.Run(kSplit, nodes_[level_].depth, [&] {
    if (columns_.has_missing()) SumPresent(columns, level, Gradients(), stream_);
    cuda::FindExactSplits(columns, level, Gradients(), *split_params_, NextStates(), stream_);
    ChooseExactSplits(columns, level, choices_on_device_.data(), stream_);
  });
  choices_.resize(nodes);
  copies_.ToHost(choices_.data(), choices_on_device_.data(), nodes, "looking for exact splits");
  for (std::size_t n = 0; n < nodes; ++n) {
    SplitCandidate& split = nodes_.nodes[static_cast<std::size_t>(level_) + n].split;
    split.gain = choices_[n].gain;
    split.feature = choices_[n].feature;
    split.default_left = choices_[n].default_left != 0;
  }
}

bool ExactGrowth::SelectNodes() {
  selected_ = SelectExactNodes(nodes_, level_, params_);
  return !selected_.empty();
}

void ExactGrowth::ExpandNodes() {
  std::vector<ExactSplit> splits;
  std::vector<std::int32_t> split_of(choices_.size(), -1);
  std::uint64_t pieces = 0;
  for (NodeIndex const n : selected_) {
    ExactChoice const& choice = choices_[static_cast<std::size_t>(n - level_)];
    split_of[static_cast<std::size_t>(n - level_)] = static_cast<std::int32_t>(splits.size());
    // With a dense feature either side may be the default of MarkSides. The larger side leaves fewer rows to mark.
    std::uint32_t const rest_left = static_cast<std::uint32_t>(
        matrix_->IsDense(choice.feature) ? (choice.index > choice.entries / 2 ? 1 : 0) : choice.default_left);
    splits.push_back({choice.begin, choice.index, choice.entries, rest_left, static_cast<std::uint32_t>(pieces),
                      static_cast<std::uint32_t>(n - level_)});
    pieces += (std::uint64_t{choice.entries} + kPieceEntries - 1) / kPieceEntries;
  }
  CopyIn(&splits_, "nodes", splits);
  CopyIn(&split_of_, "nodes", split_of);
  split_count_ = static_cast<std::uint32_t>(splits.size());
  pieces_ = static_cast<std::uint32_t>(pieces);
  Clear(&outcomes_, "nodes", splits.size());
  timer_.Run(kSides, nodes_[level_].depth, [&] {
    MarkSides({lists_, Rows(), Splits(), Gradients(), sides_.data(), outcomes_.data()}, limits_, stream_);
  });
  ExactOutcome const* const outcomes = copies_.Fetch(outcomes_.data(), splits.size(), "reading sums of children");
  auto const children = static_cast<NodeIndex>(nodes_.nodes.size());
  int const depth = nodes_[level_].depth + 1;
  bool const go_on = depth < params_.max_depth;
  if (go_on) {
    Divide(children, false);
  } else {
    timer_.Run(kMove, depth, [&] { MoveRows(nullptr, children, false); });
    rows_in_tree_ = false;
  }
  copies_.WaitForFetched("dividing rows");

  made_.resize(nodes_.nodes.size());
  neighbours_.resize(nodes_.nodes.size());
  for (std::size_t s = 0; s < splits.size(); ++s) {
    NodeIndex const parent = selected_[s];
    ExactChoice const& choice = choices_[static_cast<std::size_t>(parent - level_)];
    GradientSum const total = nodes_[parent].sum, below = outcomes[s].below;
    GradientSum const right = choice.present - below;
    SplitCandidate& split = nodes_[parent].split;
    split.left = choice.default_left != 0 ? total - right : below;
    split.right = total - split.left;
    made_[static_cast<std::size_t>(parent)] = choice;
    neighbours_[static_cast<std::size_t>(parent)] = {outcomes[s].lower, outcomes[s].upper};
    GradientSum const left_sum = split.left, right_sum = split.right;
    NodeIndex const left = nodes_.Add(parent, left_sum);
    nodes_.Add(parent, right_sum);
    nodes_[parent].left = left;
    node_limits_.AddChildren(*split_params_, parent, left, nodes_[parent].split);
  }
  level_ = children;
  if (go_on) FindSplits();
}

/// Makes the children of splits_ the level. Rows of nodes without a split get their positions.
void ExactGrowth::Divide(NodeIndex left_child, bool left_only) {
  Reserve(&child_rows_, arena_, "nodes", split_count_);
  if (columns_.has_missing()) Clear(&left_entries_, "nodes", std::size_t{matrix_->features()} * lists_.nodes);
  std::size_t const children = (left_only ? 1 : 2) * std::size_t{split_count_};
  auto& begin = begin_[spare_];
  Reserve(&begin, arena_, "nodes", (std::size_t{matrix_->features()} + 1) * (children + 1));
  Reserve(&list_[spare_], arena_, "row lists", matrix_->stored());
  int const to = 1 - rows_at_;
  if (is_compact_) {
    Reserve(&compact_[to], arena_, "gradients", matrix_->rows);
  } else {
    Reserve(&wide_[to], arena_, "gradients", matrix_->rows);
  }
  Reserve(&origin_[to], arena_, "positions", matrix_->rows);
  ExactPartition const partition{
      lists_,
      Rows(),
      Splits(),
      left_only,
      words_.data(),
      left_entries_.data(),
      {begin.data(), list_[spare_].data(), child_rows_.data(), static_cast<std::uint32_t>(children)}};
  timer_.Run(kMove, nodes_[level_].depth + (left_only ? 0 : 1), [&] {
    PackSides(sides_.data(), matrix_->rows, words_.data(), NextStates(), stream_);
    PartitionLists(columns_.View(), partition, NextStates(), stream_);
    MoveRows(child_rows_.data(), left_child, left_only);
    SetLists({list_[spare_].data(), begin.data(), static_cast<std::uint32_t>(children), spans_.data()});
  });
  spare_ = 1 - spare_;
  rows_at_ = to;
  renumbered_ = true;
}

/// Moves the level's rows to the children by split_of_ and sides_. With child_rows = nullptr the children are leaves.
void ExactGrowth::MoveRows(ChildRows const* child_rows, NodeIndex left_child, bool left_only) {
  int const to = 1 - rows_at_;
  MoveExactRows({Rows(), Splits(), sides_.data(), words_.data(), child_rows, left_only, Gradients(), GradientsAt(to),
                 origin_[to].data(), level_, left_child, positions_.data()},
                limits_, stream_);
}

/// Finds the threshold of each split from its two neighbouring rows. The device finds the rows' entries, and the host
/// reads the values there.
void ExactGrowth::FindThresholds() {
  std::size_t const size = nodes_.nodes.size();
  made_.resize(size);
  neighbours_.resize(size);
  std::vector<std::vector<RowIndex>> wanted(matrix_->features());
  for (std::size_t n = 0; n < size; ++n) {
    if (nodes_.nodes[n].left == kNoNode) continue;
    auto& rows = wanted[made_[n].feature];
    if (made_[n].index > 0) rows.push_back(neighbours_[n].lower);
    if (made_[n].index < made_[n].entries) rows.push_back(neighbours_[n].upper);
  }
  std::vector<std::uint32_t> row_ptr{0};
  std::vector<RowIndex> rows;
  for (auto& column : wanted) {
    std::sort(column.begin(), column.end());
    column.erase(std::unique(column.begin(), column.end()), column.end());
    rows.insert(rows.end(), column.cbegin(), column.cend());
    row_ptr.push_back(static_cast<std::uint32_t>(rows.size()));
  }
  if (rows.empty()) return;
  CopyIn(&located_ptr_, "nodes", row_ptr);
  CopyIn(&located_rows_, "nodes", rows);
  Clear(&places_, "nodes", rows.size());
  timer_.Run(kThresholds, 0, [&] {
    LocateRows(columns_.View(), {located_ptr_.data(), located_rows_.data(), static_cast<std::uint32_t>(rows.size())},
               sides_.data(), places_.data(), limits_, stream_);
  });
  std::vector<std::uint64_t> places(rows.size());
  copies_.ToHost(places.data(), places_.data(), places.size(), "looking for values");

  for (std::size_t n = 0; n < size; ++n) {
    if (nodes_.nodes[n].left == kNoNode) continue;
    ExactChoice const& choice = made_[n];
    auto const value = [&](RowIndex row) {
      auto const first = rows.cbegin() + row_ptr[choice.feature], last = rows.cbegin() + row_ptr[choice.feature + 1];
      auto const found = static_cast<std::size_t>(std::lower_bound(first, last, row) - rows.cbegin());
      return matrix_->values[places[found]].value;
    };
    float& threshold = nodes_.thresholds[n];
    if (choice.index == 0) {
      threshold = ThresholdBelow(value(neighbours_[n].upper));
    } else if (choice.index == choice.entries) {
      threshold = ThresholdAbove(value(neighbours_[n].lower));
    } else {
      threshold = ThresholdBetween(value(neighbours_[n].lower), value(neighbours_[n].upper));
    }
  }
}

/// Moves rows outside the sample down the grown tree, level by level.
void ExactGrowth::RouteUnsampled() {
  std::vector<ExactStep> steps;
  int depth = 0;
  for (std::size_t n = 0; n < nodes_.nodes.size(); ++n) {
    Node const& node = nodes_.nodes[n];
    ExactStep step{node.parent, node.left, node.split.feature, node.depth, 0, node.split.default_left ? 1U : 0U};
    if (node.left != kNoNode) {
      Span<SortedValue const> const column = matrix_->column(step.feature);
      auto const* const place =
          std::lower_bound(column.begin(), column.end(), nodes_.thresholds[n],
                           [](SortedValue const& value, float threshold) { return value.value < threshold; });
      step.place = matrix_->column_ptr[step.feature] + static_cast<std::uint64_t>(place - column.begin());
      depth = std::max(depth, node.depth + 1);
    }
    steps.push_back(step);
  }
  CopyIn(&steps_, "nodes", steps);
  for (int d = 0; d < depth; ++d) {
    StepUnsampled(columns_.View(), steps_.data(), d, positions_.data(), limits_, stream_);
  }
}

ExactNodes ExactGrowth::Finish() {
  if (rows_in_tree_) {  // the level has no splits
    CopyIn(&split_of_, "nodes", std::vector<std::int32_t>(lists_.nodes, -1));
    timer_.Run(kWalk, nodes_.nodes.back().depth, [&] { MoveRows(nullptr, 0, false); });
  }
  FindThresholds();
  if (Sampled()) RouteUnsampled();
  std::vector<NodeIndex> node_of;
  ExactNodes kept = Prune(nodes_, params_.min_split_loss, &node_of);
  if (kept.nodes.size() != nodes_.nodes.size()) {
    CopyIn(&node_of_, "nodes", node_of);
    RenumberPositions(node_of_.data(), positions_.data(), matrix_->rows, limits_, stream_);
  }
  copies_.Wait("growing an exact tree");
  if (timer_.timeline() != nullptr) timer_.timeline()->Resolve();
  return kept;
}

}  // namespace xgbgpu::cuda
