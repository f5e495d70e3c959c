/// Groups, weights and base margins in files beside data.
#include "error.h"
#include "fuzz.h"
#include "side_files.h"
#include "xgboost_c.h"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  constexpr char const* kNames[] = {".group", ".weight", ".base_margin"};
  constexpr char kRows[] = "0 0:1\n1 0:2\n1 0:3\n";
  static xgbgpu::fuzz::MemoryFile rows;
  rows.Write(reinterpret_cast<std::uint8_t const*>(kRows), sizeof(kRows) - 1);
  xgbgpu::fuzz::MemoryFile beside{kNames[size % std::size(kNames)]};
  beside.Write(data, size);
  try {
    auto const files = xgbgpu::cli::FindDataFiles("data", rows.name() + "?format=libsvm");
    auto const text = xgbgpu::cli::CheckTextData(files, xgbgpu::cli::DataUse::kTraining);
    static xgbgpu::cli::DMatrix const matrix("data", rows.name() + "?format=libsvm");
    xgbgpu::cli::ReadSideFiles(files, text, xgbgpu::cli::DataUse::kTraining, matrix.Handle());
  } catch (xgbgpu::cli::Error const&) {
  }
  return 0;
}
