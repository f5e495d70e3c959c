/// Matrices in pages, as tests want them.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_PAGED_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_PAGED_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "matrix/fill_matrix.h"
#include "matrix/matrix_policy.h"
#include "matrix/paged_matrix.h"
#include "xgbgpu/collective.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::testing {

/// Pages in memory: tests that need no file take less time so.
inline PageStore::Options InMemory() {
  PageStore::Options options;
  options.memory_bytes = std::size_t{1} << 30;
  return options;
}

/// Quantises rows into `pages` pages or some more: pages do not all get the same number of rows, and of rows with few
/// bytes a page gets fewer than fit.
inline std::unique_ptr<PagedMatrix> MakePaged(RowSource const& source, Cuts cuts, std::size_t pages,
                                              PageStore::Options options = InMemory(), int threads = 2,
                                              Collective& collective = NoOtherShards()) {
  host::MatrixPlan plan = host::PlanMatrix(source, std::move(cuts), threads, collective);
  QuantisedMatrix const& m = *plan.matrix;
  std::size_t const bytes = m.DataBytes(m.rows, m.stored) + (m.dense() ? 0 : m.rows * sizeof(std::uint64_t));
  std::size_t const page_bytes = pages == 1 ? PagePolicy{}.page_bytes : bytes / pages + 1;
  return std::make_unique<PagedMatrix>(source, std::move(plan), threads, page_bytes, std::move(options));
}

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_PAGED_H_
