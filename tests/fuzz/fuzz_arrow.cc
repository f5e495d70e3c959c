/// Tables of the Arrow C stream interface. Bytes of the input choose formats, lengths, offsets, numbers of buffers and
/// children, which pointers are null, and what is in the buffers. A buffer is as long as its array says, if that is
/// allowed: nobody can tell how long it is, so that lengths are short or not allowed at all. What is released twice, or
/// never, ends the process.
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "data/arrow_columns.h"
#include "fuzz.h"
#include "xgbgpu/error.h"

namespace {

using namespace xgbgpu::plugin;  // NOLINT(google-build-using-namespace): its own tests

/// The input, byte by byte; zeros where it has ended.
class Input {
 public:
  Input(std::uint8_t const* data, std::size_t size) : at_{data}, end_{data + size} {}
  std::uint8_t Next() { return at_ == end_ ? 0 : *at_++; }
  /// Mostly `usual`.
  std::int64_t Number(std::int64_t usual) {
    constexpr std::int64_t kOdd[] = {-1,
                                     -2,
                                     0,
                                     1,
                                     2,
                                     3,
                                     5,
                                     17,
                                     std::int64_t{1} << 60,
                                     -(std::int64_t{1} << 60),
                                     std::numeric_limits<std::int64_t>::max(),
                                     std::numeric_limits<std::int64_t>::min()};
    std::uint8_t const choice = Next();
    return choice >= 240 ? kOdd[(choice - 240) % 12] : usual;
  }
  bool Rarely() { return Next() >= 250; }

 private:
  std::uint8_t const* at_;
  std::uint8_t const* end_;
};

constexpr char const* kFormats[] = {"l", "f",  "g",   "b",  "c",   "C", "s",  "S", "i", "I", "L",  "e",   "n",
                                    "u", "vu", "tsu", "+s", "d:5", "",  "+r", "U", "z", "Z", "vz", "w:3", "tdD"};
int held = 0;  // structures that wait for their release

/// Memory of one structure and all below it.
struct Memory {
  std::vector<std::unique_ptr<std::uint8_t[]>> bytes;
  std::vector<std::unique_ptr<arrow::Schema>> schemas;
  std::vector<std::unique_ptr<arrow::Array>> arrays;
  std::vector<std::unique_ptr<arrow::Schema*[]>> schema_lists;
  std::vector<std::unique_ptr<arrow::Array*[]>> array_lists;
  std::vector<std::unique_ptr<void const*[]>> buffer_lists;
};

template <typename T>
void Release(T* structure) {
  if (structure->private_data == nullptr) std::abort();  // twice
  delete static_cast<Memory*>(structure->private_data);
  structure->private_data = nullptr;
  structure->release = nullptr;
  --held;
}

template <typename T>
void Hold(T* structure, Memory* memory) {
  structure->private_data = memory;
  structure->release = Release<T>;
  ++held;
}

struct Producer {
  Input* input;
  std::vector<char const*> formats;  // of the columns, and of their dictionaries' values
  std::vector<char const*> values;
  int batches;
};

void FillSchema(Input* input, Memory* memory, char const* format, char const* values, arrow::Schema* schema) {
  *schema = {input->Rarely() ? nullptr : format,
             input->Rarely() ? nullptr : "a\n",
             nullptr,
             0,
             0,
             nullptr,
             nullptr,
             nullptr,
             nullptr};
  if (values == nullptr) return;
  memory->schemas.push_back(std::make_unique<arrow::Schema>());
  schema->dictionary = memory->schemas.back().get();
  FillSchema(input, memory, values, nullptr, schema->dictionary);
}

/// Offsets of texts are signed bytes of the input, so that they are short, and the texts' memory has 256 bytes.
std::uint8_t* MakeBuffer(Input* input, Memory* memory, std::string const& format, std::int64_t elements, int number) {
  std::size_t const width = format == "u" || format == "z" ? 4 : format == "U" || format == "Z" ? 8 : 16;
  std::size_t const size = number == 2 ? 256 : (static_cast<std::size_t>(elements) + 1) * width + 8;
  auto bytes = std::make_unique<std::uint8_t[]>(size);
  if (number == 1 && width != 16) {
    for (std::int64_t i = 0; i <= elements; ++i) {
      std::int64_t const offset = static_cast<std::int8_t>(input->Next());
      std::memcpy(bytes.get() + static_cast<std::size_t>(i) * width, &offset, width);
    }
  } else {
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 64); ++i) bytes[i] = input->Next();
  }
  memory->bytes.push_back(std::move(bytes));
  return memory->bytes.back().get();
}

