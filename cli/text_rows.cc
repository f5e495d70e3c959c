// Checks that XGBoost's parsers read rows of LIBSVM, CSV and libfm files correctly. The parsers do not check: they skip
// words, read a missing label from the next number, and let indices overflow.
#include "text_rows.h"

#include <dmlc/strtonum.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/quoted.h"
#include "error.h"

namespace xgbgpu::cli {
namespace {

/// Characters that XGBoost's parser of LIBSVM begins a number with.
constexpr std::string_view kOfNumbers = "0123456789+-.eE";

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

[[noreturn]] void Fail(std::string const& message) { throw Error(message); }

/// True if XGBoost's parser reads this number correctly. It lets whole numbers overflow, and cuts exponents at 38. It
/// reads a number below 1e-37 as another number below 1e-37.
bool IsReadRightly(std::string const& number) {
  double const right = std::strtod(number.c_str(), nullptr);
  double const read = dmlc::strtof(number.c_str(), nullptr);
  constexpr double kTiny = 1.2e-37;
  // It scales by one power of ten after the other, less than 50 roundings of 2^-24 each: 3e-6.
  return std::isfinite(read) && (std::abs(right - read) <= 3e-6 * std::abs(right) || std::abs(right) < kTiny);
}

/// Reads a line from left to right.
class RowReader {
 public:
  explicit RowReader(std::string_view line) : p_{line.data()}, end_{line.data() + line.size()} {}

  bool AtEnd() const { return p_ == end_; }
  bool At(char c) const { return p_ != end_ && *p_ == c; }
  bool AtBlank() const { return p_ != end_ && IsBlank(*p_); }
  bool StartsWith(std::string_view text) const { return Rest().substr(0, text.size()) == text; }
  char const* Place() const { return p_; }
  std::string_view Rest() const { return {p_, static_cast<std::size_t>(end_ - p_)}; }
  void Skip(std::size_t n) { p_ += n; }
  void SkipBlanks() {
    while (p_ != end_ && IsBlank(*p_)) ++p_;
  }

  /// Takes a decimal number, sign and exponent included; false, and at the same place, if there is none.
  bool TakeNumber() {
    constexpr int kSureDigits = 19, kSureExponent = 18;  // 10^19 is below 2^64, and 10^(19 + 18) below 3e38
    char const* p = p_;
    if (p != end_ && (*p == '-' || *p == '+')) ++p;
    char const* const whole = p;
    while (p != end_ && IsDigit(*p)) ++p;
    auto digits = p - whole;
    bool is_sure = digits <= kSureDigits;
    if (p != end_ && *p == '.') {
      char const* const fraction = ++p;
      while (p != end_ && IsDigit(*p)) ++p;
      digits += p - fraction;
    }
    if (digits == 0) return false;
    if (p != end_ && (*p == 'e' || *p == 'E')) {
      char const* exponent = p + 1;
      if (exponent != end_ && (*exponent == '-' || *exponent == '+')) ++exponent;
      p = exponent;
      int value = 0;
      for (; p != end_ && IsDigit(*p); ++p) value = std::min(10 * value + (*p - '0'), 9999);
      if (p == exponent) return false;
      is_sure = is_sure && value <= kSureExponent;
    }
    if (!is_sure && !IsReadRightly({p_, p})) {
      Fail(Quoted({p_, static_cast<std::size_t>(p - p_)}) +
           " is beyond the numbers of 32 bits, or has more than 19 "
           "digits before the point; allowed: numbers up to 3.4e38");
    }
    p_ = p;
    return true;
  }

  /// Takes digits that are a number up to `most`; false, and at the same place, if there are none or it is larger.
  bool TakeWhole(std::uint64_t most, std::uint64_t* number) {
    char const* p = p_;
    *number = 0;
    for (; p != end_ && IsDigit(*p); ++p) {
      auto const digit = static_cast<std::uint64_t>(*p - '0');
      if (*number > (most - digit) / 10) return false;
      *number = 10 * *number + digit;
    }
    if (p == p_) return false;
    p_ = p;
    return true;
  }

