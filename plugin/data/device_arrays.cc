// Reads the CUDA array interface, and moves arrays between a device and the host.
#include "data/device_arrays.h"

#include <xgboost/json.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/message.h"
#include "data/array_view.h"
#include "xgbgpu/array_source.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

xgboost::Json const* Find(xgboost::Json const& interface, char const* name) {
  if (!xgboost::IsA<xgboost::Object>(interface)) throw InvalidArgument{"An array on a GPU has no array interface"};
  auto const& members = xgboost::get<xgboost::Object const>(interface);
  auto const found = members.find(name);
  return found == members.cend() || xgboost::IsA<xgboost::Null>(found->second) ? nullptr : &found->second;
}

xgboost::Json const& Get(xgboost::Json const& interface, char const* name) {
  xgboost::Json const* const found = Find(interface, name);
  if (found == nullptr) Throw<InvalidArgument>("The array interface of an array on a GPU has no member ", name);
  return *found;
}

char* AddressOf(xgboost::Json const& interface) {
  auto const& data = xgboost::get<xgboost::Array const>(Get(interface, "data"));
  if (data.empty()) throw InvalidArgument{"The array interface of an array on a GPU has no address"};
  return reinterpret_cast<char*>(static_cast<std::uintptr_t>(xgboost::get<xgboost::Integer const>(data[0])));
}

struct Type {
  NumberType type;
  std::int64_t bytes;
};

Type TypeOf(xgboost::Json const& interface) {
  auto const& text = xgboost::get<xgboost::String const>(Get(interface, "typestr"));
  std::string const name = text.size() == 3 && text[0] != '>' ? text.substr(1) : std::string{};
  static constexpr std::pair<char const*, NumberType> kTypes[] = {
      {"i1", NumberType::kInt8},    {"u1", NumberType::kUInt8},   {"b1", NumberType::kUInt8},
      {"i2", NumberType::kInt16},   {"u2", NumberType::kUInt16},  {"i4", NumberType::kInt32},
      {"u4", NumberType::kUInt32},  {"i8", NumberType::kInt64},   {"u8", NumberType::kUInt64},
      {"f2", NumberType::kFloat16}, {"f4", NumberType::kFloat32}, {"f8", NumberType::kFloat64}};
  for (auto const& [known, type] : kTypes) {
    if (name == known) return {type, name[1] - '0'};
  }
  Throw<InvalidArgument>("An array on a GPU has values of the type ", Quoted(text),
                         "; allowed: bool, integers of 1 to 8 bytes and floats of 2 to 8, little-endian");
}

/// An array of one or two dimensions.
struct Shape {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  ///< bytes
};

Shape ShapeOf(xgboost::Json const& interface, std::int64_t bytes) {
  Shape shape{Integers(Get(interface, "shape")), {}};
  bool const is_good = !shape.sizes.empty() && shape.sizes.size() <= 2 &&
                       std::all_of(shape.sizes.cbegin(), shape.sizes.cend(), [](std::int64_t n) { return n > 0; });
  if (!is_good) throw InvalidArgument{"An array on a GPU has no values, or not one or two dimensions"};
  std::int64_t size = bytes;
  bool overflows = false;
  std::vector<std::int64_t> without_gaps(shape.sizes.size());
  for (std::size_t d = shape.sizes.size(); d-- > 0;) {
    without_gaps[d] = size;
    overflows |= __builtin_mul_overflow(size, shape.sizes[d], &size);
  }
  xgboost::Json const* const strides = Find(interface, "strides");
  shape.strides = strides == nullptr ? std::move(without_gaps) : Integers(*strides);
  if (shape.strides.size() != shape.sizes.size()) {
    throw InvalidArgument{"The array interface of an array on a GPU has strides of other dimensions than its shape"};
  }
  std::int64_t reach = 0, sum = 0;  // how far its values are from its address
  for (std::size_t d = 0; d < shape.sizes.size(); ++d) {
    overflows |= shape.strides[d] == std::numeric_limits<std::int64_t>::min();
    overflows |= __builtin_mul_overflow(std::abs(overflows ? 0 : shape.strides[d]), shape.sizes[d], &reach);
    overflows |= __builtin_add_overflow(sum, reach, &sum);
  }
  if (overflows) {
    std::string lengths;
    for (std::int64_t const length : shape.sizes) lengths += (lengths.empty() ? "" : ", ") + std::to_string(length);
    Throw<InvalidArgument>("An array on a GPU has the shape [", lengths,
                           "]; allowed: shape and strides of fewer than 2^63 bytes");
  }
  return shape;
}

