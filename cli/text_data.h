/// Checks of text data before XGBoost reads them.
#ifndef XGBGPU_CLI_TEXT_DATA_H_
#define XGBGPU_CLI_TEXT_DATA_H_

#include <cstddef>
#include <vector>

#include "data_files.h"

namespace xgbgpu::cli {

/// U+FEFF, with which some editors begin a file: readers of text skip it.
constexpr char kByteOrderMark[] = "\xEF\xBB\xBF";

/// What data are for: labels matter, or not.
enum class DataUse { kTraining, kPrediction };

/// What the program knows of text data from looking at them.
struct TextSummary {
  std::size_t rows = 0;
  bool has_weights = false;              // in the rows
  bool has_groups = false;               // in the rows: qid
  std::vector<std::size_t> group_sizes;  // if has_groups
};

/// Looks at each row of local text files before XGBoost reads them: its reader takes no care, and may well read beyond
/// its memory. Throws Error with file, row and its text if XGBoost would read something else than what stands there. A
/// row's number is that of its line. DMatrix files and what is no local file are left to XGBoost.
TextSummary CheckTextData(DataFiles const& data, DataUse use);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_TEXT_DATA_H_
