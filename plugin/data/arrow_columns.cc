// Reads streams of Arrow: checks each buffer, unifies dictionaries, and writes rows.
#include "data/arrow_columns.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/host_memory.h"
#include "base/message.h"
#include "base/parallel.h"

namespace xgbgpu::plugin {

namespace {

using std::int64_t;

constexpr int64_t kMostElements = int64_t{1} << 56;    // of an array, with those before its offset: sizes in bits fit
constexpr int64_t kMostCategories = int64_t{1} << 24;  // a float holds each number below it
constexpr int64_t kMostChildren = std::numeric_limits<std::int32_t>::max();
// A tile of columns is converted column by column and then written row by row, a cache line of floats at a time.
constexpr int64_t kArrowTileRows = 256;
constexpr int64_t kTileColumns = 16;
constexpr int64_t kTaskRows = 16 * kArrowTileRows;

/// Owns a structure that a producer handed over, and releases it once.
template <typename T>
class Owned {
 public:
  Owned() = default;
  /// Moves the structure. The producer's own copy then says that it holds nothing.
  explicit Owned(T* from) : held_{*from} { from->release = nullptr; }
  Owned(Owned&& other) noexcept : held_{std::exchange(other.held_, T{})} {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (held_.release != nullptr) held_.release(&held_);
  }
  T* get() { return &held_; }
  T const* operator->() const { return &held_; }
  T const& operator*() const { return held_; }

