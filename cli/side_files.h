/// Files beside the data that have groups, weights or base margins.
#ifndef XGBGPU_CLI_SIDE_FILES_H_
#define XGBGPU_CLI_SIDE_FILES_H_

#include <xgboost/c_api.h>

#include <string>

#include "data_files.h"
#include "text_data.h"

namespace xgbgpu::cli {

/// Describes a file beside data by its name, as in "the groups of train.txt" for train.txt.group. Empty if the name is
/// not of such a file, or the data do not exist.
std::string SideFileKind(std::string const& path);

/// Sets groups, weights and base margins of a matrix from files beside the data, as XGBoost did until 1.6.1: NAME.group
/// (rows of each group), NAME.weight and NAME.base_margin. They have numbers with blanks or ends of lines between them.
/// Each worker takes the numbers of its rows. Every worker has to call it. Throws Error with file, number and what is
/// allowed.
void ReadSideFiles(DataFiles const& data, TextSummary const& text, DataUse use, DMatrixHandle matrix);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_SIDE_FILES_H_
