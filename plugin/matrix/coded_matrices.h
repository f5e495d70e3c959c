/// Matrices of frames whose codes were translated when they were made, into those of the categories that the caller gave
/// as a reference (feature_types=booster.get_categories()). XGBoost does not translate them again, for no model.
#ifndef XGBGPU_PLUGIN_MATRIX_CODED_MATRICES_H_
#define XGBGPU_PLUGIN_MATRIX_CODED_MATRICES_H_

#include <xgboost/data.h>

namespace xgbgpu::plugin {

/// Returns true if the columns (JSON) come with a reference.
bool HaveReference(char const* columns);

/// Notes that the matrix was made of columns with a reference. Thread-safe, as the next one.
void NoteCoded(xgboost::DMatrix const& data);
/// Returns true if that was noted, of this matrix or one that it shares the names of categories with.
bool IsCoded(xgboost::DMatrix const& data);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_CODED_MATRICES_H_
