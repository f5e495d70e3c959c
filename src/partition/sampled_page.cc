// Copies the sampled rows of pages into one page.
#include "partition/sampled_page.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"

namespace xgbgpu::host {

namespace {

constexpr std::size_t kSampledChunkRows = 1 << 13;  // rows of a chunk

/// Returns the number of sampled rows from `begin` to `end`.
std::size_t CountSampled(Span<NodeIndex const> positions, std::size_t begin, std::size_t end) {
  return static_cast<std::size_t>(
      std::count_if(positions.data() + begin, positions.data() + end, [](NodeIndex n) { return n >= 0; }));
}

}  // namespace

SampledPage::SampledPage(QuantisedMatrix const& whole, std::size_t most_bytes, int threads)
    : whole_{whole}, threads_{threads} {
  if (!whole.dense() || whole.bytes() > most_bytes) return;
  row_budget_ = most_bytes - whole.bytes();
  page_.cuts = whole.cuts;
  page_.layout = whole.layout;
  page_.row_stride = whole.row_stride;
  page_.cell_ptr = whole.cell_ptr;
}

/// Counts gradients of both formats, because trees may alternate between them.
bool SampledPage::Fits(std::size_t rows) const {
  constexpr std::size_t kRow = sizeof(NarrowGradient) + sizeof(GradientSum) + sizeof(NodeIndex) + sizeof(RowRecord);
  return row_budget_ != 0 && whole_.DataBytes(rows, 0) + rows * kRow <= row_budget_;
}

void SampledPage::Begin(std::size_t rows, Span<NodeIndex const> positions, GradientView const& gradients) {
  page_.rows = rows;
  page_.stored = whole_.rows == 0 ? 0 : whole_.stored / whole_.rows * rows;
  page_.data.Reserve(whole_.DataBytes(rows, 0));
  gradients.format.narrow ? narrow_.Reserve(rows) : wide_.Reserve(rows);
  gradients_ = {gradients.format, narrow_.data(), wide_.data()};
  positions_.Reserve(rows);
  rows_.reset();  // frees the old memory first
  rows_.emplace(this->positions(), rows, threads_);

  before_.assign((whole_.rows + kSampledChunkRows - 1) / kSampledChunkRows + 1, 0);
  ParallelChunks(threads_, whole_.rows, kSampledChunkRows, [&](std::size_t begin, std::size_t end) {
    before_[begin / kSampledChunkRows + 1] = CountSampled(positions, begin, end);
  });
  for (std::size_t chunk = 1; chunk < before_.size(); ++chunk) before_[chunk] += before_[chunk - 1];
}

void SampledPage::Free() {
  page_.data = {};
  narrow_ = {};
  wide_ = {};
  positions_ = {};
  rows_.reset();
}

void SampledPage::Copy(Page<QuantisedMatrix> const& page, Span<NodeIndex const> positions,
                       GradientView const& gradients) {
  std::size_t const row_bytes = whole_.DataBytes(1, 0);
  ParallelChunks(threads_, page.matrix.rows, kSampledChunkRows, [&](std::size_t begin, std::size_t end) {
    std::size_t const first = page.first_row + begin;
    std::size_t to = before_[first / kSampledChunkRows] +
                     CountSampled(positions, first / kSampledChunkRows * kSampledChunkRows, first);
    for (std::size_t row = begin; row < end; ++row) {
      std::size_t const from = page.first_row + row;
      if (positions[from] < 0) continue;
      std::memcpy(page_.data.data() + to * row_bytes, page.matrix.data.data() + row * row_bytes, row_bytes);
      if (gradients.format.narrow) {
        narrow_[to] = gradients.narrow[from];
      } else {
        wide_[to] = gradients.wide[from];
      }
      ++to;
    }
  });
}

void SampledPage::WritePositions(Span<NodeIndex> positions) const {
  ParallelChunks(threads_, positions.size(), kSampledChunkRows, [&](std::size_t begin, std::size_t end) {
    std::size_t from = before_[begin / kSampledChunkRows];
    for (std::size_t row = begin; row < end; ++row) {
      if (positions[row] >= 0) positions[row] = positions_[from++];
    }
  });
}

std::size_t SampledPage::bytes() const {
  return page_.bytes() + narrow_.bytes() + wide_.bytes() + positions_.bytes() + (rows_ ? rows_->bytes() : 0);
}

}  // namespace xgbgpu::host
