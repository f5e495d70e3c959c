// Runs the tasks of the program: train, predict, dump.
#include "tasks.h"

#include <chrono>
#include <cstdio>
#include <limits>
#include <string>

#include "base/quoted.h"
#include "data_files.h"
#include "error.h"
#include "feature_map.h"
#include "log.h"
#include "output_file.h"
#include "side_files.h"
#include "text_data.h"
#include "xgboost_c.h"

namespace xgbgpu::cli {
namespace {

/// Counts seconds from its construction.
class Stopwatch {
 public:
  std::string Seconds() const {
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start_;
    char text[32];
    std::snprintf(text, sizeof(text), "%.3f s", elapsed.count());
    return text;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void LogInfo(Options const& options, std::string const& message) {
  if (options.verbosity >= 2) {
    Log("INFO: " + message);
  }
}

void Require(std::string const& value, char const* option, char const* task) {
  if (value.empty()) {
    throw Error(std::string{"task = "} + task + " needs " + option + ", which is not set");
  }
}

void Configure(Options const& options, Booster* booster) {
  if (!options.model_in.empty()) {
    booster->Load(options.model_in);
  }
  booster->SetParameters(options.parameters);
}

/// The path of the model that is saved after a round, as in model_dir/0003.model.
std::string NumberedModel(Options const& options, int round) {
  char name[32];
  std::snprintf(name, sizeof(name), "/%04d.model", round);
  return options.model_dir + name;
}

/// Loads data that have been looked at, with what is in files beside them.
DMatrix Load(std::string const& option, std::string const& uri, DataUse use) {
  DataFiles const data = FindDataFiles(option, uri);
  TextSummary const text = CheckTextData(data, use);
  DMatrix matrix(option, uri);
  ReadSideFiles(data, text, use, matrix.Handle());
  return matrix;
}

/// The training and evaluation data of one run.
struct TrainingData {
  explicit TrainingData(Options const& options) : train(Load("data", options.data, DataUse::kTraining)) {
    for (EvalSet const& set : options.evals) {
      evals.push_back(Load("eval[" + Escaped(set.name, 80) + "]", set.uri, DataUse::kTraining));
    }
    for (DMatrix const& matrix : evals) {
      eval_handles.push_back(matrix.Handle());
    }
    for (EvalSet const& set : options.evals) {
      eval_names.push_back(set.name.c_str());
    }
    cached = eval_handles;
    cached.insert(cached.begin(), train.Handle());
    if (options.eval_train) {
      eval_handles.push_back(train.Handle());
      eval_names.push_back("train");
    }
  }

  DMatrix train;
  std::vector<DMatrix> evals;
  std::vector<DMatrixHandle> cached;
  std::vector<DMatrixHandle> eval_handles;
  std::vector<char const*> eval_names;
};

void PrintMetrics(int round, TrainingData* data, Communicator const& communicator, Booster const& booster) {
  char const* line = nullptr;
  Check(XGBoosterEvalOneIter(booster.Handle(), round, data->eval_handles.data(), data->eval_names.data(),
                             data->eval_handles.size(), &line));
  if (!communicator.IsDistributed()) {
    Log(line);
  } else if (communicator.IsFirst()) {
    Check(XGCommunicatorPrint((std::string{line} + '\n').c_str()));  // the tracker prints it
  }
}

}  // namespace

void Train(Options const& options, Communicator const& communicator) {
  Require(options.data, "data", "train");
  if (options.split_columns && communicator.IsDistributed()) {
    throw Error("dsplit = col is not supported with several workers; allowed: auto, row");
  }
  bool const saves_last = options.save_period == 0 || options.num_round % options.save_period != 0;
  if (!options.model_out.empty()) {
    CheckFolder("model_out", options.model_out);
  }
  if (options.save_period != 0 || options.model_out.empty()) {
    CheckFolder("model_dir", NumberedModel(options, options.num_round));
  }

  Stopwatch const loading;
  TrainingData data(options);
  Booster booster(data.cached);
  Configure(options, &booster);
  LogInfo(options, "loaded data in " + loading.Seconds());

  Stopwatch const training;
  for (int round = 0; round < options.num_round; ++round) {
    LogInfo(options, "boosting round " + std::to_string(round) + " after " + training.Seconds());
    Check(XGBoosterUpdateOneIter(booster.Handle(), round, data.train.Handle()));
    PrintMetrics(round, &data, communicator, booster);
    if (options.save_period != 0 && (round + 1) % options.save_period == 0 && communicator.IsFirst()) {
      booster.Save(NumberedModel(options, round + 1));
    }
  }
  LogInfo(options, "trained in " + training.Seconds());
  if (saves_last && communicator.IsFirst()) {
    booster.Save(options.model_out.empty() ? NumberedModel(options, options.num_round) : options.model_out);
  }
}

void Predict(Options const& options) {
  Require(options.test_data, "test:data", "pred");
  Require(options.model_in, "model_in", "pred");
  if (options.ntree_limit != 0 && (options.iteration_begin != 0 || options.iteration_end != 0)) {
    throw Error("ntree_limit is " + std::to_string(options.ntree_limit) + ", iteration_begin " +
                std::to_string(options.iteration_begin) + " and iteration_end " +
                std::to_string(options.iteration_end) +
                "; allowed: either ntree_limit or iterations, and 0 for the others");
  }
  DMatrix const data = Load("test:data", options.test_data, DataUse::kPrediction);
  Booster booster({});
  Configure(options, &booster);

  bst_ulong size = 1;
  float const* values = nullptr;
  if (options.ntree_limit != 0) {
    Log("WARNING: ntree_limit is deprecated; use iteration_begin and iteration_end");
    Check(XGBoosterPredict(booster.Handle(), data.Handle(), options.pred_margin ? 1 : 0,
                           static_cast<unsigned>(options.ntree_limit), 0, &size, &values));
  } else {
    std::string const config = PredictConfig(options.pred_margin, options.iteration_begin, options.iteration_end);
    bst_ulong const* shape = nullptr;
    bst_ulong dimensions = 0;
    Check(XGBoosterPredictFromDMatrix(booster.Handle(), data.Handle(), config.c_str(), &shape, &dimensions, &values));
    for (bst_ulong i = 0; i < dimensions; ++i) {
      size *= shape[i];
    }
  }

  Log("Writing prediction to " + EscapedName(options.name_pred));
  OutputFile file(options.name_pred);
  file.Stream().precision(std::numeric_limits<float>::max_digits10);
  for (bst_ulong i = 0; i < size; ++i) {
    file.Stream() << values[i] << '\n';
  }
  file.Close();
}

void Dump(Options const& options) {
  Require(options.model_in, "model_in", "dump");
  FeatureMap map;
  if (!options.name_fmap.empty()) {
    map = ReadFeatureMap(options.name_fmap);
  }
  Booster booster({});
  Configure(options, &booster);

  bst_ulong n_features = 0;
  Check(XGBoosterGetNumFeature(booster.Handle(), &n_features));
  bst_ulong n_types = 0;
  char const** types = nullptr;
  Check(XGBoosterGetStrFeatureInfo(booster.Handle(), "feature_type", &n_types, &types));
  FitToModel({types, types + n_types}, n_features, options.dump_format, &map);

  std::vector<char const*> name_pointers, type_pointers;
  for (size_t i = 0; i < n_features; ++i) {
    name_pointers.push_back(map.names[i].c_str());
    type_pointers.push_back(map.types[i].c_str());
  }
  bst_ulong n_trees = 0;
  char const** trees = nullptr;
  Check(XGBoosterDumpModelExWithFeatures(booster.Handle(), static_cast<int>(n_features), name_pointers.data(),
                                         type_pointers.data(), options.dump_stats ? 1 : 0, options.dump_format.c_str(),
                                         &n_trees, &trees));
  OutputFile file(options.name_dump);
  std::ostream& out = file.Stream();
  bool const json = options.dump_format == "json";
  out << (json ? "[\n" : "");
  for (bst_ulong i = 0; i < n_trees; ++i) {
    if (json) {
      out << (i == 0 ? "" : ",\n") << trees[i];
    } else {
      out << "booster[" << i << "]:\n" << trees[i];
    }
  }
  out << (json ? "\n]\n" : "");
  file.Close();
}

}  // namespace xgbgpu::cli
