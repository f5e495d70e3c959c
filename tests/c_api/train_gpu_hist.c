/* Trains with tree_method=gpu_hist through XGBoost's C API, as a program does that knows nothing of xgboost-gpu.
 *
 *   train_gpu_hist                    trains; for LD_PRELOAD=libxgboost_gpu.so
 *   train_gpu_hist LIBRARY            loads LIBRARY with dlopen, then trains
 *   train_gpu_hist --without-library  expects the error of an XGBoost without GPU support
 *
 * Exit status 0 if everything is as it should be; otherwise 1 and the reason on standard error.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

enum { kRows = 1000, kColumns = 3, kRounds = 5 };

#define XGBGPU_REQUIRE(condition, ...) \
  do {                                 \
    if (!(condition)) {                \
      fprintf(stderr, __VA_ARGS__);    \
      fputc('\n', stderr);             \
      exit(1);                         \
    }                                  \
  } while (0)

#define XGBGPU_CALL(call) XGBGPU_REQUIRE((call) == 0, "%s failed: %s", #call, XGBGetLastError())

static float values[kRows * kColumns];
static float labels[kRows];

/* Multiples of 1/16, so that every distinct value gets its own bin; the label is an AND of two comparisons, which a
 * tree of depth 2 represents exactly. The training accuracy must therefore be 1. */
static DMatrixHandle MakeData(void) {
  unsigned state = 1;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      state = state * 1664525u + 1013904223u;
      values[row * kColumns + column] = (float)(state >> 28) / 16.0f;
    }
    labels[row] = values[row * kColumns] >= 0.5f && values[row * kColumns + 1] >= 0.25f ? 1.0f : 0.0f;
  }
  DMatrixHandle data;
  XGBGPU_CALL(XGDMatrixCreateFromMat(values, kRows, kColumns, -1.0f, &data));
  XGBGPU_CALL(XGDMatrixSetFloatInfo(data, "label", labels, kRows));
  return data;
}

static BoosterHandle MakeBooster(DMatrixHandle data) {
  BoosterHandle booster;
  XGBGPU_CALL(XGBoosterCreate(&data, 1, &booster));
  XGBGPU_CALL(XGBoosterSetParam(booster, "tree_method", "gpu_hist"));
  XGBGPU_CALL(XGBoosterSetParam(booster, "objective", "binary:logistic"));
  XGBGPU_CALL(XGBoosterSetParam(booster, "max_depth", "2"));
  return booster;
}

static void Predict(BoosterHandle booster, DMatrixHandle data, float* result) {
  char const config[] =
      "{\"type\": 0, \"training\": false, \"iteration_begin\": 0, \"iteration_end\": 0, \"strict_shape\": false}";
  bst_ulong const* shape;
  bst_ulong n_dimensions;
  float const* predictions;
  XGBGPU_CALL(XGBoosterPredictFromDMatrix(booster, data, config, &shape, &n_dimensions, &predictions));
  XGBGPU_REQUIRE(n_dimensions == 1 && shape[0] == kRows, "unexpected shape of the predictions");
  memcpy(result, predictions, sizeof(float) * kRows);
}

static void Train(BoosterHandle booster, DMatrixHandle data) {
  for (int round = 0; round < kRounds; ++round) {
    XGBGPU_CALL(XGBoosterUpdateOneIter(booster, round, data));
  }
  int n_rounds = 0;
  XGBGPU_CALL(XGBoosterBoostedRounds(booster, &n_rounds));
  XGBGPU_REQUIRE(n_rounds == kRounds, "the model has %d rounds; expected %d", n_rounds, kRounds);
}

static void CheckAccuracy(float const* predictions) {
  int n_right = 0;
  for (int row = 0; row < kRows; ++row) {
    n_right += (predictions[row] > 0.5f) == (labels[row] > 0.5f);
  }
  XGBGPU_REQUIRE(n_right == kRows, "%d of %d training rows are right; expected all", n_right, kRows);
}

/* A model that went through a file predicts the same bits, in the three formats that XGBoost has. */
static void CheckSaveAndLoad(BoosterHandle booster, DMatrixHandle data, float const* expected) {
  static char const* const kFiles[] = {"c_api_model.json", "c_api_model.ubj", "c_api_model.bin"};
  for (int i = 0; i < 3; ++i) {
    BoosterHandle loaded;
    float predictions[kRows];
    XGBGPU_CALL(XGBoosterSaveModel(booster, kFiles[i]));
    XGBGPU_CALL(XGBoosterCreate(NULL, 0, &loaded));
    XGBGPU_CALL(XGBoosterLoadModel(loaded, kFiles[i]));
    Predict(loaded, data, predictions);
    XGBGPU_REQUIRE(memcmp(predictions, expected, sizeof(predictions)) == 0,
                   "%s predicts other values than the model it was saved from", kFiles[i]);
    XGBGPU_CALL(XGBoosterFree(loaded));
    XGBGPU_REQUIRE(remove(kFiles[i]) == 0, "cannot remove %s", kFiles[i]);
  }
}

int main(int argc, char** argv) {
  int const without_library = argc > 1 && strcmp(argv[1], "--without-library") == 0;
  if (argc > 1 && !without_library) {
    XGBGPU_REQUIRE(dlopen(argv[1], RTLD_NOW) != NULL, "dlopen: %s", dlerror());
  }
  DMatrixHandle data = MakeData();
  BoosterHandle booster = MakeBooster(data);
  if (without_library) {
    XGBGPU_REQUIRE(XGBoosterUpdateOneIter(booster, 0, data) != 0, "gpu_hist trained without the library");
    XGBGPU_REQUIRE(strstr(XGBGetLastError(), "not compiled with GPU support") != NULL, "unexpected error: %s",
                   XGBGetLastError());
  } else {
    static float predictions[kRows];
    Train(booster, data);
    Predict(booster, data, predictions);
    CheckAccuracy(predictions);
    CheckSaveAndLoad(booster, data, predictions);
  }
  XGBGPU_CALL(XGBoosterFree(booster));
  XGBGPU_CALL(XGDMatrixFree(data));
  return 0;
}
