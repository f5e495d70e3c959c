/// Settings of configuration files and of the command line.
#ifndef XGBGPU_CLI_CONFIG_FILE_H_
#define XGBGPU_CLI_CONFIG_FILE_H_

#include <string>
#include <vector>

namespace xgbgpu::cli {

/// One `key = value` and the place it was read from ("train.conf:7" or "command line"), which error messages name.
struct Setting {
  std::string key;
  std::string value;
  std::string where;
};

/// Reads a configuration file in XGBoost's syntax, settings in the order of the file:
///
///     # a comment
///     max_depth = 3            # unquoted: no blanks, quotes or '#'
///     data = "my data.txt"     # quoted, by " or ': no quotes inside; there are no escapes
///     "odd key" = 'a # b'
///
/// Lines end with LF, CR LF or CR. Throws Error naming file and line.
std::vector<Setting> ReadConfigFile(std::string const& path);

/// Splits a command line argument `key=value` at its first '='. The value is taken as it is. Throws Error.
Setting ParseArgument(std::string const& argument);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_CONFIG_FILE_H_
