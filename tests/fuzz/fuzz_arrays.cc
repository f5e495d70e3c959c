/// Arrays that in-place predictions and QuantileDMatrices are given. An input that begins like JSON describes arrays:
/// one line is a dense array, three are CSR; the first line is read as arrays on a GPU, too, of which a list is a table.
/// Arrays that an input describes are not read, because nobody can tell
/// whether there are as many values as it says. Any other input is the contents of CSR arrays, whose addresses are
/// ours.
#include <dmlc/logging.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "data/array_rows.h"
#include "data/device_arrays.h"
#include "fuzz.h"
#include "xgbgpu/error.h"

namespace {

using xgbgpu::plugin::InPlaceArrays;

/// Reads CSR arrays whose row ends and columns are bytes of the input.
void ReadContents(std::uint8_t const* data, std::size_t size) {
  std::int8_t const last = 0;
  auto const* const first = size == 0 ? &last : reinterpret_cast<std::int8_t const*>(data);
  std::size_t const rows = size / 3, entries = size - rows;
  std::vector<std::int8_t> indptr(first, first + rows), indices(first + rows, first + size);
  std::vector<float> const values(entries, 1.0f);
  auto const describe = [](auto const& array, char const* type) {
    return "{\"data\": [" + std::to_string(reinterpret_cast<std::uintptr_t>(array.data())) + ", true], \"shape\": [" +
           std::to_string(array.size()) + "], \"strides\": null, \"typestr\": \"" + type + "\", \"version\": 3}";
  };
  std::string const at = describe(indptr, "|i1"), columns = describe(indices, "|i1"), of = describe(values, "<f4");
  InPlaceArrays const arrays{of.c_str(), at.c_str(), columns.c_str(), 100};
  try {
    auto const csr = xgbgpu::plugin::MakeArrayRows(arrays, std::numeric_limits<float>::quiet_NaN(), 1);
    if (csr != nullptr) csr->ForEachBatch([](xgbgpu::RowBatch const&) {});
    xgbgpu::plugin::MakeAscendingRows(arrays);
  } catch (xgbgpu::InvalidArgument const&) {
  }
}

/// Calls read(), which may refuse the input.
template <typename F>
void MayRefuse(F&& read) {
  try {
    read();
  } catch (xgbgpu::Error const&) {
  } catch (dmlc::Error const&) {  // an error of XGBoost's parser
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0 || (data[0] != '{' && data[0] != '[')) {
    ReadContents(data, size);
    return 0;
  }
  auto const lines = xgbgpu::fuzz::Lines(xgbgpu::fuzz::Text(data, size), 3);
  bool const is_csr = !lines[1].empty();
  InPlaceArrays const arrays{lines[0].c_str(), is_csr ? lines[1].c_str() : nullptr, is_csr ? lines[2].c_str() : nullptr,
                             is_csr ? 3U : 0U};
  MayRefuse([&] { xgbgpu::plugin::MakeArrayRows(arrays, 0.0f, 1); });
  MayRefuse([&] { xgbgpu::plugin::ParseDeviceTable(arrays.values); });
  MayRefuse([&] { xgbgpu::plugin::HostArray{arrays.values}; });
  return 0;
}
