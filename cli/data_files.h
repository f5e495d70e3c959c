/// Files that a URI of data names.
#ifndef XGBGPU_CLI_DATA_FILES_H_
#define XGBGPU_CLI_DATA_FILES_H_

#include <map>
#include <string>
#include <vector>

namespace xgbgpu::cli {

/// The parts of a URI of data, such as data = train.txt?format=libsvm#cache.
struct DataFiles {
  std::string what;                              // the option and its value, for messages
  std::string name;                              // the part before ? and #
  std::map<std::string, std::string> arguments;  // the part between ? and #; the first of a repeated argument
  std::string cache;                             // the part behind #
  std::vector<std::string> files;  // paths of the local files that XGBoost reads; none: leave it to XGBoost
  bool is_binary = false;          // one file, a DMatrix that was saved
};

/// Splits a URI and finds the files: one file, several with ; between them, all files of a folder, or all files that a
/// regular expression matches. Throws Error, naming `option`, if XGBoost would read something else than is meant.
DataFiles FindDataFiles(std::string const& option, std::string const& uri);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_DATA_FILES_H_
