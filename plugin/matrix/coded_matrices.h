/// Notes about the codes of categories in a matrix.
///
/// A matrix may be made with a reference (feature_types=booster.get_categories()). XGBoost then translates the codes of
/// the frame into the reference's codes once, and never again for any model.
/// XGBoost takes the names of categories from the first batch. Codes of later batches may mean other categories.
#ifndef XGBGPU_PLUGIN_MATRIX_CODED_MATRICES_H_
#define XGBGPU_PLUGIN_MATRIX_CODED_MATRICES_H_

#include <xgboost/data.h>

#include <string>

namespace xgbgpu::plugin {

/// Returns true if the columns (JSON) come with a reference.
bool HaveReference(char const* columns);

/// Notes that the matrix was made of columns with a reference. Thread-safe, as the functions below.
void NoteCoded(xgboost::DMatrix const& data);
/// Returns true if NoteCoded was called for the matrix, or for one that shares its names of categories.
bool IsCoded(xgboost::DMatrix const& data);

/// Notes that batches of the matrix have other categories than the first one. `why` is the text of an error.
void NoteMixed(xgboost::DMatrix const& data, std::string why);
/// Throws InvalidArgument with `why` if NoteMixed was called for the matrix, or for one that shares its names.
void CheckNotMixed(xgboost::DMatrix const& data);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_CODED_MATRICES_H_
