/// Checks the bytes of models and configurations before XGBoost parses them. XGBoost's parsers recurse at each level of
/// nesting. Its UBJSON parser reads past the end. Here both are errors.
#ifndef XGBGPU_PLUGIN_MODELS_MODEL_BYTES_H_
#define XGBGPU_PLUGIN_MODELS_MODEL_BYTES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xgbgpu::plugin {

/// The deepest allowed nesting of lists and objects. Models have 9 levels, saved configurations 6.
constexpr int kMostNesting = 256;

/// Bytes in memory, or bytes of an open file. A file is read piece by piece.
class Bytes {
 public:
  explicit Bytes(std::string_view memory) : memory_{memory}, size_{memory.size()} {}
  Bytes(int file, std::uint64_t size) : file_{file}, size_{size} {}

  std::uint64_t size() const { return size_; }
  /// Returns bytes from `begin` on, at least one if `begin` is before the end. Valid until the next call. Empty if the
  /// file cannot be read.
  std::string_view Piece(std::uint64_t begin);
  /// Returns all bytes. Stops where a file cannot be read.
  std::string All();

 private:
  std::string_view memory_;
  int file_{-1};
  std::uint64_t size_;
  std::array<char, 1 << 16> buffer_;
};

/// The format that XGBoost reads the bytes as.
enum class Format : std::uint8_t { kOther, kJson, kUbjson };

/// Returns the format by the first bytes, as XGBoost does. kOther: its deprecated binary format, or an unknown one.
Format FormatOf(Bytes* bytes);

/// Facts about a model, read from its bytes.
struct ModelSigns {
  Format format{Format::kOther};
  /// Version of the XGBoost that wrote the model: major, minor, patch. 0, 0, 0 where the model does not say.
  std::array<std::int64_t, 3> version{};
  /// The base score is a list, as XGBoost 3.1 and newer write it.
  bool has_list_of_base_scores{false};
  /// UBJSON of XGBoost 3.1 and newer: there are names of categories, in lists of a type that this parser does not read.
  bool has_names_of_categories{false};
};

/// Returns true if a JSON text nests lists and objects deeper than `most`.
bool IsNestedDeeper(std::string_view json, int most);

/// Checks the bytes and returns what they say of the model. Does nothing for kOther. Allocates nothing.
///
/// Cost    JSON: a pass at some GB/s; UBJSON: less, since long values are skipped
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

  /// Null if the file cannot be read or is no regular file (a pipe, a protocol other than file://).
  Bytes* bytes() { return bytes_ ? &*bytes_ : nullptr; }
  Format format() const { return format_; }

 private:
  int file_{-1};
  std::optional<Bytes> bytes_;
  Format format_{Format::kOther};
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MODELS_MODEL_BYTES_H_
