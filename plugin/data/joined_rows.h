/// Rows that came in several arrays.
#ifndef XGBGPU_PLUGIN_DATA_JOINED_ROWS_H_
#define XGBGPU_PLUGIN_DATA_JOINED_ROWS_H_

#include <memory>
#include <vector>

#include "data/held_rows.h"

namespace xgbgpu::plugin {

/// Returns the rows of all parts, one after the other. There is at least one part, and all have the same number of
/// columns. Nothing is copied.
std::unique_ptr<HeldRows> JoinRows(std::vector<std::unique_ptr<HeldRows>> parts);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_DATA_JOINED_ROWS_H_