 private:
  char const* p_;
  char const* end_;
};

/// The word of a line that `place` is in or at: up to the next blank.
std::string Word(std::string_view line, char const* place) {
  auto begin = static_cast<std::size_t>(place - line.data());
  while (begin > 0 && !IsBlank(line[begin - 1])) --begin;
  std::size_t const end = std::min(line.find_first_of(" \t", begin), line.size());
  return Quoted(line.substr(begin, end - begin));
}

/// Checks rows of label:weight qid:number index:value … (LIBSVM) and label:weight field:index:value … (libfm).
class SparseRow {
 public:
  SparseRow(RowLayout const& layout, std::string_view line) : layout_{layout}, line_{line}, reader_{line} {}

  void Check(std::size_t offset, RowsSeen* seen) {
    reader_.SkipBlanks();
    if (reader_.AtEnd()) {
      Fail(
          "it is a comment, in which XGBoost reads numbers; allowed: comments in the first line of all, behind values, "
          "or "
          "without digits, +, -, ., e and E");
    }
    TakeLabel();
    if (layout_.format == TextFormat::kLibsvm) TakeGroup(offset, seen);
    reader_.SkipBlanks();
    values_ = reader_.Place();
    for (; !reader_.AtEnd(); reader_.SkipBlanks()) TakeValue();
    if (!ascends_) CheckTwice();
    seen->labels_may_be_indices = seen->labels_may_be_indices && layout_.has_weights && label_may_be_index_;
    ++seen->rows;
  }

 private:
  char const* Allowed() const {
    return layout_.format == TextFormat::kLibsvm ? "; allowed: rows of label column:value column:value …"
                                                 : "; allowed: rows of label field:column:value …";
  }

  bool AtEndOfWord() const { return reader_.AtEnd() || reader_.AtBlank(); }

  [[noreturn]] void FailAt(char const* place, std::string const& what) const {
    Fail(Word(line_, place) + ' ' + what + Allowed());
  }

  void TakeLabel() {
    char const* const begin = reader_.Place();
    if (!reader_.TakeNumber() || (!AtEndOfWord() && !reader_.At(':'))) FailAt(begin, "is no label");
    label_ = {begin, static_cast<std::size_t>(reader_.Place() - begin)};
    bool const has_weight = reader_.At(':');
    if (has_weight) {
      reader_.Skip(1);
      if (reader_.At('-') || !reader_.TakeNumber() || !AtEndOfWord()) {
        FailAt(begin, "is no label:weight, whose weight is a number from 0 on");
      }
    }
    if (has_weight != layout_.has_weights) {
      FailAt(begin, has_weight ? "has a weight, which the first row has not, or a label is missing"
                               : "has no weight, which the first row has");
    }
  }

  void TakeGroup(std::size_t offset, RowsSeen* seen) {
    bool const has_tab = reader_.At('\t') && layout_.has_weights;
    reader_.SkipBlanks();
    char const* const begin = reader_.Place();
    bool const has_group = reader_.StartsWith("qid:");
    if (has_group) {
      reader_.Skip(4);
      std::uint64_t qid = 0;
      if (!reader_.TakeWhole(std::numeric_limits<std::int64_t>::max(), &qid) || !AtEndOfWord()) {
        FailAt(begin, "is no qid:number with a whole number below 2^63");
      }
      if (has_tab) FailAt(begin, "stands behind a weight and a tab, where it is not read; write a blank");
      if (seen->groups.empty() || seen->groups.back().qid != qid) seen->groups.push_back({qid, offset, 0});
      ++seen->groups.back().rows;
    }
    if (has_group != layout_.has_groups) {
      Fail(has_group ? "it has a qid, which the first row has not; allowed: a qid in each row, or in none"
                     : "it has no qid, which the first row has; allowed: a qid in each row, or in none");
    }
  }

  void TakeValue() {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max() - 1;
    char const* const begin = reader_.Place();
    std::uint64_t column = 0, field = 0;
    bool const has_field = layout_.format == TextFormat::kLibfm;
    bool const is_index = (!has_field || (reader_.TakeWhole(kMost, &field) && TakeColon())) &&
                          reader_.TakeWhole(kMost, &column) && TakeColon();
    if (!is_index) {
      FailAt(begin, std::string{"is no "} + (has_field ? "field:" : "") +
                        "column:value, whose column is a whole number "
                        "up to 4294967294");
    }
    if (column == 0 && layout_.from_one) FailAt(begin, "has column 0; with indexing_mode columns begin at 1");
    if (!reader_.TakeNumber() || !AtEndOfWord()) {
      FailAt(begin, "has no number as its value; a value that is missing is left out");
    }
    std::uint64_t whole = 0;
    if (is_first_) label_may_be_index_ = RowReader{label_}.TakeWhole(kMost, &whole) && whole < column;
    ascends_ = ascends_ && (is_first_ || column > last_);
    is_first_ = false;
    last_ = column;
  }

