// Holds record batches of Arrow that a caller hands over one by one, and makes rows of them.
#include "data/record_batches.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <string_view>
#include <utility>

#include "base/parallel.h"
#include "data/arrow_columns.h"
#include "errors/fail.h"
#include "xgb/c_functions.h"
#include "xgb/next_function.h"
#include "xgbgpu/error.h"
#include "xgbgpu/host_span.h"

namespace xgbgpu::plugin {

namespace {

using Column = RecordBatches::Column;

constexpr char kFloat64 = 'g';

/// Returns true for a table of numbers with names, which XGBoost takes. It reads the first letter of a format.
bool IsKnown(arrow::Schema const& schema) {
  constexpr std::string_view kFormats = "cCsSiIlLfg";
  if (schema.format == nullptr || std::string_view{schema.format} != "+s" || schema.children == nullptr) return false;
  if (schema.n_children <= 0 || schema.n_children > std::numeric_limits<std::int32_t>::max()) return false;
  return std::all_of(schema.children, schema.children + schema.n_children, [&](arrow::Schema const* column) {
    if (column == nullptr || column->name == nullptr || column->format == nullptr) return false;
    return column->format[0] != '\0' && kFormats.find(column->format[0]) != std::string_view::npos;
  });
}

/// For structures that own nothing.
template <typename T>
void ReleaseNothing(T* structure) {
  structure->release = nullptr;
}

/// The schema of a table that has `columns` alone. They must outlive it.
class SchemaOf {
 public:
  explicit SchemaOf(std::vector<Column> const& columns) : columns_(columns.size()), pointers_(columns.size()) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      columns_[c].format = columns[c].format.data();
      columns_[c].name = columns[c].name.c_str();
      columns_[c].release = ReleaseNothing;
      pointers_[c] = &columns_[c];
    }
    table_.format = "+s";
    table_.name = "";
    table_.n_children = static_cast<std::int64_t>(columns.size());
    table_.children = pointers_.data();
    table_.release = ReleaseNothing;
  }
  arrow::Schema* get() { return &table_; }

 private:
  std::vector<arrow::Schema> columns_;
  std::vector<arrow::Schema*> pointers_;
  arrow::Schema table_{};
};

/// Batches as a stream that owns none of them. It leaves out the parts that XGBoost does not read: dictionaries,
/// numbers of nulls, nulls of whole rows, columns beyond the schema's.
class BorrowedStream {
 public:
  BorrowedStream(std::vector<Column> const& columns, std::vector<arrow::Array*> const& batches)
      : schema_{columns}, batches_{batches}, columns_{columns.size()} {}

  /// It refers to this object.
  arrow::Stream Get() {
    auto const get_schema = [](arrow::Stream* stream, arrow::Schema* out) {
      *out = *static_cast<BorrowedStream*>(stream->private_data)->schema_.get();
      return 0;
    };
    auto const get_next = [](arrow::Stream* stream, arrow::Array* out) {
      static_cast<BorrowedStream*>(stream->private_data)->Next(out);
      return 0;
    };
    return {get_schema, get_next, nullptr, ReleaseNothing, this};
  }

 private:
  void Next(arrow::Array* out) {
    if (at_ == batches_.size()) {
      out->release = nullptr;
      return;
    }
    arrow::Array const& batch = *batches_[at_++];
    parts_.push_back(std::make_unique<Part>());
    Part& part = *parts_.back();
    *out = batch;
    out->null_count = 0;
    out->n_buffers = 1;
    out->buffers = &part.no_bitmap;
    out->dictionary = nullptr;
    out->release = ReleaseNothing;
    auto const columns = static_cast<std::int64_t>(columns_);
    if (batch.children == nullptr || batch.n_children < columns) return;  // who reads the stream says so
    part.columns.resize(columns_);
    part.pointers.resize(columns_);
    for (std::size_t c = 0; c < columns_; ++c) {
      if (batch.children[c] == nullptr) continue;
      part.columns[c] = *batch.children[c];
      part.columns[c].null_count = -1;
      part.columns[c].dictionary = nullptr;
      part.pointers[c] = &part.columns[c];
    }
    out->n_children = columns;
    out->children = part.pointers.data();
  }

  /// Memory that a batch's copy refers to.
  struct Part {
    std::vector<arrow::Array> columns;
    std::vector<arrow::Array*> pointers;
    void const* no_bitmap{nullptr};
  };

  SchemaOf schema_;
  std::vector<arrow::Array*> const& batches_;
  std::size_t columns_;
  std::size_t at_{0};
  std::vector<std::unique_ptr<Part>> parts_;
};

/// Replaces by NaN the values that XGBoost takes as missing: `missing`, and values that are not finite. Returns false
/// if a float64 column has an infinite value: it may have been finite before rounding.
bool MarkMissing(RowTable<float> const& table, std::vector<Column> const& columns, float missing, int threads) {
  constexpr std::size_t kGrainValues = 1 << 16;
  std::size_t const width = columns.size();
  std::atomic<bool> is_known{true};
  auto const mark = [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      float* const values = table.values() + row * width;
      for (std::size_t c = 0; c < width; ++c) {
        bool const is_infinite = std::isinf(values[c]);
        if (is_infinite && columns[c].format[0] == kFloat64) is_known = false;
        if (is_infinite || values[c] == missing) values[c] = std::numeric_limits<float>::quiet_NaN();
      }
    }
  };
  ParallelChunks(threads, table.rows, std::max<std::size_t>(1, kGrainValues / width), mark);
  return is_known;
}

