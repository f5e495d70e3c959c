/// The matrices behind datasets, for tests of stages.
#ifndef XGBGPU_TESTS_ENGINE_SUPPORT_DATASET_FORMS_H_
#define XGBGPU_TESTS_ENGINE_SUPPORT_DATASET_FORMS_H_

#include <memory>

#include "training/dataset_storage.h"

namespace xgbgpu::testing {

// Each throws std::bad_variant_access if the dataset has another form. The dataset must outlive a reference.

inline QuantisedMatrix const& BinsOf(Dataset const& data) { return *MatrixOf<HostBins>(data).matrix; }
inline PagedMatrix const& PagesOf(Dataset const& data) { return *MatrixOf<HostPages>(data).matrix; }
inline SortedMatrix const& SortedOf(Dataset const& data) { return *MatrixOf<SortedColumns>(data).matrix; }
/// Returns the matrix of the first device.
inline DeviceMatrix const& DeviceMatrixOf(Dataset const& data) { return *MatrixOf<DeviceBins>(data).shards[0]; }

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_ENGINE_SUPPORT_DATASET_FORMS_H_