  bool TakeColon() {
    if (!reader_.At(':')) return false;
    reader_.Skip(1);
    return true;
  }

  /// Throws if a column, of a row that is otherwise right, is there twice.
  void CheckTwice() const {
    std::vector<std::uint64_t> columns;
    for (char const* word = values_; word != line_.data() + line_.size();) {
      RowReader reader{line_.substr(static_cast<std::size_t>(word - line_.data()))};
      std::uint64_t column = 0;
      if (layout_.format == TextFormat::kLibfm) reader.Skip(reader.Rest().find(':') + 1);
      if (reader.TakeWhole(std::numeric_limits<std::uint32_t>::max(), &column)) columns.push_back(column);
      while (!reader.AtEnd() && !reader.AtBlank()) reader.Skip(1);
      reader.SkipBlanks();
      word = reader.Place();
    }
    std::sort(columns.begin(), columns.end());
    auto const twice = std::adjacent_find(columns.begin(), columns.end());
    if (twice != columns.end()) Fail("column " + std::to_string(*twice) + " is there twice; allowed: once");
  }

  RowLayout const& layout_;
  std::string_view line_;
  RowReader reader_;
  std::string_view label_;
  char const* values_ = nullptr;  // where they begin
  bool label_may_be_index_ = false;
  bool is_first_ = true;
  bool ascends_ = true;
  std::uint64_t last_ = 0;
};

/// Checks rows of cells.
class CsvRow {
 public:
  CsvRow(RowLayout const& layout, std::string_view line) : layout_{layout}, line_{line}, reader_{line} {}

  void Check(RowsSeen* seen) {
    std::size_t columns = 1;
    for (TakeCell(0); !reader_.AtEnd(); ++columns) {
      reader_.Skip(1);
      TakeCell(columns);
    }
    if (columns != layout_.columns) {
      Fail("it has " + std::to_string(columns) + " cells; allowed: " + std::to_string(layout_.columns) +
           ", as in the first row");
    }
    seen->labels_may_be_indices = false;
    ++seen->rows;
  }

 private:
  [[noreturn]] void FailAt(std::size_t column, std::string const& what) const {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < column; ++i) begin = line_.find(layout_.delimiter, begin) + 1;
    std::string_view const cell = line_.substr(begin, line_.find(layout_.delimiter, begin) - begin);
    Fail("its column " + std::to_string(column) + " is " + Quoted(cell) + ", " + what);
  }

  /// Takes what is before the next delimiter.
  void TakeCell(std::size_t column) {
    bool const is_label = static_cast<int>(column) == layout_.label_column;
    bool const is_weight = static_cast<int>(column) == layout_.weight_column;
    char const* const begin = reader_.Place();
    SkipBlanks();
    if (AtEndOfCell()) return CheckMissing(column, reader_.Place() != begin, is_label, is_weight);
    bool const is_negative = reader_.At('-');
    char const* const number = reader_.Place();
    bool const is_number = reader_.TakeNumber();
    bool const is_nan = !is_number && TakeNan();
    SkipBlanks();
    if ((!is_number && !is_nan) || !AtEndOfCell()) FailWord(column, number);
    if (is_nan) return CheckMissing(column, false, is_label, is_weight);
    if (is_weight && is_negative) FailAt(column, "a weight; allowed: numbers from 0 on");
  }

  void CheckMissing(std::size_t column, bool has_blanks, bool is_label, bool is_weight) const {
    if (is_label && layout_.needs_labels) FailAt(column, "and the label is missing; allowed: a number");
    if (is_weight) FailAt(column, "and the weight is missing; allowed: a number from 0 on");
    bool const is_bare = IsBlank(layout_.delimiter) && AtEndOfCell();  // XGBoost's parser goes on to the next number
    if (has_blanks || is_bare) {
      FailAt(column, has_blanks
                         ? "blanks, for which XGBoost reads another number; allowed: numbers, and nan or nothing "
                           "where a value is missing"
                         : "and XGBoost reads the next number there; allowed: numbers, and nan where a value is "
                           "missing");
    }
  }

