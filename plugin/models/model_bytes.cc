// Walks through the bytes of a saved model, and refuses what XGBoost's parsers would crash on.
#include "models/model_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/message.h"
#include "base/quoted.h"

namespace xgbgpu::plugin {

namespace {

[[noreturn]] void TooDeep(std::uint64_t at) {
  Throw<InvalidArgument>("At byte ", at, " lists and objects are nested ", kMostNesting + 1,
                         " deep; allowed: ", kMostNesting, " levels");
}

using Version = decltype(ModelSigns::version);
constexpr std::string_view kVersion = "version";
/// A model has its version at the first level. A booster that was serialised has a model and a configuration, each with
/// its version at the second.
constexpr int kVersionDepth = 2;
/// In the section learner_model_param of the learner; of a booster that was serialised one level deeper.
constexpr std::string_view kBaseScore = "base_score";
constexpr int kBaseScoreDepth = 4;

/// Follows a JSON text only as far as it takes to know its nesting and its version: of a text that is none, XGBoost's
/// parser says so.
class JsonScan {
 public:
  explicit JsonScan(int most) : most_{most} {}

  /// Where it became deeper than `most`.
  std::uint64_t at() const { return at_; }
  /// The last one that was found.
  Version const& version() const { return version_; }
  bool has_list_of_base_scores() const { return has_list_of_base_scores_; }

  /// False where it becomes deeper.
  bool Read(std::string_view piece) {
    std::size_t i = 0;
    while (i < piece.size()) {
      if (!escaped_ && number_ == version_.size() && IsPlain(piece, i)) {
        i += kBlock;
        continue;
      }
      std::size_t const end = std::min(piece.size(), i + kBlock);
      for (; i < end; ++i) {
        if (!Read(piece[i])) {
          at_ += i;
          return false;
        }
      }
    }
    at_ += piece.size();
    return true;
  }

 private:
  static constexpr std::size_t kBlock = 64;

  /// A block without any character that counts: most of a model is numbers.
  static bool IsPlain(std::string_view piece, std::size_t begin) {
    if (begin + kBlock > piece.size()) return false;
    char const* const block = piece.data() + begin;
    unsigned char found = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      auto const c = static_cast<unsigned char>(block[i]);
      auto const brackets = static_cast<unsigned char>((c | 0x20) - '{');  // { [: 0, | \: 1, } ]: 2
      found |= static_cast<unsigned char>(brackets <= 2) | static_cast<unsigned char>(c == '"');
    }
    return found == 0;
  }

  bool Read(char c) {
    if (in_string_) {
      if (std::exchange(is_base_score_, false)) has_list_of_base_scores_ = has_list_of_base_scores_ || c == '[';
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
      } else if (depth_ <= kBaseScoreDepth && word_.size() <= kBaseScore.size()) {
        word_ += c;
      }
      return true;
    }
    if (number_ < version_.size()) ReadVersion(c);
    if (c == '"') {
      in_string_ = true;
      word_.clear();
    }
    if (c == ':' && depth_ <= kVersionDepth && word_ == kVersion) {
      version_ = {};
      number_ = 0;
    }
    if (c == ':' && depth_ <= kBaseScoreDepth) is_base_score_ = word_ == kBaseScore;
    if (c == '}' || c == ']') --depth_;
    if (c == '{' || c == '[') ++depth_;
    return depth_ <= most_;
  }

  /// Reads on in a list of numbers.
  void ReadVersion(char c) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      constexpr std::int64_t kMost = 1'000'000;
      version_[number_] = std::min(kMost, 10 * version_[number_] + (c - '0'));
    } else if (c == ',') {
      ++number_;
    } else if (c != '[' && std::isspace(static_cast<unsigned char>(c)) == 0) {
      number_ = version_.size();
    }
  }

  int most_;
  int depth_{0};
  bool in_string_{false};
  bool escaped_{false};
  std::uint64_t at_{0};
  std::string word_;           ///< of the first levels, the last one
  bool is_base_score_{false};  ///< the next string
  bool has_list_of_base_scores_{false};
  Version version_{};
  std::size_t number_{version_.size()};  ///< of the version, which is read; its size: none
};

