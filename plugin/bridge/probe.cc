// The program xgbgpu-probe LIBXGBOOST FOLDER: loads an adapter into an XGBoost and trains ten rows on the host. Exit
// status 0 if all of that works; else it writes why not.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "bridge/xgbgpu_bridge.h"

namespace {

/// XGBoost's C functions: the adapter's, where it stands in front of one.
class Functions {
 public:
  Functions(void* adapter, void* xgboost) : adapter_{adapter}, xgboost_{xgboost} {}

  template <typename... Arguments>
  void Call(char const* name, Arguments... arguments) const {
    if (Find<int(Arguments...)>(name)(arguments...) != 0) {
      std::string const message = Find<char const*()>("XGBGetLastError")();
      throw std::runtime_error{std::string{name} + " failed: " + message.substr(0, message.find("\nStack trace:"))};
    }
  }

 private:
  template <typename Function>
  Function* Find(char const* name) const {
    void* found = dlsym(adapter_, name);
    if (found == nullptr) found = dlsym(xgboost_, name);
    if (found == nullptr) throw std::runtime_error{std::string{"XGBoost has no function "} + name};
    return reinterpret_cast<Function*>(found);
  }

  void* adapter_;
  void* xgboost_;
};

/// Rows 0 to 9 with one feature, their number; the label of the upper five is 1.
void Train(Functions const& functions) {
  constexpr std::uint64_t kRows = 10;
  std::vector<float> values(kRows);
  std::vector<float> labels(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    values[i] = static_cast<float>(i);
    labels[i] = i < kRows / 2 ? 0.0f : 1.0f;
  }
  void* matrix = nullptr;
  functions.Call<float const*, std::uint64_t, std::uint64_t, float, void**>("XGDMatrixCreateFromMat", values.data(),
                                                                            kRows, 1, -1.0f, &matrix);
  functions.Call<void*, char const*, float const*, std::uint64_t>("XGDMatrixSetFloatInfo", matrix, "label",
                                                                  labels.data(), kRows);
  void* booster = nullptr;
  functions.Call<void* const*, std::uint64_t, void**>("XGBoosterCreate", &matrix, 1, &booster);
  char const* const parameters[][2] = {{"tree_method", "gpu_hist"},
                                       {"gpu_backend", "host"},
                                       {"objective", "reg:squarederror"},
                                       {"base_score", "0.5"},
                                       {"learning_rate", "1"},
                                       {"reg_lambda", "0"},
                                       {"max_depth", "1"},
                                       {"nthread", "2"},
                                       {"min_child_weight", "0"},
                                       {"max_bin", "16"},
                                       {"validate_parameters", "1"}};
  for (auto const& [name, value] : parameters) {
    functions.Call<void*, char const*, char const*>("XGBoosterSetParam", booster, name, value);
  }
  functions.Call<void*, int, void*>("XGBoosterUpdateOneIter", booster, 0, matrix);
  std::uint64_t size = 0;
  float const* predictions = nullptr;
  functions.Call<void*, void*, int, unsigned, int, std::uint64_t*, float const**>("XGBoosterPredict", booster, matrix,
                                                                                  0, 0U, 0, &size, &predictions);
  for (std::size_t i = 0; i < kRows; ++i) {
    if (size != kRows || (predictions[i] > 0.5f) != (labels[i] > 0.5f)) {
      throw std::runtime_error{"a tree of two leaves does not tell ten rows apart: row " + std::to_string(i) +
                               " has the prediction " + std::to_string(predictions[i])};
    }
  }
  functions.Call<void*>("XGBoosterFree", booster);
  functions.Call<void*>("XGDMatrixFree", matrix);
}

void Probe(char const* xgboost, char const* folder) {
  void* const library = dlopen(xgboost, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error{dlerror()};
  char const* path = nullptr;
  if (XGBGPUBridgeTry(xgboost, folder, &path) != 0) throw std::runtime_error{XGBGPUBridgeError()};
  void* const adapter = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (adapter == nullptr) throw std::runtime_error{dlerror()};
  Train({adapter, library});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: xgbgpu-probe LIBXGBOOST FOLDER", stdout);
    return 2;
  }
  try {
    Probe(argv[1], argv[2]);
  } catch (std::exception const& e) {
    std::fputs(e.what(), stdout);
    return 1;
  }
  return 0;
}
