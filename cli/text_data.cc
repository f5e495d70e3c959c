// Looks at text data before XGBoost reads them: block by block, the rows of a block on all cores.
#include "text_data.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>

#include "base/quoted.h"
#include "error.h"
#include "log.h"
#include "text_rows.h"

namespace xgbgpu::cli {
namespace {

constexpr std::size_t kBlock = std::size_t{32} << 20;  // bytes that are read and checked at a time

/// Where a row is wrong, and why.
struct Fault {
  std::size_t offset;  // of the row in its block
  std::string_view line;
  std::string reason;
};

/// What was found in a part of a block.
struct Part {
  RowsSeen seen;
  std::optional<Fault> fault;
};

/// Calls visit(line) for the lines of a text, until one returns false. They end with \n, \r or both; between the two
/// there is an empty line more.
template <typename Visit>
void ForEachLine(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    std::string_view lines = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(lines.size() + 1, text.size()));
    for (std::size_t end = 0; end != std::string_view::npos; lines.remove_prefix(std::min(end, lines.size() - 1) + 1)) {
      end = lines.find('\r');
      if (!visit(lines.substr(0, end))) return;
      if (end == std::string_view::npos) break;
    }
  }
}

/// Checks the rows of `part`, which is in `block`.
Part CheckPart(RowLayout const& layout, std::string_view block, std::string_view part) {
  Part result;
  ForEachLine(part, [&](std::string_view line) {
    if (IsBlankRow(layout, line)) return true;
    auto const offset = static_cast<std::size_t>(line.data() - block.data());
    try {
      CheckRow(layout, line, offset, &result.seen);
    } catch (Error const& error) {
      result.fault = Fault{offset, line, error.what()};
    }
    return !result.fault;
  });
  return result;
}

/// Cuts a block into parts that end with a line.
std::vector<std::string_view> Cut(std::string_view block) {
  constexpr std::size_t kLeast = 1 << 20;
  std::size_t const most = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
  std::size_t const size = std::max(kLeast, block.size() / most + 1);
  std::vector<std::string_view> parts;
  while (block.size() > size) {
    std::size_t const end = block.find('\n', size);
    if (end == std::string_view::npos) break;
    parts.push_back(block.substr(0, end + 1));
    block.remove_prefix(end + 1);
  }
  parts.push_back(block);
  return parts;
}

/// Number of the line that begins `offset` bytes from the beginning of a file, from 1 on.
std::size_t LineNumber(std::string const& path, std::size_t offset) {
  std::ifstream file(path, std::ios::binary);
  std::size_t line = 1;
  char last = 0;
  for (std::size_t i = 0; i < offset && file; ++i) {
    char const c = static_cast<char>(file.get());
    bool const is_second = c == '\n' && last == '\r';
    if (!is_second && (c == '\n' || c == '\r')) ++line;
    last = c;
  }
  return line;
}

/// The program that packed a file which begins so, or nullptr.
char const* Packer(std::string_view start) {
  using namespace std::string_view_literals;
  constexpr std::pair<std::string_view, char const*> kStarts[] = {{"\x1f\x8b"sv, "gzip"},
                                                                  {"PK\x03\x04"sv, "zip"},
                                                                  {"BZh"sv, "bzip2"},
                                                                  {"\xfd\x37zXZ"sv, "xz"},
                                                                  {"\x28\xb5\x2f\xfd"sv, "zstd"}};
  for (auto const& [bytes, name] : kStarts) {
    if (start.substr(0, bytes.size()) == bytes) return name;
  }
  return nullptr;
}

/// Looks at all rows of the files, in their order.
class TextChecker {
 public:
  TextChecker(DataFiles const& data, RowLayout layout) : data_{data}, layout_{layout} {}

  void CheckFile(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(data_.what + ": cannot open " + QuotedName(path) + ": " + std::strerror(errno));
    path_ = path;
    offset_ = 0;
    std::error_code ignored;
    std::size_t const size = std::min<std::size_t>(kBlock, std::filesystem::file_size(path, ignored) + 1);
    std::string block;
    while (file) {
      std::size_t const kept = block.size();
      block.resize(kept + size);
      file.read(block.data() + kept, static_cast<std::streamsize>(size));
      block.resize(kept + static_cast<std::size_t>(file.gcount()));
      if (file.bad()) throw Error(data_.what + ": cannot read " + QuotedName(path) + ": " + std::strerror(errno));
      std::string_view rows = block;
      if (file) rows = rows.substr(0, rows.find_last_of("\r\n") + 1);  // the rest of a line is in the next block
      CheckBlock(rows);
      offset_ += rows.size();
      block.erase(0, rows.size());
    }
  }

