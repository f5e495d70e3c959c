// Gathers the rows of all shards.
#include "objective/all_rows.h"

namespace xgbgpu {

AllRows::AllRows(TargetView const& targets, OutputView<float const> const& values, Collective& collective)
    : outputs_{values.outputs} {
  std::uint64_t const rows = values.rows;
  first_row_ = Shard::Place(&collective, rows).first_row;
  labels_ = GatherAll(collective, Span<float const>{targets.labels, rows});
  if (collective.AnyOf(targets.weights != nullptr && rows != 0)) {
    std::vector<float> const ones(targets.weights == nullptr ? rows : 0, 1.0f);
    weights_ = GatherAll(
        collective, targets.weights == nullptr ? Span<float const>{ones} : Span<float const>{targets.weights, rows});
  }
  std::vector<float> own(rows * outputs_);
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint32_t k = 0; k < outputs_; ++k) own[row * outputs_ + k] = values.at(row, k);
  values_ = GatherAll(collective, Span<float const>{own});
}

TargetView AllRows::targets() const {
  TargetView view;
  view.labels = labels_.data();
  if (!weights_.empty()) view.weights = weights_.data();
  return view;
}

}  // namespace xgbgpu