 private:
  T held_{};
};

enum class Kind : std::uint8_t {
  kNull,
  kBool,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kHalf,
  kFloat,
  kDouble,
  kOther,
};

Kind KindOf(std::string_view format) {
  constexpr std::string_view kFormats = "nbcCsSiIlLefg";  // in the order of Kind
  std::size_t const at = format.size() == 1 ? kFormats.find(format[0]) : std::string_view::npos;
  return at == std::string_view::npos ? Kind::kOther : static_cast<Kind>(at);
}

bool IsInteger(Kind kind) { return kind >= Kind::kInt8 && kind <= Kind::kUInt64; }

bool StartsWith(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

/// Returns the name by which a user knows a type.
char const* NameOfFormat(std::string_view format) {
  constexpr std::array<std::pair<std::string_view, char const*>, 33> kNames{{
      {"u", "string"},  {"U", "string"},     {"vu", "string"},          {"z", "binary"},    {"Z", "binary"},
      {"vz", "binary"}, {"w:", "binary"},    {"d:", "decimal"},         {"tdD", "date"},    {"tdm", "date"},
      {"tt", "time"},   {"ts", "timestamp"}, {"tD", "duration"},        {"ti", "interval"}, {"+l", "list"},
      {"+L", "list"},   {"+w:", "list"},     {"+vl", "list"},           {"+vL", "list"},    {"+s", "struct"},
      {"+m", "map"},    {"+u", "union"},     {"+r", "run-end encoded"}, {"n", "null"},      {"b", "bool"},
      {"c", "integer"}, {"C", "integer"},    {"s", "integer"},          {"S", "integer"},   {"e", "float"},
      {"f", "float"},   {"g", "float"},      {"i", "integer"},
  }};
  auto const* const found =
      std::find_if(kNames.cbegin(), kNames.cend(), [&](auto const& name) { return StartsWith(format, name.first); });
  bool const is_integer = format == "I" || format == "l" || format == "L";
  return is_integer ? "integer" : found == kNames.cend() ? "unknown" : found->second;
}

/// Returns the bytes of a value of the type; 0 if values differ in size, or values of the type are not compared.
int64_t WidthOf(std::string_view format) {
  constexpr std::array<int64_t, 14> kWidths{0, 0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 0};  // in the order of Kind
  if (int64_t const width = kWidths[static_cast<std::size_t>(KindOf(format))]) return width;
  for (char const* const four : {"tdD", "tts", "ttm"}) {
    if (format == four) return 4;
  }
  bool const eight =
      format == "tdm" || format == "ttu" || format == "ttn" || StartsWith(format, "ts") || StartsWith(format, "tD");
  return eight ? 8 : 0;
}

bool IsSet(void const* bits, int64_t i) { return (static_cast<std::uint8_t const*>(bits)[i >> 3] >> (i & 7) & 1) != 0; }

template <typename T>
T Load(void const* values, int64_t i) {  // the interface asks for no alignment
  T value;
  std::memcpy(&value, static_cast<char const*>(values) + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

/// Returns the beginning of an error about a column. The end says what is wrong with it.
std::string Named(std::string const& name) { return "Column " + Quoted(name); }

/// Throws for a structure that is not as the interface promises.
template <typename... Parts>
[[noreturn]] void ThrowMalformed(std::string const& where, Parts const&... parts) {
  Throw<InvalidArgument>(where, " does not follow the Arrow C data interface: ", parts...);
}

/// Checks an array as far as possible without the lengths of its buffers.
void CheckShape(arrow::Array const* array, std::string const& where) {
  if (array == nullptr) ThrowMalformed(where, "its array is null");
  if (array->length < 0 || array->length > kMostElements) {
    ThrowMalformed(where, "the length is ", array->length, "; allowed: 0 to 2^56");
  }
  if (array->offset < 0 || array->offset > kMostElements) {
    ThrowMalformed(where, "the offset is ", array->offset, "; allowed: 0 to 2^56");
  }
  if (array->null_count < -1 || array->null_count > array->length) {
    ThrowMalformed(where, "the number of nulls is ", array->null_count, "; allowed: -1 (not counted) to the length, ",
                   array->length);
  }
}

/// Checks the buffers of an array: there are `least` or more. A buffer other than the bitmap may be null only if
/// nothing would be read. Returns the bitmap of elements that are present; null if all are.
void const* CheckBuffers(arrow::Array const& array, int64_t least, bool exactly, std::string const& where) {
  if (array.n_buffers < least || (exactly && array.n_buffers != least)) {
    ThrowMalformed(where, "there are ", array.n_buffers, " buffers; allowed: ", least, exactly ? "" : " or more");
  }
  if (least == 0) return nullptr;
  if (array.buffers == nullptr) ThrowMalformed(where, "the list of buffers is null");
  if (array.null_count > 0 && array.buffers[0] == nullptr) {
    ThrowMalformed(where, array.null_count, " values are null, and no bitmap says which");
  }
  for (int64_t b = 1; b < least && array.length > 0; ++b) {
    if (array.buffers[b] == nullptr) ThrowMalformed(where, "buffer ", b, " is null, and there are values");
  }
  return array.null_count == 0 ? nullptr : array.buffers[0];
}

/// The values of a dictionary as texts of bytes, so that they can be compared. The array must outlive it.
class DictionaryValues {
 public:
  DictionaryValues(arrow::Schema const& schema, arrow::Array const* array, std::string where)
      : where_{std::move(where)}, format_{schema.format == nullptr ? "" : schema.format}, array_{array} {
    CheckShape(array, where_);
    if (array->length > kMostCategories) {
      Throw<InvalidArgument>(where_, " has ", array->length, " values; allowed: up to 2^24 categories");
    }
    width_ = WidthOf(format_);
    is_view_ = format_ == "vu" || format_ == "vz";
    is_text_ = format_ == "u" || format_ == "z";
    is_large_text_ = format_ == "U" || format_ == "Z";
    if (schema.dictionary != nullptr || array->dictionary != nullptr) {
      width_ = 0;  // numbers of values of another dictionary are not the values
      is_view_ = is_text_ = is_large_text_ = false;
    } else if (width_ != 0 || format_ == "b") {
      valid_ = CheckBuffers(*array, 2, true, where_);
    } else if (is_text_ || is_large_text_) {
      valid_ = CheckBuffers(*array, 2, false, where_);
      if (array->n_buffers != 3) ThrowMalformed(where_, "there are ", array->n_buffers, " buffers; allowed: 3");
    } else if (is_view_) {
      valid_ = CheckBuffers(*array, 2, false, where_);
      if (array->n_buffers < 3) ThrowMalformed(where_, "there are ", array->n_buffers, " buffers; allowed: 3 or more");
    }
  }

  int64_t size() const { return array_->length; }
  std::string const& where() const { return where_; }
  bool AreComparable() const {
    return width_ != 0 || is_view_ || is_text_ || is_large_text_ || format_ == "b" || format_ == "n";
  }

  /// Returns true if both arrays are the same memory. Both are held, so their values are the same then.
  bool IsSameAs(DictionaryValues const& other) const {
    arrow::Array const &a = *array_, &b = *other.array_;
    return a.length == b.length && a.offset == b.offset && a.n_buffers == b.n_buffers && a.n_buffers > 1 &&
           a.buffers != nullptr && b.buffers != nullptr && a.n_children == 0 && b.n_children == 0 &&
           std::equal(a.buffers, a.buffers + a.n_buffers, b.buffers);
  }

  /// Returns the bytes of value i; nothing if it is null.
  std::optional<std::string_view> Get(int64_t i) const {
    int64_t const at = array_->offset + i;
    if (format_ == "n" || (valid_ != nullptr && !IsSet(valid_, at))) return std::nullopt;
    if (is_text_) return Text<std::int32_t>(at);
    if (is_large_text_) return Text<int64_t>(at);
    if (is_view_) return View(at);
    if (format_ == "b") return IsSet(array_->buffers[1], at) ? "1" : "0";
    return std::string_view{static_cast<char const*>(array_->buffers[1]) + at * width_,
                            static_cast<std::size_t>(width_)};
  }

 private:
  template <typename Offset>
  std::string_view Text(int64_t at) const {
    auto const begin = int64_t{Load<Offset>(array_->buffers[1], at)};
    auto const end = int64_t{Load<Offset>(array_->buffers[1], at + 1)};
    if (begin < 0 || end < begin) {
      ThrowMalformed(where_, "text ", at, " is from byte ", begin, " to ", end, "; allowed: ends that never decrease");
    }
    if (begin == end) return {};
    auto const* const bytes = static_cast<char const*>(array_->buffers[2]);
    if (bytes == nullptr) ThrowMalformed(where_, "buffer 2 is null, and there are texts");
    return {bytes + begin, static_cast<std::size_t>(end - begin)};
  }

  /// A view is 16 bytes: the size, then the text itself if it has 12 bytes or fewer, else four of its bytes, the number
  /// of its buffer and its place there. The last buffer of all has their sizes.
  std::string_view View(int64_t at) const {
    char const* const view = static_cast<char const*>(array_->buffers[1]) + at * 16;
    auto const size = Load<std::int32_t>(view, 0);
    if (size < 0) ThrowMalformed(where_, "text ", at, " has ", size, " bytes");
    if (size <= 12) return {view + 4, static_cast<std::size_t>(size)};
    auto const buffer = int64_t{Load<std::int32_t>(view, 2)}, begin = int64_t{Load<std::int32_t>(view, 3)};
    int64_t const buffers = array_->n_buffers - 3;
    void const* const sizes = array_->buffers[array_->n_buffers - 1];
    bool const is_there = buffer >= 0 && buffer < buffers && sizes != nullptr && begin >= 0 &&
                          array_->buffers[2 + buffer] != nullptr && begin + size <= Load<int64_t>(sizes, buffer);
    if (!is_there) {
      ThrowMalformed(where_, "text ", at, " is at byte ", begin, " of buffer ", buffer, " of ", buffers,
                     ", which does not have its ", size, " bytes");
    }
    return {static_cast<char const*>(array_->buffers[2 + buffer]) + begin, static_cast<std::size_t>(size)};
  }

  std::string where_;
  std::string_view format_;
  arrow::Array const* array_;
  void const* valid_{nullptr};
  int64_t width_{0};
  bool is_view_{false};
  bool is_text_{false};
  bool is_large_text_{false};
};

/// The numbers that a column's categories have in all batches.
class CategoryNumbers {
 public:
  using Numbers = std::vector<std::int32_t>;  ///< by the number in a dictionary; -1: that value is null

  /// Returns what the numbers of this dictionary become. It costs a look-up for each of its values, unless the
  /// dictionary is that of the call before.
  std::shared_ptr<Numbers const> Of(DictionaryValues values) {
    if (last_ && last_->IsSameAs(values)) return numbers_;
    bool const is_first = !last_;
    if (!values.AreComparable() && !is_first) {
      Throw<InvalidArgument>(values.where(),
                             " is not that of the batch before, and values of its type cannot be "
                             "compared; allowed: one dictionary for all batches, or texts or numbers as its values");
    }
    auto numbers = std::make_shared<Numbers>(static_cast<std::size_t>(values.size()));
    for (int64_t i = 0; i < values.size(); ++i) {
      (*numbers)[static_cast<std::size_t>(i)] =
          values.AreComparable() ? NumberOf(values, i, is_first) : static_cast<std::int32_t>(i);
    }
    next_ = is_first ? static_cast<std::int32_t>(values.size()) : next_;
    last_.emplace(std::move(values));
    return numbers_ = std::move(numbers);
  }

 private:
  std::int32_t NumberOf(DictionaryValues const& values, int64_t i, bool is_first) {
    auto const value = values.Get(i);
    if (!value) return -1;
    auto const [found, is_new] = number_of_.emplace(*value, is_first ? static_cast<std::int32_t>(i) : next_);
    if (is_new && !is_first && ++next_ > kMostCategories) {
      Throw<InvalidArgument>(values.where(),
                             " has more values than 2^24 together with those of the batches before; "
                             "allowed: up to 2^24 categories");
    }
    return found->second;
  }

  std::unordered_map<std::string_view, std::int32_t> number_of_;
  std::int32_t next_{0};
  std::optional<DictionaryValues> last_;
  std::shared_ptr<Numbers const> numbers_;
};

/// A column's values in one batch.
struct Part {
  Kind kind;
  void const* valid;                                        ///< bitmap of values that are there; null: all are
  void const* values;                                       ///< null for Kind::kNull
  int64_t offset;                                           ///< of the batch's first row, in elements of both
  std::shared_ptr<CategoryNumbers::Numbers const> numbers;  ///< null: values are numbers
};

struct Batch {
  std::uint64_t first_row;
  int64_t rows;
  std::vector<Part> columns;
};

float HalfToFloat(std::uint16_t half) {
  std::uint32_t const sign = std::uint32_t{half & 0x8000U} << 16, exponent = half >> 10 & 0x1fU, rest = half & 0x3ffU;
  if (exponent == 0) {  // multiples of 2^-24, which a float has exactly
    float const value = static_cast<float>(rest) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  std::uint32_t const bits = sign | (exponent == 31 ? 0xffU : exponent + 112) << 23 | rest << 13;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <typename Value>
constexpr Value kNull = std::numeric_limits<Value>::quiet_NaN();

/// Writes the values of rows [first, first + n) of a batch.
template <typename T, typename Value>
void ConvertNumbers(Part const& part, int64_t first, int64_t n, Value* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Value>(Load<T>(part.values, part.offset + first + i));
}

template <typename T, typename Value>
void ConvertCategories(Part const& part, int64_t first, int64_t n, std::string const& name, Value* out) {
  auto const& numbers = *part.numbers;
  for (int64_t i = 0; i < n; ++i) {
    int64_t const at = part.offset + first + i;
    out[i] = kNull<Value>;
    if (part.valid != nullptr && !IsSet(part.valid, at)) continue;
    T const number = Load<T>(part.values, at);
    if (static_cast<std::uint64_t>(number) >= numbers.size()) {  // a number below 0 becomes a large one
      ThrowMalformed(Named(name), "a row has number ", +number, " of a dictionary of ", numbers.size(), " values");
    }
    std::int32_t const category = numbers[static_cast<std::size_t>(number)];
    if (category >= 0) out[i] = static_cast<Value>(category);
  }
}

template <typename T, typename Value>
void ConvertIntegers(Part const& part, int64_t first, int64_t n, std::string const& name, Value* out) {
  part.numbers == nullptr ? ConvertNumbers<T>(part, first, n, out) : ConvertCategories<T>(part, first, n, name, out);
}

template <typename Value>
void Convert(Part const& part, int64_t first, int64_t n, std::string const& name, Value* out) {
  switch (part.kind) {
    case Kind::kBool:
      for (int64_t i = 0; i < n; ++i) out[i] = IsSet(part.values, part.offset + first + i) ? Value{1} : Value{0};
      break;
    case Kind::kInt8:
      ConvertIntegers<std::int8_t>(part, first, n, name, out);
      break;
    case Kind::kUInt8:
      ConvertIntegers<std::uint8_t>(part, first, n, name, out);
      break;
    case Kind::kInt16:
      ConvertIntegers<std::int16_t>(part, first, n, name, out);
      break;
    case Kind::kUInt16:
      ConvertIntegers<std::uint16_t>(part, first, n, name, out);
      break;
    case Kind::kInt32:
      ConvertIntegers<std::int32_t>(part, first, n, name, out);
      break;
    case Kind::kUInt32:
      ConvertIntegers<std::uint32_t>(part, first, n, name, out);
      break;
    case Kind::kInt64:
      ConvertIntegers<int64_t>(part, first, n, name, out);
      break;
    case Kind::kUInt64:
      ConvertIntegers<std::uint64_t>(part, first, n, name, out);
      break;
    case Kind::kHalf:
      for (int64_t i = 0; i < n; ++i) out[i] = HalfToFloat(Load<std::uint16_t>(part.values, part.offset + first + i));
      break;
    case Kind::kFloat:
      ConvertNumbers<float>(part, first, n, out);
      break;
    case Kind::kDouble:
      ConvertNumbers<double>(part, first, n, out);
      break;
    case Kind::kNull:
    case Kind::kOther:
      std::fill_n(out, n, kNull<Value>);
      return;
  }
  if (part.valid == nullptr || part.numbers != nullptr) return;
  for (int64_t i = 0; i < n; ++i) {
    if (!IsSet(part.valid, part.offset + first + i)) out[i] = kNull<Value>;
  }
}

/// Holds what the schema says of a column.
struct Column {
  std::string name;
  Kind kind;
  ColumnType type;
  arrow::Schema const* schema;
  CategoryNumbers categories;
};

Column MakeColumn(arrow::Schema const* schema, int64_t number, Categories categories) {
  if (schema == nullptr) ThrowMalformed("Column " + std::to_string(number), "its schema is null");
  Column column{schema->name == nullptr ? "" : schema->name, Kind::kOther, ColumnType::kReal, schema, {}};
  std::string const where = Named(column.name);
  if (schema->format == nullptr) ThrowMalformed(where, "its format is null");
  std::string_view const format = schema->format;
  column.kind = KindOf(format);
  char const* const allowed =
      categories == Categories::kNever ? "numbers and truth values" : "numbers, truth values and categories";
  if (schema->dictionary != nullptr) {
    if (!IsInteger(column.kind)) {
      ThrowMalformed(where, "the numbers of a dictionary have the format ", Quoted(format), "; allowed: integers");
    }
    if (categories == Categories::kNever) Throw<InvalidArgument>(where, " has categories; allowed: ", allowed);
    if (categories == Categories::kNotEnabled) {
      Throw<InvalidArgument>(where, " has categories: these need enable_categorical=True");
    }
    column.type = ColumnType::kCategory;
  } else if (column.kind == Kind::kOther) {
    std::string_view const name = NameOfFormat(format);
    char const* const advice =
        categories == Categories::kNever ? ""
        : name == "string" ? ". Make categories of texts: .cast(pl.Enum(texts)) of polars, .dictionary_encode() of "
                             "pyarrow, .astype(\"category\") of pandas"
                           : ". Make numbers of the column, or leave it out";
    Throw<InvalidArgument>(where, " has the type ", name, " (Arrow's format ", Quoted(format), "); allowed: ", allowed,
                           advice);
  } else {
    column.type = IsInteger(column.kind)       ? ColumnType::kInteger
                  : column.kind == Kind::kBool ? ColumnType::kTruth
                                               : ColumnType::kReal;
  }
  return column;
}

/// Checks a column's array in a batch whose rows are [first, first + rows) of it.
Part MakePart(Column* column, arrow::Array const* array, int64_t first, int64_t rows, std::uint64_t batch) {
  std::string const in_batch = " in batch " + std::to_string(batch), where = Named(column->name) + in_batch;
  CheckShape(array, where);
  if (array->length < first + rows) {
    ThrowMalformed(where, "the length is ", array->length, "; allowed: the table's, ", first + rows, ", or more");
  }
  int64_t const offset = array->offset + first;
  if (column->kind == Kind::kNull) return {column->kind, nullptr, nullptr, offset, nullptr};
  void const* const valid = CheckBuffers(*array, 2, true, where);
  Part part{column->kind, valid, array->buffers[1], offset, nullptr};
  if ((array->dictionary != nullptr) != (column->type == ColumnType::kCategory)) {
    ThrowMalformed(where, "the schema and the array do not agree whether there is a dictionary");
  }
  if (array->dictionary != nullptr) {
    part.numbers = column->categories.Of(
        {*column->schema->dictionary, array->dictionary, "The dictionary of " + Quoted(column->name) + in_batch});
  }
  return part;
}

bool IsTable(arrow::Schema const& schema) { return std::string_view{schema.format} == "+s"; }

std::vector<Column> MakeColumns(arrow::Schema const& schema, Categories categories, bool one_column) {
  std::vector<Column> columns;
  if (schema.format == nullptr) ThrowMalformed("The table", "its format is null");
  if (!IsTable(schema)) {
    if (!one_column) {
      Throw<InvalidArgument>("The data are one column of the type ", NameOfFormat(schema.format),
                             "; allowed: tables, whose columns have names");
    }
    columns.push_back(MakeColumn(&schema, 0, categories));
    return columns;
  }
  if (schema.n_children < 0 || schema.n_children > kMostChildren) {
    ThrowMalformed("The table", "there are ", schema.n_children, " columns; allowed: 0 to 2^31 - 1");
  }
  if (schema.n_children > 0 && schema.children == nullptr) ThrowMalformed("The table", "the list of columns is null");
  for (int64_t c = 0; c < schema.n_children; ++c) columns.push_back(MakeColumn(schema.children[c], c, categories));
  return columns;
}

/// Checks a batch of a table. A row that is null as a whole means nothing to a training.
Batch MakeBatch(std::vector<Column>* columns, arrow::Array const& array, bool is_table, std::uint64_t first_row,
                std::uint64_t number) {
  std::string const where = "Batch " + std::to_string(number);
  CheckShape(&array, where);
  Batch batch{first_row, array.length, {}};
  if (!is_table) {
    batch.columns.push_back(MakePart(&columns->front(), &array, 0, array.length, number));
    return batch;
  }
  if (array.n_children != static_cast<int64_t>(columns->size())) {
    ThrowMalformed(where, "there are ", array.n_children, " columns; allowed: the schema's, ", columns->size());
  }
  if (array.n_children > 0 && array.children == nullptr) ThrowMalformed(where, "the list of columns is null");
  void const* const valid = CheckBuffers(array, 1, true, where);
  for (int64_t i = 0; valid != nullptr && i < array.length; ++i) {
    if (!IsSet(valid, array.offset + i)) Throw<InvalidArgument>(where, ": row ", i, " is null; allowed: null values");
  }
  for (std::size_t c = 0; c < columns->size(); ++c) {
    batch.columns.push_back(MakePart(&(*columns)[c], array.children[c], array.offset, array.length, number));
  }
  return batch;
}

/// Returns what a producer says of its own failure.
[[noreturn]] void ThrowProducersError(arrow::Stream* stream, char const* doing, int code) {
  char const* const text = stream->get_last_error == nullptr ? nullptr : stream->get_last_error(stream);
  Throw<InvalidArgument>("The producer of the table failed while ", doing, ": ",
                         text == nullptr ? std::string{std::strerror(code)} : EscapedMessage(text));
}

/// Writes rows [first, first + n) of a batch: `values` is the array's row `first`.
template <typename Value>
void WriteRows(Batch const& batch, std::vector<Column> const& columns, int64_t first, int64_t n, Value* values) {
  auto const width = static_cast<int64_t>(columns.size());
  std::array<Value, static_cast<std::size_t>(kArrowTileRows * kTileColumns)> tile;  // [column, row]
  for (int64_t from = 0; from < n; from += kArrowTileRows) {
    int64_t const rows = std::min(kArrowTileRows, n - from);
    for (int64_t c = 0; c < width; c += kTileColumns) {
      int64_t const columns_here = std::min(kTileColumns, width - c);
      for (int64_t k = 0; k < columns_here; ++k) {
        auto const column = static_cast<std::size_t>(c + k);
        Convert(batch.columns[column], first + from, rows, columns[column].name, tile.data() + k * kArrowTileRows);
      }
      for (int64_t i = 0; i < rows; ++i) {
        Value* const row = values + (from + i) * width + c;
        for (int64_t k = 0; k < columns_here; ++k) row[k] = tile[static_cast<std::size_t>(k * kArrowTileRows + i)];
      }
    }
  }
}

/// Writes all batches, in tasks of equal size however long the batches are.
template <typename Value>
void WriteBatches(std::vector<Batch> const& batches, std::vector<Column> const& columns, int threads, Value* values) {
  struct Task {
    Batch const* batch;
    int64_t first;
  };
  std::vector<Task> tasks;
  for (Batch const& batch : batches) {
    for (int64_t first = 0; first < batch.rows; first += kTaskRows) tasks.push_back({&batch, first});
  }
  ParallelTasks(threads, tasks.size(), [&](std::size_t t, int) {
    auto const& [batch, first] = tasks[t];
    Value* const out = values + (batch->first_row + static_cast<std::uint64_t>(first)) * columns.size();
    WriteRows(*batch, columns, first, std::min(kTaskRows, batch->rows - first), out);
  });
}

}  // namespace

char const* NameOf(ColumnType type) {
  constexpr std::array<char const*, 4> kNames{"int", "float", "i", "c"};
  return kNames[static_cast<std::size_t>(type)];
}

template <typename Value>
RowTable<Value> ReadArrowStream(arrow::Stream* from, Categories categories, bool one_column, int threads) {
  if (from == nullptr || from->release == nullptr) {
    Throw<InvalidArgument>(
        "The table was read before, and its producer hands it over once; allowed: a table, or a new "
        "reader of it");
  }
  Owned<arrow::Stream> stream{from};
  if (stream->get_schema == nullptr || stream->get_next == nullptr) {
    ThrowMalformed("The table", "a function of the stream is null");
  }
  Owned<arrow::Schema> schema;
  if (int const code = stream->get_schema(stream.get(), schema.get())) {
    schema.get()->release = nullptr;  // a producer that failed handed over nothing
    ThrowProducersError(stream.get(), "giving its schema", code);
  }
  if (schema->release == nullptr) ThrowMalformed("The table", "its schema is released already");
  std::vector<Column> columns = MakeColumns(*schema, categories, one_column);
  std::vector<std::unique_ptr<Owned<arrow::Array>>> arrays;  // parts point into them
  std::vector<Batch> batches;
  RowTable<Value> table;
  std::size_t size = 0;  // bytes
  while (true) {
    auto array = std::make_unique<Owned<arrow::Array>>();
    if (int const code = stream->get_next(stream.get(), array->get())) {
      array->get()->release = nullptr;
      ThrowProducersError(stream.get(), "giving rows", code);
    }
    if ((*array)->release == nullptr) break;
    arrays.push_back(std::move(array));
    batches.push_back(MakeBatch(&columns, **arrays.back(), IsTable(*schema), table.rows, batches.size()));
    table.rows += static_cast<std::uint64_t>(batches.back().rows);
    if (__builtin_mul_overflow(static_cast<std::size_t>(table.rows), columns.size() * sizeof(Value), &size) ||
        table.rows > static_cast<std::uint64_t>(kMostElements)) {
      Throw<InvalidArgument>("The table has ", table.rows, " rows or more, and ", columns.size(),
                             " columns; allowed: what memory can hold");
    }
  }
  table.bytes = WithMemoryFor("the values of a table", [&] { return Buffer<std::uint8_t>{size}; });
  for (Column& column : columns) {
    table.names.push_back(column.name);
    table.types.push_back(column.type);
  }
  if (size != 0) WriteBatches(batches, columns, threads, table.values());
  return table;
}

template RowTable<float> ReadArrowStream(arrow::Stream*, Categories, bool, int);
template RowTable<double> ReadArrowStream(arrow::Stream*, Categories, bool, int);

}  // namespace xgbgpu::plugin
