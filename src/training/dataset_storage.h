/// The data behind a Dataset, for the engine and its tests.
#ifndef XGBGPU_TRAINING_DATASET_STORAGE_H_
#define XGBGPU_TRAINING_DATASET_STORAGE_H_

#include <memory>

#include "backend/backend.h"
#include "xgbgpu/dataset.h"

namespace xgbgpu {

struct Dataset::Impl {
  Place place;  ///< never kAuto
  TrainingMatrix matrix;
};

/// Returns the matrix of a dataset in the form `Form`, one of the forms of TrainingMatrix. Throws
/// std::bad_variant_access if it has another form.
template <typename Form>
Form const& MatrixOf(Dataset const& data) {
  return std::get<Form>(data.impl().matrix.form);
}

/// Returns the backend on which a trainer with `wanted` trains.
/// Throws  InvalidArgument, Unsupported, as the constructor of Trainer
Backend& BackendOf(Dataset const& data, BackendKind wanted);

/// Makes the builder of a dataset. All shards make one at the same time.
std::unique_ptr<TreeBuilder> MakeBuilder(Dataset const& data, Backend const& backend, int threads);

}  // namespace xgbgpu

#endif  // XGBGPU_TRAINING_DATASET_STORAGE_H_
