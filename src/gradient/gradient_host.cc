// Chooses the format of a tree's gradients and quantises them on the host.
#include <algorithm>
#include <atomic>

#include "base/message.h"
#include "base/parallel.h"
#include "core/random_run.h"
#include "gradient/gradient.h"
#include "gradient/gradient_ops.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kGrain =
    1 << 15;  // rows per task: large enough to hide a task's cost, a multiple of 4 · kRandomRun

/// Largest magnitudes of a run of rows, as MagnitudeBits. They are signed, because every vector unit has a maximum of
/// signed integers.
struct Largest {
  std::int32_t grad{0};
  std::int32_t hess{0};
};

XGBGPU_VECTOR Largest LargestOf(GradientPair const* v, std::size_t n) {
  Largest most;
  for (std::size_t i = 0; i < n; ++i) {
    most.grad = std::max(most.grad, static_cast<std::int32_t>(MagnitudeBits(v[i].grad)));
    most.hess = std::max(most.hess, static_cast<std::int32_t>(MagnitudeBits(v[i].hess)));
  }
  return most;
}

XGBGPU_VECTOR FormatSums SumForFormat(GradientPair const* v, std::size_t n, GradientMaxima most) {
  FloatScale const grad_scale = CoarseScale(most.grad), hess_scale = CoarseScale(most.hess);
  NarrowScales const narrow = MakeNarrowScales(MakeGradientFormat(1, most.grad, most.hess, true));
  FormatSums sums;
  for (std::size_t i = 0; i < n; ++i) {
    sums.coarse.grad += CoarseMagnitude(v[i].grad, grad_scale);
    sums.coarse.hess += CoarseMagnitude(v[i].hess, hess_scale);
    sums.vanishing += HessianVanishes(v[i], narrow) ? 1 : 0;
  }
  return sums;
}

XGBGPU_VECTOR void NarrowRun(GradientPair const* v, std::uint32_t const* random, std::size_t n, NarrowScales scales,
                             NarrowGradient* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = QuantiseNarrow(v[i], scales, random[i]);
}

void RaiseTo(std::atomic<std::uint32_t>* target, std::uint32_t value) {
  std::uint32_t seen = target->load(std::memory_order_relaxed);
  while (seen < value && !target->compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

[[noreturn]] void ThrowNotFinite(Span<GradientPair const> gradients, std::uint64_t first_row) {
  std::size_t i = 0;
  auto const is_finite = [](GradientPair v) {
    return MagnitudeBits(v.grad) < kNotFiniteBits && MagnitudeBits(v.hess) < kNotFiniteBits;
  };
  while (i < gradients.size() && is_finite(gradients[i])) ++i;
  if (i == gradients.size()) throw OtherShardFailed{"A gradient in another shard of the rows is NaN or infinite"};
  Throw<InvalidArgument>("Gradient of row ", first_row + i, " is (grad ", gradients[i].grad, ", hess ",
                         gradients[i].hess, "); both must be finite. ", kCausesOfBadGradients);
}

bool MayBeNarrow(Span<GradientPair const> gradients, std::size_t rows, float min_child_weight, GradientMaxima most,
                 int threads, Collective& collective) {
  std::atomic<std::int64_t> grad_sum{0}, hess_sum{0}, vanishing{0};
  ParallelChunks(threads, gradients.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    FormatSums const sums = SumForFormat(gradients.data() + begin, end - begin, most);
    grad_sum += sums.coarse.grad;
    hess_sum += sums.coarse.hess;
    vanishing += sums.vanishing;
  });
  std::int64_t sums[] = {grad_sum, hess_sum, vanishing};
  collective.Sum({sums, 3});
  return xgbgpu::MayBeNarrow({{sums[0], sums[1]}, sums[2]}, rows, min_child_weight, most);
}

}  // namespace

