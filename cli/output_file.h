/// The output of a task: a file or standard output.
#ifndef XGBGPU_CLI_OUTPUT_FILE_H_
#define XGBGPU_CLI_OUTPUT_FILE_H_

#include <fstream>
#include <ostream>
#include <string>

namespace xgbgpu::cli {

/// A name as the operating system wants it, without the file:// that XGBoost's own programs accept.
std::string LocalPath(std::string const& path);

/// A file to write, or standard output if its name is "stdout". Throws Error with the reason if the file cannot be
/// opened; Close() throws if anything could not be written.
class OutputFile {
 public:
  explicit OutputFile(std::string path);

  std::ostream& Stream() { return *stream_; }
  void Close();

 private:
  std::string path_;
  std::ofstream file_;
  std::ostream* stream_;
};

/// Throws Error, naming `option`, if `path` is a folder, or its parent folder does not exist. It is called before
/// training, so that the user need not wait for the error.
void CheckFolder(std::string const& option, std::string const& path);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_OUTPUT_FILE_H_
