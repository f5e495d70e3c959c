// Makes arrays of every type, on the host and on a device.
#include "user_arrays/array_case.h"

#include <limits>
#include <ostream>
#include <type_traits>

#include "support/data.h"

namespace xgbgpu::testing {

namespace {

template <typename T>
T RandomValue(ArrayCase const& c, Random* random) {
  bool const real = std::is_floating_point_v<T>;
  if (c.marked > 0 && static_cast<double>(random->Uniform()) < c.marked) return static_cast<T>(c.mark);
  if (real && c.marked > 0 && static_cast<double>(random->Uniform()) < c.marked) {
    return std::numeric_limits<T>::quiet_NaN();  // 0 for integers, which do not come here
  }
  if (c.levels != 0) return static_cast<T>(static_cast<T>(5) - static_cast<T>(random->Below(c.levels)));
  if (real) return static_cast<T>(random->Between(-1000, 1000));
  return static_cast<T>(random->Bits());
}

std::vector<std::uint8_t> RandomArray(ArrayCase const& c) {
  std::size_t const n = c.rows * c.features;
  std::vector<std::uint8_t> bytes(n * ValueBytes(c.type));
  Random random{91};
  VisitValues({bytes.data(), c.type}, [&](auto const* first) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(first)>>;
    auto* const values = reinterpret_cast<T*>(bytes.data());
    for (std::size_t i = 0; i < n; ++i) values[i] = RandomValue<T>(c, &random);
  });
  return bytes;
}

}  // namespace

void PrintTo(ArrayCase const& c, std::ostream* os) { *os << c.name; }

std::vector<ArrayCase> const& ArrayCases() {
  static std::vector<ArrayCase> const kCases = {
      {"Float", ValueType::kFloat32, 3001, 13},
      {"FloatNaNAndMark", ValueType::kFloat32, 3001, 13, -999.0f, 0.1},
      {"FloatMarkIsZero", ValueType::kFloat32, 3001, 5, 0.0f, 0.2, 9},
      {"Int8", ValueType::kInt8, 3001, 13, -7.0f, 0.1},
      {"UInt8", ValueType::kUInt8, 3001, 13},
      {"UInt8AllMissing", ValueType::kUInt8, 301, 3, 0.0f, 1.0},
      {"UInt8MarkOutside", ValueType::kUInt8, 301, 3, -1.0f},
      {"Int16", ValueType::kInt16, 3001, 13, -32768.0f, 0.05},
      {"UInt16", ValueType::kUInt16, 70001, 3},
      {"OneValue", ValueType::kFloat32, 1, 1},
      {"OneRow", ValueType::kUInt8, 1, 1000, 3.0f},
      {"OneColumn", ValueType::kInt16, 5001, 1},
      {"Wide", ValueType::kUInt8, 333, 1000, 8.0f},
      {"MostlyMissing", ValueType::kInt8, 2001, 40, 0.0f, 0.8, 4},          // sparse on the device
      {"MostlyMissingWide", ValueType::kFloat32, 20011, 300, -5.0f, 0.45},  // sparse in tiles
      {"SortedByColumn", ValueType::kFloat32, 300007, 3, -5.0f, 0.05},      // longer than the policy's key_sort_from
      {"SortedByColumnFew", ValueType::kInt8, 262147, 9, 2.0f, 0.1, 7},     // columns end inside chunks
      {"SeveralPieces", ValueType::kFloat32, 600011, 7},
      {"SeveralPiecesNarrow", ValueType::kUInt16, 600011, 9, 17.0f},
      {"RowsLongerThanPieces", ValueType::kFloat32, 3, 300007, 5.0f, 0.1, 6},
  };
  return kCases;
}

CaseArray::CaseArray(ArrayCase const& c)
    : bytes_(RandomArray(c)), values_{bytes_.data(), c.type, c.mark}, host_{values_, c.rows, c.features, 2} {}

DeviceArraySource CaseArray::on_device(int device) {
  DeviceScope const scope{device};
  copy_ = Upload(&arena_, "an array", bytes_.data(), bytes_.size());
  DenseValues values = values_;
  values.data = copy_.data();
  values.device = device;
  return {host_, values};
}

}  // namespace xgbgpu::testing
