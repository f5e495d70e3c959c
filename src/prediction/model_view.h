/// A model of the host, as it is now.
#ifndef XGBGPU_PREDICTION_MODEL_VIEW_H_
#define XGBGPU_PREDICTION_MODEL_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "predict/contributions.h"
#include "predict/forest.h"
#include "xgbgpu/trainer.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

struct ModelView {
  std::uint32_t rounds;
  std::uint32_t outputs;
  FeatureIndex features;
  float base_score;
  /// Reads all trees, which takes long. With a number, leaves are rounded to what they add to it: (base + leaf) - base.
  std::function<Forest(std::optional<float>)> read_forest;
  /// Reads all trees for contributions of features. Throws InvalidArgument for trees that cannot be explained.
  std::function<PathForest()> read_paths;
};

/// Rounds first … last - 1 of a model.
struct RoundRange {
  std::uint32_t first;
  std::uint32_t last;
};

/// Where work that any place can do is done, and with how many threads of the host.
struct WorkPlace {
  Place place;
  int threads;
};

/// Hands a warning to the host: what it is about, of which each is told once, and the text.
using Warn = std::function<void(std::string const& about, std::string const& text)>;

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICTION_MODEL_VIEW_H_
