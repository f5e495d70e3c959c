// Turns settings into the options of a task, and names settings that no task has.
#include "options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <string_view>

#include "base/quoted.h"
#include "error.h"

namespace xgbgpu::cli {
namespace {

[[noreturn]] void FailValue(Setting const& setting, std::string const& allowed) {
  throw Error(setting.where + ": " + setting.key + " = " + Quoted(setting.value) +
              " is not valid; allowed: " + allowed);
}

int ParseInt(Setting const& setting, int low, int high = std::numeric_limits<int>::max()) {
  std::size_t const begin = setting.value.find_first_not_of(' ');
  std::string_view text = setting.value;
  text.remove_prefix(std::min(begin, text.size()));
  if (text.substr(0, 1) == "+" && text.substr(1, 1) != "-") {
    text.remove_prefix(1);
  }
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    FailValue(setting, "whole numbers from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

bool ParseBool(Setting const& setting) {
  std::string text = setting.value;
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text == "1" || text == "true") {
    return true;
  }
  if (text == "0" || text == "false") {
    return false;
  }
  FailValue(setting, "0, 1, false, true");
}

/// XGBoost's configurations write NULL for a path that is not given.
std::string ParsePath(Setting const& setting) { return setting.value == "NULL" ? std::string{} : setting.value; }

Task ParseTask(Setting const& setting) {
  if (setting.value == "train") {
    return Task::kTrain;
  }
  if (setting.value == "pred") {
    return Task::kPredict;
  }
  if (setting.value == "dump") {
    return Task::kDump;
  }
  FailValue(setting, "train, pred, dump");
}

bool ParseSplit(Setting const& setting) {
  if (setting.value != "auto" && setting.value != "row" && setting.value != "col") {
    FailValue(setting, "auto, row, col");
  }
  return setting.value == "col";
}

std::string ParseDumpFormat(Setting const& setting) {
  std::string const& format = setting.value;
  bool const dot = format == "dot" || format.rfind("dot:", 0) == 0;  // "dot:{...}" carries drawing options
  if (format != "text" && format != "json" && !dot) {
    FailValue(setting, "text, json, dot");
  }
  return format;
}

struct OptionSpec {
  char const* name;
  char const* alias;  // or nullptr
  char const* fallback;
  char const* help;
  void (*set)(Options*, Setting const&);
};

constexpr OptionSpec kOptions[] = {
    {"task", nullptr, "train", "train a model, pred (predict test:data) or dump (print a model)",
     [](Options* o, Setting const& s) { o->task = ParseTask(s); }},
    {"data", "train_path", "", "training data, e.g. \"train.txt?format=libsvm\"",
     [](Options* o, Setting const& s) { o->data = ParsePath(s); }},
    {"test:data", "test_path", "", "data to predict",
     [](Options* o, Setting const& s) { o->test_data = ParsePath(s); }},
    {"eval_train", nullptr, "0", "1: print the metrics of the training data, too",
     [](Options* o, Setting const& s) { o->eval_train = ParseBool(s); }},
    {"num_round", nullptr, "10", "rounds of boosting",
     [](Options* o, Setting const& s) { o->num_round = ParseInt(s, 1); }},
    {"model_in", nullptr, "", "model to predict with, to dump, or to continue training from",
     [](Options* o, Setting const& s) { o->model_in = ParsePath(s); }},
    {"model_out", nullptr, "", "model file to write: .json, .ubj, else binary; not given: num_round as in 0010.model",
     [](Options* o, Setting const& s) { o->model_out = ParsePath(s); }},
    {"model_dir", nullptr, "./", "folder of numbered model files",
     [](Options* o, Setting const& s) { o->model_dir = s.value; }},
    {"save_period", nullptr, "0", "n: save the model every n rounds, too; 0: only the last one",
     [](Options* o, Setting const& s) { o->save_period = ParseInt(s, 0); }},
    {"name_pred", nullptr, "pred.txt", "file of predictions, one number a line; or stdout",
     [](Options* o, Setting const& s) { o->name_pred = s.value; }},
    {"pred_margin", nullptr, "0", "1: predict margins instead of probabilities",
     [](Options* o, Setting const& s) { o->pred_margin = ParseBool(s); }},
    {"iteration_begin", nullptr, "0", "first round used for prediction",
     [](Options* o, Setting const& s) { o->iteration_begin = ParseInt(s, 0); }},
    {"iteration_end", nullptr, "0", "round after the last one used for prediction; 0: all",
     [](Options* o, Setting const& s) { o->iteration_end = ParseInt(s, 0); }},
    {"ntree_limit", nullptr, "0", "trees used for prediction; deprecated, see iteration_end",
     [](Options* o, Setting const& s) { o->ntree_limit = ParseInt(s, 0); }},
    {"name_dump", nullptr, "dump.txt", "file of the dumped model; or stdout",
     [](Options* o, Setting const& s) { o->name_dump = s.value; }},
    {"fmap", "name_fmap", "", "names of features for the dump, lines of: index name type (i, q, int, float or c)",
     [](Options* o, Setting const& s) { o->name_fmap = ParsePath(s); }},
    {"dump_format", nullptr, "text", "text, json or dot",
     [](Options* o, Setting const& s) { o->dump_format = ParseDumpFormat(s); }},
    {"dump_stats", nullptr, "0", "1: dump gain and cover, too",
     [](Options* o, Setting const& s) { o->dump_stats = ParseBool(s); }},
    {"dsplit", nullptr, "auto", "how several workers share the data: auto or row (col is ignored where there is one)",
     [](Options* o, Setting const& s) { o->split_columns = ParseSplit(s); }},
};

OptionSpec const* FindOption(std::string_view key) {
  for (OptionSpec const& spec : kOptions) {
    if (key == spec.name || (spec.alias != nullptr && key == spec.alias)) {
      return &spec;
    }
  }
  return nullptr;
}

void AddEvalSet(Setting const& setting, std::vector<EvalSet>* evals) {
  constexpr std::string_view kPrefix = "eval[";
  std::string const& key = setting.key;
  if (key.back() != ']' || key.size() == kPrefix.size() + 1) {
    throw Error(setting.where + ": " + Quoted(key) + " is not valid; allowed: eval[name] = path, with a name to print");
  }
  std::string const name = key.substr(kPrefix.size(), key.size() - kPrefix.size() - 1);
  auto const same = std::find_if(evals->begin(), evals->end(), [&](EvalSet const& set) { return set.name == name; });
  if (same != evals->end()) {
    same->uri = setting.value;
  } else {
    evals->push_back({name, setting.value});
  }
}

}  // namespace

Options ParseOptions(std::vector<Setting> const& settings) {
  Options options;
  for (OptionSpec const& spec : kOptions) spec.set(&options, {spec.name, spec.fallback, "default"});
  // XGBoost then warns of parameters that nothing reads.
  options.parameters.emplace_back("validate_parameters", "True");
  for (Setting const& setting : settings) {
    if (OptionSpec const* spec = FindOption(setting.key)) {
      spec->set(&options, setting);
    } else if (setting.key.rfind("eval[", 0) == 0) {
      AddEvalSet(setting, &options.evals);
    } else {
      if (setting.key == "verbosity") {
        options.verbosity = ParseInt(setting, 0, 3);
      }
      options.parameters.emplace_back(setting.key, setting.value);
    }
  }
  return options;
}

std::string DescribeOptions() {
  std::string text;
  for (OptionSpec const& spec : kOptions) {
    text += std::string{"    "} + spec.name;
    text += spec.alias != nullptr ? std::string{", "} + spec.alias : std::string{};
    text += *spec.fallback != '\0' ? std::string{"  [default: "} + spec.fallback + "]" : std::string{};
    text += std::string{"\n        "} + spec.help + "\n";
  }
  return text +
         "    eval[NAME]\n        data whose metrics are printed after each round, under NAME; may be repeated\n" +
         "        with other names (the last of one name counts)\n";
}

}  // namespace xgbgpu::cli
