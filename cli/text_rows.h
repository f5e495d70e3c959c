/// Rows of LIBSVM, CSV and libfm files.
#ifndef XGBGPU_CLI_TEXT_ROWS_H_
#define XGBGPU_CLI_TEXT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xgbgpu::cli {

enum class TextFormat { kLibsvm, kCsv, kLibfm };

/// The layout that all rows of text data share.
struct RowLayout {
  TextFormat format = TextFormat::kLibsvm;
  int label_column = -1;   // of CSV; -1: none
  int weight_column = -1;  // of CSV; -1: none
  char delimiter = ',';    // of CSV
  bool from_one = false;   // LIBSVM and libfm: indices begin at 1
  bool needs_labels = true;
  // The rest is as in the first row, which LikeFirstRow reads.
  std::size_t columns = 0;   // of CSV, labels and weights included
  bool has_weights = false;  // LIBSVM and libfm: label:weight
  bool has_groups = false;   // LIBSVM: qid
};

/// Rows of one qid that follow each other.
struct GroupRun {
  std::uint64_t qid;
  std::size_t offset;  // of the first row
  std::size_t rows;
};

/// Facts collected from rows.
struct RowsSeen {
  std::size_t rows = 0;
  std::vector<GroupRun> groups;
  bool labels_may_be_indices = true;  // each row begins whole:number, and the whole number is below its first index
};

/// True if XGBoost's parser finds no row in the line. In LIBSVM a comment line has no row only if no character in it
/// can be part of a number, or if it is the first line of all. The first line is not passed here.
bool IsBlankRow(RowLayout const& layout, std::string_view line);

/// Returns the layout, completed by the first row.
RowLayout LikeFirstRow(RowLayout layout, std::string_view line);

/// Checks that XGBoost's parser reads a line correctly, and adds the line to `seen`. `offset`: the place of the line.
/// Throws Error with what is wrong and what is allowed. Cost: about one look at each character.
void CheckRow(RowLayout const& layout, std::string_view line, std::size_t offset, RowsSeen* seen);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_TEXT_ROWS_H_
