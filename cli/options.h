/// Options of the tasks, read from settings.
#ifndef XGBGPU_CLI_OPTIONS_H_
#define XGBGPU_CLI_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "config_file.h"

namespace xgbgpu::cli {

enum class Task { kTrain, kPredict, kDump };

/// A data set whose metrics are printed after each round.
struct EvalSet {
  std::string name;
  std::string uri;
};

/// Options of the program itself. ParseOptions has the defaults. Paths that are not given are empty. All other settings
/// go to XGBoost, unchanged and in order.
struct Options {
  Task task{};
  std::string data;
  std::string test_data;
  std::vector<EvalSet> evals;
  bool eval_train{};
  int num_round{};
  std::string model_in;
  std::string model_out;
  std::string model_dir;
  int save_period{};
  std::string name_pred;
  bool pred_margin{};
  int iteration_begin{};
  int iteration_end{};
  int ntree_limit{};
  std::string name_dump;
  std::string name_fmap;
  std::string dump_format;
  bool dump_stats{};
  bool split_columns{};  // true: dsplit=col
  int verbosity = 1;     // XGBoost gets this parameter, too
  std::vector<std::pair<std::string, std::string>> parameters;
};

/// Sorts settings into options and XGBoost parameters. The last of repeated options counts. An `eval[name]` replaces an
/// earlier one with this name. Throws Error naming the option, where it was set, its value and what is allowed.
Options ParseOptions(std::vector<Setting> const& settings);

/// The part of --help that describes the options.
std::string DescribeOptions();

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_OPTIONS_H_