/// Reads types and lengths of UBJSON values, and skips the values.
class UbjsonScan {
 public:
  explicit UbjsonScan(Bytes* bytes) : bytes_{bytes} {}

  void Run() {
    Value();
    while (depth_ > 0) {
      Container& in = open_[depth_ - 1];
      if (in.end == kCounted) {
        if (in.left == 0) {
          --depth_;
        } else {
          --in.left;
          Value();
        }
      } else if (Peek("a list or object") == in.end) {
        ++at_;
        --depth_;
      } else {
        if (in.end == '}') Name();
        Value();
      }
    }
  }

  Version const& version() const { return version_; }
  bool has_list_of_base_scores() const { return has_list_of_base_scores_; }
  bool has_names_of_categories() const { return has_names_of_categories_; }

 private:
  static constexpr char kCounted = '#';

  struct Container {
    char end;            ///< '}', ']', or kCounted
    std::uint64_t left;  ///< values of a counted list
  };

  [[noreturn]] void IsCutOff(char const* what) const {
    Throw<InvalidArgument>("The data end at byte ", bytes_->size(), " inside ", what, "; allowed: a complete model");
  }

  char Peek(char const* what) {
    if (at_ < begin_ || at_ - begin_ >= piece_.size()) {
      piece_ = bytes_->Piece(at_);
      begin_ = at_;
      if (piece_.empty()) IsCutOff(what);
    }
    return piece_[at_ - begin_];
  }
  char Take(char const* what) {
    char const c = Peek(what);
    ++at_;
    return c;
  }
  void Skip(std::uint64_t bytes, char const* what) {
    if (bytes > bytes_->size() - at_) IsCutOff(what);
    at_ += bytes;
  }
  void Expect(char expected, char const* what) {
    char const c = Peek(what);
    if (c != expected) Unexpected(c, what, std::string{expected}.c_str());
    ++at_;
  }
  [[noreturn]] void Unexpected(char c, char const* what, char const* allowed) const {
    Throw<InvalidArgument>("Byte ", at_, ", of ", what, ", is ", int{static_cast<unsigned char>(c)},
                           "; allowed: one of the characters ", allowed);
  }

  /// A number of things behind an 'L', each of `bytes` bytes or more.
  std::uint64_t Count(std::uint64_t bytes, std::uint64_t most, char const* what) {
    Expect('L', what);
    std::uint64_t const begin = at_;
    std::uint64_t value = 0;
    Peek(what);
    if (piece_.size() - (at_ - begin_) >= sizeof(value)) {
      std::memcpy(&value, piece_.data() + (at_ - begin_), sizeof(value));
      value = __builtin_bswap64(value);
      at_ += sizeof(value);
    } else {
      for (int i = 0; i < 8; ++i) value = value << 8 | static_cast<unsigned char>(Take(what));
    }
    std::uint64_t const allowed = std::min(most, (bytes_->size() - at_) / bytes);
    if (value > allowed) {
      Throw<InvalidArgument>("At byte ", begin, " the size of ", what, " is ", static_cast<std::int64_t>(value),
                             "; allowed: 0 to ", allowed, ", since ", bytes_->size() - at_, " bytes follow");
    }
    return value;
  }

  void String(char const* what) {
    // XGBoost's parser goes on by as many bytes as 32 bits say.
    std::uint64_t const size = Count(1, std::numeric_limits<std::uint32_t>::max(), what);
    if (std::exchange(is_base_score_, false) && size != 0) {
      has_list_of_base_scores_ = has_list_of_base_scores_ || Peek(what) == '[';
    }
    Skip(size, what);
  }

