/// A quantised matrix with bins in pages of a store. docs/adr/0024-pages.md
#ifndef XGBGPU_MATRIX_PAGED_MATRIX_H_
#define XGBGPU_MATRIX_PAGED_MATRIX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "matrix/fill_matrix.h"
#include "matrix/matrix.h"
#include "page/page.h"
#include "page/page_store.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"

namespace xgbgpu {

/// Immutable once made. A page has the cuts, the cells and the layout of the whole, and no `columns`.
class PagedMatrix {
 public:
  /// Quantises the rows of `source`. `plan` was made for them. A page has the rows that fit `page_bytes` (PagePolicy),
  /// but at least one. Reads the source once, with one page in memory.
  /// Throws  as PageStore
  PagedMatrix(RowSource const& source, host::MatrixPlan plan, int threads, std::size_t page_bytes,
              PageStore::Options options);

  /// Returns the matrix without bins: cuts, cells, layout, numbers of rows and values.
  QuantisedMatrix const& whole() const { return *whole_; }
  std::size_t pages() const { return pages_.size(); }
  std::size_t bytes(std::size_t page) const;              ///< bytes of the page's bins
  std::uint64_t most_rows() const { return most_rows_; }  ///< most rows of a page
  PageStore const& store() const { return store_; }

  /// Returns a matrix with room for any page. Throws std::bad_alloc.
  QuantisedMatrix MakeWorkspace() const;
  /// Reads the page into `to`, which MakeRoom made. Returns the number of the page's first row in the whole matrix.
  /// Many threads may read.
  std::uint64_t Read(std::size_t page, QuantisedMatrix* to) const;

 private:
  struct Place {
    std::uint64_t first_row;
    std::uint64_t rows;
    std::uint64_t stored;
  };
  void CutPages(Span<std::uint64_t const> row_ptr, std::size_t page_bytes);
  void Fill(RowSource const& source, Span<std::uint64_t const> row_ptr, int threads);
  std::size_t parts() const { return whole_->dense() ? 1 : 2; }  ///< parts of a page in the store
  void Store(QuantisedMatrix const& page);

  std::unique_ptr<QuantisedMatrix> whole_;
  std::vector<Place> pages_;  ///< at least one; with no rows if the matrix has none
  std::uint64_t most_rows_{0};
  std::uint64_t most_stored_{0};
  PageStore store_;  ///< `data` of each page; if sparse, followed by its `row_ptr`
};

/// Visits the pages of a matrix. A thread reads the next page during a visit. A pass begins with the page that the last
/// pass left in memory.
///
/// Not thread-safe: each trainer has its own reader.
class PageReader final : public PageSource<QuantisedMatrix> {
 public:
  /// `matrix` must outlive this object.
  explicit PageReader(PagedMatrix const& matrix);

  /// Throws  as PageStore; the exceptions of `visit`
  void ForEach(std::function<void(Page<QuantisedMatrix> const&)> const& visit) const override;
  PagedMatrix const& matrix() const { return matrix_; }
  std::size_t bytes() const;
  std::uint64_t read_bytes() const { return read_bytes_; }  ///< bytes read from the store so far

 private:
  static constexpr std::size_t kNoPage = ~std::size_t{0};
  /// A buffer for a page, and the number of its page.
  struct Workspace {
    QuantisedMatrix matrix;
    std::size_t page{kNoPage};
    std::uint64_t first_row{0};
  };
  std::future<Workspace*> StartReading(std::size_t page, Workspace const* visited) const;

  PagedMatrix const& matrix_;
  std::unique_ptr<Workspace[]> workspaces_;  ///< two
  mutable bool backwards_{false};            ///< the next pass begins at the last page
  mutable std::uint64_t read_bytes_{0};
};

}  // namespace xgbgpu

#endif  // XGBGPU_MATRIX_PAGED_MATRIX_H_
