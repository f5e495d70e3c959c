/// The program's configuration file, its command line and what it makes of both.
#include "config_file.h"
#include "error.h"
#include "fuzz.h"
#include "options.h"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static xgbgpu::fuzz::MemoryFile file;
  file.Write(data, size);
  try {
    auto settings = xgbgpu::cli::ReadConfigFile(file.name());
    xgbgpu::cli::ParseOptions(settings);
  } catch (xgbgpu::cli::Error const&) {
  }
  try {
    xgbgpu::cli::ParseOptions({xgbgpu::cli::ParseArgument(xgbgpu::fuzz::Text(data, size))});
  } catch (xgbgpu::cli::Error const&) {
  }
  return 0;
}
