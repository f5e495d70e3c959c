/// Objectives and metrics that another library registers after this one was loaded.
#ifndef XGBGPU_PLUGIN_BOOSTER_NEWCOMERS_H_
#define XGBGPU_PLUGIN_BOOSTER_NEWCOMERS_H_

#include <cstdint>

namespace xgbgpu::plugin {

/// Whose an objective or a metric is.
enum class Maker : std::uint8_t {
  kKnown,     ///< was there when this library was loaded: what the engine has by its name is computed by the engine
  kStranger,  ///< came later, maybe under a name that the engine has: always asked itself, with host vectors filled
};

/// Decorates the registry's entries that are not decorated yet. Objects made of them from now on see filled host
/// vectors.
///
/// XGBoost makes the metrics of a learner after it has configured the booster, or while it evaluates: called at both
/// places, this finds every entry before a metric is made of it. An objective may be made before: Booster waits with
/// leaving predictions on a device until the learner's objective has shown that it is decorated.
void DecorateNewcomers();

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_NEWCOMERS_H_