std::uintptr_t StreamOf(xgboost::Json const& interface) {
  xgboost::Json const* const stream = Find(interface, "stream");
  return stream == nullptr ? 0 : static_cast<std::uintptr_t>(xgboost::get<xgboost::Integer const>(*stream));
}

std::uint8_t const* MaskOf(xgboost::Json const& interface, std::int64_t rows) {
  xgboost::Json const* const mask = Find(interface, "mask");
  if (mask == nullptr) return nullptr;
  auto const sizes = Integers(Get(*mask, "shape"));
  auto const& type = xgboost::get<xgboost::String const>(Get(*mask, "typestr"));
  if (type.size() < 2 || type.substr(type.size() - 2) != "t1" || sizes.size() != 1 || sizes[0] != rows) {
    Throw<InvalidArgument>("The mask of an array on a GPU with ", rows, " rows has the type ", Quoted(type), " and ",
                           sizes.empty() ? 0 : sizes[0], " values; allowed: one bit (t1) for each row");
  }
  return reinterpret_cast<std::uint8_t const*>(AddressOf(*mask));
}

void Append(xgboost::Json const& interface, DeviceTable* table) {
  Type const type = TypeOf(interface);
  Shape const shape = ShapeOf(interface, type.bytes);
  auto const rows = static_cast<std::uint64_t>(shape.sizes[0]);
  if (table->columns.empty()) table->rows = rows;
  if (rows != table->rows) {
    Throw<InvalidArgument>("Column ", table->columns.size(), " of a table on a GPU has ", rows, " rows; column 0 has ",
                           table->rows);
  }
  bool const is_matrix = shape.sizes.size() == 2;
  std::uint8_t const* const valid = MaskOf(interface, shape.sizes[0]);
  char const* const data = AddressOf(interface);
  if (data == nullptr || (is_matrix && valid != nullptr)) {
    throw InvalidArgument{"An array on a GPU has the address 0, or a mask for an array of two dimensions"};
  }
  std::int64_t const columns = is_matrix ? shape.sizes[1] : 1;
  constexpr std::int64_t kMostColumns = 1 << 24;  // each takes 32 bytes on the way
  if (columns > kMostColumns) {
    Throw<InvalidArgument>("An array on a GPU has ", columns, " columns; allowed: up to ", kMostColumns);
  }
  for (std::int64_t c = 0; c < columns; ++c) {
    std::int64_t const offset = is_matrix ? c * shape.strides[1] : 0;
    table->columns.push_back({AddressAt(data, offset), shape.strides[0], type.type, valid});
  }
  // The stream of the last column counts: a producer of a table has waited for the streams of the other columns.
  if (std::uintptr_t const stream = StreamOf(interface)) table->stream = stream;
}

class HeldDeviceRows final : public HeldRows {
 public:
  explicit HeldDeviceRows(std::unique_ptr<DeviceRows> rows) : rows_{std::move(rows)} {}

  std::uint64_t rows() const override { return rows_->rows(); }
  FeatureIndex features() const override { return rows_->features(); }
  std::optional<DenseValues> dense() const override { return rows_->dense(); }
  void ForEachBatch(std::function<void(RowBatch const&)> const& visit) const override { rows_->ForEachBatch(visit); }
  std::uint64_t present() const override { return rows_->present(); }
  void VisitSome(std::uint64_t first, std::uint64_t count, int threads,
                 std::function<void(RowBatch const&)> const& visit) const override {
    Buffer<float> values{count * features()};
    rows_->CopyToHost(first, count, values.data());
    ArraySource{{values.data()}, count, features(), threads}.ForEachBatch(visit);
  }
  std::unique_ptr<HeldRows> Slice(Span<std::int32_t const> numbers, int threads) const override {
    Buffer<std::uint8_t> values{rows() * features() * sizeof(float)};
    rows_->CopyToHost(0, rows(), reinterpret_cast<float*>(values.data()));
    return HoldRows(std::move(values), rows(), features(), threads)->Slice(numbers, threads);
  }

 private:
  std::unique_ptr<DeviceRows> rows_;
};

}  // namespace