  /// The name of a member. The length alone rules out most names.
  void Name() {
    constexpr std::string_view kCategories = "cats";
    constexpr char kName[] = "a name";
    number_ = version_.size();
    is_base_score_ = false;
    std::uint64_t const size = Count(1, std::numeric_limits<std::uint32_t>::max(), kName);
    std::uint64_t const end = at_ + size;
    if (size == kVersion.size() && depth_ <= kVersionDepth && Reads(kVersion, kName)) {
      version_ = {};
      number_ = 0;
    } else if (size == kBaseScore.size() && depth_ <= kBaseScoreDepth) {
      is_base_score_ = Reads(kBaseScore, kName);
    } else if (size == kCategories.size() && Reads(kCategories, kName)) {
      has_categories_ = true;
    }
    at_ = end;
  }
  /// Reads `expected` as far as the next bytes are the same. Returns whether all of it was there.
  bool Reads(std::string_view expected, char const* what) {
    return std::all_of(expected.begin(), expected.end(), [&](char c) { return Take(what) == c; });
  }

  /// A whole number of `bytes` bytes, which counts if it is one of the version.
  void Integer(int bytes) {
    constexpr char kNumber[] = "a number";
    if (number_ == version_.size()) return Skip(static_cast<std::uint64_t>(bytes), kNumber);
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(Take(kNumber));
    version_[number_++] = static_cast<std::int64_t>(value);
  }

  void Open(char end, std::uint64_t values) {
    if (depth_ == kMostNesting) TooDeep(at_);
    open_[depth_++] = {end, values};
  }

  void Value() {
    constexpr char kValue[] = "a value";
    char const c = Peek(kValue);
    switch (c) {
      case '{':
        ++at_;
        return Open('}', 0);
      case '[':
        ++at_;
        return List();
      case 'S':
        ++at_;
        return String("a string");
      case 'Z':
      case 'T':
      case 'F':
        return Skip(1, kValue);
      case 'C':
        return Skip(1 + 1, kValue);
      case 'd':
        return Skip(1 + 4, kValue);
      case 'i':
      case 'U':
      case 'I':
      case 'l':
      case 'L':
        ++at_;
        return Integer(c == 'L' ? 8 : c == 'l' ? 4 : c == 'I' ? 2 : 1);
      default:
        Unexpected(c, "the type of a value", "{[SZTFiUCIldL");
    }
  }

  void List() {
    constexpr char kList[] = "a list";
    char const c = Peek(kList);
    if (c == '#') {
      ++at_;
      return Open(kCounted, Count(1, std::numeric_limits<std::int64_t>::max(), kList));
    }
    if (c != '$') return Open(']', 0);
    ++at_;
    char const type = Peek(kList);
    std::uint64_t bytes = type == 'U' ? 1 : type == 'd' || type == 'l' ? 4 : type == 'L' ? 8 : 0;
    if (bytes == 0 && has_categories_) {  // names of categories, or numbers that are
      bytes = type == 'i' || type == 'C' ? 1 : type == 'I' ? 2 : type == 'D' ? 8 : 0;
      has_names_of_categories_ = bytes != 0;
    }
    if (bytes == 0) Unexpected(type, "the type of a list", "UdlL");
    ++at_;
    Expect('#', kList);
    std::uint64_t const size = bytes * Count(bytes, std::numeric_limits<std::int64_t>::max(), kList);
    Skip(size, kList);
    ExpectListsOf(size);
  }

  /// Nearly all the time goes into waiting for memory, once a list. Most lists of a tree have the same size, so that it
  /// is nearly known where those after the next begin.
  void ExpectListsOf(std::uint64_t size) const {
    constexpr std::uint64_t kHead = 32;  // name, type and size of a list, more or less
    for (std::uint64_t lists = 1; lists <= 3; ++lists) {
      std::uint64_t const at = at_ - begin_ + lists * (size + kHead);
      if (at + kHead >= piece_.size()) return;
      __builtin_prefetch(piece_.data() + at);
      __builtin_prefetch(piece_.data() + at + kHead);
    }
  }