/// Returns null for batches that are left to stock code: no rows, float64 values that no float32 is near. Throws
/// InvalidArgument for what does not follow the interface.
std::unique_ptr<HeldRows> HoldRecords(std::vector<Column> const& columns, std::vector<arrow::Array*> const& batches,
                                      float missing, int threads) {
  if (batches.empty()) return nullptr;
  HostSpan span{"hold values"};
  BorrowedStream borrowed{columns, batches};
  arrow::Stream stream = borrowed.Get();
  auto table = ReadArrowStream<float>(&stream, Categories::kNotEnabled, false, threads);
  if (table.rows == 0 || !MarkMissing(table, columns, missing, threads)) return nullptr;
  return HoldRows(std::move(table.bytes), table.rows, static_cast<FeatureIndex>(columns.size()), threads);
}

}  // namespace

RecordBatches::RecordBatches(XGDMatrixCallbackNext* next, float missing, int threads)
    : next_{next}, missing_{missing}, threads_{threads}, scope_{this} {}

RecordBatches::~RecordBatches() { Release(); }

int RecordBatches::NextForXGBoost(DataIterHandle importer) {
  return CallState::OfThisThread().record_batches->Next(importer);
}

RecordBatches* RecordBatches::Of(DataIterHandle importer) {
  RecordBatches* const innermost = CallState::OfThisThread().record_batches;
  return innermost != nullptr && innermost->importer_ == importer ? innermost : nullptr;
}

int RecordBatches::Next(DataIterHandle importer) {
  importer_ = importer;
  if (is_at_end_) return 0;
  while (!is_passed_on_) {
    std::size_t const imports = imports_;
    int const more = next_(importer);
    if (is_passed_on_) return more;
    if (more == 0) {
      is_at_end_ = true;
      MakeRows();
      return 0;
    }
    is_first_call_ = false;
    if (imports_ == imports) {  // a batch that came past our functions, or a caller that calls nothing
      PassOn();
      return more;
    }
  }
  return next_(importer);
}

/// XGBoost wants a schema before the first batch, and no second one before the caller's function has returned.
bool RecordBatches::MayHold(arrow::Schema const* schema) const {
  if (schema == nullptr) return !columns_.empty();
  return columns_.empty() ? IsKnown(*schema) : !is_first_call_;
}

int RecordBatches::Import(arrow::Array* batch, arrow::Schema* schema) {
  constexpr char const* kDoing = "importing a record batch";  // no exception may reach the caller's function
  if (!is_passed_on_ && !MayHold(schema) && !Passes(kDoing, [&] { PassOn(); })) return -1;
  if (is_passed_on_) return ImportToXGBoost(batch, schema);
  auto const keep = [&] {
    std::vector<Column> columns;
    for (std::int64_t c = 0; columns_.empty() && c < schema->n_children; ++c) {
      columns.push_back({schema->children[c]->name, {schema->children[c]->format[0], '\0'}});
    }
    if (batch != nullptr) batches_.push_back(batch);
    if (columns_.empty()) columns_ = std::move(columns);
  };
  if (!Passes(kDoing, keep)) return -1;
  ++imports_;
  if (schema != nullptr && schema->release != nullptr) schema->release(schema);
  return 0;
}

int RecordBatches::ImportToXGBoost(arrow::Array* batch, arrow::Schema* schema) {
  static auto* const kImport = XGBGPU_NEXT(XGImportArrowRecordBatch);
  return kImport(importer_, batch, schema);
}

void RecordBatches::PassOn() {
  is_passed_on_ = true;
  if (columns_.empty()) return;
  SchemaOf schema{columns_};
  if (ImportToXGBoost(nullptr, schema.get()) != 0) problem_ = XGBGetLastError();
  for (arrow::Array*& batch : batches_) {
    if (ImportToXGBoost(std::exchange(batch, nullptr), nullptr) != 0) problem_ = XGBGetLastError();
  }
  batches_.clear();
}

void RecordBatches::MakeRows() {
  try {
    if (!columns_.empty()) rows_ = HoldRecords(columns_, batches_, missing_, threads_);
  } catch (InvalidArgument const& error) {  // stock code would read what is not of the batches
    problem_ = error.what();
    return;
  } catch (std::exception const&) {  // no memory: stock code finds the same
  }
  if (rows_ != nullptr) Release();
  PassOn();  // of a matrix that has its rows: its columns
}

void RecordBatches::Release() {
  for (arrow::Array* const batch : batches_) {
    if (batch != nullptr && batch->release != nullptr) batch->release(batch);
  }
  batches_.clear();
}

}  // namespace xgbgpu::plugin
