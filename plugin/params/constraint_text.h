/// Constraints as users write them.
#ifndef XGBGPU_PLUGIN_PARAMS_CONSTRAINT_TEXT_H_
#define XGBGPU_PLUGIN_PARAMS_CONSTRAINT_TEXT_H_

#include <string>
#include <vector>

#include "xgbgpu/types.h"

namespace xgbgpu::plugin {

/// The text of monotone_constraints as XGBoost writes it, with round brackets: it reads no lists.
std::string AsTuple(std::string const& text);

/// Reads "(1, 0, -1)", "[1, 0, -1]" or one number; "" and "()" mean none. Throws InvalidArgument.
std::vector<int> ParseMonotoneConstraints(std::string const& text);

/// Reads "[[0, 2], [1, 3, 4]]"; "" means none. "[]" names no set, so that no two features may meet: as in XGBoost.
/// Throws InvalidArgument.
std::vector<std::vector<FeatureIndex>> ParseInteractionConstraints(std::string const& text);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_CONSTRAINT_TEXT_H_
