/// Text data, which the program looks at before XGBoost reads them.
#include "error.h"
#include "fuzz.h"
#include "text_data.h"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static xgbgpu::fuzz::MemoryFile file;
  file.Write(data, size);
  constexpr char const* kFormats[] = {"", "?format=libsvm", "?format=csv"};
  try {
    xgbgpu::cli::CheckTextData("data", file.name() + kFormats[size % 3]);
  } catch (xgbgpu::cli::Error const&) {
  }
  return 0;
}
