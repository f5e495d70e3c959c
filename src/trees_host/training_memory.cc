// Decides whether a training on the host is in core or in pages.
#include "trees_host/training_memory.h"

#include <algorithm>
#include <limits>

#include "base/message.h"

namespace xgbgpu {

namespace {

// Bytes of a row while a tree grows, with a sample and in whichever format of gradients takes more, or in both in
// turns.
constexpr std::size_t kPosition = 4, kGradients = 4 + 16, kSampled = 8 + 2, kLists = 2 * 8 + 1;
constexpr std::size_t kRowInCore = kPosition + 16 + kSampled + kLists;
constexpr std::size_t kRowInPages = kPosition + kGradients + kSampled;

constexpr HostHistogramPolicy kHistograms;
constexpr PagePolicy kPages;

/// What a training takes in core and in pages: rows, two histograms, scratch.
std::uint64_t LeastOf(TrainingNeeds const& needs, std::size_t row_bytes) {
  return needs.rows * row_bytes + 2 * needs.histogram + needs.scratch;
}
std::uint64_t LeastInCore(TrainingNeeds const& needs) { return LeastOf(needs, kRowInCore) + needs.bins + needs.shared; }
std::size_t LeastPage(TrainingNeeds const& needs) { return std::max(kPages.least_page_bytes, needs.row_bins); }
std::uint64_t LeastInPages(TrainingNeeds const& needs) {
  return LeastOf(needs, kRowInPages) + 3 * (needs.shared + LeastPage(needs));
}

/// Shares the limit out. It is not below the least.
TrainingMemory Share(TrainingNeeds const& needs, std::uint64_t limit, bool in_pages) {
  std::uint64_t const left = limit - (in_pages ? LeastInPages(needs) : LeastInCore(needs));
  TrainingMemory memory;
  memory.in_pages = in_pages;
  memory.page_bytes = std::clamp<std::uint64_t>(LeastPage(needs) + left / 12, LeastPage(needs),
                                                std::max(kPages.page_bytes, LeastPage(needs)));
  std::uint64_t const larger_pages = in_pages ? 3 * (memory.page_bytes - LeastPage(needs)) : 0;
  std::uint64_t const most = in_pages ? std::numeric_limits<std::int64_t>::max() : kHistograms.cache_bytes;
  memory.working_bytes = std::min(most, 2 * needs.histogram + left - larger_pages);
  return memory;
}

[[noreturn]] void Refuse(TrainingNeeds const& needs, std::uint64_t limit) {
  std::uint64_t const in_core = LeastInCore(needs), in_pages = LeastInPages(needs);
  bool const is_less_in_core = in_core > limit && in_core < in_pages;  // if it fits, other shards are in pages
  std::uint64_t const least = is_less_in_core ? in_core : in_pages;
  Throw<InvalidArgument>("gpu_memory_limit is ", limit, " bytes, and this training takes ", least,
                         " at least: ", needs.rows, " rows of ", is_less_in_core ? kRowInCore : kRowInPages,
                         " bytes, two histograms of ", needs.histogram, " bytes, ",
                         is_less_in_core ? "bins of " : "pages of ", is_less_in_core ? needs.bins : LeastPage(needs),
                         " bytes, bounds of bins and scratch; allowed: ", least, " or more, or 0 for no limit");
}

}  // namespace

TrainingNeeds NeedsOf(host::MatrixPlan const& plan, int threads) {
  QuantisedMatrix const& m = *plan.matrix;
  std::uint64_t most_values = 0;
  BinIndex widest = 0;
  for (std::uint64_t r = 0; r < m.rows; ++r) {
    most_values = std::max(most_values, plan.row_ptr[r + 1] - plan.row_ptr[r]);
  }
  for (FeatureIndex f = 0; f < m.features(); ++f) widest = std::max(widest, m.cell_ptr[f + 1] - m.cell_ptr[f]);
  std::size_t const table = m.dense() ? std::min(m.cells(), std::max(widest, kHistograms.block_cells)) : m.cells();
  TrainingNeeds needs{};
  needs.rows = m.rows;
  needs.bins = m.DataBytes(m.rows, m.stored) +
               (m.dense() ? m.rows * m.features() * m.symbol_bytes()
                          : (m.rows + 1) * sizeof(std::uint64_t) + SparseColumns::Bytes(m.features(), m.stored));
  needs.shared = m.bytes();
  needs.histogram = std::size_t{m.cells()} * sizeof(GradientSum);
  needs.scratch = static_cast<std::size_t>(threads) * table * (sizeof(std::int64_t) + sizeof(GradientSum));
  needs.row_bins = m.DataBytes(1, most_values) + (m.dense() ? 0 : 2 * sizeof(std::uint64_t));
  return needs;
}

TrainingMemory ChooseTrainingMemory(TrainingNeeds const& needs, std::uint64_t limit, Collective& collective) {
  if (limit == 0) limit = std::numeric_limits<std::uint64_t>::max();
  bool const in_pages = collective.AnyOf(LeastInCore(needs) > limit);
  AllOrNone(collective, [&] {
    if (in_pages && LeastInPages(needs) > limit) Refuse(needs, limit);
  });
  TrainingMemory memory = Share(needs, limit, in_pages);
  memory.working_bytes = static_cast<std::size_t>(-collective.MaxOf(-static_cast<std::int64_t>(memory.working_bytes)));
  return memory;
}

}  // namespace xgbgpu
