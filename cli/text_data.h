/// Checks of text data before XGBoost reads them.
#ifndef XGBGPU_CLI_TEXT_DATA_H_
#define XGBGPU_CLI_TEXT_DATA_H_

#include <cstddef>
#include <vector>

#include "data_files.h"

namespace xgbgpu::cli {

/// U+FEFF. Some editors begin a file with it. Readers of text skip it.
constexpr char kByteOrderMark[] = "\xEF\xBB\xBF";

/// The use of data. Predictions need no labels.
enum class DataUse { kTraining, kPrediction };

/// Facts about text data that the program has read.
struct TextSummary {
  std::size_t rows = 0;
  bool has_weights = false;              // in the rows
  bool has_groups = false;               // in the rows: qid
  std::vector<std::size_t> group_sizes;  // if has_groups
};

/// Checks each row of local text files before XGBoost reads them. XGBoost's reader does not check, and may read beyond
/// its memory. Throws Error with file, row and its text if XGBoost would misread a row. Rows are numbered by lines.
/// DMatrix files, and data that are no local files, are left to XGBoost.
TextSummary CheckTextData(DataFiles const& data, DataUse use);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_TEXT_DATA_H_
