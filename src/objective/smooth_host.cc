// Computes the scales of smooth losses on the host.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "objective/smooth.h"
#include "objective/smooth_ops.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kTermsPerTask = 1 << 13;  // terms per task

/// Calls use(terms' number, term) for terms of rows begin … end - 1: of each output, and, as the last, for weights.
template <typename Use>
void ForTerms(ObjectiveParams const& params, TargetView const& targets, OutputView<float const> const& margins,
              std::size_t begin, std::size_t end, Use&& use) {
  auto const weight = [&](std::size_t row) { return targets.weights == nullptr ? 1.0f : targets.weights[row]; };
  for (std::uint32_t k = 0; k < margins.outputs; ++k) {
    auto const labels = LabelsOf(params, targets, margins.rows, k);
    for (std::size_t row = begin; row < end; ++row) {
      use(k, TermOf(margins.at(row, k), labels.at(row, 0), weight(row)));
    }
  }
  for (std::size_t row = begin; row < end; ++row) use(margins.outputs, TermOf(weight(row)));
}

void RaiseTo(std::atomic<std::int64_t>* target, std::int64_t value) {
  std::int64_t seen = target->load(std::memory_order_relaxed);
  while (seen < value && !target->compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

std::vector<float> ScalesOfLoss(ObjectiveParams const& params, TargetView const& targets,
                                OutputView<float const> margins, int threads, Collective& collective) {
  std::size_t const kinds = std::size_t{margins.outputs} + 1;
  std::size_t const grain = std::max<std::size_t>(1, kTermsPerTask / kinds);
  std::vector<std::atomic<std::int64_t>> most(kinds), halves(2 * kinds);
  ParallelChunks(threads, margins.rows, grain, [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> own(kinds);
    ForTerms(params, targets, margins, begin, end,
             [&](std::uint32_t k, double term) { own[k] = std::max(own[k], std::int64_t{ExponentOf(term)}); });
    for (std::size_t k = 0; k < kinds; ++k) RaiseTo(&most[k], own[k]);
  });
  std::vector<std::int64_t> largest(most.begin(), most.end());
  collective.Max(Span<std::int64_t>{largest});
  std::vector<int> shifts;
  std::vector<double> powers;
  for (std::int64_t const exponent : largest) {
    shifts.push_back(TermShift(static_cast<std::uint32_t>(exponent)));
    powers.push_back(ScaleByPowerOfTwo(1.0, shifts.back()));
  }
  ParallelChunks(threads, margins.rows, grain, [&](std::size_t begin, std::size_t end) {
    std::vector<TermSum> own(kinds);
    ForTerms(params, targets, margins, begin, end,
             [&](std::uint32_t k, double term) { AddTerm(term, powers[k], &own[k]); });
    for (std::size_t k = 0; k < kinds; ++k) {
      halves[2 * k] += own[k].high;
      halves[2 * k + 1] += own[k].low;
    }
  });
  std::vector<std::int64_t> sums(halves.begin(), halves.end());
  collective.Sum(Span<std::int64_t>{sums});
  auto const value = [&](std::size_t k) { return ValueOf({sums[2 * k], sums[2 * k + 1]}, shifts[k]); };
  std::vector<float> scales;
  for (std::size_t k = 0; k < margins.outputs; ++k) scales.push_back(ScaleOf(value(k), value(margins.outputs)));
  return scales;
}

}  // namespace xgbgpu::host
