// Divides and lists the rows of pages by their node numbers.
#include "partition/paged_rows.h"

#include <algorithm>

#include "base/parallel.h"
#include "partition/partition_ops.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kGrain = 1 << 13;  // rows per task

NodeIndex NodeAt(NodeIndex position) { return position < 0 ? ~position : position; }

/// A division with the number of bins of its feature.
struct BinDivision {
  Division division;
  BinIndex bins;
};

template <typename View>
bool DividedRowGoesLeft(View const& view, RowIndex row, BinDivision const& by) {
  Division const& d = by.division;
  if (d.right_categories == nullptr) {
    return RowGoesLeft(view, row, BinSplit{d.feature, d.bin, by.bins, d.default_left});
  }
  return RowGoesLeft(view, row, CategorySplit{d.feature, d.right_categories, by.bins, d.default_left});
}

}  // namespace

void PagedRows::NodeNumbers::Set(NodeIndex node, std::size_t number) {
  auto const n = static_cast<std::size_t>(node);
  if (numbers_.size() <= n) numbers_.resize(n + 1, kNone);
  numbers_[n] = static_cast<std::int32_t>(number);
}

std::size_t PagedRows::Sample(TrainParams const& params, std::uint32_t tree, Span<GradientPair const> gradients,
                              Span<GradientPair> sampled, Shard const& shard) {
  return MarkSampledRows(params, tree, gradients, positions_, sampled, threads_, shard);
}

GradientSum PagedRows::Begin(std::size_t rows, GradientView const& gradients) {
  numbers_.ClearAll();  // an error may have ended the last tree at any point
  if (rows == positions_.size()) std::fill(positions_.begin(), positions_.end(), NodeIndex{0});
  return SumGradients(gradients, positions_.size(), threads_);
}

void PagedRows::Divide(Page<QuantisedMatrix> const& page, Span<Division const> divisions) {
  std::vector<BinDivision> by;
  for (Division const& division : divisions) {
    numbers_.Set(division.parent, by.size());
    by.push_back({division, page.matrix.cuts.bins(division.feature)});
  }
  NodeIndex* const positions = positions_.data() + page.first_row;
  page.matrix.Visit([&](auto const& view) {
    ParallelChunks(threads_, page.matrix.rows, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        std::int32_t const number = numbers_[NodeAt(positions[row])];
        if (number == NodeNumbers::kNone) continue;
        BinDivision const& own = by[static_cast<std::size_t>(number)];
        NodeIndex const child = own.division.left + (DividedRowGoesLeft(view, static_cast<RowIndex>(row), own) ? 0 : 1);
        positions[row] = positions[row] < 0 ? ~child : child;
      }
    });
  });
  for (Division const& division : divisions) numbers_.Clear(division.parent);
}

/// Lists rows by a counting sort. Each thread counts the rows of a chunk by node, which gives their offsets.
std::vector<Span<RowRecord const>> PagedRows::List(Page<QuantisedMatrix> const& page, GradientView const& gradients,
                                                   Span<NodeIndex const> nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) numbers_.Set(nodes[i], i);
  NodeIndex const* const positions = positions_.data() + page.first_row;
  std::size_t const rows = page.matrix.rows;
  std::size_t const chunks = std::clamp<std::size_t>(rows / kGrain, 1, static_cast<std::size_t>(threads_));
  counts_.assign(chunks * nodes.size(), 0);
  // Calls f(row, counter of its node) for the listed rows of each chunk.
  auto const for_each_listed = [&](auto&& f) {
    ParallelTasks(threads_, chunks, [&](std::size_t chunk, int) {
      std::uint32_t* const counts = counts_.data() + chunk * nodes.size();
      for (std::size_t row = rows * chunk / chunks; row < rows * (chunk + 1) / chunks; ++row) {
        if (positions[row] < 0) continue;
        std::int32_t const number = numbers_[positions[row]];
        if (number != NodeNumbers::kNone) f(row, counts + number);
      }
    });
  };
  for_each_listed([](std::size_t, std::uint32_t* count) { ++*count; });
  std::vector<Span<RowRecord const>> lists(nodes.size());
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::uint32_t const first = total;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      std::uint32_t& count = counts_[chunk * nodes.size() + i];
      total += count;
      count = total - count;
    }
    lists[i] = {records_.data() + first, total - first};
  }
  NarrowGradient const* const narrow = gradients.format.narrow ? gradients.narrow + page.first_row : nullptr;
  for_each_listed([&](std::size_t row, std::uint32_t* next) {
    records_[(*next)++] = {static_cast<RowIndex>(row), narrow == nullptr ? NarrowGradient{} : narrow[row]};
  });
  for (NodeIndex const node : nodes) numbers_.Clear(node);
  return lists;
}

}  // namespace xgbgpu::host