  Bytes* bytes_;
  std::uint64_t at_{0};
  std::string_view piece_;
  std::uint64_t begin_{0};  ///< of the piece
  std::array<Container, kMostNesting> open_;
  int depth_{0};
  Version version_{};
  std::size_t number_{version_.size()};  ///< of the version, which is read; its size: none
  bool is_base_score_{false};            ///< the next value
  bool has_list_of_base_scores_{false};
  bool has_categories_{false};  ///< a member of this name: cats
  bool has_names_of_categories_{false};
};

/// Returns the text after the last dot, in lower case; empty without a dot.
std::string Extension(std::string const& name) {
  auto const dot = name.rfind('.');
  std::string extension = dot == std::string::npos ? "" : name.substr(dot + 1);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace

std::string_view Bytes::Piece(std::uint64_t begin) {
  if (begin >= size_) return {};
  if (file_ < 0) return memory_.substr(begin);
  auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), size_ - begin));
  ssize_t const n = pread(file_, buffer_.data(), wanted, static_cast<off_t>(begin));
  return {buffer_.data(), n < 0 ? 0 : static_cast<std::size_t>(n)};
}

std::string Bytes::All() {
  std::string all;
  all.reserve(size_);
  for (std::string_view piece = Piece(0); !piece.empty(); piece = Piece(all.size())) all += piece;
  return all;
}

Format FormatOf(Bytes* bytes) {
  std::string_view const piece = bytes->Piece(0);
  if (piece.empty() || piece.front() != '{') return Format::kOther;
  std::size_t const next = piece.find_first_not_of(" \t\n\v\f\r", 1);
  if (next == std::string_view::npos || piece[next] == '"') return Format::kJson;
  return std::isalpha(static_cast<unsigned char>(piece[next])) != 0 ? Format::kUbjson : Format::kOther;
}

bool IsNestedDeeper(std::string_view json, int most) { return !JsonScan{most}.Read(json); }

ModelSigns CheckBytes(Bytes* bytes, Format format) {
  if (format == Format::kUbjson) {
    if (FormatOf(bytes) == Format::kJson) {
      constexpr std::size_t kShown = 40;
      Throw<InvalidArgument>("The data begin with ", Quoted(bytes->Piece(0).substr(0, kShown)),
                             ", which is JSON; allowed: binary JSON (UBJSON), since the name of the file ends in ubj");
    }
    UbjsonScan scan{bytes};
    scan.Run();
    return {format, scan.version(), scan.has_list_of_base_scores(), scan.has_names_of_categories()};
  }
  if (format != Format::kJson) return {};
  JsonScan scan{kMostNesting};
  for (std::uint64_t begin = 0; begin < bytes->size();) {
    std::string_view const piece = bytes->Piece(begin);
    if (piece.empty()) break;
    if (!scan.Read(piece)) TooDeep(scan.at());
    begin += piece.size();
  }
  return {format, scan.version(), scan.has_list_of_base_scores()};
}

ModelFile::ModelFile(char const* name) {
  constexpr std::string_view kProtocol = "file://";
  if (name == nullptr) return;
  std::string path = name;
  if (path.rfind(kProtocol, 0) == 0) path.erase(0, kProtocol.size());
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about;
  if (file_ < 0 || fstat(file_, &about) != 0 || !S_ISREG(about.st_mode)) return;
  bytes_.emplace(file_, static_cast<std::uint64_t>(about.st_size));
  std::string const extension = Extension(path);
  format_ = extension == "json" ? Format::kJson : extension == "ubj" ? Format::kUbjson : FormatOf(&*bytes_);
}

ModelFile::~ModelFile() {
  if (file_ >= 0) close(file_);
}

}  // namespace xgbgpu::plugin
