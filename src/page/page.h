/// The seam between a level and rows that do not all lie in memory at once. docs/adr/0017-levels-collectives-pages.md
#ifndef XGBGPU_PAGE_PAGE_H_
#define XGBGPU_PAGE_PAGE_H_

#include <cstdint>
#include <functional>

namespace xgbgpu {

/// Rows of a matrix that are in memory, as bins, while a level passes over them. `Matrix` is a backend's matrix
/// or the view of one. It counts its rows from the page's first.
template <typename Matrix>
struct Page {
  Matrix const& matrix;
  std::uint64_t first_row{0};  ///< of the page, in the whole matrix
  bool is_first{true};         ///< no other page has been visited in this pass
};

/// Brings the pages of a matrix that is not in core to where they are visited.
template <typename Matrix>
class PageSource {
 public:
  virtual ~PageSource() = default;
  /// Calls visit(page) for each page, in any order. A page is there during its visit only.
  virtual void ForEach(std::function<void(Page<Matrix> const&)> const& visit) const = 0;
};

/// The pages of a matrix. A level visits each once and does all that it has to do with the page's rows during the
/// visit. In core there is one page, the matrix, and a visit is a call.
template <typename Matrix>
class Pages {
 public:
  /// The matrix is in core. It must outlive these pages.
  explicit Pages(Matrix const& matrix) : matrix_{&matrix} {}
  /// The matrix is not in core. `source` must outlive these pages.
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