GradientMaxima LargestGradients(Span<GradientPair const> gradients, int threads, Collective& collective,
                                std::uint64_t first_row) {
  std::atomic<std::uint32_t> grad_max{0}, hess_max{0};
  ParallelChunks(threads, gradients.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    Largest const most = LargestOf(gradients.data() + begin, end - begin);
    RaiseTo(&grad_max, static_cast<std::uint32_t>(most.grad));
    RaiseTo(&hess_max, static_cast<std::uint32_t>(most.hess));
  });
  std::int64_t most[] = {grad_max, hess_max};
  collective.Max({most, 2});
  if (std::max(most[0], most[1]) >= kNotFiniteBits) ThrowNotFinite(gradients, first_row);
  return {static_cast<std::uint32_t>(most[0]), static_cast<std::uint32_t>(most[1])};
}

GradientFormat ChooseGradientFormat(Span<GradientPair const> gradients, std::size_t rows, float min_child_weight,
                                    int threads, Collective& collective, std::uint64_t first_row) {
  GradientMaxima const most = LargestGradients(gradients, threads, collective, first_row);
  bool const narrow =
      rows >= kNarrowMinRows && MayBeNarrow(gradients, rows, min_child_weight, most, threads, collective);
  return MakeGradientFormat(rows, most.grad, most.hess, narrow);
}

void AgreeOnFormats(Span<GradientFormat> formats, std::size_t rows) {
  if (std::all_of(formats.begin(), formats.end(), [](GradientFormat const& f) { return f.narrow; })) return;
  for (GradientFormat& format : formats) {
    if (!format.narrow) continue;
    int const more = WideBits(rows) - kNarrowBits;
    format = {false, format.grad_shift + more, format.hess_shift + more};
  }
}

void QuantiseGradients(Span<GradientPair const> gradients, GradientFormat format, RandomStream const& rounding,
                       Span<NarrowGradient> narrow, Span<GradientSum> wide, int threads, std::uint64_t first_row) {
  double const grad_scale = ScaleByPowerOfTwo(1.0, format.grad_shift);
  double const hess_scale = ScaleByPowerOfTwo(1.0, format.hess_shift);
  ParallelChunks(threads, gradients.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    if (!format.narrow) {
      for (std::size_t i = begin; i < end; ++i) wide[i] = QuantiseWide(gradients[i], grad_scale, hess_scale);
      return;
    }
    ForEachRandomRun(rounding, first_row, begin, end, [&](std::size_t i, std::uint32_t const* random, std::size_t n) {
      NarrowRun(gradients.data() + i, random, n, MakeNarrowScales(format), narrow.data() + i);
    });
  });
}

GradientSum SumGradients(GradientView const& gradients, std::size_t rows, int threads) {
  std::atomic<std::int64_t> grad_sum{0}, hess_sum{0};
  ParallelChunks(threads, rows, kGrain, [&](std::size_t begin, std::size_t end) {
    std::int64_t grad = 0, hess = 0;
    for (std::size_t i = begin; i < end; ++i) {
      grad += gradients.format.narrow ? gradients.narrow[i].grad : gradients.wide[i].grad;
      hess += gradients.format.narrow ? gradients.narrow[i].hess : gradients.wide[i].hess;
    }
    grad_sum += grad;
    hess_sum += hess;
  });
  return {grad_sum, hess_sum};
}

GradientSum AttachGradients(GradientView const& gradients, Span<RowRecord> rows, int threads) {
  std::atomic<std::int64_t> grad_sum{0}, hess_sum{0};
  ParallelChunks(threads, rows.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::int64_t grad = 0, hess = 0;
    for (std::size_t i = begin; i < end; ++i) {
      RowRecord& record = rows[i];
      if (gradients.format.narrow) {
        record.gradient = gradients.narrow[record.row];
        grad += record.gradient.grad;
        hess += record.gradient.hess;
      } else {
        grad += gradients.wide[record.row].grad;
        hess += gradients.wide[record.row].hess;
      }
    }
    grad_sum += grad;
    hess_sum += hess;
  });
  return {grad_sum, hess_sum};
}

}  // namespace xgbgpu::host
