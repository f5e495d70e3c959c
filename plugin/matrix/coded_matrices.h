/// What is known of the codes of categories in a matrix beside their names.
///
/// Codes of a frame may have been translated when the matrix was made, into the codes of a reference that the caller gave
/// (feature_types=booster.get_categories()). XGBoost does not translate them again, for no model.
/// Codes of batches may mean other categories than the names say, which XGBoost takes from the first batch.
#ifndef XGBGPU_PLUGIN_MATRIX_CODED_MATRICES_H_
#define XGBGPU_PLUGIN_MATRIX_CODED_MATRICES_H_

#include <xgboost/data.h>

#include <string>

namespace xgbgpu::plugin {

/// Returns true if the columns (JSON) come with a reference.
bool HaveReference(char const* columns);

/// Notes that the matrix was made of columns with a reference. Thread-safe, as all that follow.
void NoteCoded(xgboost::DMatrix const& data);
/// Returns true if that was noted, of this matrix or one that it shares the names of categories with.
bool IsCoded(xgboost::DMatrix const& data);

/// Notes that batches of the matrix have other categories than the first one. `why` is the text of an error.
void NoteMixed(xgboost::DMatrix const& data, std::string why);
/// Throws InvalidArgument with that text if it was noted, of this matrix or one that it shares the names with.
void CheckNotMixed(xgboost::DMatrix const& data);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_CODED_MATRICES_H_
