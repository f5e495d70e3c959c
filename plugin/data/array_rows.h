/// Arrays of an in-place prediction as rows of the engine.
#ifndef XGBGPU_PLUGIN_DATA_ARRAY_ROWS_H_
#define XGBGPU_PLUGIN_DATA_ARRAY_ROWS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/in_place_arrays.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::plugin {

/// Returns rows of the arrays, read where they lie. Values are rounded to float; values equal to `missing` are missing.
/// `arrays`, and the memory that they describe, must outlive it. Returns null for arrays that are left to stock code:
/// values of other types than numbers of 1 to 8 bytes, little-endian (floats: of 4 or 8), arrays that are not of two
/// dimensions, memory of devices.
///
/// Throws (ForEachBatch)  InvalidArgument (CSR: a column that does not exist, rows that are not in order)
std::unique_ptr<RowSource> MakeArrayRows(InPlaceArrays const& arrays, float missing, int threads);

/// CSR arrays with the same values, whose columns ascend in every row.
class AscendingRows {
 public:
  explicit AscendingRows(RowSource const& rows);

  std::string indptr() const;  ///< as the array interface describes it
  std::string indices() const;
  std::string values() const;

 private:
  std::vector<std::uint64_t> indptr_{0};
  std::vector<std::uint32_t> indices_;
  std::vector<float> values_;
};

/// Sorts the columns of CSR arrays. Returns null if they ascend already, or MakeArrayRows does not take the arrays.
///
/// Cost    a pass over the indices; if they do not ascend, one over all arrays and 8 bytes a value
/// Throws  InvalidArgument, as MakeArrayRows' rows do
std::unique_ptr<AscendingRows> MakeAscendingRows(InPlaceArrays const& arrays);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_ARRAY_ROWS_H_
