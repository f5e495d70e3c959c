// xgboost-gpu: XGBoost's command line program, with tree_method=gpu_hist and gpu_exact. It calls XGBoost's C API only.
// It is linked to libxgboost_gpu.so, which adds the two methods.

#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "config_file.h"
#include "error.h"
#include "options.h"
#include "tasks.h"
#include "xgboost_c.h"

namespace xgbgpu::cli {
namespace {

void PrintHelp() {
  std::cout << R"(Usage: xgboost-gpu [-h] [-V] CONFIG_FILE [KEY=VALUE ...]

Trains, applies and prints XGBoost models, also with tree_method = gpu_hist or gpu_exact.

    -h, --help      print this text
    -V, --version   print the versions of this program and of XGBoost
    CONFIG_FILE     lines of: key = value
    KEY=VALUE       settings that override those of the file

Keys are the options below; all others are parameters of XGBoost,
see https://xgboost.readthedocs.io/en/release_1.7.0/parameter.html
Parameters of gpu_hist and gpu_exact (gpu_backend, n_gpus, gpu_memory_limit ...)
are described in docs/parameters.md of xgboost-gpu.

)" << DescribeOptions()
            << R"(
Example of a CONFIG_FILE:

    objective = binary:logistic
    tree_method = gpu_hist
    max_depth = 3
    num_round = 10
    data = "agaricus.txt.train?format=libsvm"
    eval[test] = "agaricus.txt.test?format=libsvm"
    model_out = agaricus.json
)";
}

void PrintVersion() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  std::cout << "xgboost-gpu " << XGBGPU_VERSION << "\nXGBoost: " << major << '.' << minor << '.' << patch << '\n';
}

bool HasFlag(std::vector<std::string> const& arguments, char const* short_name, char const* long_name) {
  for (std::string const& argument : arguments) {
    if (argument == short_name || argument == long_name) {
      return true;
    }
  }
  return false;
}

void Run(std::vector<std::string> const& arguments) {
  std::vector<Setting> settings = ReadConfigFile(arguments.front());
  for (size_t i = 1; i < arguments.size(); ++i) {
    settings.push_back(ParseArgument(arguments[i]));
  }
  Options const options = ParseOptions(settings);
  SetVerbosity(options.verbosity);
  Communicator const communicator(options.parameters);
  switch (options.task) {
    case Task::kTrain:
      return Train(options, communicator);
    case Task::kPredict:
      return Predict(options);
    case Task::kDump:
      return Dump(options);
  }
}

int Main(std::vector<std::string> const& arguments) {
  if (arguments.empty()) {
    PrintHelp();
    return 1;
  }
  if (HasFlag(arguments, "-h", "--help")) {
    PrintHelp();
    return 0;
  }
  if (HasFlag(arguments, "-V", "--version")) {
    PrintVersion();
    return 0;
  }
  try {
    EscapeLog();
    Run(arguments);
    return 0;
  } catch (std::exception const& error) {  // the only place where errors end: message and exit status
    std::cerr << "xgboost-gpu: error: " << error.what() << "\nUse xgboost-gpu --help for the options.\n";
    return 1;
  }
}

}  // namespace
}  // namespace xgbgpu::cli

int main(int argc, char* argv[]) { return xgbgpu::cli::Main({argv + 1, argv + argc}); }
