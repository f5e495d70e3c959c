/// A quantised matrix whose bins lie in pages of a store, because they do not all fit in memory.
/// docs/adr/0024-pages.md
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

/// Is immutable once made. A page has the cuts, the cells and the layout of the whole, and no `columns`.
class PagedMatrix {
 public:
  /// Quantises the rows of `source`, which `plan` is for. A page gets as many rows as fit `page_bytes` (PagePolicy), but
  /// one at least. Reads the source once; one page is in memory meanwhile.
  /// Throws  as PageStore
  PagedMatrix(RowSource const& source, host::MatrixPlan plan, int threads, std::size_t page_bytes,
              PageStore::Options options);

  /// The matrix without bins: cuts, cells, layout, numbers of rows and values.
  QuantisedMatrix const& whole() const { return *whole_; }
  std::size_t pages() const { return pages_.size(); }
  std::size_t bytes(std::size_t page) const;              ///< of its bins
  std::uint64_t most_rows() const { return most_rows_; }  ///< of a page
  PageStore const& store() const { return store_; }

  /// Makes a workspace for any page. Throws std::bad_alloc.
  QuantisedMatrix MakeWorkspace() const;
  /// Makes `to`, which MakeWorkspace made, the page. Returns the number of the page's first row in the whole matrix.
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
  std::size_t parts() const { return whole_->dense() ? 1 : 2; }  ///< of a page, in the store
  void Store(QuantisedMatrix const& page);

  std::unique_ptr<QuantisedMatrix> whole_;
  std::vector<Place> pages_;  ///< at least one, which has no rows if there are none
  std::uint64_t most_rows_{0};
  std::uint64_t most_stored_{0};
  PageStore store_;  ///< `data` of each page; if sparse, `row_ptr` of each behind it
};

/// Visits the pages of a matrix. The next page is read by a thread while one is visited. What one pass has left in
/// memory is where the next one begins.
///
/// Not thread-safe; each trainer has its own.
class PageReader final : public PageSource<QuantisedMatrix> {
 public:
  /// `matrix` must outlive it.
  explicit PageReader(PagedMatrix const& matrix);

  /// Throws  as PageStore; what `visit` throws
  void ForEach(std::function<void(Page<QuantisedMatrix> const&)> const& visit) const override;
  PagedMatrix const& matrix() const { return matrix_; }
  std::size_t bytes() const;
  std::uint64_t read_bytes() const { return read_bytes_; }  ///< from the store, so far

 private:
  static constexpr std::size_t kNoPage = ~std::size_t{0};
  /// Memory for a page, and the page that is in it.
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
