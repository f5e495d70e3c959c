/// Files beside the data that have groups, weights or base margins.
#ifndef XGBGPU_CLI_SIDE_FILES_H_
#define XGBGPU_CLI_SIDE_FILES_H_

#include <xgboost/c_api.h>

#include <string>

#include "data_files.h"
#include "text_data.h"

namespace xgbgpu::cli {

/// What the file of this name is beside data, such as "the groups of train.txt" for train.txt.group; empty if it is not
/// the name of such a file, or the data are not there.
std::string SideFileKind(std::string const& path);

/// Gives a matrix what XGBoost read until 1.6.1 from files beside the data: NAME.group (rows of each group), NAME.weight
/// and NAME.base_margin, numbers with blanks or ends of lines between them. With several workers each takes what belongs
/// to its rows. Every worker has to call it. Throws Error with file, number and what is allowed.
void ReadSideFiles(DataFiles const& data, TextSummary const& text, DataUse use, DMatrixHandle matrix);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_SIDE_FILES_H_