DeviceTable ParseDeviceTable(char const* interfaces) {
  xgboost::Json const json = xgboost::Json::Load(xgboost::StringView{interfaces});
  DeviceTable table{};
  if (xgboost::IsA<xgboost::Array>(json)) {
    for (xgboost::Json const& interface : xgboost::get<xgboost::Array const>(json)) Append(interface, &table);
  } else {
    Append(json, &table);
  }
  if (table.columns.empty()) throw InvalidArgument{"A table on a GPU has no columns; allowed: 1 or more"};
  return table;
}

std::unique_ptr<HeldRows> HoldDeviceRows(DeviceTable const& table, float missing) {
  HeldDeviceRowsBuilder builder{DeviceOfTable(table), table.rows, table.columns.size()};
  builder.Append(table, missing);
  auto rows = builder.Finish();
  if (rows == nullptr) throw InvalidArgument{"Input data contains `inf` or `nan`"};
  return rows;
}

HeldDeviceRowsBuilder::HeldDeviceRowsBuilder(int device, std::uint64_t rows, std::size_t columns)
    : builder_{MakeDeviceRowsBuilder(device, rows, static_cast<FeatureIndex>(columns))} {}

std::unique_ptr<HeldRows> HeldDeviceRowsBuilder::Finish() {
  auto rows = builder_->Finish();
  if (rows->has_infinite()) return nullptr;
  return std::make_unique<HeldDeviceRows>(std::move(rows));
}

std::string HostTable::text() const { return ArrayText(values.data(), {rows, columns}); }

HostTable BringToHost(DeviceTable const& table) {
  HostTable brought{Buffer<float>{table.rows * table.columns.size()}, table.rows, table.columns.size()};
  CopyDeviceTableToHost(table, brought.values.data());
  return brought;
}

ValuesOnDevice::ValuesOnDevice(DeviceTable table)
    : table_{std::move(table)},
      device_{DeviceOfTable(table_)},
      room_{table_.rows * table_.columns.size()},
      text_{ArrayText(room_.data(), {table_.rows, table_.columns.size()})} {}

std::unique_ptr<RowSource> ValuesOnDevice::Rows(float missing) const {
  try {
    auto rows = CopyDeviceTable(table_, missing);
    if (!rows->has_infinite()) return rows;
  } catch (OutOfDeviceMemory const&) {  // the host takes them piece by piece
  }
  return nullptr;
}

void ValuesOnDevice::Settle(bool is_predicted) {
  if (!is_predicted) CopyDeviceTableToHost(table_, room_.data());
  is_settled_ = true;
}

HostArray::HostArray(void const* data, std::size_t n, std::size_t bytes) : data_{data} {
  if (data == nullptr || n == 0 || DeviceOf(data) == kHostMemory) return;
  copy_ = Buffer<char>{n * bytes};
  CopyFromDevice(data, n * bytes, 0, copy_.data());
  data_ = copy_.data();
}

HostArray::HostArray(char const* interface) : given_{interface} {
  if (interface == nullptr) return;
  xgboost::Json array;
  try {
    array = xgboost::Json::Load(xgboost::StringView{interface});
    if (xgboost::IsA<xgboost::Array>(array)) array = xgboost::Json{xgboost::get<xgboost::Array>(array).at(0)};
    if (Find(array, "data") == nullptr) return;
  } catch (std::exception const&) {  // stock code has the words for what is no interface
    return;
  }
  char* const data = AddressOf(array);
  if (DeviceOf(data) == kHostMemory) return;
  if (Find(array, "mask") != nullptr) throw InvalidArgument{"Masked array is not supported."};
  Type const type = TypeOf(array);
  Shape const shape = ShapeOf(array, type.bytes);
  std::int64_t below = 0, above = type.bytes;
  for (std::size_t d = 0; d < shape.sizes.size(); ++d) {
    std::int64_t const reach = shape.strides[d] * (shape.sizes[d] - 1);
    (reach < 0 ? below : above) += reach;
  }
  copy_ = Buffer<char>{static_cast<std::size_t>(above - below)};
  CopyFromDevice(AddressAt(data, below), copy_.size(), StreamOf(array), copy_.data());
  auto const address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(AddressAt(copy_.data(), -below)));
  array["data"] = xgboost::Array{{xgboost::Json{xgboost::Integer{address}}, xgboost::Json{xgboost::Boolean{true}}}};
  xgboost::get<xgboost::Object>(array).erase(
      "stream");  // builds with CUDA look for the values on a device if it is there
  xgboost::Json::Dump(array, &text_);
}

}  // namespace xgbgpu::plugin
