/// Text data, which the program looks at before XGBoost reads them: what it lets through XGBoost has to read, with as
/// many rows.
#include <xgboost/c_api.h>

#include <iostream>

#include "error.h"
#include "fuzz.h"
#include "text_data.h"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static xgbgpu::fuzz::MemoryFile file;
  file.Write(data, size);
  constexpr char const* kFormats[] = {"",
                                      "?format=libsvm",
                                      "?format=csv",
                                      "?format=libfm",
                                      "?format=csv&label_column=0",
                                      "?format=csv&label_column=1&weight_column=0&delimiter=;",
                                      "?format=csv&delimiter=\t"};
  std::string const uri = file.name() + kFormats[size % std::size(kFormats)];
  std::size_t rows = 0;
  bool is_binary = false;
  try {
    auto const files = xgbgpu::cli::FindDataFiles("data", uri);
    is_binary = files.is_binary;
    rows = xgbgpu::cli::CheckTextData(files, static_cast<xgbgpu::cli::DataUse>(size / 7 % 2)).rows;
  } catch (xgbgpu::cli::Error const&) {
    return 0;
  }
  if (is_binary) return 0;
  DMatrixHandle matrix = nullptr;
  bst_ulong read = 0;
  if (XGDMatrixCreateFromFile(uri.c_str(), 1, &matrix) != 0 || XGDMatrixNumRow(matrix, &read) != 0) {
    std::cerr << "XGBoost refuses what was let through: " << XGBGetLastError() << '\n';
    std::abort();
  }
  XGDMatrixFree(matrix);
  if (read != rows) std::abort();
  return 0;
}
