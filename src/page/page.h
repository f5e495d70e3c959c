/// Pages of a matrix that may lie outside memory, as levels see them. docs/adr/0017-levels-collectives-pages.md
#ifndef XGBGPU_PAGE_PAGE_H_
#define XGBGPU_PAGE_PAGE_H_

#include <cstdint>
#include <functional>

namespace xgbgpu {

/// Rows of a matrix in memory, as bins, during a level's pass over them. `Matrix` is a backend's matrix or its view. It
/// numbers rows from the page's first row.
template <typename Matrix>
struct Page {
  Matrix const& matrix;
  std::uint64_t first_row{0};  ///< number of the first row in the whole matrix
  bool is_first{true};         ///< first page of this pass
};

/// Makes the pages of an out-of-core matrix available for visits.
template <typename Matrix>
class PageSource {
 public:
  virtual ~PageSource() = default;
  /// Calls visit(page) for each page, in any order. A page is valid during its visit only.
  virtual void ForEach(std::function<void(Page<Matrix> const&)> const& visit) const = 0;
};

/// The pages of a matrix. A level visits each page once and does all its work on the page's rows during the visit. An
/// in-core matrix is one page, and a visit is a call.
template <typename Matrix>
class Pages {
 public:
  /// In-core matrix. `matrix` must outlive this object.
  explicit Pages(Matrix const& matrix) : matrix_{&matrix} {}
  /// Out-of-core matrix. `source` must outlive this object.
  explicit Pages(PageSource<Matrix> const& source) : source_{&source} {}

  /// Calls visit(page) for each page.
  template <typename F>
  void ForEach(F&& visit) const {
    if (source_ == nullptr) {
      visit(Page<Matrix>{*matrix_});
    } else {
      source_->ForEach(visit);
    }
  }

 private:
  Matrix const* matrix_{nullptr};
  PageSource<Matrix> const* source_{nullptr};
};

}  // namespace xgbgpu

#endif  // XGBGPU_PAGE_PAGE_H_