  TextSummary Summary() const {
    if (!has_layout_) {
      throw Error(data_.what + ": " + (has_bytes_ ? "there is no row in it" : "the file is empty") +
                  "; allowed: one row or more");
    }
    TextSummary summary{rows_, layout_.has_weights || layout_.weight_column >= 0, layout_.has_groups, group_sizes_};
    if (labels_may_be_indices_) {
      Log("WARNING: " + data_.what + ": each row begins with label:weight, as the first one with " +
          Quoted(first_word_) + ". If the labels are missing, write a label before each row");
    }
    return summary;
  }

 private:
  void CheckBlock(std::string_view block) {
    std::string_view const rows = offset_ == 0 ? AfterStart(block) : block;
    has_bytes_ = has_bytes_ || !block.empty();
    if (!has_layout_) TakeLayout(rows);
    std::vector<std::string_view> const parts = Cut(rows);
    std::vector<std::future<Part>> others;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      others.push_back(std::async(std::launch::async, CheckPart, std::cref(layout_), block, parts[i]));
    }
    std::vector<Part> found{CheckPart(layout_, block, parts[0])};
    for (auto& part : others) found.push_back(part.get());
    for (Part const& part : found) Add(part, block);
  }

  /// What follows a byte order mark, or a comment in the first line of all, at the beginning of a file.
  std::string_view AfterStart(std::string_view block) const {
    if (char const* const packer = Packer(block)) {
      throw Error(data_.what + ": " + QuotedName(path_) + " is packed by " + packer + "; allowed: text, unpacked");
    }
    std::size_t const mark = std::strlen(kByteOrderMark);
    if (block.substr(0, mark) == kByteOrderMark) {
      std::string_view const rows = block.substr(mark);
      bool const is_empty = !rows.empty() && (rows[0] == '\r' || rows[0] == '\n');
      if (is_empty && layout_.format == TextFormat::kCsv) {
        Fail({0, {}, "behind a byte order mark XGBoost reads an empty line as a row; allowed: a row"});
      }
      return rows;
    }
    std::size_t const start = std::min(block.find_first_not_of(" \t"), block.size());
    bool const is_comment = !has_bytes_ && layout_.format == TextFormat::kLibsvm && block.substr(start, 1) == "#";
    return is_comment ? block.substr(std::min(block.find_first_of("\r\n"), block.size())) : block;
  }

  void TakeLayout(std::string_view rows) {
    ForEachLine(rows, [&](std::string_view line) {
      if (IsBlankRow(layout_, line)) return true;
      layout_ = LikeFirstRow(layout_, line);
      first_word_ = line.substr(0, line.find_first_of(" \t", line.find_first_not_of(" \t")));
      has_layout_ = true;
      return false;
    });
  }

  void Add(Part const& part, std::string_view block) {
    for (GroupRun const& run : part.seen.groups) AddGroup(run, block);
    if (part.fault) Fail(*part.fault);
    rows_ += part.seen.rows;
    labels_may_be_indices_ = labels_may_be_indices_ && part.seen.labels_may_be_indices;
  }

  void AddGroup(GroupRun const& run, std::string_view block) {
    if (!group_sizes_.empty() && last_qid_ == run.qid) {
      group_sizes_.back() += run.rows;
      return;
    }
    if (!qids_.insert(run.qid).second) {
      std::string_view const rest = block.substr(run.offset);
      Fail({run.offset, rest.substr(0, rest.find_first_of("\r\n")),
            "rows of qid " + std::to_string(run.qid) +
                " came before, and others between; allowed: the rows of a qid one "
                "after the other"});
    }
    last_qid_ = run.qid;
    group_sizes_.push_back(run.rows);
  }

  [[noreturn]] void Fail(Fault const& fault) const {
    bool const is_guessed = data_.arguments.count("format") == 0;
    std::string const row = "row " + std::to_string(LineNumber(path_, offset_ + fault.offset)) + " of " +
                            EscapedName(path_) + " is " + Quoted(fault.line) + ": " + fault.reason;
    bool const may_be_csv = is_guessed && fault.line.find_first_of(",;") != std::string_view::npos;
    throw Error(data_.what + ": " + (is_guessed ? "it is read as LIBSVM, and " : "") + row +
                (may_be_csv ? ". For a CSV file write " + EscapedName(data_.name) +
                                  "?format=csv&label_column=0, with the number of the column that has the labels"
                            : ""));
  }

  DataFiles const& data_;
  RowLayout layout_;
  bool has_bytes_ = false;
  bool has_layout_ = false;
  std::string first_word_;
  std::string path_;
  std::size_t offset_ = 0;  // of the block in the file
  std::size_t rows_ = 0;
  bool labels_may_be_indices_ = true;
  std::unordered_set<std::uint64_t> qids_;
  std::uint64_t last_qid_ = 0;
  std::vector<std::size_t> group_sizes_;
};

