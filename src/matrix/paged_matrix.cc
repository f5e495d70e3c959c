// Quantises a source into pages of a store, and reads pages ahead of visits.
#include "matrix/paged_matrix.h"

#include <algorithm>
#include <utility>

#include "core/row_slice.h"
#include "core/row_values.h"
#include "matrix/matrix_policy.h"

namespace xgbgpu {

namespace {

/// Consecutive rows of a batch, as a source of their own. The batch must outlive this object.
class BatchSource final : public RowSource {
 public:
  BatchSource(RowBatch const& batch, std::uint64_t first, std::uint64_t n, FeatureIndex features)
      : batch_{0, batch.offsets.subspan(first, n + 1), batch.entries}, features_{features} {}

  std::uint64_t rows() const override { return batch_.rows(); }
  FeatureIndex features() const override { return features_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { visit(batch_); }

 private:
  RowBatch batch_;
  FeatureIndex features_;
};

/// Returns the bytes of rows of this matrix in a page.
std::size_t BinBytes(QuantisedMatrix const& matrix, std::uint64_t rows, std::uint64_t stored) {
  return matrix.DataBytes(rows, stored) + (matrix.dense() ? 0 : (rows + 1) * sizeof(std::uint64_t));
}

}  // namespace

PagedMatrix::PagedMatrix(RowSource const& source, host::MatrixPlan plan, int threads, std::size_t page_bytes,
                         PageStore::Options options)
    : whole_{std::move(plan.matrix)}, store_{std::move(options)} {
  CutPages(plan.row_ptr.span(), page_bytes);
  Fill(source, plan.row_ptr.span(), threads);
}

void PagedMatrix::CutPages(Span<std::uint64_t const> row_ptr, std::size_t page_bytes) {
  std::uint64_t const most_rows = std::max<std::size_t>(1, page_bytes / PagePolicy{}.row_bytes);
  std::uint64_t first = 0;
  do {
    std::uint64_t rows = std::min<std::uint64_t>(1, whole_->rows);
    while (first + rows < whole_->rows && rows < most_rows &&
           BinBytes(*whole_, rows + 1, row_ptr[first + rows + 1] - row_ptr[first]) <= page_bytes) {
      ++rows;
    }
    pages_.push_back({first, rows, row_ptr[first + rows] - row_ptr[first]});
    most_rows_ = std::max(most_rows_, rows);
    most_stored_ = std::max(most_stored_, pages_.back().stored);
    first += rows;
  } while (first < whole_->rows);
}

void PagedMatrix::Fill(RowSource const& source, Span<std::uint64_t const> row_ptr, int threads) {
  QuantisedMatrix page = MakeWorkspace();
  std::uint64_t filled = 0;  // rows of all finished pages
  // Adds rows up to the page's end.
  auto const add = [&](RowSource const& rows) {
    Place const& place = pages_[store_.pages() / parts()];
    if (filled == place.first_row) {
      page.rows = place.rows;
      page.stored = place.stored;
      for (std::uint64_t r = 0; !page.dense() && r <= place.rows; ++r) {
        page.row_ptr[r] = row_ptr[place.first_row + r] - row_ptr[place.first_row];
      }
    }
    host::FillRows(rows, filled - place.first_row, threads, &page);
    filled += rows.rows();
    if (filled == place.first_row + place.rows) Store(page);
  };
  if (whole_->rows == 0 || HostArray(source)) {
    for (Place const& place : pages_) add(RowSlice{source, place.first_row, place.rows});
    return;
  }
  auto place = pages_.begin();
  source.ForEachBatch([&](RowBatch const& batch) {
    for (std::uint64_t row = 0; row < batch.rows();) {
      if (filled == place->first_row + place->rows) ++place;
      std::uint64_t const n = std::min(batch.rows() - row, place->first_row + place->rows - filled);
      add(BatchSource{batch, row, n, source.features()});
      row += n;
    }
  });
}

void PagedMatrix::Store(QuantisedMatrix const& page) {
  store_.Add({page.data.data(), page.DataBytes(page.rows, page.stored)});
  if (page.dense()) return;
  store_.Add({reinterpret_cast<std::uint8_t const*>(page.row_ptr.data()), (page.rows + 1) * sizeof(std::uint64_t)});
}

QuantisedMatrix PagedMatrix::MakeWorkspace() const {
  QuantisedMatrix workspace;
  workspace.cuts = whole_->cuts;
  workspace.layout = whole_->layout;
  workspace.row_stride = whole_->row_stride;
  workspace.cell_ptr = whole_->cell_ptr;
  workspace.data = Buffer<std::uint8_t>{whole_->DataBytes(most_rows_, most_stored_)};
  if (!whole_->dense()) workspace.row_ptr = Buffer<std::uint64_t>{most_rows_ + 1};
  return workspace;
}

std::size_t PagedMatrix::bytes(std::size_t page) const {
  return BinBytes(*whole_, pages_[page].rows, pages_[page].stored);
}

std::uint64_t PagedMatrix::Read(std::size_t page, QuantisedMatrix* to) const {
  Place const& place = pages_[page];
  to->rows = place.rows;
  to->stored = place.stored;
  store_.Read(page * parts(), to->data.data());
  if (!to->dense()) store_.Read(page * parts() + 1, reinterpret_cast<std::uint8_t*>(to->row_ptr.data()));
  return place.first_row;
}

PageReader::PageReader(PagedMatrix const& matrix) : matrix_{matrix}, workspaces_{new Workspace[2]} {
  for (Workspace* workspace : {&workspaces_[0], &workspaces_[1]}) workspace->matrix = matrix.MakeWorkspace();
}

/// Returns a buffer that will have the page: the buffer that has it already, or the one that is not being visited.
std::future<PageReader::Workspace*> PageReader::StartReading(std::size_t page, Workspace const* visited) const {
  for (Workspace* const workspace : {&workspaces_[0], &workspaces_[1]}) {
    if (workspace->page == page) return std::async(std::launch::deferred, [workspace] { return workspace; });
  }
  Workspace* const workspace = visited == &workspaces_[0] ? &workspaces_[1] : &workspaces_[0];
  workspace->page = kNoPage;
  return std::async(std::launch::async, [this, page, workspace] {
    workspace->first_row = matrix_.Read(page, &workspace->matrix);
    workspace->page = page;
    read_bytes_ += matrix_.bytes(page);
    return workspace;
  });
}

void PageReader::ForEach(std::function<void(Page<QuantisedMatrix> const&)> const& visit) const {
  std::size_t const pages = matrix_.pages();
  auto const page_at = [&](std::size_t i) { return backwards_ ? pages - 1 - i : i; };
  std::future<Workspace*> next = StartReading(page_at(0), nullptr);
  for (std::size_t i = 0; i < pages; ++i) {
    Workspace const* const workspace = next.get();
    if (i + 1 < pages) next = StartReading(page_at(i + 1), workspace);
    visit({workspace->matrix, workspace->first_row, i == 0});
  }
  backwards_ = !backwards_;
}

std::size_t PageReader::bytes() const { return workspaces_[0].matrix.bytes() + workspaces_[1].matrix.bytes(); }

}  // namespace xgbgpu
