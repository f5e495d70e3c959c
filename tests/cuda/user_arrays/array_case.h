/// Arrays of every type and many shapes, on the host and on a device.
#ifndef XGBGPU_TESTS_CUDA_ARRAY_CASE_H_
#define XGBGPU_TESTS_CUDA_ARRAY_CASE_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cuda/device.h"
#include "xgbgpu/array_source.h"

namespace xgbgpu::testing {

struct ArrayCase {
  char const* name;
  ValueType type;
  std::uint64_t rows;
  FeatureIndex features;
  float mark{std::nanf("")};  ///< means "missing"
  double marked{0.0};         ///< share of the values that are the mark, and of floats as many that are NaN
  std::uint32_t levels{0};    ///< distinct numbers of a column; 0: as many as the type has
};

void PrintTo(ArrayCase const& c, std::ostream* os);
std::vector<ArrayCase> const& ArrayCases();
struct ArrayCaseName {
  template <typename Info>
  std::string operator()(Info const& info) const {
    return info.param.name;
  }
};

/// Rows of an array of the host, with a copy of the array in the memory of a device. Entries come from the host.
class DeviceArraySource final : public RowSource {
 public:
  DeviceArraySource(RowSource const& host, DenseValues const& values) : host_{host}, values_{values} {}

  std::uint64_t rows() const override { return host_.rows(); }
  FeatureIndex features() const override { return host_.features(); }
  std::optional<DenseValues> dense() const override { return values_; }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { host_.ForEachBatch(visit); }

 private:
  RowSource const& host_;
  DenseValues values_;
};

/// The array of a case, with a copy of it on a device once that is asked for.
class CaseArray {
 public:
  explicit CaseArray(ArrayCase const& c);

  ArraySource const& on_host() const { return host_; }
  DeviceArraySource on_device(int device);

 private:
  std::vector<std::uint8_t> bytes_;
  DenseValues values_;
  ArraySource host_;
  DeviceArena arena_{"This test"};
  DeviceBuffer<std::uint8_t> copy_;
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_CUDA_ARRAY_CASE_H_