/// The whole number from `low` on that an argument has; `otherwise` without it.
int WholeArgument(DataFiles const& data, char const* name, int low, int otherwise) {
  auto const found = data.arguments.find(name);
  if (found == data.arguments.end()) return otherwise;
  std::string const& text = found->second;
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low) {
    throw Error(data.what + ": " + name + " is " + Quoted(text) + "; allowed: whole numbers from " +
                std::to_string(low) + " to " + std::to_string(std::numeric_limits<int>::max()));
  }
  return value;
}

/// Checks that XGBoost's parser of a format knows all arguments: it ignores others.
void CheckArguments(DataFiles const& data, std::string const& format, std::vector<std::string> const& known) {
  for (auto const& [name, value] : data.arguments) {
    if (name == "format" || std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string allowed;
    for (std::string const& other : known) allowed += (allowed.empty() ? "" : ", ") + other;
    throw Error(data.what + ": " + Quoted(name) + " is no argument of format=" + format + "; allowed: " + allowed);
  }
}

RowLayout LayoutOf(DataFiles const& data, DataUse use) {
  auto const found = data.arguments.find("format");
  std::string const format = found == data.arguments.end() ? "libsvm" : found->second;
  RowLayout layout;
  layout.needs_labels = use == DataUse::kTraining;
  if (format == "libsvm" || format == "libfm") {
    CheckArguments(data, format, {"indexing_mode"});
    layout.format = format == "libsvm" ? TextFormat::kLibsvm : TextFormat::kLibfm;
    layout.from_one = WholeArgument(data, "indexing_mode", -1, 0) != 0;
    return layout;
  }
  if (format != "csv") throw Error(data.what + ": format is " + Quoted(format) + "; allowed: libsvm, csv, libfm");
  CheckArguments(data, format, {"label_column", "weight_column", "delimiter"});
  layout.format = TextFormat::kCsv;
  layout.label_column = WholeArgument(data, "label_column", -1, -1);
  layout.weight_column = WholeArgument(data, "weight_column", -1, -1);
  if (layout.label_column >= 0 && layout.label_column == layout.weight_column) {
    throw Error(data.what + ": label_column and weight_column are both " + std::to_string(layout.label_column) +
                "; allowed: two columns");
  }
  auto const delimiter = data.arguments.find("delimiter");
  if (delimiter == data.arguments.end()) return layout;
  constexpr std::string_view kOfNumbers = "0123456789+-.eEinfaINFA\r\n";
  if (delimiter->second.size() != 1 || kOfNumbers.find(delimiter->second[0]) != std::string_view::npos) {
    throw Error(data.what + ": delimiter is " + Quoted(delimiter->second) +
                "; allowed: one character that no number has");
  }
  layout.delimiter = delimiter->second[0];
  return layout;
}

}  // namespace

TextSummary CheckTextData(DataFiles const& data, DataUse use) {
  if (data.is_binary) return {};
  RowLayout const layout = LayoutOf(data, use);
  if (data.files.empty()) return {};  // XGBoost says what it does not find
  TextChecker checker(data, layout);
  for (std::string const& file : data.files) checker.CheckFile(file);
  if (layout.format == TextFormat::kCsv && layout.label_column < 0 && use == DataUse::kTraining) {
    Log("WARNING: " + data.what +
        ": there is no label_column, and every label is 0. Write label_column=0 behind the ?, "
        "with the number of the column that has the labels");
  }
  return checker.Summary();
}

}  // namespace xgbgpu::cli
