// Computes gradients and predictions of objectives on the host.
#include <algorithm>
#include <type_traits>

#include "base/parallel.h"
#include "objective/aft_ops.h"
#include "objective/cox.h"
#include "objective/objective_ops.h"
#include "objective/rank.h"
#include "objective/smooth.h"
#include "objective/smooth_ops.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kValuesPerTask = 1 << 13;  // values per task

/// Returns the rows of a task, so that it has about kValuesPerTask values.
std::size_t RowsPerTask(std::uint32_t outputs) { return std::max<std::size_t>(1, kValuesPerTask / outputs); }

float WeightOf(TargetView const& targets, std::uint64_t row) {
  return targets.weights == nullptr ? 1.0f : targets.weights[row];
}

/// Computes gradients from arrays without gaps: the compiler makes vector instructions of this, as far as the loss has
/// them.
template <typename Loss>
XGBGPU_VECTOR void GradientRun(Loss loss, float const* margins, float const* labels, float const* weights,
                               std::size_t n, GradientPair* out) {
  if (weights == nullptr) {
    for (std::size_t i = 0; i < n; ++i) out[i] = loss(margins[i], labels[i], 1.0f);
  } else {
    for (std::size_t i = 0; i < n; ++i) out[i] = loss(margins[i], labels[i], weights[i]);
  }
}

template <typename T>
bool IsOneRun(OutputView<T> const& view) {
  return view.outputs == 1 && view.row_stride == 1;
}

/// Computes gradients of an objective with a scale. Shards call it at the same time.
void ComputeScaledGradients(ObjectiveParams const& params, TargetView const& targets,
                            OutputView<float const> const& margins, OutputView<GradientPair> const& gradients,
                            int threads, Collective& collective) {
  auto const scales = ScalesOfLoss(params, targets, margins, threads, collective);
  for (std::uint32_t k = 0; k < margins.outputs; ++k) {
    auto const labels = LabelsOf(params, targets, margins.rows, k);
    auto const of_output = ColumnOf(margins, k);
    auto const out = ColumnOf(gradients, k);
    bool const one_run = IsOneRun(of_output) && IsOneRun(out) && IsOneRun(labels);
    VisitScaledLoss(params, k, scales[k], [&](auto loss) {
      ParallelChunks(threads, margins.rows, kValuesPerTask, [&](std::size_t begin, std::size_t end) {
        if (one_run) {
          GradientRun(loss, of_output.data + begin, labels.data + begin,
                      targets.weights == nullptr ? nullptr : targets.weights + begin, end - begin, out.data + begin);
          return;
        }
        for (std::size_t row = begin; row < end; ++row)
          out.at(row, 0) = loss(of_output.at(row, 0), labels.at(row, 0), WeightOf(targets, row));
      });
    });
  }
}

/// Computes gradients of several expectiles.
void ComputeExpectileGradients(ObjectiveParams const& params, TargetView const& targets,
                               OutputView<float const> const& margins, OutputView<GradientPair> const& gradients,
                               int threads) {
  ParallelChunks(threads, margins.rows, RowsPerTask(margins.outputs), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      for (std::uint32_t k = 0; k < margins.outputs; ++k) {
        ExpectileTerm(params.alphas[k], margins, row, k, targets.labels[row], WeightOf(targets, row), gradients);
      }
      SumExpectileTerms(margins, row, gradients);
    }
  });
}

}  // namespace

void ComputeGradients(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> margins,
                      OutputView<GradientPair> gradients, int threads, Collective& collective,
                      std::vector<std::int64_t>* losses) {
  if (HasScale(params.kind)) {
    return ComputeScaledGradients(params, targets, margins, gradients, threads, collective);
  }
  if (params.kind == Objective::kExpectile && margins.outputs > 1) {
    return ComputeExpectileGradients(params, targets, margins, gradients, threads);
  }
  if (HasAlphas(params.kind) && margins.outputs > 1) {
    for (std::uint32_t k = 0; k < margins.outputs; ++k) {
      ComputeGradients(OfOutput(params, k), targets, ColumnOf(margins, k), ColumnOf(gradients, k), threads);
    }
    return;
  }
  std::size_t const grain = RowsPerTask(margins.outputs);
  if (params.kind == Objective::kSoftmax) {
    ParallelChunks(threads, margins.rows, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row)
        SoftmaxGradients(margins, row, targets.labels[row], WeightOf(targets, row), gradients);
    });
    return;
  }
  if (params.kind == Objective::kAft) {
    VisitAft(params, [&](auto loss) {
      ParallelChunks(threads, margins.rows, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
          gradients.at(row, 0) =
              loss(margins.at(row, 0), targets.lower[row], targets.upper[row], WeightOf(targets, row));
        }
      });
    });
    return;
  }
  if (params.kind == Objective::kCox) return ComputeCoxGradients(targets, margins, gradients, threads, collective);
  if (IsRanking(params.kind)) {
    return ComputeRankGradients(params, targets, margins, gradients, threads, collective, losses);
  }
  bool const one_run = IsOneRun(margins) && IsOneRun(gradients);
  VisitLoss(params, [&](auto loss) {
    ParallelChunks(threads, margins.rows, grain, [&](std::size_t begin, std::size_t end) {
      if (one_run) {
        GradientRun(loss, margins.data + begin, targets.labels + begin,
                    targets.weights == nullptr ? nullptr : targets.weights + begin, end - begin,
                    gradients.data + begin);
        return;
      }
      for (std::size_t row = begin; row < end; ++row) {
        float const weight = WeightOf(targets, row);
        for (std::uint32_t k = 0; k < margins.outputs; ++k)
          gradients.at(row, k) = loss(margins.at(row, k), targets.labels[row * margins.outputs + k], weight);
      }
    });
  });
}

void Transform(ObjectiveParams const& params, OutputView<float const> margins, OutputView<float> out, int threads) {
  std::size_t const grain = RowsPerTask(margins.outputs);
  if (params.kind == Objective::kSoftmax) {
    ParallelChunks(threads, margins.rows, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) SoftmaxProbabilities(margins, row, out);
    });
    return;
  }
  if (params.kind == Objective::kSmoothQuantile) {
    if (margins.outputs == 1 && margins.data == out.data) return;
    ParallelChunks(threads, margins.rows, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) SortRow(margins, row, out);
    });
    return;
  }
  if (params.kind == Objective::kExpectile && margins.outputs > 1) {
    ParallelChunks(threads, margins.rows, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) ExpectilePredictions(margins, row, out);
    });
    return;
  }
  VisitTransform(params.kind, [&](auto transform) {
    if (std::is_same_v<decltype(transform), SameAsMargin> && margins.data == out.data) return;
    ParallelChunks(threads, margins.rows, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row)
        for (std::uint32_t k = 0; k < margins.outputs; ++k) out.at(row, k) = transform(margins.at(row, k));
    });
  });
}

}  // namespace xgbgpu::host
