/// The seam between a level and rows that do not all lie in memory at once. docs/adr/0017-levels-collectives-pages.md
#ifndef XGBGPU_PAGE_PAGE_H_
#define XGBGPU_PAGE_PAGE_H_

namespace xgbgpu {

/// Rows of a matrix that are in memory, as bins, while a level passes over them. `Matrix` is a backend's matrix
/// or the view of one.
template <typename Matrix>
struct Page {
  Matrix const& matrix;
};

/// The pages of a matrix. A level visits each once, in order, and does all that it has to do with the page's rows
/// during the visit. In core there is one page, the matrix, and a visit is a call.
template <typename Matrix>
class Pages {
 public:
  /// `matrix` must outlive these pages.
  explicit Pages(Matrix const& matrix) : matrix_{matrix} {}

  /// Calls visit(page) for each page.
  template <typename F>
  void ForEach(F&& visit) const {
    visit(Page<Matrix>{matrix_});
  }

 private:
  Matrix const& matrix_;
};

}  // namespace xgbgpu

#endif  // XGBGPU_PAGE_PAGE_H_