void FillArray(Input* input, Memory* memory, char const* name, char const* values, std::int64_t length,
               arrow::Array* array) {
  std::string const format = name;
  std::int64_t const usual = format == "n"                               ? 0
                             : format[0] == 'v'                          ? 4
                             : std::strchr("uUzZ", format[0]) != nullptr ? 3
                                                                         : 2;
  *array = {input->Number(length),
            input->Number(-1),
            input->Number(0),
            input->Number(usual),
            0,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr};
  bool const is_short = array->length >= 0 && array->length < 100 && array->offset >= 0 && array->offset < 100;
  std::int64_t const elements = is_short ? array->length + array->offset : 0;
  auto buffers = std::make_unique<void const*[]>(20);
  for (int b = 0; b < 20; ++b) {
    buffers[static_cast<std::size_t>(b)] = input->Rarely() ? nullptr : MakeBuffer(input, memory, format, elements, b);
  }
  if (format[0] == 'v' && array->n_buffers >= 3 && array->n_buffers <= 20) {  // sizes of buffers of texts
    auto sizes = std::make_unique<std::uint8_t[]>(20 * 8);
    for (std::size_t b = 0; b < 20; ++b) {
      std::int64_t const size = b == 0 ? 256 : 8;
      std::memcpy(sizes.get() + b * 8, &size, 8);
    }
    memory->bytes.push_back(std::move(sizes));
    buffers[static_cast<std::size_t>(array->n_buffers) - 1] = memory->bytes.back().get();
  }
  array->buffers = input->Rarely() || array->n_buffers > 20 ? nullptr : buffers.get();
  memory->buffer_lists.push_back(std::move(buffers));
  if (values == nullptr || input->Rarely()) return;
  memory->arrays.push_back(std::make_unique<arrow::Array>());
  array->dictionary = memory->arrays.back().get();
  FillArray(input, memory, values, nullptr, input->Next() % 8, array->dictionary);
}

int GetSchema(arrow::Stream* stream, arrow::Schema* out) {
  auto const& producer = *static_cast<Producer*>(stream->private_data);
  Input* const input = producer.input;
  if (input->Rarely()) return 5;
  auto memory = std::make_unique<Memory>();
  std::size_t const n = producer.formats.size();
  *out = {input->Rarely() ? nullptr : "+s", "", nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr};
  std::int64_t const children = input->Number(static_cast<std::int64_t>(n));
  out->n_children = children > static_cast<std::int64_t>(n) && children < 100 ? 0 : children;
  auto list = std::make_unique<arrow::Schema*[]>(n + 1);
  for (std::size_t c = 0; c < n; ++c) {
    memory->schemas.push_back(std::make_unique<arrow::Schema>());
    arrow::Schema* const schema = memory->schemas.back().get();
    FillSchema(input, memory.get(), producer.formats[c], producer.values[c], schema);
    list[c] = input->Rarely() ? nullptr : schema;
  }
  out->children = input->Rarely() ? nullptr : list.get();
  memory->schema_lists.push_back(std::move(list));
  if (!input->Rarely()) Hold(out, memory.release());
  return 0;
}

int GetNext(arrow::Stream* stream, arrow::Array* out) {
  auto& producer = *static_cast<Producer*>(stream->private_data);
  Input* const input = producer.input;
  *out = {};
  if (producer.batches-- == 0) return 0;
  if (input->Rarely()) return 5;
  auto memory = std::make_unique<Memory>();
  std::size_t const n = producer.formats.size();
  std::int64_t const length = input->Next() % 32;
  *out = {input->Number(length),
          input->Number(0),
          input->Number(0),
          input->Number(1),
          0,
          nullptr,
          nullptr,
          nullptr,
          nullptr,
          nullptr};
  out->n_children = input->Number(static_cast<std::int64_t>(n));
  auto buffers = std::make_unique<void const*[]>(1);
  buffers[0] = MakeBuffer(input, memory.get(), "", 100, 0);
  out->buffers = input->Rarely() ? nullptr : buffers.get();
  memory->buffer_lists.push_back(std::move(buffers));
  auto list = std::make_unique<arrow::Array*[]>(n + 1);
  for (std::size_t c = 0; c < n; ++c) {
    memory->arrays.push_back(std::make_unique<arrow::Array>());
    arrow::Array* const array = memory->arrays.back().get();
    FillArray(input, memory.get(), producer.formats[c], producer.values[c], length, array);
    list[c] = input->Rarely() ? nullptr : array;
  }
  out->children = input->Rarely() ? nullptr : list.get();
  memory->array_lists.push_back(std::move(list));
  Hold(out, memory.release());
  return 0;
}

void ReleaseStream(arrow::Stream* stream) {
  if (stream->release == nullptr) std::abort();
  stream->release = nullptr;
  --held;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  Input input{data, size};
  Producer producer{&input, {}, {}, 0};
  for (int c = input.Next() % 4; c >= 0; --c) {
    producer.formats.push_back(kFormats[input.Next() % 26]);
    bool const has_dictionary = input.Next() % 2 == 1;
    producer.values.push_back(has_dictionary ? kFormats[input.Next() % 26] : nullptr);
  }
  producer.batches = input.Next() % 4;
  held = 1;
  arrow::Stream stream{input.Rarely() ? nullptr : GetSchema, input.Rarely() ? nullptr : GetNext, nullptr, ReleaseStream,
                       &producer};
  try {
    ReadArrowStream<float>(&stream, Categories::kAllowed, true, 1);
  } catch (xgbgpu::Error const&) {
  } catch (std::bad_alloc const&) {
  }
  if (held != 0 || stream.release != nullptr) std::abort();
  return 0;
}
