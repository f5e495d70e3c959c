/// The arguments of an in-place prediction.
#ifndef XGBGPU_PLUGIN_DATA_IN_PLACE_ARRAYS_H_
#define XGBGPU_PLUGIN_DATA_IN_PLACE_ARRAYS_H_

#include <cstdint>

namespace xgbgpu::plugin {

class ValuesOnDevice;  // data/device_arrays.h

/// Arrays in XGBoost's array interface (JSON).
struct InPlaceArrays {
  char const* values;            ///< dense: of two dimensions; CSR: of one
  char const* indptr{nullptr};   ///< null: dense
  char const* indices{nullptr};  ///< CSR only
  std::uint64_t columns{0};      ///< CSR only
  /// The values are on a device; `values` describes room for them on the host. Null: they are on the host.
  ValuesOnDevice* on_device{nullptr};
  /// `values` is a list of arrays of one dimension, the columns. A column that has categories is a list itself.
  bool by_columns{false};
};

/// Returns the arguments of a prediction of a list of columns.
inline InPlaceArrays ByColumns(char const* columns) {
  InPlaceArrays arrays{columns};
  arrays.by_columns = true;
  return arrays;
}

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_IN_PLACE_ARRAYS_H_
