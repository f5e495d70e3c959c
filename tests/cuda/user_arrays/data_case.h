/// Data of many shapes, for tests of cuts and matrices that are built on a device.
#ifndef XGBGPU_TESTS_CUDA_DATA_CASE_H_
#define XGBGPU_TESTS_CUDA_DATA_CASE_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "support/data.h"

namespace xgbgpu::testing {

enum class EntryOrder { kAscending, kReversed };

struct DataCase {
  char const* name;
  DataShape shape;
  EntryOrder order{EntryOrder::kAscending};
  bool store_missing{false};  ///< missing values are stored NaNs instead of nothing
  bool special{false};        ///< constant columns, empty ones, zeros of both signs
};

void PrintTo(DataCase const& c, std::ostream* os);
std::vector<DataCase> const& DataCases();
struct DataCaseName {
  template <typename Info>
  std::string operator()(Info const& info) const {
    return info.param.name;
  }
};

MemorySource MakeSource(DataCase const& c, std::size_t batch_rows);

/// Returns multiples of 1/256 in [0, 4); one in eight is 0.
std::vector<float> RandomWeights(std::size_t rows, std::uint64_t seed);

/// How a source is read. The result must not depend on it.
struct Reading {
  std::size_t batch_rows;
  std::size_t memory_bytes;  ///< of BuildOptions
  int threads;
  std::vector<int> max_bins;
};
/// Data are read in one piece and in small batches. With fewer values of max_bin, also in memory for some columns, or
/// one, at a time.
std::vector<Reading> Readings(DataCase const& c);
std::string NameOf(Reading const& reading);

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_CUDA_DATA_CASE_H_
