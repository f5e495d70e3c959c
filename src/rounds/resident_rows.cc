// Keeps account of the trees that were started on resident rows before they are asked for.
#include "xgbgpu/resident_rows.h"

#include <utility>

#include "xgbgpu/error.h"

namespace xgbgpu {

Tree ResidentRows::Grow(TrainParams const& params, std::uint32_t output, TreeKey key) {
  RoundTree const wanted{output, key};
  auto& started = rounds().started_;
  bool const is_next =
      started && started->rows == this && started->params == params && started->trees[started->finished] == wanted;
  if (!is_next) Start(params, {wanted});
  try {
    Tree tree = FinishNext();
    if (++started->finished == started->trees.size()) started.reset();
    return tree;
  } catch (...) {
    rounds().Cancel();
    throw;
  }
}

void ResidentRows::Start(TrainParams const& params, std::vector<RoundTree> const& trees) {
  auto& started = rounds().started_;
  if (started && started->finished == 0 && started->rows == this && started->params == params &&
      started->trees == trees) {
    return;
  }
  params.Validate();
  rounds().Cancel();
  started = ResidentRounds::Started{params, this, trees, 0};
  try {
    Begin(params, trees);
  } catch (...) {
    rounds().Cancel();
    throw;
  }
}

VectorTree ResidentRows::GrowVectors(TrainParams const& params, TreeKey key) {
  params.Validate();
  rounds().Cancel();
  return MakeVectors(params, key);
}

VectorTree ResidentRows::MakeVectors(TrainParams const&, TreeKey) {
  throw Unsupported{
      "Trees of vectors (multi_strategy=multi_output_tree) are asked of rows whose builder has none; supported: rows "
      "of "
      "trees by histograms"};
}

std::vector<double> ResidentRows::EvaluateInGroup(ObjectiveParams const& objective, Span<MetricParams const> metrics,
                                                  TargetView const& targets, int threads, Collective* group,
                                                  Span<SharedRows* const> shared) {
  std::vector<float> values(rows() * outputs());
  CopyMargins(values);
  host::Transform(objective, RowMajor<float const>(values.data(), rows(), outputs()),
                  RowMajor(values.data(), rows(), outputs()), threads);
  return host::Evaluate(metrics, targets, RowMajor<float const>(values.data(), rows(), outputs()), threads, *group,
                        shared);
}

ResidentRounds::~ResidentRounds() = default;

void ResidentRounds::Cancel() noexcept {
  if (!started_) return;
  started_.reset();
  Abandon();
}

}  // namespace xgbgpu
