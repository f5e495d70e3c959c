/// Files that a URI of data names.
#ifndef XGBGPU_CLI_DATA_FILES_H_
#define XGBGPU_CLI_DATA_FILES_H_

#include <map>
#include <string>
#include <vector>

namespace xgbgpu::cli {

/// What an option says of data, such as data = train.txt?format=libsvm#cache.
struct DataFiles {
  std::string what;                              // the option and its value, for messages
  std::string name;                              // what is before ? and #
  std::map<std::string, std::string> arguments;  // what is between ? and #; of a repeated one the first
  std::string cache;                             // what is behind #
  std::vector<std::string> files;  // paths of the local files that XGBoost reads; none: leave it to XGBoost
  bool is_binary = false;          // one file, a DMatrix that was saved
};

/// Takes a URI apart and finds the files: one, several with ; between them, all files of a folder, or all files whose
/// paths match a regular expression. Throws Error, naming `option`, if XGBoost would read something else than is meant.
DataFiles FindDataFiles(std::string const& option, std::string const& uri);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_DATA_FILES_H_
