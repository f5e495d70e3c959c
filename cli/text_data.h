#ifndef XGBGPU_CLI_TEXT_DATA_H_
#define XGBGPU_CLI_TEXT_DATA_H_

#include <string>

namespace xgbgpu::cli {

/// U+FEFF, with which some editors begin a file: readers of text skip it.
constexpr char kByteOrderMark[] = "\xEF\xBB\xBF";

/// Throws Error, naming `option`, if the data are one local text file that is empty, or is to be read as LIBSVM and
/// does not begin with such a row: XGBoost's reader takes no care then, and may well read beyond its memory. `uri` as
/// in train.txt?format=libsvm#cache; anything but a local file, and DMatrix files, are left to XGBoost.
void CheckTextData(std::string const& option, std::string const& uri);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_TEXT_DATA_H_
