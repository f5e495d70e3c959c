/// A model for predictions: its shape, and a function that reads its trees.
#ifndef XGBGPU_MODEL_VIEW_H_
#define XGBGPU_MODEL_VIEW_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "xgbgpu/trainer.h"
#include "xgbgpu/tree_arrays.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// The current state of a model of the caller. The engine keeps the trees that it reads.
struct ModelView {
  std::uint32_t rounds;
  std::uint32_t outputs;
  FeatureIndex features;
  std::vector<float> base_scores;  ///< margins before the first tree: [outputs], or [1] for all of them
  /// Calls visit(tree) for each tree in the order of the model. A tree of vectors is visited once for each output.
  /// Spans are valid during the call. It may take tens of microseconds a tree.
  std::function<void(std::function<void(ModelTree const&)> const& visit)> visit_trees;
};

/// Rounds first … last - 1 of a model.
struct RoundRange {
  std::uint32_t first;
  std::uint32_t last;
};

/// A place for work, and the number of host threads that may take part.
struct WorkPlace {
  Place place;
  int threads;
};

/// Receives a warning. `about` is its subject: a receiver shows one warning for each subject.
using Warn = std::function<void(std::string const& about, std::string const& text)>;

}  // namespace xgbgpu

#endif  // XGBGPU_MODEL_VIEW_H_
