/// Bytes of models and configurations, before XGBoost's parsers see them. Those call themselves for each level of
/// nesting, and the one for UBJSON reads on behind the end: what would end the process, or never end, is an error here.
#ifndef XGBGPU_PLUGIN_MODELS_MODEL_BYTES_H_
#define XGBGPU_PLUGIN_MODELS_MODEL_BYTES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xgbgpu::plugin {

/// Lists and objects inside one another. Models have 9 levels, saved configurations 6.
constexpr int kMostNesting = 256;

/// Bytes in memory, or of an open file, which is read piece by piece.
class Bytes {
 public:
  explicit Bytes(std::string_view memory) : memory_{memory}, size_{memory.size()} {}
  Bytes(int file, std::uint64_t size) : file_{file}, size_{size} {}

  std::uint64_t size() const { return size_; }
  /// Some bytes from `begin` on, one at least if `begin` is before the end. Valid until the next call. Empty where a
  /// file cannot be read.
  std::string_view Piece(std::uint64_t begin);
  /// All of them, as far as a file can be read.
  std::string All();

 private:
  std::string_view memory_;
  int file_{-1};
  std::uint64_t size_;
  std::array<char, 1 << 16> buffer_;
};

/// What XGBoost takes bytes for.
enum class Format : std::uint8_t { kOther, kJson, kUbjson };

/// By the first bytes, as XGBoost tells. kOther: its deprecated binary format, or nothing it knows.
Format FormatOf(Bytes* bytes);

/// What the bytes of a model say of it.
struct ModelSigns {
  Format format{Format::kOther};
  /// Version of the XGBoost that wrote the model: major, minor, patch. 0, 0, 0 where the model does not say.
  std::array<std::int64_t, 3> version{};
  /// The base score is a list, as XGBoost 3.1 and newer write it.
  bool has_list_of_base_scores{false};
  /// UBJSON of XGBoost 3.1 and newer: there are names of categories, in lists of a type that this parser does not read.
  bool has_names_of_categories{false};
};

/// Are more than `most` lists and objects of a JSON text inside one another?
bool IsNestedDeeper(std::string_view json, int most);

/// Does nothing for kOther. Cost  JSON: a pass at some GB/s; UBJSON: less, since long values are skipped. Allocates
/// nothing.
///
/// Throws  InvalidArgument with the byte, what is there and what is allowed: nesting above kMostNesting; UBJSON that is
///         cut off, is JSON, or has sizes or types of values that cannot be
ModelSigns CheckBytes(Bytes* bytes, Format format);

/// A model file, as XGBoost would read it under this name.
class ModelFile {
 public:
  explicit ModelFile(char const* name);
  ~ModelFile();
  ModelFile(ModelFile const&) = delete;
  ModelFile& operator=(ModelFile const&) = delete;

  /// Null for files that cannot be read and for what is none: a pipe, a name with another protocol than file://.
  Bytes* bytes() { return bytes_ ? &*bytes_ : nullptr; }
  Format format() const { return format_; }

 private:
  int file_{-1};
  std::optional<Bytes> bytes_;
  Format format_{Format::kOther};
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_MODEL_BYTES_H_