  [[noreturn]] void FailWord(std::size_t column, char const* place) const {
    bool const is_infinite = RowStartsWithInf(place);
    FailAt(column, is_infinite ? "which is infinite; allowed: numbers, and nan or nothing where a value is missing"
                               : "which is no number; allowed: numbers, and nan or nothing where a value is missing. A "
                                 "row of names has to be taken away");
  }

  bool RowStartsWithInf(char const* place) const {
    if (*place == '-' || *place == '+') ++place;
    std::string_view const rest{place, static_cast<std::size_t>(line_.data() + line_.size() - place)};
    return rest.size() >= 3 && (rest[0] | 32) == 'i' && (rest[1] | 32) == 'n' && (rest[2] | 32) == 'f';
  }

  bool TakeNan() {
    std::size_t const sign = reader_.At('-') || reader_.At('+') ? 1 : 0;
    std::string_view const word = reader_.Rest().substr(sign, 3);
    bool const is_nan = word.size() == 3 && (word[0] | 32) == 'n' && (word[1] | 32) == 'a' && (word[2] | 32) == 'n';
    if (is_nan) reader_.Skip(sign + 3);
    return is_nan;
  }

  bool AtEndOfCell() const { return reader_.AtEnd() || reader_.At(layout_.delimiter); }
  void SkipBlanks() {
    while (reader_.AtBlank() && !reader_.At(layout_.delimiter)) reader_.Skip(1);
  }

  RowLayout const& layout_;
  std::string_view line_;
  RowReader reader_;
};

/// The line without a comment.
std::string_view Content(RowLayout const& layout, std::string_view line) {
  return layout.format == TextFormat::kLibsvm ? line.substr(0, line.find('#')) : line;
}

/// Checks that the columns of labels and weights are there, and others, too.
void CheckColumns(RowLayout const& layout) {
  std::size_t others = layout.columns;
  for (auto const& [name, column] :
       {std::pair{"label_column", layout.label_column}, {"weight_column", layout.weight_column}}) {
    if (column < 0) continue;
    if (static_cast<std::size_t>(column) >= layout.columns) {
      Fail(std::string{name} + " is " + std::to_string(column) + ", and the row has " + std::to_string(layout.columns) +
           " columns; allowed: 0 to " + std::to_string(layout.columns - 1));
    }
    --others;
  }
  if (others == 0) {
    Fail("it has no column beside labels and weights, with " + Quoted(std::string(1, layout.delimiter)) +
         " between columns; allowed: one or more, or another delimiter");
  }
}

}  // namespace

bool IsBlankRow(RowLayout const& layout, std::string_view line) {
  // A line of blanks in CSV is a row: XGBoost's parser takes the next line's number for it.
  if (layout.format == TextFormat::kCsv) return line.empty();
  std::string_view const content = Content(layout, line);
  return content.find_first_not_of(" \t") == std::string_view::npos &&
         line.substr(content.size()).find_first_of(kOfNumbers) == std::string_view::npos;
}

RowLayout LikeFirstRow(RowLayout layout, std::string_view line) {
  line = Content(layout, line);
  if (layout.format == TextFormat::kCsv) {
    layout.columns = 1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), layout.delimiter));
    return layout;
  }
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  std::size_t const end = std::min(line.find_first_of(" \t"), line.size());
  layout.has_weights = line.substr(0, end).find(':') != std::string_view::npos;
  std::size_t const second = std::min(line.find_first_not_of(" \t", end), line.size());
  layout.has_groups = layout.format == TextFormat::kLibsvm && line.substr(second, 4) == "qid:";
  return layout;
}

void CheckRow(RowLayout const& layout, std::string_view line, std::size_t offset, RowsSeen* seen) {
  if (layout.format != TextFormat::kCsv) {
    SparseRow{layout, Content(layout, line)}.Check(offset, seen);
    return;
  }
  if (seen->rows == 0) CheckColumns(layout);
  CsvRow{layout, line}.Check(seen);
}

}  // namespace xgbgpu::cli
