/// Rows in the form that trees grow on, wherever they lie.
#ifndef XGBGPU_BACKEND_TRAINING_MATRIX_H_
#define XGBGPU_BACKEND_TRAINING_MATRIX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "exact/sorted_matrix.h"
#include "matrix/matrix.h"
#include "matrix/paged_matrix.h"
#include "xgbgpu/cuts.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

class DeviceMatrix;  // matrix/device_matrix.h

/// Bins in host memory.
struct HostBins {
  std::shared_ptr<QuantisedMatrix const> matrix;
  std::size_t working_bytes;  ///< for the histograms of a training
};

/// Bins of the host in pages on disk.
struct HostPages {
  std::shared_ptr<PagedMatrix const> matrix;
  std::size_t working_bytes;  ///< for the histograms and the samples of a training
};

/// Bins on devices, in core or in pages.
struct DeviceBins {
  std::vector<std::shared_ptr<DeviceMatrix const>> shards;  ///< consecutive rows, at least one shard
};

/// Columns in ascending order in host memory, for exact trees.
struct SortedColumns {
  std::shared_ptr<SortedMatrix const> matrix;
  int device;  ///< the device to which a training with CUDA copies the columns
};

/// Numbers that describe a matrix in any form.
struct MatrixFacts {
  std::uint64_t rows{0};
  FeatureIndex features{0};
  std::uint64_t stored{0};  ///< values that are not missing
  std::size_t bytes{0};     ///< memory held, where the matrix lies
  bool in_pages{false};
  Cuts const* cuts{nullptr};  ///< lives as long as the matrix; null: the columns are sorted
};

/// An immutable matrix. Copies share the data.
struct TrainingMatrix {
  explicit TrainingMatrix(HostBins bins) : form{bins}, facts{FactsOf(*bins.matrix, bins.matrix->bytes())} {}
  explicit TrainingMatrix(HostPages pages)
      : form{pages},
        facts{FactsOf(pages.matrix->whole(), pages.matrix->whole().bytes() + pages.matrix->store().memory_bytes())} {
    facts.in_pages = true;
  }
  explicit TrainingMatrix(SortedColumns sorted)
      : form{sorted},
        facts{sorted.matrix->rows, sorted.matrix->features(), sorted.matrix->stored(), sorted.matrix->bytes()} {}
  TrainingMatrix(DeviceBins bins, MatrixFacts of_bins) : form{std::move(bins)}, facts{of_bins} {}

  std::variant<HostBins, HostPages, DeviceBins, SortedColumns> form;
  MatrixFacts facts;

 private:
  static MatrixFacts FactsOf(QuantisedMatrix const& matrix, std::size_t bytes) {
    return {matrix.rows, matrix.features(), matrix.stored, bytes, false, &matrix.cuts};
  }
};

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_TRAINING_MATRIX_H_
