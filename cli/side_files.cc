// Reads groups, weights and base margins from files beside the data, as XGBoost did until version 1.6.1.
#include "side_files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "base/quoted.h"
#include "error.h"
#include "log.h"
#include "xgboost_c.h"

namespace xgbgpu::cli {
namespace {

/// Endings of side files that are read. They follow the name of the data.
constexpr char const* kGroup = ".group";
constexpr char const* kWeight = ".weight";
constexpr char const* kMargin = ".base_margin";
/// Endings of files of XGBoost's other fields and of LightGBM, which are not read.
constexpr char const* kNotRead[] = {
    ".qid",    ".query",   ".init",           ".label", ".labels", ".label_lower_bound", ".label_upper_bound",
    ".groups", ".weights", ".feature_weights"};

bool IsFile(std::string const& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool EndsWith(std::string const& text, std::string_view end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Calls take(word, line) for each word of a file.
template <typename Take>
void ForEachWord(std::string const& path, Take&& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot open " + QuotedName(path) + ": " + std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw Error("cannot read " + QuotedName(path) + ": " + std::strerror(errno));
  std::string_view rest = text;
  if (rest.rfind(kByteOrderMark, 0) == 0) rest.remove_prefix(std::strlen(kByteOrderMark));
  for (std::size_t line = 1; !rest.empty();) {
    std::size_t const end = std::min(rest.find_first_of(" \t\r\n"), rest.size());
    if (end > 0) take(std::string{rest.substr(0, end)}, line);
    if (end < rest.size() && rest[end] == '\n') ++line;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

[[noreturn]] void FailWord(std::string const& path, std::size_t line, std::string const& word, char const* allowed) {
  throw Error(EscapedName(path) + ":" + std::to_string(line) + ": " + Quoted(word) +
              " is not valid; allowed: " + allowed);
}

std::vector<float> ReadFloats(std::string const& path, bool negative, char const* allowed) {
  std::vector<float> numbers;
  ForEachWord(path, [&](std::string const& word, std::size_t line) {
    char* end = nullptr;
    float const number = std::strtof(word.c_str(), &end);
    bool const is_decimal = word.find_first_of("xXpP") == std::string::npos;
    if (end != word.c_str() + word.size() || !is_decimal || !std::isfinite(number) || (number < 0 && !negative)) {
      FailWord(path, line, word, allowed);
    }
    numbers.push_back(number);
  });
  return numbers;
}

std::vector<unsigned> ReadGroups(std::string const& path) {
  std::vector<unsigned> sizes;
  ForEachWord(path, [&](std::string const& word, std::size_t line) {
    unsigned size = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (error != std::errc{} || end != word.data() + word.size() || size == 0) {
      FailWord(path, line, word, "whole numbers from 1 to 4294967295, the rows of a group each");
    }
    sizes.push_back(size);
  });
  return sizes;
}

/// The rows of this worker among the rows of all workers.
struct RowShare {
  std::size_t begin = 0;
  std::size_t rows = 0;
  std::size_t all = 0;
};

RowShare ShareOf(DMatrixHandle matrix) {
  constexpr int kUint64 = 5, kSum = 2;  // numbers of XGBoost's communicator
  bst_ulong rows = 0;
  Check(XGDMatrixNumRow(matrix, &rows));
  auto const rank = static_cast<std::size_t>(XGCommunicatorGetRank());
  std::vector<std::uint64_t> of_workers(static_cast<std::size_t>(XGCommunicatorGetWorldSize()));
  of_workers.at(rank) = rows;
  if (of_workers.size() > 1) Check(XGCommunicatorAllreduce(of_workers.data(), of_workers.size(), kUint64, kSum));
  auto const own = of_workers.begin() + static_cast<std::ptrdiff_t>(rank);
  return {std::accumulate(of_workers.begin(), own, std::size_t{0}), rows,
          std::accumulate(of_workers.begin(), of_workers.end(), std::size_t{0})};
}

/// The groups of the rows of one worker.
struct GroupShare {
  std::vector<unsigned> sizes;
  std::size_t first = 0;  // its first group among all
  std::size_t all = 0;
  bool is_cut = false;  // a group lies on two workers
};

GroupShare ShareOfGroups(std::vector<unsigned> const& sizes, RowShare const& share) {
  GroupShare result;
  result.all = sizes.size();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < sizes.size(); begin += sizes[i++]) {
    std::size_t const low = std::max(begin, share.begin);
    std::size_t const high = std::min(begin + sizes[i], share.begin + share.rows);
    if (low >= high) continue;
    if (result.sizes.empty()) result.first = i;
    result.sizes.push_back(static_cast<unsigned>(high - low));
    result.is_cut = result.is_cut || high - low != sizes[i];
  }
  return result;
}

/// Reads the files beside one file of data.
class SideFiles {
 public:
  SideFiles(DataFiles const& data, TextSummary const& text, DMatrixHandle matrix)
      : data_{data}, text_{text}, share_{ShareOf(matrix)}, matrix_{matrix} {}

  void Read(DataUse use) {
    std::vector<unsigned> const own{text_.group_sizes.begin(), text_.group_sizes.end()};
    if (text_.has_groups) groups_ = ShareOfGroups(own, share_);
    if (auto const path = Find(kGroup, text_.has_groups ? "qid" : nullptr)) ReadGroup(*path);
    if (groups_ && text_.has_weights && use == DataUse::kTraining) {
      throw Error(data_.what + ": its rows have weights, and with groups XGBoost takes one weight for each group; " +
                  "allowed: weights of groups in " + QuotedName(Path(kWeight)));
    }
    if (groups_ && groups_->is_cut) {
      Log("WARNING: " + data_.what +
          ": rows of one group lie on several workers, which take them for groups of "
          "their own. Training with one worker has whole groups");
    }
    if (auto const path = Find(kWeight, text_.has_weights ? "weights" : nullptr)) ReadWeight(*path);
    if (auto const path = Find(kMargin, nullptr)) ReadMargin(*path);
    for (char const* const name : kNotRead) {
      if (IsFile(Path(name))) {
        LogFirst("WARNING: " + EscapedName(Path(name)) + " is not read. Files that are read beside data: NAME" +
                 kGroup + ", NAME" + kWeight + ", NAME" + kMargin);
      }
    }
  }

 private:
  static void LogFirst(std::string const& message) {
    if (XGCommunicatorGetRank() == 0) Log(message);
  }

  std::string Path(std::string const& name) const { return data_.files[0] + name; }

  /// The path of the file of this name, if it is there. `in_rows`: what of its kind the rows have, or nullptr.
  std::optional<std::string> Find(char const* name, char const* in_rows) const {
    std::string path = Path(name);
    if (!IsFile(path)) return {};
    if (in_rows != nullptr) {
      throw Error(data_.what + ": its rows have " + in_rows + ", and " + QuotedName(path) +
                  " is beside it; allowed: one of them");
    }
    return path;
  }

  void FailSize(std::string const& path, std::size_t size, std::string const& allowed) const {
    throw Error(data_.what + " has " + std::to_string(share_.all) + " rows, and " + QuotedName(path) + " has " +
                std::to_string(size) + " numbers; allowed: " + allowed);
  }

  void Told(std::size_t n, char const* what, std::string const& path) const {
    LogFirst(std::to_string(n) + ' ' + what + " are read from " + EscapedName(path));
  }

  void ReadGroup(std::string const& path) {
    std::vector<unsigned> const sizes = ReadGroups(path);
    std::size_t const rows = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    if (rows != share_.all) {
      throw Error(data_.what + " has " + std::to_string(share_.all) + " rows, and the groups of " + QuotedName(path) +
                  " have " + std::to_string(rows) + "; allowed: numbers whose sum is " + std::to_string(share_.all));
    }
    groups_ = ShareOfGroups(sizes, share_);
    Check(XGDMatrixSetUIntInfo(matrix_, "group", groups_->sizes.data(), groups_->sizes.size()));
    Told(sizes.size(), "groups", path);
  }

  void ReadWeight(std::string const& path) {
    std::vector<float> const weights = ReadFloats(path, false, "numbers from 0 to 3.4e38");
    std::size_t const all = groups_ ? groups_->all : share_.all;
    if (weights.size() != all) {
      FailSize(path, weights.size(), std::to_string(all) + (groups_ ? ", one for each group" : ", one for each row"));
    }
    std::size_t const begin = groups_ ? groups_->first : share_.begin;
    std::size_t const own = groups_ ? groups_->sizes.size() : share_.rows;
    Check(XGDMatrixSetFloatInfo(matrix_, "weight", weights.data() + begin, own));
    Told(weights.size(), "weights", path);
  }

  void ReadMargin(std::string const& path) {
    std::vector<float> const margins = ReadFloats(path, true, "numbers from -3.4e38 to 3.4e38");
    std::size_t const of_row = margins.size() / std::max<std::size_t>(share_.all, 1);
    if (of_row == 0 || of_row * share_.all != margins.size()) {
      FailSize(path, margins.size(),
               std::to_string(share_.all) +
                   ", one for each row, or as many for each class: those of a row one after the "
                   "other");
    }
    Check(XGDMatrixSetFloatInfo(matrix_, "base_margin", margins.data() + of_row * share_.begin, of_row * share_.rows));
    Told(margins.size(), "base margins", path);
  }

  DataFiles const& data_;
  TextSummary const& text_;
  RowShare share_;
  std::optional<GroupShare> groups_;
  DMatrixHandle matrix_;
};

}  // namespace

std::string SideFileKind(std::string const& path) {
  for (auto const& [name, kind] :
       {std::pair{kGroup, "the groups"}, {kWeight, "the weights"}, {kMargin, "the base margins"}}) {
    if (!EndsWith(path, name)) continue;
    std::string const data = path.substr(0, path.size() - std::strlen(name));
    if (IsFile(data)) return std::string{kind} + " of " + QuotedName(data);
  }
  return {};
}

void ReadSideFiles(DataFiles const& data, TextSummary const& text, DataUse use, DMatrixHandle matrix) {
  if (data.files.empty()) return;
  if (data.files.size() == 1) return SideFiles(data, text, matrix).Read(use);
  for (std::string const& file : data.files) {
    for (char const* const name : {kGroup, kWeight, kMargin}) {
      if (IsFile(file + name)) {
        throw Error(data.what + ": " + QuotedName(file + name) + " is beside one of " +
                    std::to_string(data.files.size()) +
                    " files; allowed: one file of rows where there are files beside it");
      }
    }
  }
}

}  // namespace xgbgpu::cli
