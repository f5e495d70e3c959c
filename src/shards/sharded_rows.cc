// Forwards the calls of a round to the rows of each device, or to one device that has all rows.
#include "shards/sharded_rows.h"

#include <utility>

#include "rounds/check_margins.h"

namespace xgbgpu {

ShardedRows::ShardedRows(Shards shards, RunAll run_all,
                         std::function<std::unique_ptr<cuda::DeviceResidentRows>()> make_whole)
    : shards_{std::move(shards)}, first_{0}, run_all_{std::move(run_all)}, make_whole_{std::move(make_whole)} {
  for (auto const& shard : shards_) first_.push_back(first_.back() + shard->rows());
}

/// The bound of the gradients must be the same on all devices: it decides who computes the gradients.
void ShardedRows::ShareLargest() {
  for (auto const& shard : shards_) shards_[0]->RaiseLargest(*shard);
  for (auto const& shard : shards_) shard->RaiseLargest(*shards_[0]);
}

void ShardedRows::SetMargins(Span<float const> margins) {
  std::size_t const outputs = this->outputs();
  CheckMargins(margins.size(), rows(), this->outputs());
  ForShardsAtOnce([&](cuda::DeviceResidentRows& shard, std::uint64_t first, std::uint64_t n) {
    shard.SetMargins(margins.subspan(first * outputs, n * outputs));
  });
  ShareLargest();
}

void ShardedRows::SetEqualMargins(Span<float const> margins) {
  for (auto const& shard : shards_) shard->SetEqualMargins(margins);
}

void ShardedRows::CopyMargins(Span<float> margins) const {
  std::size_t const outputs = this->outputs();
  CheckMargins(margins.size(), rows(), this->outputs());
  ForShardsAtOnce([&](cuda::DeviceResidentRows& shard, std::uint64_t first, std::uint64_t n) {
    shard.CopyMargins(margins.subspan(first * outputs, n * outputs));
  });
}

void ShardedRows::BeginColumns(Span<float const> base) {
  CheckMargins(base.size(), rows(), this->outputs());
  std::size_t const outputs = this->outputs();
  ForShardsAtOnce([&](cuda::DeviceResidentRows& shard, std::uint64_t first, std::uint64_t n) {
    shard.BeginColumns(base.subspan(first * outputs, n * outputs));
  });
  ShareLargest();
}

void ShardedRows::EndColumns() {
  for (auto const& shard : shards_) shard->EndColumns();
}

bool ShardedRows::ReserveColumns(std::size_t more) {
  bool all = true;
  for (auto const& shard : shards_) all = shard->ReserveColumns(more) && all;
  return all;
}

void ShardedRows::AddColumn(Span<float const> values, std::uint32_t output) {
  ForShardsAtOnce([&](cuda::DeviceResidentRows& shard, std::uint64_t first, std::uint64_t n) {
    shard.AddColumn(values.subspan(first, n), output);
  });
}

void ShardedRows::WeighColumns(Span<float const> weights) {
  for (auto const& shard : shards_) shard->WeighColumns(weights);
}

void ShardedRows::SetTargets(TargetView const& targets) {
  whole_has_targets_ = false;
  auto const from = [](auto const* array, std::uint64_t first) { return array == nullptr ? nullptr : array + first; };
  ForShardsAtOnce([&](cuda::DeviceResidentRows& shard, std::uint64_t first, std::uint64_t) {
    TargetView own = targets;
    own.labels = from(targets.labels, first * targets.label_columns);
    own.lower = from(targets.lower, first);
    own.upper = from(targets.upper, first);
    // Objectives with groups read all rows.
    own.weights = targets.groups != 0 ? nullptr : from(targets.weights, first);
    own.groups = 0;
    own.group_ptr = nullptr;
    shard.SetTargets(own);
  });
  ShareLargest();
  if (targets.groups == 0) return;  // WholeWithTargets copies the targets of the shards
  if (whole_ == nullptr) whole_ = make_whole_();
  whole_->SetTargets(targets);
  whole_has_targets_ = true;
}

cuda::DeviceResidentRows* ShardedRows::WholeWithTargets() {
  if (whole_ == nullptr) whole_ = make_whole_();
  if (whole_has_targets_) return whole_.get();
  cuda::TargetCopy copy;
  for (auto const& shard : shards_) shard->AppendTargets(&copy);
  whole_->SetTargets(copy.View());
  whole_has_targets_ = true;
  return whole_.get();
}

cuda::DeviceResidentRows* ShardedRows::Whole() {
  cuda::DeviceResidentRows* const whole = WholeWithTargets();
  std::vector<std::uint64_t> versions;
  for (auto const& shard : shards_) versions.push_back(shard->version());
  if (taken_ == versions) return whole;
  ForShards(
      [&](cuda::DeviceResidentRows& shard, std::uint64_t first, std::uint64_t) { whole->TakeMargins(&shard, first); });
  taken_ = std::move(versions);
  return whole;
}

void ShardedRows::ComputeGradients(ObjectiveParams const& objective) {
  if (!IsRanking(objective.kind) && !HasScale(objective.kind) && objective.kind != Objective::kCox) {
    for (auto const& shard : shards_) shard->ComputeGradients(objective);
    return;
  }
  cuda::DeviceResidentRows* const whole = Whole();
  whole->ComputeGradients(objective);
  ForShards(
      [&](cuda::DeviceResidentRows& shard, std::uint64_t first, std::uint64_t) { shard.TakeGradients(whole, first); });
}

void ShardedRows::AddTrees(std::size_t first, std::size_t last) {
  for (auto const& shard : shards_) shard->AddTrees(first, last);
}

double ShardedRows::Evaluate(ObjectiveParams const& objective, MetricParams const& metric) {
  return Whole()->Evaluate(objective, metric);
}

void ShardedRows::QuantileLeaves(std::uint32_t output, std::vector<NodeIndex const*> const& positions,
                                 std::vector<cudaStream_t> const& streams, Span<float> node_values) {
  WholeWithTargets()->QuantileLeavesOf(shards_, output, positions, streams, node_values);
}

}  // namespace xgbgpu
